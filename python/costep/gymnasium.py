"""A system as an environment of gymnasium, for reinforcement learning and other control by trial.

>>> import costep
>>> from costep.gymnasium import Env
>>> tank = costep.LTI([[-0.1]], [[1.0]], [[1.0]], inputs=["flow"], outputs=["level"])
>>> rig = costep.System.new(tank=tank)
>>> rig.drive("tank.flow", 0.0)
>>> env = Env(rig, actions={"tank.flow": (-1, 1)}, observations={"tank.level": (0, 10)}, step="0.1 s", stop=5,
...           reward=lambda seen, action: -abs(float(seen[0]) - 1.0))
>>> seen, info = env.reset(seed=1)
>>> seen, reward, terminated, truncated, info = env.step([1.0])
>>> bool(seen[0] > 0.09), terminated, truncated
(True, False, False)
>>> env.close()
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import gymnasium
import numpy as np

from ._costep import Error
from ._errors import misuse
from ._simulation import Simulation, Snapshot
from ._system import System
from ._text import Time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Base = gymnasium.Env[Array, Array]
else:
    Base = gymnasium.Env

Signals = Union[Mapping[str, tuple[float, float]], Sequence[str]]
"""Names of signals, with the range of each where it is known."""


class Env(Base):
    """A system whose inputs are actions and whose outputs are observations.

    ``actions`` are inputs that are driven from outside (:attr:`System.driven`), ``observations`` any signals, both with
    their ranges. A step of the environment is ``steps_per_action`` macro steps. ``reward`` and ``terminated`` get the
    observations and the action. A run that diverges or fails ends the episode, with ``penalty`` added to the reward and the
    error in ``info``. An episode begins with the state at the start of the first one, where all parts can go back to it;
    else the system is started anew. ``reset(options={"set": {"engine.J": 0.3}})`` changes parameters.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        system: System,
        actions: Signals,
        observations: Signals,
        *,
        step: Time | None = None,
        stop: Time | None = None,
        method: Any = None,
        steps_per_action: int = 1,
        reward: Callable[[Array, Array], float] | None = None,
        terminated: Callable[[Array, Array], bool] | None = None,
        penalty: float = 0.0,
        isolate: bool = True,
    ) -> None:
        self.system = system
        self._settings: dict[str, Any] = {"step": step, "stop": stop, "method": method, "isolate": isolate}
        self.steps_per_action = steps_per_action
        self.reward, self.terminated, self.penalty = reward, terminated, penalty
        self.actions, self.action_space = _space(actions)
        self.observations, self.observation_space = _space(observations)
        self._check_names()
        self._simulation: Simulation | None = None
        self._start: Snapshot | None = None
        self.restarts = 0
        """How often an episode could not begin with a stored state."""

    def _check_names(self) -> None:
        driven = self.system.driven
        for name in self.actions:
            if name not in driven:
                raise misuse(
                    f"`{name}` is not driven from outside, so it cannot be an action",
                    f"call `system.drive({name!r}, 0.0)`; driven are: {', '.join(driven) or 'none'}",
                )
        known = {*self.system.outputs, *self.system.inputs}
        for name in self.observations:
            if name not in known:
                raise misuse(f"there is no signal `{name}` to observe", f"signals are {', '.join(sorted(known)[:12])}")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begins an episode."""
        super().reset(seed=seed)
        changes = (options or {}).get("set")
        if changes:
            self.system = copy.copy(self.system).set(changes)
            self.close()
        if self._simulation is not None and self._start is not None:
            self._simulation.restore(self._start)
        else:
            self.close()
            self._simulation = self.system.start(**self._settings)
            self.restarts += 1
            try:
                self._start = self._simulation.snapshot()
            except Error:
                # A part cannot store its state: every episode starts it anew.
                self._start = None
        return self._observed(), {"time": self._simulation.time}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Applies an action for the next macro steps."""
        if self._simulation is None:
            raise gymnasium.error.ResetNeeded("call reset before step")
        given = np.asarray(action, dtype=float).ravel()
        for name, value in zip(self.actions, given, strict=True):
            self._simulation[name] = value
        info: dict[str, Any] = {}
        failed = False
        try:
            self._simulation.step(self.steps_per_action)
        except Error as error:
            info["error"], failed = error, True
        seen = self._observed()
        info["time"] = self._simulation.time
        reward = 0.0 if self.reward is None else float(self.reward(seen, given))
        ended = failed or (self.terminated is not None and bool(self.terminated(seen, given)))
        truncated = not ended and self._simulation.is_done
        return seen, reward + (self.penalty if failed else 0.0), ended, truncated, info

    def _observed(self) -> Array:
        assert self._simulation is not None
        return np.array([self._simulation[name] for name in self.observations])

    def close(self) -> None:
        """Ends the simulation."""
        if self._simulation is not None:
            self._simulation.close()
        self._simulation = self._start = None


def _space(signals: Signals) -> tuple[list[str], Any]:
    names = list(signals)
    ranges = [signals[name] for name in names] if isinstance(signals, Mapping) else [(-np.inf, np.inf)] * len(names)
    low, high = (np.array([pair[end] for pair in ranges], dtype=float) for end in (0, 1))
    return names, gymnasium.spaces.Box(low, high, dtype=np.float64)
