"""Writes docs/python-figures.md: what costep costs in Python, and the same case in other packages.

    python python/figures/figures.py WHEEL

makes two virtual environments under target/figures, one with the wheel and one with the others, and measures everything
in one go. Nothing is typed from memory.
"""

from __future__ import annotations

import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PLACE = ROOT / "target" / "figures"
PACKAGES = {"costep": "costep", "fmpy": "FMPy", "libcosimpy": "libcosimpy", "ecospy": "ecospy"}
STOP, STEPS = 0.1, (1e-3, 5e-3)
LONG = 1.0


def environment(name: str, *install: str) -> pathlib.Path:
    place = PLACE / name
    if not (place / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        subprocess.run(
            [place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", *install], check=True
        )
        (place / "done").touch()
    return place / "bin" / "python"


def ask(python: pathlib.Path, script: str, *words: object) -> dict:
    """Runs a part of this file in another environment, and gives what it prints last."""
    env = {**os.environ, "LD_LIBRARY_PATH": str(python.parent.parent / "lib")}
    command = [str(python), str(HERE / "measure.py"), script, *(str(word) for word in words)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=PLACE)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def median(times: int, measure: object) -> dict:
    found = [measure() for _ in range(times)]  # type: ignore[operator]
    return {key: statistics.median(one[key] for one in found) for key in found[0]}


def lines(package: str) -> int:
    text = (HERE / f"case_{package}.py").read_text().splitlines()
    return sum(1 for line in text if line.strip())


def installed(wheel: pathlib.Path) -> float:
    place = PLACE / "fresh"
    subprocess.run(["rm", "-rf", place], check=True)
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    subprocess.run([place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", wheel], check=True)
    subprocess.run(
        [place / "bin" / "python", HERE / "measure.py", "readme"], check=True, cwd=PLACE, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - begin


def main(wheel: pathlib.Path) -> None:
    PLACE.mkdir(parents=True, exist_ok=True)
    busy = os.getloadavg()[0]
    ours = PLACE / "costep"
    if ours.exists():
        (ours / "done").unlink(missing_ok=True)
    ours_python = environment("costep", str(wheel))
    others = environment("others", "--requirement", str(HERE / "requirements.txt"))
    subprocess.run(
        [ours_python, HERE / "measure.py", "fmus", PLACE / "fmus"], check=True, cwd=PLACE, stdout=subprocess.DEVNULL
    )
    exact = ask(ours_python, "exact", STOP)
    rows = []
    for package, title in PACKAGES.items():
        python = ours_python if package == "costep" else others
        cells = [str(lines(package))]
        for step in STEPS:
            measured = median(5, lambda: ask(python, "case", package, PLACE / "fmus", STOP, step, json.dumps(exact)))
            cells += [f"{1e3 * measured['seconds']:.0f} ms", f"{measured['error']:.1e}"]
        long = median(3, lambda: ask(python, "case", package, PLACE / "fmus", LONG, 1e-5, "null"))
        cells.append(f"{long['seconds']:.2f} s")
        rows.append(f"| {title} {ask(python, 'version', package)['version']} | " + " | ".join(cells) + " |")
    cost = {
        name: median(5, lambda: ask(ours_python, name)) for name in ("steps", "parts", "linear", "threads", "import")
    }
    stopped = median(5, lambda: ask(ours_python, "interrupt", PLACE / "interrupted"))
    page = PAGE.format(
        machine=f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}",
        load=busy,
        rows="\n".join(rows),
        size=wheel.stat().st_size / 1e6,
        install=installed(wheel),
        stopped=1e3 * stopped["seconds"],
        **{f"{group}_{key}": value for group, values in cost.items() for key, value in values.items()},
    )
    (ROOT / "docs" / "python-figures.md").write_text(page)
    print(page)


PAGE = """# Figures of the Python package

Written by `python python/figures/figures.py WHEEL` on {machine}: medians of several runs, all in one go. Other work
kept the machine busy at a load of {load:.1f} when it began: at more than a few tenths, times are longer than they should be.

## The same case in four packages

The two-mass oscillator of the README as two FMUs (FMI 2.0), {{}} s, connected by three signals, displacement read at every communication point: lines of code
(`python/figures/case_*.py`, without blank ones), wall time with loading and unpacking the FMUs, relative RMS error against
the monolithic solution by the solver that the FMUs have inside; and the wall time of 1 s in steps of 10 us (100,000 steps).

| package | lines | time, 1 ms | error, 1 ms | time, 5 ms | error, 5 ms | 100,000 steps |
|---|---|---|---|---|---|---|
{rows}

costep's times include its second process, trials of what the FMUs offer, and a second run at half the step for the verdict; the others give none. FMPy has no master of its own: its case is the loop
that its users write.

## What calls cost

| what | cost |
|---|---|
| `import costep` | {import_ms:.0f} ms |
| `sim.step()` beyond the engine's own step ({steps_own:.2f} us, two parts) | {steps_overhead:.2f} us |
| a part in Python, per step, beyond a compiled one | {parts_overhead:.2f} us |
| `LTI` parts against the same built-in model, per step | {linear_ratio:.2f} times |
| 8 threads with a system each against one thread's share on two cores | {threads_ratio:.2f} times |
| Ctrl-C to the end of a recorded run | {stopped:.0f} ms |
| the wheel | {size:.1f} MB |
| new virtual environment, installation, the README's example | {install:.1f} s |
""".replace("{{}}", str(STOP))

if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
