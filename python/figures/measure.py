"""What `figures.py` measures, each in a process of its own; the last line that is printed is the figure in JSON."""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))


def fmus(folder: str) -> dict:
    import costep

    costep.export_fmu("dual-mass", folder, fmi=2)
    return {}


def exact(stop: str) -> dict:
    """The monolithic solution at every millisecond, by the solver that the FMUs have inside: errors are those of coupling."""
    import costep

    result = costep.System("dual-mass").run(stop=float(stop), step="1 ms", method="monolithic:solver=project")
    return {"t": result.time.tolist(), "x": result["s1.x"].tolist()}


def case(package: str, folder: str, stop: str, step: str, reference: str) -> dict:
    run = importlib.import_module(f"case_{package}").run
    begin = time.perf_counter()
    times, x = run(folder, float(stop), float(step))
    seconds = time.perf_counter() - begin
    import numpy as np

    known = json.loads(reference)
    if known is None:
        return {"seconds": seconds}
    solution = np.interp(times, known["t"], known["x"])
    error = np.sqrt(np.mean((np.asarray(x) - solution) ** 2)) / np.sqrt(np.mean(solution**2))
    return {"seconds": seconds, "error": float(error)}


def version(package: str) -> dict:
    from importlib.metadata import version

    return {"version": version(package)}


def readme(page: str) -> dict:
    """Runs the Python example of a page, as it stands there."""
    import re

    text = pathlib.Path(page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks, page
    names: dict = {"__name__": "readme"}
    exec(compile("\n".join(blocks), page, "exec"), names)
    assert names["result"].verdict == "stable"
    return {}


def rows() -> dict:
    """A million rows: whether two arrays are one memory, which neither owns."""
    import costep
    import numpy as np

    lag = costep.LTI([[-1.0]], [[1.0]], [[1.0]], inputs=["u"], outputs=["y"], x0=[1.0])
    rig = costep.System.new(lag=lag)
    rig.drive("lag.u", 0.0)
    result = rig.run(stop=10.0, step="10 us", method="zoh", reference="none", verify=False, progress=False)
    assert len(result) == 1_000_001
    address = result["lag.y"].__array_interface__["data"][0]
    again = np.asarray(result._columns.column(1)).__array_interface__["data"][0]
    return {"same": address == again and not result["lag.y"].flags.owndata}


def leak() -> dict:
    """Growth of resident memory over 10,000 systems that are made, run and deleted."""
    import gc

    import costep

    def resident() -> int:
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def loop(times: int) -> None:
        for _ in range(times):
            rig = costep.System("dual-mass")
            result = rig.run(stop=0.01, step="1 ms", progress=False, verify=False, reference="none")
            assert result["s1.x"].size == 11
            del rig, result
        gc.collect()

    loop(500)
    before = resident()
    loop(10_000)
    return {"MB": (resident() - before) / 1e6}


def steps() -> dict:
    """Single calls against one call for many steps."""
    import costep

    def seconds(single: bool, count: int = 200_000) -> float:
        with costep.System("dual-mass").start(step="10 us", stop=1e3, method="zoh", solver="euler:10us") as sim:
            sim.step(1000)
            step = sim.step
            begin = time.perf_counter()
            if single:
                for _ in range(count):
                    step()
            else:
                step(count)
            return (time.perf_counter() - begin) / count

    own = min(seconds(False) for _ in range(3))
    called = min(seconds(True) for _ in range(3))
    return {"own": 1e6 * own, "overhead": 1e6 * (called - own)}


def parts() -> dict:
    """A part in Python against a compiled one."""
    import costep

    class Gain:
        inputs, outputs = ["e"], ["u"]

        def step(self, t, dt, u):  # type: ignore[no-untyped-def]
            return 1.0

    def seconds(gain: object, count: int = 100_000) -> float:
        plant = costep.LTI([[-1.0]], [[1.0]], [[1.0]], inputs=["u"], outputs=["y"])
        rig = costep.System.new(plant=plant, gain=gain)
        rig.connect("plant.y", "gain.e")
        rig.connect("gain.u", "plant.u")
        with rig.start(step=1e-3, stop=1e-3 * 2 * count, method="zoh", solver="rk4:1ms", threads=1) as sim:
            sim.step(1000)
            begin = time.perf_counter()
            sim.step(count)
            return (time.perf_counter() - begin) / count

    native = min(seconds(costep.LTI([], [], [], [[-2.0]], inputs=["e"], outputs=["u"])) for _ in range(3))
    code = min(seconds(Gain) for _ in range(3))
    return {"overhead": 1e6 * (code - native)}


def linear() -> dict:
    """The two-mass oscillator as two LTI parts against the built-in model."""
    import costep

    built_in = costep.System("dual-mass")
    values = dict(built_in._facts()["parameters"])
    m1, c1, d1, m2, c2, d2 = (values[name] for name in ("m1", "c1", "d1", "m2", "c2", "d2"))
    ck, dk = values["ck"], values["dk"]
    left = costep.LTI(
        [[0, 1], [-c1 / m1, -d1 / m1]], [[0], [1 / m1]], [[1, 0], [0, 1]], inputs=["F"], outputs=["x", "v"], x0=[0.1, 0]
    )
    right = costep.LTI(
        [[0, 1], [-(c2 + ck) / m2, -(d2 + dk) / m2]],
        [[0, 0], [ck / m2, dk / m2]],
        [[ck, dk]],
        [[-ck, -dk]],
        inputs=["x", "v"],
        outputs=["F"],
    )
    rig = costep.System.new(s1=left, s2=right)
    for source, target in (("s1.x", "s2.x"), ("s1.v", "s2.v"), ("s2.F", "s1.F")):
        rig.connect(source, target)

    def seconds(system: costep.System, count: int = 100_000) -> float:
        with system.start(step=1e-4, stop=1e3, method="zoh", solver="euler:100us", threads=1) as sim:
            sim.step(1000)
            begin = time.perf_counter()
            sim.step(count)
            return (time.perf_counter() - begin) / count

    return {"ratio": min(seconds(rig) for _ in range(3)) / min(seconds(built_in) for _ in range(3))}


def threads() -> dict:
    """Eight threads with a system each against the share of one."""
    import threading

    import costep

    def run() -> None:
        costep.System("dual-mass").run(stop=100, step="0.1 ms", verify=False, reference="none", progress=False)

    begin = time.perf_counter()
    run()
    one = time.perf_counter() - begin
    all_of_them = [threading.Thread(target=run) for _ in range(8)]
    begin = time.perf_counter()
    for thread in all_of_them:
        thread.start()
    for thread in all_of_them:
        thread.join()
    together = time.perf_counter() - begin
    return {"ratio": together / (8 * one / min(os.cpu_count() or 1, 8))}


def imported() -> dict:
    begin = time.perf_counter()
    import costep  # noqa: F401

    return {"ms": 1e3 * (time.perf_counter() - begin)}


def interrupt(folder: str, fmus: str) -> dict:
    """Time from Ctrl-C to the end of a recorded run, whose recording is then read."""
    import shutil
    import signal
    import threading

    import costep

    # Shells have what they start in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    shutil.rmtree(folder, ignore_errors=True)
    rig = costep.System("dual-mass")
    if fmus != "-":
        rig = costep.System.new(s1=f"{fmus}/s1.fmu", s2=f"{fmus}/s2.fmu")
        for source, target in (("s1.x", "s2.x"), ("s1.v", "s2.v"), ("s2.F", "s1.F")):
            rig.connect(source, target)
    recording, pressed = pathlib.Path(folder) / "results.arrows", []

    def press() -> None:
        # Not before the run goes.
        while not recording.exists() or recording.stat().st_size < 100_000:
            time.sleep(0.02)
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    try:
        rig.run(stop=1e5, step="0.1 ms", method="predictive", record=folder, progress=False)
    except KeyboardInterrupt:
        seconds = time.perf_counter() - pressed[0]
    assert len(costep.load(folder)) > 1000
    return {"seconds": seconds}


if __name__ == "__main__":
    work = {"import": imported}.get(sys.argv[1]) or globals()[sys.argv[1]]
    print(json.dumps(work(*sys.argv[2:])), flush=True)
    # Some packages do not survive the end of their process.
    os._exit(0)
