"""Writes docs/python-figures.md: what costep costs in Python beside what it may cost, and the same case in other packages.

    python python/figures/figures.py WHEEL [--out FILE]

makes virtual environments under target/figures, one with the wheel, one with the others and one with the auditors of wheels,
and measures everything in one go, in some minutes. Nothing is typed from memory; a figure beyond its bar is said to miss it.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PLACE = ROOT / "target" / "figures"
PACKAGES = {"costep": "costep", "fmpy": "FMPy", "libcosimpy": "libcosimpy", "ecospy": "ecospy"}
STOP, STEPS = 0.1, (1e-3, 5e-3)
LONG = 1.0
REPEATS, LONG_REPEATS, INTERRUPTS = 5, 3, 8
# No measurement takes longer, in s, unless something is wrong.
PATIENCE = 180


@dataclass
class Figure:
    """A measured number beside the most that it may be."""

    what: str
    value: float
    unit: str
    bar: float | None = None
    digits: int = 2

    def row(self) -> str:
        if self.bar is None:
            return f"| {self.what} | {self.value:.{self.digits}f} {self.unit} | - | - |"
        word = "met" if self.value <= self.bar else "**missed**"
        return f"| {self.what} | {self.value:.{self.digits}f} {self.unit} | {self.bar:g} {self.unit} | {word} |"


@dataclass
class Finding:
    """Something that is so or is not."""

    what: str
    is_so: bool

    def row(self) -> str:
        return f"| {self.what} | {'yes' if self.is_so else 'no'} | yes | {'met' if self.is_so else '**missed**'} |"


def environment(name: str, *install: str, stamp: str) -> pathlib.Path:
    """The interpreter of a virtual environment, made anew if what is to be installed has changed."""
    place, done = PLACE / name, PLACE / f"{name}.txt"
    if not done.exists() or done.read_text() != stamp:
        done.unlink(missing_ok=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        subprocess.run([place / "bin" / "pip", *PIP, *install], check=True)
        done.write_text(stamp)
    return place / "bin" / "python"


PIP = ["install", "--quiet", "--disable-pip-version-check"]


def clean(python: pathlib.Path) -> dict[str, str]:
    """Variables of a process that knows of no other Python; ecospy looks for libraries of its environment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return {**kept, "LD_LIBRARY_PATH": str(python.parent.parent / "lib")}


def ask(python: pathlib.Path, script: str, *words: object) -> dict:
    """Runs a function of `measure.py` in another environment, and gives what it prints last."""
    command = [str(python), str(HERE / "measure.py"), script, *(str(word) for word in words)]
    done = subprocess.run(command, capture_output=True, text=True, env=clean(python), cwd=PLACE, timeout=PATIENCE)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def several(times: int, measure: Callable[[], dict], pick: Callable = statistics.median) -> dict:
    found = [measure() for _ in range(times)]
    return {key: pick([one[key] for one in found]) for key in found[0]}


def lines(package: str) -> int:
    text = (HERE / f"case_{package}.py").read_text().splitlines()
    return sum(1 for line in text if line.strip())


def installed(wheel: pathlib.Path) -> list[Figure | Finding]:
    """A fresh environment: the wheel alone, the README's example, the demo."""
    place, work = PLACE / "fresh", PLACE / "readme"
    for folder in (place, work):
        shutil.rmtree(folder, ignore_errors=True)
    work.mkdir()
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    made = time.perf_counter() - begin
    python, program = place / "bin" / "python", place / "bin" / "costep"
    quiet = {"check": True, "cwd": work, "env": clean(python), "stdout": subprocess.DEVNULL}
    begin = time.perf_counter()
    subprocess.run([place / "bin" / "pip", *PIP, wheel], check=True)
    # The project that the example opens, as the README makes it.
    subprocess.run([program, "export-fmu", "dual-mass", "--out", "fmus"], **quiet)
    subprocess.run([program, "new", "pair", "fmus/s1.fmu", "fmus/s2.fmu"], **quiet)
    subprocess.run([python, HERE / "measure.py", "readme", ROOT / "README.md"], **quiet)
    seconds = time.perf_counter() - begin
    demo = subprocess.run([program, "demo"], capture_output=True, text=True, cwd=work, env=clean(python))
    return [
        Figure("`pip install` of the wheel and the README's example, in a fresh environment", seconds, "s", 30.0, 1),
        Figure("the fresh environment itself, before that", made, "s", digits=1),
        Finding("`costep demo` from the wheel", demo.returncode == 0 and "predictive" in demo.stdout),
    ]


def audited(wheel: pathlib.Path) -> list[Figure | Finding]:
    """What the wheel may be installed on."""
    wanted = (ROOT / "python" / "requirements.txt").read_text().splitlines()
    tools = [line for line in wanted if line.startswith(("auditwheel", "abi3audit"))]
    scripts = environment("audit", *tools, stamp=" ".join(tools)).parent
    shown = subprocess.run([scripts / "auditwheel", "show", wheel], capture_output=True, text=True)
    strict = subprocess.run([scripts / "abi3audit", "--strict", wheel], capture_output=True, text=True)
    return [
        Figure("the wheel", wheel.stat().st_size / 1e6, "MB", 25.0, 1),
        Finding("`auditwheel show`: manylinux", shown.returncode == 0 and "manylinux" in shown.stdout),
        Finding("`abi3audit --strict`", strict.returncode == 0),
    ]


def cost(python: pathlib.Path) -> list[Figure | Finding]:
    """What calls cost."""
    names = ("steps", "parts", "linear", "threads", "import")
    found = {name: several(REPEATS, lambda: ask(python, name)) for name in names}
    rows = ask(python, "rows")
    steps, own = found["steps"], f"{found['steps']['own']:.2f} us, two parts"
    return [
        Figure("`import costep`", found["import"]["ms"], "ms", digits=0),
        Figure(f"`sim.step()` beyond the engine's own step ({own})", steps["overhead"], "us", 1.0),
        Figure("a part in Python, per call, beyond a compiled one", found["parts"]["overhead"], "us", 1.5),
        Figure("`LTI` parts against the same built-in model, per step", found["linear"]["ratio"], "times", NATIVE),
        Figure("8 threads with a system each, against one thread's share", found["threads"]["ratio"], "times", 1.3),
        Finding("a million rows in NumPy without a copy: one address", rows["same"]),
        Figure("growth of memory (RSS) in 10,000 systems made, run and deleted", ask(python, "leak")["MB"], "MB", 5.0),
    ]


# What is called native speed: the noise of such a measurement, no more.
NATIVE = 1.1


def stopped(python: pathlib.Path) -> list[Figure | Finding]:
    """The worst of several interrupted runs: whoever presses Ctrl-C sees that one."""
    rows: list[Figure | Finding] = []
    for what, folder in (("built-in parts", "-"), ("FMUs", PLACE / "fmus")):
        found = several(INTERRUPTS, lambda: ask(python, "interrupt", PLACE / "interrupted", folder), max)
        title = f"Ctrl-C to the end of a run with {what}, recorded and read back; worst of {INTERRUPTS}"
        rows.append(Figure(title, 1e3 * found["seconds"], "ms", 200.0, 0))
    return rows


def cases(ours: pathlib.Path, others: pathlib.Path) -> list[str]:
    """The same case in four packages: rows of a table."""
    exact, rows = json.dumps(ask(ours, "exact", STOP)), []
    for package, title in PACKAGES.items():
        python = ours if package == "costep" else others

        def case(stop: float, step: float, reference: str) -> dict:
            return ask(python, "case", package, PLACE / "fmus", stop, step, reference)

        cells = [str(lines(package))]
        for step in STEPS:
            measured = several(REPEATS, lambda: case(STOP, step, exact))
            cells += [f"{1e3 * measured['seconds']:.0f} ms", f"{measured['error']:.1e}"]
        long = several(LONG_REPEATS, lambda: case(LONG, 1e-5, "null"))
        cells.append(f"{long['seconds']:.2f} s")
        rows.append(f"| {title} {ask(python, 'version', package)['version']} | " + " | ".join(cells) + " |")
    return rows


def main(wheel: pathlib.Path, out: pathlib.Path) -> None:
    PLACE.mkdir(parents=True, exist_ok=True)
    begin, before = time.perf_counter(), os.getloadavg()[0]
    ours = environment("costep", str(wheel), stamp=f"{wheel} {wheel.stat().st_mtime}")
    wanted = HERE / "requirements.txt"
    others = environment("others", "--requirement", str(wanted), stamp=wanted.read_text())
    ask(ours, "fmus", PLACE / "fmus")
    table = cases(ours, others)
    figures = [*cost(ours), *stopped(ours), *audited(wheel), *installed(wheel)]
    rows = [figure.row() for figure in figures]
    page = PAGE.format(
        machine=f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}",
        load=f"{before:.1f}, {os.getloadavg()[0]:.1f}",
        minutes=(time.perf_counter() - begin) / 60,
        stop=STOP,
        cases="\n".join(table),
        figures="\n".join(rows),
        missed=sum("missed" in row for row in rows),
        bars=sum(figure.bar is not None if isinstance(figure, Figure) else True for figure in figures),
        repeats=REPEATS,
        native=NATIVE,
    )
    out.write_text(page)
    print(page)


PAGE = """# Figures of the Python package

Written by `python python/figures/figures.py WHEEL` on {machine}, all in one go of {minutes:.1f} minutes: medians of {repeats} runs where nothing
else is said. The load of the machine (1 minute) before and after: {load}. It has nothing else to do when it begins below a few tenths; above that, times are longer than they
should be.

## The same case in four packages

The two-mass oscillator of the README as two FMUs (FMI 2.0), {stop} s, connected by three signals, displacement read at every communication point: lines of code
(`python/figures/case_*.py`, without blank ones), wall time with loading and unpacking the FMUs, relative RMS error against
the monolithic solution by the solver that the FMUs have inside; and the wall time of 1 s in steps of 10 us (100,000 steps).

| package | lines | time, 1 ms | error, 1 ms | time, 5 ms | error, 5 ms | 100,000 steps |
|---|---|---|---|---|---|---|
{cases}

costep's times include its second process, trials of what the FMUs offer, and a second run at half the step for the verdict; the others give none. FMPy has no master of its own: its case is the loop
that its users write.

## What it costs, and what it may cost

Of {bars} bars {missed} are missed. Native speed is a ratio of at most {native}: more cannot be told from noise here.

| what | measured | at most | |
|---|---|---|---|
{figures}

Losses of workers of Dask and Ray, bits against the program, crashing FMUs and bad calls are tests, not figures: `cargo xtask python`.
"""

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes docs/python-figures.md.")
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "python-figures.md")
    given = parser.parse_args()
    main(given.wheel.resolve(), given.out)
