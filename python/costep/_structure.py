"""What a system consists of."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable
from typing import Any

from . import _costep, _html
from ._errors import read_json
from ._text import value_text


_OPEN = re.compile(r"input `(.+)` has no source")


class Structure:
    """A system as it is described: loaded when it is needed, and again when it has changed."""

    _recipe: dict[str, Any]
    _code: dict[str, Any]
    _cached: tuple[Any, _costep.Core] | None

    def _core(
        self, changes: Iterable[tuple[str, Any]] = (), method: Any = None, isolation: str | None = None
    ) -> _costep.Core:
        """The loaded system, with changes for one run; its FMUs get processes of their own by ``process`` or ``sandbox``."""
        recipe = self._recipe
        more = [[path, value_text(value)] for path, value in changes]
        if more:
            recipe = {**recipe, "changes": recipe["changes"] + more}
        text = json.dumps(recipe)
        # Objects of Python are part of it; holding them keeps their numbers from being used again.
        key = (text, tuple(self._code.items()), method, isolation)
        if self._cached is None or self._cached[0] != key:
            self._cached = (key, _costep.Core(text, self._code, method, isolation))
        return self._cached[1]

    def _calls_python(self, method: Any = None) -> bool:
        """Whether something of it is written in Python, and so in this process only."""
        return bool(self._code) or method is not None

    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = read_json(self._core().facts())
        return facts

    def _complete(self) -> _costep.Core:
        """The loaded system, with times of our own as long as it has none."""
        try:
            return self._core()
        except _costep.Error as error:
            needs = [found["message"] for found in error.errors if found["code"] in ("E0212", "E0210")]
            if len(needs) < len(error.errors):
                raise
            times = [("system.stop", "1 s")] * any("`stop`" in message for message in needs)
            times += [("step.size", "1 ms")] * any("`size`" in message for message in needs)
            if not times:
                raise
            return self._core(times)

    def _structure(self) -> dict[str, Any]:
        """What it consists of, also before it is known how long it is to run, and what inputs are connected to."""
        try:
            core = self._complete()
        except _costep.Error as error:
            open_inputs = [_OPEN.match(found["message"]) for found in error.errors]
            if not self._recipe["parts"] or None in open_inputs:
                raise
            core = self._with_sources([found.group(1) for found in open_inputs if found])
        facts: dict[str, Any] = read_json(core.facts())
        return facts

    def _with_sources(self, inputs: list[str]) -> _costep.Core:
        """The loaded system as if these inputs were driven from outside: they are named, but nothing is run."""
        zeros = [{"to": name, "shape": {"constant": 0.0}, "sum": False} for name in inputs]
        other = copy.copy(self)
        other._recipe["signals"] += zeros
        return other._complete()

    @property
    def name(self) -> str:
        """Its name."""
        return str(self._structure()["name"])

    @property
    def parts(self) -> list[str]:
        """Names of its parts."""
        if self._recipe["parts"]:
            return [part["name"] for part in self._recipe["parts"]]
        return [part["name"] for part in self._structure()["parts"]]

    @property
    def outputs(self) -> list[str]:
        """``part.port`` of all outputs."""
        return [f"{part['name']}.{port['name']}" for part in self._structure()["parts"] for port in part["outputs"]]

    @property
    def inputs(self) -> list[str]:
        """``part.port`` of all inputs."""
        return [f"{part['name']}.{port['name']}" for part in self._structure()["parts"] for port in part["inputs"]]

    @property
    def connections(self) -> list[tuple[str, str]]:
        """Outputs and the inputs they are connected to."""
        return [(link["from"], link["to"]) for link in self._structure()["connections"]]

    @property
    def driven(self) -> list[str]:
        """Inputs that are driven from outside, which a simulation may set."""
        facts: dict[str, Any] = read_json(self._complete().facts())
        return list(dict.fromkeys(facts["driven"]))

    @property
    def step(self) -> float:
        """The macro step in s."""
        return float(self._facts()["step"])

    @property
    def stop(self) -> float:
        """The end in s."""
        return float(self._facts()["stop"])

    @property
    def method(self) -> str:
        """The coupling method."""
        return " + ".join(self._structure()["methods"])

    @property
    def warnings(self) -> list[str]:
        """What is allowed but probably not meant."""
        return [str(warning["text"]) for warning in self._structure()["warnings"]]

    def to_toml(self) -> str:
        """The project as text that can be opened again."""
        return self._core().to_toml()

    def graph(self) -> str:
        """What is connected to what, as SVG."""
        return self._complete().diagram()

    def __repr__(self) -> str:
        try:
            facts = read_json(self._complete().facts())
        except _costep.Error as error:
            return f"<System of {len(self._recipe['parts'])} parts, with a mistake: {error.message}>"
        return (
            f"<System {facts['name']!r}: {len(facts['parts'])} parts, {len(facts['connections'])} connections, "
            f"method {' + '.join(facts['methods'])}>"
        )

    def _repr_html_(self) -> str:
        try:
            return f"<div>{_html.escape(repr(self))}</div>{self.graph()}"
        except _costep.Error as error:
            return _html.preformatted(str(error))
