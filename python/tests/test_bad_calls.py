"""Whatever is called wrongly raises an exception that says what to do."""

from __future__ import annotations

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
    with pytest.raises(TypeError):
        rig.set(ck=object())


def test_shapes() -> None:
    refused(lambda: costep.LTI([[1, 2]], [[1]], [[1]]), "E0622", "A has the shape (1, 2)")
    refused(lambda: costep.LTI([[1]], [[1]], [[1]], x0=[1, 2]), "E0622", "2 entries")
    refused(lambda: costep.LTI([[np.nan]], [[1]], [[1]]), "E0622", "finite")
    refused(lambda: costep.TransferFunction([1, 0, 0], [1, 1]), "E0622")
    refused(lambda: costep.System.new(part=3), "E0622", "step")


def test_closed_and_finished() -> None:
    rig = costep.System("dual-mass")
    sim = rig.start(step="1 ms")
    other = rig.start(step="1 ms")
    state = other.snapshot()
    refused(lambda: sim.restore(state), "E0622", "another simulation")
    refused(lambda: sim["s1.y"], "E0215", "s1.x")
    refused(lambda: sim.__setitem__("s1.F", 1.0), "E0304", "nothing drives")
    sim.step()
    result = sim.finish()
    assert len(result) == 2
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


def test_an_fmu_that_hangs_is_ended(faulty: Callable[[str], pathlib.Path]) -> None:
    rig = costep.System.new(bad=faulty("HANG"))
    rig.set({"fmu.bad.step_timeout": "1 s"})
    refused(lambda: rig.run(stop=1, step="1 ms", method="zoh"), "E0406", "bad")
