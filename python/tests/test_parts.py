"""Parts and coupling methods that are made in code."""

from __future__ import annotations

import contextlib
import importlib.util
import math
import pathlib
import subprocess
import sys

import control
import costep
import numpy as np
import pytest
import scipy.signal

A = np.array([[0.0, 1.0], [-100.0, -1.0]])
B = np.array([[0.0], [1.0]])
C = np.array([[1.0, 0.0]])


def loop(plant: object, port: str = "u", out: str = "y") -> costep.System:
    """A plant with a gain that feeds back."""
    rig = costep.System.new(plant=plant, gain=costep.LTI([], [], [], [[-20.0]], inputs=["e"], outputs=["u"]))
    rig.connect(f"plant.{out}", "gain.e")
    rig.connect("gain.u", f"plant.{port}")
    return rig


def test_linear_parts_against_the_matrix_exponential() -> None:
    start = [1.0, 0.0]
    rig = loop(costep.LTI(A, B, C, inputs={"u": "N"}, outputs={"y": "m"}, x0=start))
    result = rig.run(stop=2, step="1 ms", solver="exact", method="predictive:order=3")
    closed = scipy.signal.StateSpace(A - 20.0 * B @ C, B, C, 0)
    _, exact, _ = scipy.signal.lsim(closed, np.zeros(len(result)), result.time, X0=start)
    assert np.max(np.abs(result["plant.y"] - exact)) < 1e-5
    assert result.units["plant.y"] == "m"


@pytest.mark.parametrize(
    "plant",
    [
        costep.TransferFunction([1.0], [1.0, 1.0, 100.0]),
        scipy.signal.TransferFunction([1.0], [1.0, 1.0, 100.0]),
        scipy.signal.StateSpace(A, B, C, [[0.0]]),
        control.tf([1.0], [1.0, 1.0, 100.0]),
        control.ss(A, B, C, [[0.0]]),
    ],
    ids=["ours", "scipy tf", "scipy ss", "control tf", "control ss"],
)
def test_transfer_functions_of_three_packages_are_the_same(plant: object) -> None:
    rig = costep.System.new(plant=plant)
    rig.drive("plant.u", 1.0)
    result = rig.run(stop=2, step="1 ms", solver="exact")
    _, exact = scipy.signal.step(scipy.signal.StateSpace(A, B, C, [[0.0]]), T=result.time)
    assert np.max(np.abs(result["plant.y"] - exact)) < 1e-9


def test_discrete_time_is_refused() -> None:
    with pytest.raises(costep.Error, match="discrete time"):
        costep.System.new(plant=control.tf([1.0], [1.0, -0.5], 0.1))


class Plant:
    """The same plant as equations in Python."""

    inputs, outputs, x0 = {"u": "N"}, {"y": "m"}, [1.0, 0.0]

    def derivatives(self, t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        return A @ x + B @ u

    def output(self, t: float, x: np.ndarray, u: np.ndarray) -> float:
        return float(x[0])


def test_equations_in_python_are_those_of_a_linear_part() -> None:
    ours = loop(Plant()).run(stop=1, step="5 ms", solver="dopri5:1e-9")
    native = loop(costep.LTI(A, B, C, x0=[1.0, 0.0])).run(stop=1, step="5 ms", solver="dopri5:1e-9")
    assert ours.verdict == native.verdict == "stable"
    assert np.max(np.abs(ours["plant.y"] - native["plant.y"])) < 1e-6
    assert np.allclose(loop(Plant).run(stop=1, step="5 ms", solver="dopri5:1e-9")["plant.y"], ours["plant.y"], 0, 0)


class Controller:
    """A sampled PI controller."""

    inputs, outputs = ["speed"], ["voltage"]

    def __init__(self, target: float = 100.0) -> None:
        self.target, self.sum = target, 0.0

    def start(self, t: float, u: np.ndarray) -> float:
        return 1.0

    def step(self, t: float, dt: float, u: np.ndarray) -> float:
        error = self.target - u[0]
        self.sum += error * dt
        return 0.05 * error + 0.5 * self.sum


def motor(controller: object) -> costep.System:
    rig = costep.System.new(
        motor=costep.LTI([[-2.0]], [[20.0]], [[1.0]], inputs=["voltage"], outputs=["speed"]), controller=controller
    )
    rig.connect("motor.speed", "controller.speed")
    rig.connect("controller.voltage", "motor.voltage")
    return rig


def test_a_part_that_steps_by_itself() -> None:
    controller = Controller()
    rig = motor(controller)
    result = rig.run(stop=5, step="10 ms", method="zoh")
    assert abs(result["motor.speed"][-1] - 100.0) < 1.0
    assert result["controller.voltage"][0] == 1.0
    # By hand: the motor has an exact solution over a step under a held voltage.
    speed, voltage, other = 0.0, 1.0, Controller()
    decay = math.exp(-2.0 * 0.01)
    for k in range(1, len(result)):
        held, seen = voltage, speed
        voltage = other.step(0.0, 0.01, np.array([seen]))
        speed = decay * speed + 10.0 * (1.0 - decay) * held
        assert abs(result["motor.speed"][k] - speed) < 1e-6 and abs(result["controller.voltage"][k] - voltage) < 1e-6
    # Every run has a controller of its own.
    assert controller.sum == 0.0
    again = rig.run(stop=5, step="10 ms", method="zoh")
    assert np.array_equal(again["motor.speed"], result["motor.speed"])


def test_snapshots_of_parts_in_python() -> None:
    with motor(Controller).start(step="10 ms", stop=5, method="zoh") as sim:
        sim.run_until(1.0)
        state = sim.snapshot()
        sim.run_until(2.0)
        there = sim.outputs
        sim.restore(state)
        assert sim.time == 1.0 == state.time
        sim.run_until(2.0)
        assert np.array_equal(sim.outputs, there)


def test_the_method_can_be_changed(pair: costep.System) -> None:
    whole = pair.run(method="zoh", step="0.2 ms", verify=False)
    with pair.start(method="zoh", step="0.2 ms") as sim:
        sim.step(200)
        # A hold remembers nothing: beginning anew with it changes nothing.
        sim.change_method("zoh")
        sim.run_until(1.0)
        same = sim.finish()
    assert np.array_equal(same["s1.x"], whole["s1.x"]) and np.array_equal(same["s2.F"], whole["s2.F"])
    with pair.start(method="zoh", step="1 ms") as sim:
        sim.step(20)
        x = sim["s1.x"]
        sim.change_method("predictive")
        assert sim["s1.x"] == x and sim.number == 20
        sim.run_until(1.0)
        better = sim.finish()
    reference = pair.run(method="predictive", step="0.1 ms", verify=False)
    held = pair.run(method="zoh", step="1 ms", verify=False)

    def off(result: costep.Result) -> float:
        # From the change on a run follows the solution from where it was; compare the growth of the error.
        return float(
            np.max(np.abs(result["s1.x"] - reference["s1.x"][:: len(reference) // (len(result) - 1)][: len(result)]))
        )

    assert off(better) < off(held)
    with pytest.raises(costep.Error, match="zho"), pair.start() as sim:
        sim.change_method("zho")


def test_a_part_in_python_beside_fmus(fmus: pathlib.Path) -> None:
    class Damper:
        inputs, outputs = {"x": "m", "v": "m/s"}, {"F": "N"}

        def step(self, t: float, dt: float, u: np.ndarray) -> list[float]:
            return [-1e3 * u[0] - 50.0 * u[1]]

    rig = costep.System.new(mass=fmus / "s1.fmu", damper=Damper)
    rig.connect("mass.x", "damper.x")
    rig.connect("mass.v", "damper.v")
    rig.connect("damper.F", "mass.F")
    result = rig.run(stop=0.05, step="0.1 ms", method="zoh")
    assert result.failure is None and len(result) == 501


class Line:
    """A line through the last two values, as `foh` has it."""

    order, history = 1, 1

    def extrapolate(self, t: float, h: float, z: np.ndarray, past: list) -> list[np.ndarray]:
        if not past:
            return [z, np.zeros_like(z)]
        before, values = past[0]
        return [z, (z - values) / (t - before)]


def test_a_method_in_python_is_that_of_costep() -> None:
    rig = costep.System("dual-mass")
    ours, theirs = rig.run(method=Line(), step="0.5 ms"), rig.run(method="foh", step="0.5 ms")
    assert np.allclose(ours["s1.x"], theirs["s1.x"], rtol=1e-12, atol=1e-12)
    assert ours.verdict == theirs.verdict


def test_errors_of_methods() -> None:
    class Wrong:
        def extrapolate(self, t: float, h: float, z: np.ndarray, past: list) -> list[float]:
            return [1.0]

    class Broken:
        def extrapolate(self, t: float, h: float, z: np.ndarray, past: list) -> list[float]:
            raise ZeroDivisionError("why")

    rig = costep.System("dual-mass")
    with pytest.raises(costep.Error, match="gave 1 values instead of 3") as wrong:
        rig.run(method=Wrong())
    assert wrong.value.code == "E0621"
    with pytest.raises(costep.Error, match="raised ZeroDivisionError") as broken:
        rig.run(method=Broken())
    assert broken.value.code == "E0620" and isinstance(broken.value.__cause__, ZeroDivisionError)
    with pytest.raises(costep.Error, match="no coupling method"):
        rig.run(method=3)


def test_exceptions_of_parts() -> None:
    class Fails(Controller):
        def step(self, t: float, dt: float, u: np.ndarray) -> float:
            if t > 0.5:
                raise ValueError("too late")
            return 0.0

    with pytest.raises(costep.Error, match="too late") as raised:
        motor(Fails).run(stop=1, step="10 ms")
    error = raised.value
    assert error.code == "E0620" and isinstance(error.__cause__, ValueError) and abs(error.place["time"] - 0.51) < 0.02
    assert len(error.result) > 50
    bad = costep.Function(lambda t, x, u: [x[0], x[0]], inputs=["u"], outputs=["y"], x0=[1.0])
    with pytest.raises(costep.Error, match="gave 2 values instead of 1"):
        loop(bad).run(stop=1, step=0.1)


def test_parts_that_cannot_be_made_say_why() -> None:
    class Fails(Controller):
        def __init__(self) -> None:
            raise ValueError("not today")

    for work in (lambda: motor(Fails).run(stop=1, step=0.1), lambda: motor(Fails).start(stop=1, step=0.1)):
        with pytest.raises(costep.Error, match="not today") as raised:
            work()
        assert raised.value.code == "E0620" and isinstance(raised.value.__cause__, ValueError)


def test_ports_are_known_before_they_are_connected() -> None:
    rig = costep.System.new(motor=costep.LTI([[-2.0]], [[20.0]], [[1.0]], inputs={"U": "V"}, outputs=["n"]), c=Controller)
    assert rig.inputs == ["motor.U", "c.speed"] and rig.outputs == ["motor.n", "c.voltage"]
    assert rig["motor"].units == {"U": "V"} and rig["c"].inputs == ["speed"]
    assert "has no source" in repr(rig)
    with pytest.raises(costep.Error, match="no source"):
        rig.run(stop=1, step=0.1)


def test_parts_that_do_other_things_than_compute() -> None:
    class Part:
        inputs, outputs = ["u"], ["y"]

        def step(self, t: float, dt: float, u: np.ndarray) -> float:
            return self.act()

        def act(self) -> float:
            return 0.0

    def run(act: object) -> costep.Result:
        rig = costep.System.new(part=type("Acts", (Part,), {"act": act}))
        rig.drive("part.u", 0.0)
        return rig.run(stop=0.5, step=0.1)

    def raises(error: BaseException) -> object:
        def act(self: object) -> float:
            raise error

        return act

    for error in (KeyboardInterrupt(), SystemExit(3)):
        with pytest.raises(type(error)):
            run(raises(error))
    with pytest.raises(costep.Error, match="maximum recursion") as deep:
        run(lambda self: self.act())
    assert deep.value.code == "E0620"
    with pytest.raises(costep.Error, match="raised Error") as own:
        run(lambda self: costep.System("dual-mas"))
    assert own.value.code == "E0620" and isinstance(own.value.__cause__, costep.Error)
    inner = run(lambda self: float(costep.System("dual-mass").run(stop=0.01)["s1.x"][-1]))
    assert inner["part.y"][-1] == costep.System("dual-mass").run(stop=0.01)["s1.x"][-1]

    sims: list[costep.Simulation] = []

    def closes(self: object) -> float:
        sims[0].close()
        return 0.0

    rig = costep.System.new(part=type("Closes", (Part,), {"act": closes}))
    rig.drive("part.u", 0.0)
    sims.append(rig.start(stop=1, step=0.1))
    with contextlib.suppress(costep.Error):
        sims[0].step(3)


def test_analyses_of_parts_in_code(tmp_path: pathlib.Path) -> None:
    """Linear parts go to files and to other processes; parts in Python are looked at here, with the same results."""

    def rig(plant: object) -> costep.System:
        made = loop(plant)
        return made.set({"system.stop": "1 s", "step.size": "5 ms", "system.solver": "dopri5:1e-9"})

    linear, python = rig(costep.LTI(A, B, C, inputs={"u": "N"}, outputs={"y": "m"}, x0=[1.0, 0.0])), rig(Plant())
    opened = costep.System(linear.save(tmp_path / "saved"))
    assert np.array_equal(opened.run()["plant.y"], linear.run()["plant.y"])
    assert opened.connections == linear.connections and opened.run().units["plant.y"] == "m"
    for system in (linear, python):
        assert system.check()["ok"]
        models = system.identify(tmp_path / "models.toml")["models"]
        assert {model["part"] for model in models} == {"plant", "gain"}
        assert system.run(method=f"identified:file={tmp_path / 'models.toml'}").verdict == "stable"
        chosen = system.advise(1e-2, methods=["zoh", "predictive"], equal_steps=True)["choice"]
        assert chosen["reaches"] and chosen["error"] <= 1e-2
    radii = [system.stability(method="zoh")["steps"][0]["radius"] for system in (linear, python)]
    assert radii[0] == pytest.approx(radii[1], rel=1e-5)
    table = linear.map(steps=["1 ms", "5 ms"], methods=["zoh", "predictive"]).to_pandas()
    assert len(table) == 4 and set(table.verdict) <= {"stable", "inaccurate"}
    assert "linear" in linear.graph()


JAX = """
import costep, jax
import numpy as np
jax.config.update("jax_enable_x64", True)
A, B = np.array([[0.0, 1.0], [-100.0, -1.0]]), np.array([[0.0], [1.0]])

def end(plant):
    rig = costep.System.new(plant=plant, gain=costep.LTI([], [], [], [[-20.0]], inputs=["e"], outputs=["u"]))
    rig.connect("plant.y", "gain.e")
    rig.connect("gain.u", "plant.u")
    return rig.run(stop=0.2, step="5 ms", solver="dopri5:1e-9")["plant.y"]

f = jax.jit(lambda t, x, u: A @ x + B @ u)
ours = end(costep.Function(f, inputs=["u"], outputs=["y"], x0=[1.0, 0.0], output=lambda t, x, u: x[0]))
native = end(costep.LTI(A, B, [[1.0, 0.0]], x0=[1.0, 0.0]))
print(float(np.max(np.abs(ours - native))))
"""


def test_functions_of_jax() -> None:
    """In a process of its own: its threads do not go with the forks of other tests."""
    if importlib.util.find_spec("jax") is None:
        pytest.skip("JAX is not installed")
    done = subprocess.run([sys.executable, "-c", JAX], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1e-6


def test_functions_of_torch() -> None:
    torch = pytest.importorskip("torch")

    class Plant(torch.nn.Module):
        def forward(self, t, x, u):  # type: ignore[no-untyped-def]
            return torch.from_numpy(A) @ x + torch.from_numpy(B) @ u

    class Weighted(torch.nn.Module):
        """With weights of single precision, as is usual."""

        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 2, bias=False)
            with torch.no_grad():
                self.layer.weight.copy_(torch.from_numpy(np.hstack([A, B])))

        def forward(self, t, x, u):  # type: ignore[no-untyped-def]
            return self.layer(torch.cat([x, u]))

    @torch.jit.script
    def compiled(t: float, x: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
        return torch.stack([x[1], -100.0 * x[0] - x[1] + u[0]])

    native = loop(costep.LTI(A, B, C, x0=[1.0, 0.0])).run(stop=0.2, step="5 ms", solver="dopri5:1e-9")
    for function, solver, error in (
        (Plant(), "dopri5:1e-9", 1e-6),
        (compiled, "dopri5:1e-9", 1e-6),
        (Weighted(), "rk4:1ms", 1e-4),
    ):
        part = costep.Function(function, inputs=["u"], outputs=["y"], x0=[1.0, 0.0], output=lambda t, x, u: x[0])
        result = loop(part).run(stop=0.2, step="5 ms", solver=solver)
        assert np.max(np.abs(result["plant.y"] - native["plant.y"])) < error
    # A module without states.
    gain = torch.nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        gain.weight.fill_(-20.0)

    class Static(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gain = gain

        def forward(self, t, u):  # type: ignore[no-untyped-def]
            return self.gain(u)

    rig = costep.System.new(
        plant=costep.LTI(A, B, C, x0=[1.0, 0.0]), gain=costep.Function(Static(), inputs=["e"], outputs=["u"])
    )
    rig.connect("plant.y", "gain.e")
    rig.connect("gain.u", "plant.u")
    result = rig.run(stop=0.2, step="5 ms", solver="dopri5:1e-9")
    assert np.max(np.abs(result["plant.y"] - native["plant.y"])) < 1e-5
