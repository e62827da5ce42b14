"""Values as a project file has them, and times."""

from __future__ import annotations

import numbers
import os
from typing import Any, Union

from . import _costep

Time = Union[float, str]
"""Seconds, or text with a unit: ``0.005``, ``"5 ms"``."""

PathLike = Union[str, "os.PathLike[str]"]


def value_text(value: Any) -> str:
    """A value as a project file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if hasattr(value, "tolist"):
        return value_text(value.tolist())
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(f'"{item}"' if isinstance(item, str) else value_text(item) for item in value) + "]"
    raise TypeError(f"a value is a number, text, truth value or list of them, not {type(value).__name__}")


def time_text(time: Time) -> str:
    """A time as a project file has it; bad ones are refused by name and place later."""
    return value_text(time)


def seconds(time: Time) -> float:
    """A time in seconds.

    >>> seconds("5 ms"), seconds(2)
    (0.005, 2.0)
    """
    return _costep.parse_time(time) if isinstance(time, str) else float(time)


def quoted(name: str) -> str:
    """A name inside of a path of names with dots between them."""
    return name if name.replace("_", "").isalnum() else f'"{name}"'
