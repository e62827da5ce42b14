"""Runs jobs with FMPy: reads a JSON list from standard input, writes one with the results to standard output.

Inputs follow cos(t + 0.7 j), j counted over the inputs, times the nominal value; costep's side of the tests does
the same."""

import json
import math
import os
import shutil
import sys

import fmpy
from fmpy.fmi1 import FMU1Model, FMU1Slave
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Model, FMU3Slave
from fmpy.validation import validate_fmu


class Instance:
    """An FMU, whichever version, with variables by name."""

    def __init__(self, path, kind, parameters=None):
        self.description = fmpy.read_model_description(path, validate=False)
        self.folder = fmpy.extract(path)
        version = int(self.description.fmiVersion[0])
        self.v1, self.v3 = version == 1, version == 3
        interface = self.description.coSimulation if kind == "cs" else self.description.modelExchange
        make = {"cs": (FMU1Slave, FMU2Slave, FMU3Slave), "me": (FMU1Model, FMU2Model, FMU3Model)}
        self.fmu = make[kind][version - 1](
            guid=self.description.guid,
            unzipDirectory=self.folder,
            modelIdentifier=interface.modelIdentifier,
            instanceName="fmu",
        )
        self.fmu.instantiate()
        real = [v for v in self.description.modelVariables if v.type in ("Real", "Float64")]
        self.by_name = {v.name: v for v in self.description.modelVariables}
        # In FMI 1.0 parameters can be inputs.
        self.inputs = [v for v in real if v.causality == "input" and v.variability != "parameter"]
        self.outputs = [v for v in real if v.causality == "output"]
        for name, value in (parameters or {}).items():
            self.set([self.by_name[name]], [value])

    def set(self, variables, values):
        if variables:
            setter = self.fmu.setFloat64 if self.v3 else self.fmu.setReal
            setter([v.valueReference for v in variables], list(values))

    def get(self, variables):
        getter = self.fmu.getFloat64 if self.v3 else self.fmu.getReal
        return list(getter([v.valueReference for v in variables])) if variables else []

    def enter(self, start, stop):
        if self.v1:
            self.experiment = start, stop
        elif self.v3:
            self.fmu.enterInitializationMode(startTime=start, stopTime=stop)
        else:
            self.fmu.setupExperiment(startTime=start, stopTime=stop)
            self.fmu.enterInitializationMode()

    def first_outputs(self):
        """Leaves the initialisation. FMI 1.0 has no mode of it: outputs are there after one call."""
        if self.v1:
            self.fmu.initialize(*self.experiment)
            return self.get(self.outputs)
        row = self.get(self.outputs)
        self.fmu.exitInitializationMode()
        return row

    def input_values(self, t):
        return [float(v.nominal or 1.0) * math.cos(t + 0.7 * j) for j, v in enumerate(self.inputs)]

    def close(self):
        self.fmu.terminate()
        self.fmu.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)


def co_simulation(job):
    """Steps an FMU for Co-Simulation; inputs are held over each step."""
    fmu, h, driven = Instance(job["fmu"], "cs", job.get("parameters")), job["step"], job.get("driven", True)
    fmu.enter(0.0, job["steps"] * h)
    if driven:
        fmu.set(fmu.inputs, fmu.input_values(0.0))
    rows = [fmu.first_outputs()]
    for k in range(job["steps"]):
        if driven:
            fmu.set(fmu.inputs, fmu.input_values(k * h))
        fmu.fmu.doStep(k * h, h)
        rows.append(fmu.get(fmu.outputs))
    fmu.close()
    return {"names": [v.name for v in fmu.outputs], "rows": rows}


def model_exchange(job):
    """Integrates an FMU for Model Exchange by explicit Euler; inputs are held over each communication step."""
    fmu, h, inner = Instance(job["fmu"], "me", job.get("parameters")), job["step"], job["inner"]
    fmu.enter(0.0, job["steps"] * h)
    fmu.set(fmu.inputs, fmu.input_values(0.0))
    fmu.fmu.exitInitializationMode()
    if fmu.v3:
        fmu.fmu.updateDiscreteStates()
    else:
        fmu.fmu.newDiscreteStates()
    fmu.fmu.enterContinuousTimeMode()
    x, rows = continuous_states(fmu), [fmu.get(fmu.outputs)]
    for k in range(job["steps"]):
        fmu.set(fmu.inputs, fmu.input_values(k * h))
        dt = h / inner
        for j in range(inner):
            fmu.fmu.setTime(k * h + j * dt)
            set_states(fmu, x)
            x = [x + dt * f for x, f in zip(x, derivatives(fmu, len(x)))]
        fmu.fmu.setTime((k + 1) * h)
        set_states(fmu, x)
        rows.append(fmu.get(fmu.outputs))
    fmu.close()
    return {"names": [v.name for v in fmu.outputs], "rows": rows}


def arrays(count):
    import ctypes

    return (ctypes.c_double * max(count, 1))()


def continuous_states(fmu):
    count = len(fmu.description.derivatives)
    x = arrays(count)
    if fmu.v3:
        fmu.fmu.getContinuousStates(x, count)
    else:
        fmu.fmu.getContinuousStates(x, count)
    return list(x)[:count]


def set_states(fmu, values):
    x = arrays(len(values))
    x[: len(values)] = values
    fmu.fmu.setContinuousStates(x, len(values))


def derivatives(fmu, count):
    x = arrays(count)
    if fmu.v3:
        fmu.fmu.getContinuousStateDerivatives(x, count)
    else:
        fmu.fmu.getDerivatives(x, count)
    return list(x)[:count]


def pair(job):
    """S1 and S2 coupled with zero-order hold, both stepped at once."""
    one, two, h = Instance(job["fmus"][0], "cs"), Instance(job["fmus"][1], "cs"), job["step"]
    xv, force = [one.by_name[n] for n in ("x", "v")], [two.by_name["F"]]
    drive, motion = [one.by_name["F"]], [two.by_name[n] for n in ("u1", "u2")]
    for fmu in (one, two):
        fmu.enter(0.0, job["steps"] * h)
    z = one.get(xv)
    two.set(motion, z)
    w = two.get(force)
    for fmu in (one, two):
        fmu.fmu.exitInitializationMode()
    rows = [z + w]
    for k in range(job["steps"]):
        one.set(drive, w)
        two.set(motion, z)
        for fmu in (one, two):
            fmu.fmu.doStep(k * h, h)
        z, w = one.get(xv), two.get(force)
        rows.append(z + w)
    for fmu in (one, two):
        fmu.close()
    return {"names": ["x", "v", "F"], "rows": rows}


def simulate(job):
    """Lets FMPy do all of it: its own loop for Co-Simulation, CVODE for Model Exchange."""
    kind = {"cs": "CoSimulation", "me": "ModelExchange"}[job["kind"]]
    stop = job["steps"] * job["step"]
    extra = {"relative_tolerance": 1e-10} if job["kind"] == "me" else {}
    result = fmpy.simulate_fmu(
        job["fmu"],
        validate=False,
        fmi_type=kind,
        stop_time=stop,
        output_interval=job["step"],
        output=job["outputs"],
        record_events=False,
        start_values=job.get("parameters", {}),
        **extra,
    )
    return {"names": list(result.dtype.names)[1:], "rows": [[float(v) for v in row] for row in result.tolist()]}


def validate(job):
    return {"problems": validate_fmu(job["fmu"])}


JOBS = {
    "cs": co_simulation,
    "me": model_exchange,
    "pair": pair,
    "simulate": simulate,
    "validate": validate,
}


def main():
    # FMUs may print; only the results go to standard output.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    results = []
    for job in json.load(sys.stdin):
        try:
            results.append(JOBS[job["job"]](job))
        except Exception as error:  # the test shows it
            results.append({"error": f"{type(error).__name__}: {error}"})
    json.dump(results, out)
    out.flush()
    # Third-party FMUs may crash while they are unloaded.
    os._exit(0)


main()
