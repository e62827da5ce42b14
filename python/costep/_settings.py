"""Settings of runs, as the extension module and project files have them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ._errors import misuse
from ._parts import MethodCalls
from ._text import PathLike, Time, full_path, items, number, pairs, path, seconds, time_text, value_text
from ._text import name as name_text


def settings_of(
    stop: Time | None = None,
    step: Time | None = None,
    method: Any = None,
    models: str | None = None,
    solver: str | None = None,
    threads: int | None = None,
    tolerance: float | None = None,
    control: str | None = None,
    schedule: str | None = None,
) -> tuple[Any, list[tuple[str, Any]]]:
    """A method that is written in Python, and everything else as changes of the project."""
    changes: list[tuple[str, Any]] = []
    if stop is not None:
        changes.append(("system.stop", time_text(stop)))
    if solver is not None:
        changes.append(("system.solver", solver))
    if threads is not None:
        changes.append(("run.threads", threads))
    if schedule is not None:
        kind, _, order = name_text(schedule, "a schedule").partition(":")
        changes.append(("schedule.kind", kind))
        changes += [("schedule.order", [part.strip() for part in order.split(",")])] if order else []
    if isinstance(method, str):
        changes.append(("method", method))
        method = None
    elif method is not None:
        method = MethodCalls.of(method)
    if models is not None:
        changes.append(("models", models))
    if step is not None:
        changes.append(("step.size", time_text(step)))
    if tolerance is not None:
        changes.append(("step.tolerance", number(tolerance, "a tolerance")))
    if control is not None:
        changes.append(("step.control", control))
    return method, changes


# Numbers that a shape has, and those that it may have.
SHAPES = {"sine": (["amplitude", "frequency"], ["phase", "start"]), "step": (["value"], ["start"])}


def shape_of(signal: Any, hold: bool) -> dict[str, Any]:
    """An external input: a constant, points, or a shape with its numbers."""
    if isinstance(signal, Mapping):
        usual = {"sine": {"phase": 0.0, "start": 0.0}, "step": {"start": 0.0}}
        kinds = list(signal)
        if len(kinds) != 1 or kinds[0] not in usual:
            raise misuse(f"{kinds} is not a shape of a signal", 'write {"sine": dict(...)} or {"step": dict(...)}')
        needed, kind = SHAPES[kinds[0]], kinds[0]
        values = pairs(signal[kind], f"numbers of a signal `{kind}`")
        wrong = set(needed[0]) - set(values) or set(values) - set(needed[0]) - set(needed[1])
        if wrong:
            known = ", ".join(needed[0] + needed[1])
            raise misuse(f"`{sorted(wrong)[0]}` is missing or unknown in a signal `{kind}`", f"it has {known}")
        return {kind: {**usual[kind], **{key: number(value, f"`{key}`") for key, value in values.items()}}}
    elif isinstance(signal, (tuple, list)):
        if len(signal) != 2 or len(items(signal[0], "times")) != len(items(signal[1], "values")):
            raise misuse("a signal by points is two lists of one length", "write (times, values)")
        points = [[number(t, "a time"), number(v, "a value")] for t, v in zip(*signal)]
        return {"stairs" if hold else "table": points}
    else:
        return {"constant": number(signal, "a signal")}


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
    """Options of a command line: those that are true by their name, others with their value, none for nothing.

    >>> flags(jobs=2, fresh=True, without=["state", "variable-step"], t_end=None, quick=False)
    ['--jobs=2', '--fresh', '--without=state,variable-step']
    """
    words = []
    for name, value in given.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)):
            words += [f"{flag}={','.join(value_text(item) for item in value)}"] if value else []
        elif value is not None and value is not False:
            words.append(f"{flag}={path(value) if isinstance(value, os.PathLike) else value_text(value)}")
    return words


def set_flags(values: Mapping[str, Any] | None) -> list[str]:
    """Changes as options of a command line."""
    return [f"--set={name}={value_text(value)}" for name, value in pairs(values, "changes").items()]


def run_settings(
    reference: str,
    verify: bool | None,
    record: PathLike | None,
    time_limit: Time | None,
    memory_limit: int | None,
    supervise: bool,
    checkpoint: Time | None = None,
) -> str:
    if memory_limit is not None and (not isinstance(memory_limit, int) or memory_limit < 0):
        raise misuse(f"`memory_limit={memory_limit!r}` is no number of bytes", "give an integer: 2 * 1024**3")
    limit = None if time_limit is None else seconds(time_limit)
    if limit is not None and limit <= 0.0:
        raise misuse(f"`time_limit={time_limit!r}` leaves no time", "give a time above zero, or leave it out")
    interval = None if checkpoint is None else seconds(checkpoint)
    if interval is not None and interval < 0.0:
        raise misuse(f"`checkpoint={checkpoint!r}` is no time between checkpoints", "give a time from zero on")
    if not isinstance(verify, (bool, type(None))):
        raise misuse(f"`verify={verify!r}` says nothing", "write True or False, or leave it to costep")
    return json.dumps(
        {
            "reference": name_text(reference, "a reference"),
            "verify": verify,
            "record": None if record is None else full_path(record, "`record`"),
            "time_limit": limit,
            "checkpoint": interval,
            "memory_limit": memory_limit,
            "supervise": bool(supervise),
        }
    )
