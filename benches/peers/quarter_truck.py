"""The quarter truck of libcosim in libcosim itself and in costep: steps and errors, as a table in Markdown.

    python3 -m venv env && env/bin/pip install libcosimpy==0.0.6 numpy
    env/bin/python quarter_truck.py COSTEP FOLDER

COSTEP is the program, FOLDER has OspSystemStructure.xml with Chassis.fmu and Wheel.fmu (tests/data/fmi2/quarter_truck of
libcosim). Nothing is set but the step and the end: 4 s. Errors are root mean squares of spring force and velocity of the
chassis at communication points (of `ecco` every ms), as shares of their ranges; the reference is libcosim with steps of
10 us, the inner step of both FMUs."""

import csv
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

END = 4.0
STEPS = [1e-3, 5e-3, 10e-3, 20e-3]
SIGNALS = [("wheel", "out_spring_damper_f"), ("chassis", "velocity")]


def libcosim(folder, step=None):
    """Times and both signals: by fixed steps, or by the algorithm of the file (ecco). In a process of its own."""
    script = [sys.executable, os.path.abspath(__file__), "--libcosim", folder, str(step or 0.0)]
    done = subprocess.run(script, capture_output=True, check=True)
    rows = np.loadtxt(done.stdout.decode().split("\n#rows\n")[1].splitlines())
    return rows[:, 0], rows[:, 1:]


def run_libcosim(folder, step):
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver

    with tempfile.TemporaryDirectory() as copy:
        for name in os.listdir(folder):
            os.symlink(os.path.join(os.path.abspath(folder), name), os.path.join(copy, name))
        system = os.path.join(copy, "OspSystemStructure.xml")
        text = open(system).read()
        os.remove(system)
        if step:
            text = re.sub("<BaseStepSize>[^<]*<", f"<BaseStepSize>{step}<", text)
            text = re.sub("<Algorithm>[^<]*<", "<Algorithm>fixedStep<", text)
        open(system, "w").write(text)
        execution = CosimExecution.from_osp_config_file(osp_path=copy)
        observer = CosimObserver.create_last_value()
        execution.add_observer(observer)
        places = []
        for slave, name in SIGNALS:
            index = execution.slave_index_from_instance_name(slave)
            variables = execution.slave_variables(index)
            places.append((index, next(v.reference for v in variables if v.name.decode() == name)))
        rows = []
        while not rows or rows[-1][0] < END - 1e-9:
            assert execution.step()
            values = [observer.last_real_values(index, [reference])[0] for index, reference in places]
            rows.append([execution.status().current_time * 1e-9] + values)
    print("\n#rows")
    for row in rows:
        print(*map(repr, map(float, row)))
    sys.stdout.flush()
    os._exit(0)


def costep(program, folder, step, method):
    system = os.path.join(folder, "OspSystemStructure.xml")
    with tempfile.TemporaryDirectory() as out:
        run = [program, "run", system, "--t-end", f"{END}s", "--step", f"{step}s", "--reference", "none"]
        run += ["--out", out] + (["--method", method] if method else [])
        subprocess.run(run, capture_output=True, check=True)
        target = os.path.join(out, "results.csv")
        subprocess.run([program, "export", out, "--to", target], capture_output=True, check=True)
        with open(target) as file:
            rows = [row for row in csv.reader(line for line in file if not line.startswith("#"))]
    names = [re.sub(r" *\[.*", "", name) for name in rows[0]]
    columns = [0] + [names.index(f"{slave}.{name}") for slave, name in SIGNALS]
    values = np.array([[float(row[c]) for c in columns] for row in rows[1:]])
    return values[1:, 0], values[1:, 1:]


def errors(found, reference):
    times, values = found
    shares = []
    for column in range(values.shape[1]):
        exact = np.interp(times, reference[0], reference[1][:, column])
        size = np.ptp(reference[1][:, column])
        shares.append(float(np.sqrt(np.mean((values[:, column] - exact) ** 2)) / size))
    return shares


def share(value):
    """As 7.6e-4."""
    return re.sub("e-0", "e-", f"{value:.1e}")


def main(program, folder):
    reference = libcosim(folder, 1e-5)
    print("| | step | steps | spring force | chassis velocity |\n|---|---|---|---|---|")
    for step in STEPS:
        theirs = libcosim(folder, step)
        held = costep(program, folder, step, "zoh")
        for name, found in [
            ("libcosim, fixed step", theirs),
            ("costep `zoh`", held),
            ("costep, nothing set (`auto`)", costep(program, folder, step, None)),
        ]:
            force, velocity = errors(found, reference)
            print(f"| {name} | {step * 1e3:g} ms | {len(found[0])} | {share(force)} | {share(velocity)} |")
        same = np.max(np.abs(theirs[1] - held[1]) / np.ptp(theirs[1], axis=0))
        print(f"largest difference of `zoh` from libcosim at {step * 1e3:g} ms: {same:.1e}", file=sys.stderr)
    found = libcosim(folder)
    # Its steps are shortest where little is left of the error: as if at equal distances.
    even = np.arange(1, round(END / STEPS[0]) + 1) * STEPS[0]
    values = np.stack([np.interp(even, found[0], column) for column in found[1].T], axis=1)
    force, velocity = errors((even, values), reference)
    print(f"| libcosim, `ecco` as in the file | variable | {len(found[0])} | {share(force)} | {share(velocity)} |")


if sys.argv[1] == "--libcosim":
    run_libcosim(sys.argv[2], float(sys.argv[3]))
else:
    main(*sys.argv[1:])
