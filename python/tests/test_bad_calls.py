"""Whatever is called wrongly raises an exception that says what to do."""

from __future__ import annotations

import copy
import datetime
import pathlib
import pickle
from collections.abc import Callable

import costep
import numpy as np
import pytest


def refused(work: Callable[[], object], code: str, *words: str) -> costep.Error:
    with pytest.raises(costep.Error) as raised:
        work()
    error = raised.value
    assert error.code == code, error
    assert len(error.hint) > 10 and error.message and error.errors
    for word in words:
        assert word in str(error), error
    return error


def test_names() -> None:
    rig = costep.System("dual-mass")
    refused(lambda: costep.System("dual-mas"), "E0207", "did you mean `dual-mass`?")
    refused(lambda: rig["s3"], "E0622", "s1, s2")
    refused(lambda: rig.run(method="zho"), "E0301", "did you mean `zoh`?")
    refused(lambda: rig.run(stop=0.01)["s1.X"], "E0506", "did you mean `s1.x`?")
    refused(lambda: costep.System("dual-mass", set={"kc": 1.0}), "E0208", "ck")
    refused(lambda: rig.add("more", "dual-mass/s1"), "E0622", "System.new")
    new = costep.System.new(left="dual-mass/s1", right="dual-mass/s2")
    new.connect("left.y", "right.x")
    new.connect("left.v", "right.w")
    error = refused(lambda: new.run(stop=1, step=0.1), "E0203", "left.y")
    assert len(error.errors) >= 2, "all mistakes at once"


def test_values_and_units(fmus: pathlib.Path) -> None:
    rig = costep.System("dual-mass")
    refused(lambda: rig.run(step="5 N"), "E0206")
    refused(lambda: rig.run(step=-1.0), "E0205")
    refused(lambda: rig.run(step=float("nan")), "E0205")
    refused(lambda: rig.run(reference="perhaps"), "E0205")
    new = costep.System.new(s1=fmus / "s1.fmu", s2=fmus / "s2.fmu")
    new.connect("s1.x", "s2.v")
    refused(lambda: new.run(stop=1, step=0.1), "E0211", "m/s")
    refused(lambda: new.connect("s1.x", "s2.x", unit="N"), "E0622", "convert")
    refused(lambda: rig.set(ck=object()), "E0622", "a value is a number, text")
    refused(lambda: rig.run(time_limit=-1), "E0622", "above zero")
    refused(lambda: rig.run(time_limit=float("nan")), "E0622", "finite")
    refused(lambda: rig.run(memory_limit=-1), "E0622", "bytes")
    refused(lambda: rig.compare(steps=5), "E0622", "list")  # type: ignore[arg-type]
    refused(lambda: rig.compare(methods="zoh"), "E0622", "['zoh']")
    refused(lambda: costep.sweep(rig, {"ck": 5}), "E0622", "levels of `ck`")  # type: ignore[dict-item]
    assert rig.run(stop=np.timedelta64(10, "ms"), step=datetime.timedelta(milliseconds=5)).time[-1] == 0.01


def test_connections_and_signals() -> None:
    def new() -> costep.System:
        return costep.System.new(left="dual-mass/s1", right="dual-mass/s2")

    refused(lambda: new().connect(1, "right.x"), "E0622", "an output is text")  # type: ignore[arg-type]
    refused(lambda: new().connect("left.x", "right.x", gain=float("nan")), "E0622", "a gain is nan")
    refused(lambda: new().connect("left.x\udc80", "right.x"), "E0622", "Unicode")
    refused(lambda: new().add("left", "dual-mass/s1"), "E0622", "another part `left`")
    refused(lambda: new().add(5, "dual-mass/s1"), "E0622", "is text")  # type: ignore[arg-type]
    refused(lambda: costep.System(None), "E0622", "System.new")  # type: ignore[arg-type]
    refused(lambda: costep.System("dual\0mass"), "E0207")
    for signal in ("abc", float("nan"), {}, {"sine": {"amplitude": 1.0}}, (1, 2, 3), ([0, 1], [1])):
        refused(lambda signal=signal: new().drive("left.F", signal), "E0622")  # type: ignore[misc]
    refused(lambda: costep.System("dual-mass").drive('s1"]', 1.0), "E0622", "rig.inputs")
    refused(lambda: costep.System.new().run(stop=1, step=0.1), "E0212", "no parts")


def test_shapes() -> None:
    refused(lambda: costep.LTI([[1, 2]], [[1]], [[1]]), "E0622", "A has the shape (1, 2)")
    refused(lambda: costep.LTI([[1]], [[1]], [[1]], x0=[1, 2]), "E0622", "2 entries")
    refused(lambda: costep.LTI([[np.nan]], [[1]], [[1]]), "E0622", "finite")
    refused(lambda: costep.TransferFunction([1, 0, 0], [1, 1]), "E0622")
    refused(lambda: costep.System.new(part=3), "E0622", "step")
    for bad in ([["a"]], [[1j]], [[1, 2], [3]]):
        refused(lambda bad=bad: costep.LTI(bad, [[1]], [[1]]), "E0622", "real numbers")  # type: ignore[misc]
    refused(lambda: costep.LTI([[1]], [[1, 1]], [[1]], inputs=["u", "u"]), "E0622", "two ports `u`")
    refused(lambda: costep.Function(5, inputs=["u"], outputs=["y"]), "E0622", "called")  # type: ignore[arg-type]
    refused(lambda: costep.Function(print, inputs=["u"], outputs=["y"], x0=[np.inf]), "E0622", "finite")

    class Part:
        inputs, outputs = ["u"], ["y"]
        given: object = 0.0

        def step(self, t: float, dt: float, u: np.ndarray) -> object:
            return self.given

    for ports in (10**9, -1, [None], ["y", "y"], "y"):
        wrong = type("Wrong", (Part,), {"outputs": ports})
        refused(lambda wrong=wrong: costep.System.new(part=wrong), "E0622")  # type: ignore[misc]
    shapes = ("abc", [1.0, 2.0], np.zeros(3))
    kinds = (None, 1j, {"y": 1.0}, 10**400, object(), (value for value in [1.0]), np.array([object()]))
    for code, wanted in (("E0621", shapes), ("E0620", kinds)):
        for given in wanted:
            rig = costep.System.new(part=type("Gives", (Part,), {"given": property(lambda self, it=given: it)}))
            rig.drive("part.u", 0.0)
            refused(lambda rig=rig: rig.run(stop=1, step=0.1), code, "part.step")  # type: ignore[misc]


def test_wrong_types_are_refused_where_they_are_given() -> None:
    rig, calls = costep.System("dual-mass"), []

    def never(work: Callable[[], object]) -> None:
        calls.append(work)

    never(lambda: costep.System("dual-mass", set=[1, 2]))  # type: ignore[arg-type]
    never(lambda: costep.System("dual-mass", set={5: 1.0}))  # type: ignore[dict-item]
    never(lambda: costep.System("dual-mass", set={"ck": "\udc80"}))
    never(lambda: costep.System.from_toml(5))  # type: ignore[arg-type]
    never(lambda: costep.System.new(5))  # type: ignore[arg-type]
    never(lambda: rig["s1"].set(5))  # type: ignore[arg-type]
    never(lambda: rig.drive("s1.F", {"sine": 5}))
    for name, value in {
        "record": 5,
        "reference": None,
        "verify": "x",
        "schedule": 5,
        "checkpoint": -1,
        "memory_limit": 1.5,
        "progress": "yes",
    }.items():
        never(lambda given={name: value}: rig.run(**given))  # type: ignore[misc]
    never(lambda: rig.compare(methods=[1]))  # type: ignore[list-item]
    never(lambda: rig.map([1]))  # type: ignore[arg-type]
    never(lambda: rig.map({"ck": 5}))  # type: ignore[dict-item]
    never(lambda: rig.map(steps=["1 ms", "2 ms"], jobs=0))
    for made in (rig.identify, rig.save, costep.load, costep.inspect, costep.methods, costep.reproduce, costep.explain):
        never(lambda made=made: made(5))  # type: ignore[misc]
    # A number is an open file elsewhere: it would be written to.
    result = rig.run(stop=0.01)
    never(lambda: result.report(1))  # type: ignore[arg-type]
    never(lambda: result[["s1.x"]])  # type: ignore[index]
    never(lambda: result.plot([]))
    never(lambda: costep.new_project("there"))
    never(lambda: costep.LTI([[1.0]], [[1.0]], [[1.0]], inputs=[["u"]]))  # type: ignore[list-item]
    with rig.start(step="1 ms") as sim:
        for wrong in (lambda: sim[5], lambda: sim.change_method(5), lambda: sim.__setitem__(5, 1.0)):  # type: ignore[arg-type, index]
            refused(wrong, "E0622")
    for work in calls:
        refused(work, "E0506" if work is calls[-4] else "E0622")
    refused(lambda: result.report("/nowhere/page.html"), "E0201", "/nowhere/page.html")
    refused(lambda: rig.stability(method="zoh", steps=["1 ms"], report="/nowhere/page.html"), "E0201", "/nowhere")
    own = costep.Error("of somebody else")
    assert (own.code, own.hint, own.place) == ("", "", None) and not own.errors


def test_wrong_sweeps(tmp_path: pathlib.Path) -> None:
    rig, grid = costep.System("dual-mass"), {"step": ["1 ms"]}
    (tmp_path / "junk").write_bytes(b"\xe1\n")
    for given in (
        {"workers": -1},
        {"workers": "a"},
        {"runs_per_task": 0},
        {"measure": 5},
        {"on_row": 5},
        {"measure": lambda result: 5.0},
        {"resume": tmp_path},
        {"resume": tmp_path / "junk"},
        {"resume": "/nowhere/rows"},
        {"resume": 5},
    ):
        with pytest.raises(costep.Error) as raised:
            costep.sweep(rig, grid, **given)  # type: ignore[arg-type]
        assert len(raised.value.hint) > 10
    for wrong in (None, 5, [5], "step"):
        refused(lambda wrong=wrong: costep.sweep(rig, wrong), "E0622")  # type: ignore[misc]
    refused(lambda: costep.sweep("dual-mass", grid), "E0622", "costep.System")  # type: ignore[arg-type]


def test_a_copy_is_changed_alone() -> None:
    rig = costep.System("dual-mass")
    other = copy.copy(rig)
    other.set(ck=2e5)
    assert not np.array_equal(rig.run(stop=0.05)["s1.x"], other.run(stop=0.05)["s1.x"])
    assert np.array_equal(rig.run(stop=0.05)["s1.x"], costep.System("dual-mass").run(stop=0.05)["s1.x"])


def test_methods_that_ask_for_too_much() -> None:
    for key, value in (("order", 10**9), ("order", -1), ("history", 10**12), ("history", 1.5)):
        method = type("Method", (), {key: value, "extrapolate": lambda self, t, h, z, past: z})
        refused(lambda m=method: costep.System("dual-mass").run(method=m()), "E0622", key)  # type: ignore[misc]


def test_what_only_files_and_compiled_parts_can() -> None:
    class Part:
        inputs, outputs = ["u"], ["y"]

        def step(self, t: float, dt: float, u: np.ndarray) -> float:
            return 0.0

    rig = costep.System.new(part=Part)
    rig.drive("part.u", 0.0)
    rig.set({"system.stop": "1 s", "step.size": "0.1 s"})
    refused(lambda: rig.save("there"), "E0622", "pickle")
    refused(lambda: rig.export_ssp("rig.ssp"), "E0622", "pickle")
    refused(lambda: rig.map({"a": [1, 2]}), "E0622", "costep.sweep")
    refused(lambda: rig.stability(method="zoh"), "E0711", "part")
    refused(lambda: costep.export_fmu(Part, "there"), "E0622", "built-in models")  # type: ignore[arg-type]
    refused(lambda: costep.System("dual-mass").advise(error=5), "E0205", "1e-3")
    refused(lambda: costep.System("dual-mass").advise(error="much"), "E0622", "a number")  # type: ignore[arg-type]


def test_closed_and_finished() -> None:
    rig = costep.System("dual-mass")
    sim = rig.start(step="1 ms")
    other = rig.start(step="1 ms")
    state = other.snapshot()
    refused(lambda: sim.restore(state), "E0622", "another simulation")
    refused(lambda: sim["s1.y"], "E0215", "s1.x")
    refused(lambda: sim.__setitem__("s1.F", 1.0), "E0304", "nothing drives")
    for count in (-1, 10**30, "a", 1.5):
        refused(lambda count=count: sim.step(count), "E0622", "macro steps")  # type: ignore[misc]
    refused(lambda: sim.run_until(float("nan")), "E0622", "finite")
    refused(lambda: sim.restore(5), "E0622", "snapshot()")  # type: ignore[arg-type]
    sim.step()
    refused(lambda: sim.__setitem__("s1.F", "a"), "E0622", "a number")  # type: ignore[arg-type]
    # Steps behind the end are none.
    other.step(2**63 - 1)
    assert other.is_done and other.time == rig.stop
    result = sim.finish()
    assert len(result) == 2
    refused(lambda: result[3], "E0506")  # type: ignore[index]
    for work in (sim.step, sim.finish, sim.snapshot, lambda: sim.time, lambda: sim.run_until(1.0)):
        refused(work, "E0622", "closed")
    sim.close()
    assert "closed" in repr(sim)


def test_use_after_an_error() -> None:
    rig = costep.System("dual-mass").set({"step.size": "5 ms"})
    sim = rig.start(method="foh", stop=10)
    start = sim.snapshot()
    error = refused(lambda: sim.run_until(10.0), "E0601")
    assert error.place is not None and error.place["time"] > 0
    refused(sim.step, "E0601")
    sim.restore(start)
    sim.step()
    assert sim.number == 1
    raised = refused(lambda: rig.run(method="foh", stop=10), "E0601")
    assert raised.result.verdict == "diverged" and len(raised.result) > 5
    assert rig.run(method="foh", stop=10, check=False).failure.code == "E0601"


def test_pickling(pair: costep.System) -> None:
    again = pickle.loads(pickle.dumps(pair))
    result = again.run()
    copy = pickle.loads(pickle.dumps(result))
    assert copy.verdict == result.verdict and np.array_equal(copy["s1.x"], result["s1.x"])
    assert copy.to_polars().equals(result.to_polars())
    with pytest.raises(TypeError, match="send the system"):
        pickle.dumps(costep.System("dual-mass").start())
    error = refused(lambda: costep.System("nothing"), "E0207")
    same = pickle.loads(pickle.dumps(error))
    assert (same.code, same.hint, str(same)) == (error.code, error.hint, str(error))


@pytest.mark.parametrize("fault", ["SEGV", "EXIT"])
def test_an_fmu_that_ends_its_process_does_not_end_python(faulty: Callable[[str], pathlib.Path], fault: str) -> None:
    rig = costep.System.new(
        bad=faulty(fault), plant=costep.LTI([[-1.0]], [[1.0]], [[1.0]], inputs=["u"], outputs=["y"])
    )
    rig.connect("bad.y", "plant.u")
    rig.connect("plant.y", "bad.u")
    error = refused(lambda: rig.run(stop=1, step="1 ms", method="zoh"), "E0405", "bad", "fmi2DoStep")
    assert error.place is not None and abs(error.place["time"] - 0.05) < 2e-3
    assert error.result.verdict == "failed"
    recorded = refused(lambda: rig.run(stop=1, step="1 ms", method="zoh", record="run"), "E0405")
    # Every row until the crash is there.
    assert len(recorded.result) == 51 == len(costep.load("run"))
    with rig.start(stop=1, step="1 ms", method="zoh") as sim:
        refused(lambda: sim.run_until(1.0), "E0405", "bad")
        refused(sim.step, "E0405")
    assert rig.run(stop=0.04, step="1 ms", method="zoh").failure is None


def test_an_fmu_that_crashes_costs_a_comparison_its_runs_only(faulty: Callable[[str], pathlib.Path]) -> None:
    rig = costep.System.new(
        bad=faulty("SEGV"), plant=costep.LTI([[-1.0]], [[1.0]], [[1.0]], inputs=["u"], outputs=["y"])
    )
    rig.connect("bad.y", "plant.u")
    rig.connect("plant.y", "bad.u")
    table = rig.compare(methods=["zoh"], steps=["1 ms", "20 ms"], stop=0.06, reference="none", progress=False)
    assert [row["failure"]["code"] if row["failure"] else None for row in table] == ["E0405", None]

    class Hold:
        def extrapolate(self, t: float, h: float, z: np.ndarray, past: list) -> np.ndarray:
            return z

    # FMUs beside a method in Python are in processes of their own too.
    rows = costep.sweep(rig, [{"method": Hold(), "step": "1 ms", "stop": 0.06}])
    assert rows[0]["verdict"] == "failed" and rows[0]["failure"].startswith("E0405")


def test_an_fmu_that_hangs_is_ended(faulty: Callable[[str], pathlib.Path]) -> None:
    rig = costep.System.new(bad=faulty("HANG"))
    rig.set({"fmu.bad.step_timeout": "1 s"})
    refused(lambda: rig.run(stop=1, step="1 ms", method="zoh"), "E0406", "bad")
