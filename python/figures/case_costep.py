import costep


def run(folder, stop, step):
    rig = costep.System.new(s1=f"{folder}/s1.fmu", s2=f"{folder}/s2.fmu")
    rig.connect("s1.x", "s2.x")
    rig.connect("s1.v", "s2.v")
    rig.connect("s2.F", "s1.F")
    result = rig.run(stop=stop, step=step)
    return result.time, result["s1.x"]
