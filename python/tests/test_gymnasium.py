"""Systems as environments."""

from __future__ import annotations

import pathlib

import costep
import numpy as np
import pytest
from costep.gymnasium import Env
from gymnasium.utils.env_checker import check_env


def tank() -> costep.System:
    part = costep.LTI([[-0.1]], [[1.0]], [[1.0]], inputs=["flow"], outputs=["level"], x0=[2.0])
    rig = costep.System.new(tank=part)
    rig.drive("tank.flow", 0.0)
    return rig


def env(**more: object) -> Env:
    return Env(
        tank(),
        {"tank.flow": (-1, 1)},
        {"tank.level": (-100, 100)},
        step="0.1 s",
        stop=5.0,
        **more,  # type: ignore[arg-type]
    )


def test_it_is_an_environment() -> None:
    check_env(env(reward=lambda seen, action: -abs(float(seen[0]))), skip_render_check=True)


def test_episodes_begin_at_the_same_state_and_follow_the_exact_solution() -> None:
    made = env(terminated=lambda seen, action: bool(seen[0] > 3.0))
    for _ in range(3):
        seen, _ = made.reset(seed=1)
        assert seen[0] == 2.0
        level, decay = 2.0, np.exp(-0.01)
        for flow in (1.0, -1.0, 0.5):
            seen, reward, ended, truncated, info = made.step([flow])
            level = decay * level + 10.0 * (1.0 - decay) * flow
            assert abs(seen[0] - level) < 1e-6 and (reward, ended, truncated) == (0.0, False, False)
    assert made.restarts == 1, "by snapshot"
    seen, _ = made.reset()
    steps = 0
    while not ended:
        seen, _, ended, truncated, _ = made.step([1.0])
        steps += 1
    assert seen[0] > 3.0 and steps > 5
    made.reset()
    for _ in range(50):
        *_, ended, truncated, _ = made.step([0.0])
    assert truncated and not ended
    made.close()


def test_an_fmu_that_cannot_store_its_state_starts_anew(real: pathlib.Path) -> None:
    rig = costep.System(
        real / "libcosim/tests/data/fmi1/identity.fmu", set={"step.size": "0.1 s", "system.stop": "1 s"}
    )
    assert rig.driven == []
    rig.drive("identity.realIn", 0.0)
    assert rig.driven == ["identity.realIn"]
    made = Env(rig, ["identity.realIn"], ["identity.realOut"])
    for expected in (0.25, 0.75):
        made.reset()
        seen, *_ = made.step([expected])
        assert seen[0] == expected
    assert made.restarts == 2
    made.close()


def test_failures_end_episodes() -> None:
    class Bomb:
        inputs, outputs = ["u"], ["y"]

        def step(self, t: float, dt: float, u: np.ndarray) -> float:
            if u[0] > 0.5:
                raise ValueError("too much")
            return float(u[0])

    rig = costep.System.new(bomb=Bomb)
    rig.drive("bomb.u", 0.0)
    made = Env(rig, ["bomb.u"], ["bomb.y"], step=0.1, stop=10, penalty=-5.0)
    made.reset()
    assert made.step([0.4])[0][0] == 0.4
    _, reward, ended, _, info = made.step([0.6])
    assert (reward, ended, info["error"].code) == (-5.0, True, "E0620")
    made.reset()
    assert made.step([0.4])[0][0] == 0.4
    with pytest.raises(costep.Error, match="cannot be an action"):
        Env(costep.System("dual-mass"), ["s1.F"], ["s1.x"])
