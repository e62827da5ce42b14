"""Parts of systems, to be looked at and changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._text import pairs, quoted

if TYPE_CHECKING:
    from ._system import System


class Part:
    """A part of a system, to be looked at and changed: ``rig["engine"]``."""

    def __init__(self, system: System, name: str) -> None:
        self._system = system
        self.name = name

    def set(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> Part:
        """Sets parameters and start values; names that are no words of Python go into a dictionary.

        >>> import costep
        >>> rig = costep.System.new(left="dual-mass/s1", right="dual-mass/s2")
        >>> rig["right"].set({"ck": 2e5}, dk=200)
        Part('right')
        """
        for name, value in {**pairs(values, "parameters"), **more}.items():
            self._system._change(f"{quoted(self.name)}.{quoted(name)}", value)
        return self

    @property
    def inputs(self) -> list[str]:
        """Names of its inputs."""
        return [port["name"] for port in self._facts()["inputs"]]

    @property
    def outputs(self) -> list[str]:
        """Names of its outputs."""
        return [port["name"] for port in self._facts()["outputs"]]

    @property
    def units(self) -> dict[str, str]:
        """Units of its inputs and outputs, as far as they have one."""
        facts = self._facts()
        return {port["name"]: port["unit"] for port in facts["inputs"] + facts["outputs"] if port["unit"]}

    @property
    def file(self) -> str | None:
        """The file of an FMU."""
        file = self._facts()["file"]
        return str(file) if file else None

    def _facts(self) -> dict[str, Any]:
        for facts in self._system._structure()["parts"]:
            if facts["name"] == self.name:
                return dict(facts)
        raise KeyError(self.name)

    def __repr__(self) -> str:
        return f"Part({self.name!r})"
