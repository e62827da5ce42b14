import shutil

import fmpy
from fmpy.fmi2 import FMU2Slave


def run(folder, stop, step):
    units, names, folders = [], [], []
    for name in ("s1", "s2"):
        path = f"{folder}/{name}.fmu"
        description, unpacked = fmpy.read_model_description(path), fmpy.extract(path)
        fmu = FMU2Slave(
            guid=description.guid,
            unzipDirectory=unpacked,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName=name,
        )
        fmu.instantiate()
        fmu.setupExperiment(startTime=0.0, stopTime=stop)
        fmu.enterInitializationMode()
        units.append(fmu)
        folders.append(unpacked)
        names.append({variable.name: variable.valueReference for variable in description.modelVariables})
    (s1, s2), (of1, of2) = units, names

    def exchange():
        s2.setReal([of2["x"], of2["v"]], s1.getReal([of1["x"], of1["v"]]))
        s1.setReal([of1["F"]], s2.getReal([of2["F"]]))

    exchange()
    for fmu in units:
        fmu.exitInitializationMode()
    times, x = [0.0], [s1.getReal([of1["x"]])[0]]
    for k in range(round(stop / step)):
        for fmu in units:
            fmu.doStep(currentCommunicationPoint=k * step, communicationStepSize=step)
        exchange()
        times.append((k + 1) * step)
        x.append(s1.getReal([of1["x"]])[0])
    for fmu, unpacked in zip(units, folders):
        fmu.terminate()
        fmu.freeInstance()
        shutil.rmtree(unpacked)
    return times, x
