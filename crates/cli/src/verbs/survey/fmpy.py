"""Simulates one FMU with FMPy and writes a line of numbers for every communication point: time, then outputs.

Arguments: FMU, "CoSimulation" or "ModelExchange", start, stop, step, file for the numbers. The first line of the
file has the names of the outputs, one per tab."""

import re
import sys
import tempfile

import fmpy

path, interface, start, stop, step, target = sys.argv[1:]
start, stop, step = float(start), float(stop), float(step)

description = fmpy.read_model_description(path, validate=False)
is_output = lambda v: v.causality == "output" and v.type in ("Real", "Float64") and not v.dimensions
names = [v.name for v in description.modelVariables if is_output(v)]
accuracy = {"relative_tolerance": 1e-10} if interface == "ModelExchange" else {}
try:
    result = fmpy.simulate_fmu(
        path,
        validate=False,
        fmi_type=interface,
        start_time=start,
        stop_time=stop,
        output_interval=step,
        output=names,
        record_events=False,
        **accuracy,
    )
except Exception as error:
    # Where it was unpacked is of no interest.
    unpacked = re.escape(tempfile.gettempdir()) + r"/[^/]*/"
    sys.exit(f"{type(error).__name__}: {re.sub(unpacked, '', str(error))}")
with open(target, "w", encoding="utf-8") as file:
    file.write("\t".join(names) + "\n")
    for row in result.tolist():
        file.write("\t".join(repr(float(value)) for value in row) + "\n")
