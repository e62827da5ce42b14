"""Threads, Ctrl-C, forks."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import costep
import numpy as np
import pytest
from costep import _progress
from costep._settings import run_settings
from IPython.display import HTML


def test_runs_of_eight_threads_go_on_at_the_same_time() -> None:
    """All runs have begun before the first one ends: none waits for the lock of the interpreter."""
    begun, ended = threading.Barrier(8), []
    results: list[costep.Result] = []

    def work() -> None:
        rig = costep.System("dual-mass")
        waited = []

        def look(done: float, now: float) -> None:
            if not waited:
                waited.append(begun.wait(60))

        results.append(rig.run(stop=60, step="0.1 ms", progress=look, verify=False, reference="none"))
        ended.append(bool(waited))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ended == [True] * 8
    assert all(np.array_equal(result["s1.x"], results[0]["s1.x"]) for result in results)


def test_python_goes_on_during_a_run() -> None:
    counted, over = [0], threading.Event()

    def count() -> None:
        while not over.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    costep.System("dual-mass").run(stop=5, step="0.1 ms", verify=False, reference="none")
    over.set()
    thread.join()
    assert counted[0] > 1000


SCRIPT = """
import sys, time, costep
rig = {system}
print("ready", flush=True)
try:
    rig.run(stop=1e5, step="0.1 ms", record=sys.argv[1], progress=False)
except KeyboardInterrupt as stopped:
    print("stopped", stopped.result.verdict, flush=True)
"""
NATIVE = 'costep.System("dual-mass")'
FMUS = """costep.System.new(s1=sys.argv[2] + "/s1.fmu", s2=sys.argv[2] + "/s2.fmu")
for source, target in [("s1.x", "s2.x"), ("s1.v", "s2.v"), ("s2.F", "s1.F")]: rig.connect(source, target)"""


@pytest.mark.parametrize("system", [NATIVE, FMUS])
def test_ctrl_c_leaves_a_recording_that_can_be_read(fmus: pathlib.Path, tmp_path: pathlib.Path, system: str) -> None:
    folder = tmp_path / "run"
    script = SCRIPT.format(system=system)
    with subprocess.Popen([sys.executable, "-c", script, folder, fmus], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        while not (folder / "results.arrows").exists() or (folder / "results.arrows").stat().st_size < 100_000:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "stopped failed\n"
    assert process.returncode == 0
    recorded = costep.load(folder)
    assert len(recorded) > 1000 and {"s1.x", "s1.v", "s2.F"} <= set(recorded.names)


HANGING = {
    "run": 'rig.run(stop=1, step="1 ms", method="zoh", record="there", progress=False)',
    "start": 'rig.start(stop=1, step="1 ms", method="zoh").run_until(1.0)',
    # In the reference, which may fail without ending the run.
    "code": 'busy.run(stop=1e5, step="1 ms", progress=False)',
}


@pytest.mark.parametrize("what", HANGING)
def test_ctrl_c_ends_what_never_ends(faulty: Callable[[str], pathlib.Path], tmp_path: pathlib.Path, what: str) -> None:
    script = f"""
import costep, os, signal, sys, threading
class Lag:
    inputs, outputs, x0 = ["u"], ["y"], [1.0]
    def derivatives(self, t, x, u):
        return [-x[0] + u[0]]
    def output(self, t, x, u):
        return x
rig, busy = costep.System.new(bad=sys.argv[1]), costep.System.new(a=Lag)
busy.drive("a.u", 0.0)
threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    {HANGING[what]}
except KeyboardInterrupt:
    print("stopped")
"""
    done = subprocess.run(
        [sys.executable, "-c", script, faulty("HANG")], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert done.stdout == "stopped\n", done.stderr
    if what == "run":
        assert len(costep.load(tmp_path / "there")) == 51


def test_a_run_that_was_stopped_goes_on() -> None:
    class Enough(Exception):
        pass

    def stop(done: float, now: float) -> None:
        raise Enough

    def rig() -> costep.System:
        lag = costep.LTI([[-1.0]], [[1.0]], [[1.0]], inputs=["u"], outputs=["y"], x0=[1.0])
        made = costep.System.new(lag=lag)
        made.drive("lag.u", {"sine": {"amplitude": 1.0, "frequency": 0.1}})
        return made.set({"system.stop": "20 s", "step.size": "0.1 ms", "record.every": "0.1 s"})

    with pytest.raises(Enough) as stopped:
        rig().run(record="there", progress=stop, verify=False, reference="none")
    assert stopped.value.result.details["can_be_resumed"]  # type: ignore[attr-defined]
    assert len(costep.load("there")) < 201
    result = costep.resume("there")
    whole = rig().run(verify=False, reference="none")["lag.y"][::1000]
    assert np.array_equal(result["lag.y"], whole) and result.verdict == "not judged"


def test_bars(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_progress.Bar, "patience", 0.0)
    rig = costep.System("dual-mass")
    rig.run(stop=40, step="0.1 ms", progress=True, verify=False, reference="none")
    shown = capsys.readouterr().err
    assert "%   t " in shown and "/ 40 s" in shown and shown.endswith("\r"), "the bar is taken away at the end"
    # In the kernel of a notebook it is a piece of HTML, which changes.
    pieces: list[str] = []

    class Handle:
        def update(self, html: HTML) -> None:
            pieces.append(html.data)

    def display(html: HTML, display_id: bool) -> Handle:
        pieces.append(html.data)
        return Handle()

    monkeypatch.setattr(_progress, "in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", display)
    rig.run(stop=40, step="0.1 ms", verify=False, reference="none")
    assert "<progress" in pieces[0] and pieces[-1] == ""


def test_slow_steps_of_fmus_on_several_threads_come_to_an_end(faulty: Callable[[str], pathlib.Path]) -> None:
    """Threads that wait for the processes of FMUs do not wait for the interpreter, which the first slow step holds."""
    rig = costep.System.new(a=faulty("SLOW"), b=faulty("SLOW"))
    with rig.start(stop=1, step="1 ms", method="zoh", threads=2) as sim:
        for _ in range(52):
            sim.step()
        assert sim.number == 52


def test_a_forked_process_cannot_use_what_its_parent_started(pair: costep.System) -> None:
    sim = pair.start()
    sim.step()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            sim.step()
        except costep.Error as error:
            # A simulation of its own is no problem.
            own = costep.System("dual-mass").run(stop=0.01)
            code = 0 if error.code == "E0622" and "fork" in error.message and len(own) > 1 else 2
        del sim
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    # The processes of the FMUs are still there.
    sim.step()
    assert sim.number == 2
    sim.close()


def test_a_forked_process_does_not_wait_for_rows_of_its_parent() -> None:
    recipe = json.dumps(costep.System("dual-mass")._recipe)
    pool = costep._costep.Pool([recipe], run_settings("none", False, None, None, None, True), 1, False)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            next(pool)
        except costep.Error as error:
            code = 0 if error.code == "E0622" and "fork" in error.message else 2
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [row[0] for row in pool] == [0]


def test_one_thread_at_a_time() -> None:
    entered, go_on = threading.Event(), threading.Event()

    class Slow:
        inputs, outputs = ["u"], ["y"]

        def step(self, t: float, dt: float, u: np.ndarray) -> float:
            entered.set()
            go_on.wait(60)
            return 0.0

        def __deepcopy__(self, memory: dict) -> Slow:
            return self

    rig = costep.System.new(slow=Slow())
    rig.drive("slow.u", 0.0)
    with rig.start(step=0.1, stop=1) as sim:
        thread = threading.Thread(target=sim.step)
        thread.start()
        assert entered.wait(60)
        for work in (sim.step, sim.snapshot, lambda: sim["slow.y"]):
            with pytest.raises(costep.Error, match="another thread"):
                work()
        go_on.set()
        thread.join()
        sim.step()
        assert sim.number == 2
