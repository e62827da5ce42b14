"""Values as a project file has them, and times."""

from __future__ import annotations

import math
import numbers
import os
from typing import Any, Union

from . import _costep
from ._errors import misuse

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
    return value_text(_plain(time))


def _plain(time: Any) -> Any:
    """Lengths of time of `datetime` and NumPy in seconds."""
    if hasattr(time, "total_seconds"):
        return float(time.total_seconds())
    if type(time).__name__ == "timedelta64":
        return float(time / type(time)(1, "ns")) * 1e-9
    return time


def seconds(time: Time) -> float:
    """A time in seconds.

    >>> seconds("5 ms"), seconds(2)
    (0.005, 2.0)
    """
    if isinstance(time, str):
        return _costep.parse_time(time)
    return number(_plain(time), "a time")


def number(value: Any, what: str) -> float:
    """A finite number.

    >>> number("1e3", "a gain")
    1000.0
    """
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise misuse(f"{what} is a number, not {_shown(value)}", "give a number") from None
    if not math.isfinite(found):
        raise misuse(f"{what} is {found}", "only finite numbers can be used")
    return found


def name(value: Any, what: str) -> str:
    """A name that a file can hold."""
    if not isinstance(value, str):
        raise misuse(f"{what} is text, not {_shown(value)}", "write it in quotes")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise misuse(f"{what}, {value!r}, is not proper Unicode", "use letters, digits and `_`") from None
    return value


def items(values: Any, what: str) -> list[Any]:
    """The items of a list or the like; text is none."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise misuse(f"{what} are several, not {_shown(values)}", f"write a list: [{_shown(values)}]")
    return list(values)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def quoted(word: str) -> str:
    """A name inside of a path of names with dots between them."""
    return word if word.replace("_", "").isalnum() else f'"{word}"'
