"""Settings of runs, as the extension module and project files have them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ._errors import misuse
from ._parts import MethodCalls
from ._text import PathLike, Time, seconds, time_text, value_text


def settings_of(
    stop: Time | None,
    step: Time | None,
    method: Any,
    models: str | None,
    solver: str | None,
    threads: int | None,
) -> tuple[Any, list[tuple[str, Any]]]:
    """A method that is written in Python, and everything else as changes of the project."""
    changes: list[tuple[str, Any]] = []
    if stop is not None:
        changes.append(("system.stop", time_text(stop)))
    if solver is not None:
        changes.append(("system.solver", solver))
    if threads is not None:
        changes.append(("run.threads", threads))
    if isinstance(method, str):
        changes.append(("method", method))
        method = None
    elif method is not None:
        method = MethodCalls.of(method)
    if models is not None:
        changes.append(("models", models))
    if step is not None:
        changes.append(("step.size", time_text(step)))
    return method, changes


def shape_of(signal: Any, hold: bool) -> dict[str, Any]:
    """An external input: a constant, points, or a shape with its numbers."""
    if isinstance(signal, Mapping):
        usual = {"sine": {"phase": 0.0, "start": 0.0}, "step": {"start": 0.0}}
        (kind, values), *rest = signal.items()
        if rest or kind not in usual:
            raise misuse(f"`{kind}` is not a shape of a signal", "write `sine` or `step`")
        return {kind: {**usual[kind], **{key: float(value) for key, value in values.items()}}}
    elif isinstance(signal, (tuple, list)):
        times, values = signal
        points = [[float(t), float(v)] for t, v in zip(times, values, strict=True)]
        return {"stairs" if hold else "table": points}
    else:
        return {"constant": float(signal)}


def external(target: str, shape: dict[str, Any], sum: bool) -> str:
    """An external input as a project file has it."""
    ((kind, value),) = shape.items()
    if isinstance(value, dict):
        text = "{ " + ", ".join(f"{name} = {number!r}" for name, number in value.items()) + " }"
    else:
        text = repr(value)
    key = "value" if kind == "constant" else kind
    return f'\n[[external]]\nto = "{target}"\n{key} = {text}\n' + ("sum = true\n" if sum else "")


def flags(**given: Any) -> list[str]:
    return [word for flag, value in given.items() if value is not None for word in (f"--{flag}", value_text(value))]


def run_settings(
    reference: str,
    verify: bool | None,
    record: PathLike | None,
    time_limit: Time | None,
    memory_limit: int | None,
    supervise: bool,
) -> str:
    return json.dumps(
        {
            "reference": reference,
            "verify": verify,
            "record": None if record is None else os.path.abspath(record),
            "time_limit": None if time_limit is None else seconds(time_limit),
            "memory_limit": memory_limit,
            "supervise": supervise,
        }
    )
