from ecospy import EcosSimulation, EcosSimulationStructure


def run(folder, stop, step):
    with EcosSimulationStructure() as structure:
        structure.add_model("s1", f"{folder}/s1.fmu")
        structure.add_model("s2", f"{folder}/s2.fmu")
        structure.make_real_connection("s1::x", "s2::x")
        structure.make_real_connection("s1::v", "s2::v")
        structure.make_real_connection("s2::F", "s1::F")
        with EcosSimulation(structure=structure, step_size=step) as simulation:
            simulation.init()
            times, x = [0.0], [simulation.get_real("s1::x")]
            for _ in range(round(stop / step)):
                simulation.step(1)
                times.append(simulation.get_time())
                x.append(simulation.get_real("s1::x"))
            simulation.terminate()
    return times, x
