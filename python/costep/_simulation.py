"""A run step by step."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _costep
from ._errors import misuse, read_json
from ._result import Result
from ._text import Time, number, seconds
from ._text import name as name_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Snapshot = _costep.State
"""A state of a simulation to go back to."""


class Simulation:
    """A system that is being simulated; see :meth:`costep.System.start`.

    >>> import costep
    >>> sim = costep.System("dual-mass").start(step="1 ms")
    >>> sim.step(5)
    >>> state, x = sim.snapshot(), sim["s1.x"]
    >>> sim.run_until("20 ms")
    >>> sim.restore(state)
    >>> sim["s1.x"] == x
    True
    >>> sim.close()
    """

    def __init__(self, core: _costep.Core, stepper: _costep.Stepper) -> None:
        self._core_of, self._stepper = core, stepper
        self.step = stepper.step
        """Does so many macro steps, one if nothing is said."""

    @property
    def time(self) -> float:
        """The present communication point in s."""
        return self._stepper.time

    @property
    def number(self) -> int:
        """Macro steps so far."""
        return self._stepper.number

    @property
    def is_done(self) -> bool:
        """Whether the stop time is reached, or an error has ended the run."""
        return self._stepper.is_done

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._stepper.is_closed

    def run_until(self, time: Time) -> None:
        """Goes on to the first communication point at or after this time, or to the end of the run."""
        self._stepper.run_until(seconds(time))

    def __getitem__(self, name: str) -> float:
        """An output, or what an input should be now: ``part.port``."""
        try:
            return self._stepper.output(name)
        except TypeError:
            raise misuse(f"{name!r} is no name of a signal", "write `part.port`") from None
        except _costep.Error as error:
            if error.code == "E0622":
                raise
            try:
                return self._stepper.input(name)
            except _costep.Error:
                raise error from None

    def __setitem__(self, name: str, value: float) -> None:
        """Gives an input that is driven from outside another value from now on."""
        value = value if isinstance(value, float) else number(value, f"`{name}`")
        self._stepper.set_input(name_text(name, "the name of an input"), value)

    @property
    def outputs(self) -> NDArray[np.float64]:
        """All outputs, in the order of :attr:`costep.System.outputs`."""
        import numpy as np

        return np.array(self._stepper.outputs())

    def snapshot(self) -> Snapshot:
        """The present state, to be restored later."""
        return self._stepper.snapshot()

    def restore(self, state: Snapshot) -> None:
        """Goes back to a state of this run, also after an error."""
        if not isinstance(state, _costep.State):
            raise misuse(f"{type(state).__name__} is no state of a simulation", "give what `snapshot()` gave")
        self._stepper.restore(state)

    def change_method(self, method: str) -> None:
        """Goes on with another coupling method, which begins as at a start. All parts have to store their states.

        >>> import costep
        >>> with costep.System("dual-mass").start(step="1 ms", method="zoh") as sim:
        ...     sim.step(10)
        ...     sim.change_method("predictive:order=3")
        ...     sim.step(10)
        ...     sim.number
        20
        """
        self._stepper.change_method(name_text(method, "a method"))

    def finish(self) -> Result:
        """Judges what has been computed, and closes it."""
        report, columns = self._stepper.finish()
        return Result(read_json(report), columns, self._core_of)

    def close(self) -> None:
        """Ends it without a verdict."""
        self._stepper.close()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.is_closed:
            self.close()

    def __repr__(self) -> str:
        if self.is_closed:
            return "<Simulation, closed>"
        return f"<Simulation at t = {self.time:.6g} s, step {self.number}>"

    def __reduce__(self) -> Any:
        raise TypeError("a simulation cannot be pickled: send the system, and start it there")
