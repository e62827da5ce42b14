"""Values as a project file has them, and times."""

from __future__ import annotations

import datetime
import math
import numbers
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from . import _costep
from ._errors import misuse

if TYPE_CHECKING:
    import numpy as np

Time = Union[float, str, datetime.timedelta, "np.timedelta64"]
"""Seconds, text with a unit, or a length of time: ``0.005``, ``"5 ms"``, ``timedelta(milliseconds=5)``."""

Times = Union[str, Sequence[Time]]
"""Several times: a list, or text such as ``"1ms,2ms"`` or ``"1ms..8ms:log:4"``."""

PathLike = Union[str, "os.PathLike[str]"]


def value_text(value: Any) -> str:
    """A value as a project file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return name(value, "a value")
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if hasattr(value, "tolist"):
        return value_text(value.tolist())
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(f'"{item}"' if isinstance(item, str) else value_text(item) for item in value) + "]"
    raise misuse(
        f"a value is a number, text, a Boolean or a list of them, not {type(value).__name__}", "give one of these"
    )


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


def lengths(times: Times, what: str) -> list[float]:
    """Several times in seconds.

    >>> lengths("1ms..3ms:3", "steps"), lengths(["5 ms", 2], "steps")
    ([0.001, 0.002, 0.003], [0.005, 2.0])
    """
    if isinstance(times, str):
        return list(_costep.parse_times(times))
    return [seconds(time) for time in items(times, what)]


def times_text(times: Times, what: str) -> str:
    """The same as a command line has them.

    >>> times_text([0.001, "2 ms"], "steps"), times_text("1ms..3ms:3", "steps")
    ('0.001s,2 ms', '1ms..3ms:3')
    """
    if isinstance(times, str):
        return times
    return ",".join(time if isinstance(time, str) else f"{seconds(time)!r}s" for time in items(times, what))


def integer(value: Any, what: str, least: int = 0) -> int:
    """An integer that is not too small.

    >>> integer(3, "a number of jobs")
    3
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise misuse(f"{what} is an integer from {least} on, not {_shown(value)}", "give an integer")
    return int(value)


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


def path(value: Any, what: str = "a path") -> str:
    """A path as text; numbers of open files are none."""
    if not isinstance(value, (str, os.PathLike)):
        raise misuse(f"{what} is text or a path, not {_shown(value)}", "give a name, or a `pathlib.Path`")
    return name(os.fspath(value), what)


def full_path(value: Any, what: str = "a path") -> str:
    """A path from the root."""
    return os.path.abspath(path(value, what))


def pairs(values: Any, what: str) -> dict[str, Any]:
    """Names with their values; nothing stands for none."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise misuse(f"{what} are names with values, not {_shown(values)}", 'write a dictionary: {"ck": 2e5}')
    return {name(key, "a name"): value for key, value in values.items()}


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


def write_text(file: PathLike, text: str) -> str:
    """Writes a file, and gives its path."""
    where = path(file)
    try:
        with open(where, "w", encoding="utf-8") as opened:
            opened.write(text)
    except (OSError, ValueError) as cause:
        raise misuse(f"`{where}` cannot be written: {cause}", "name a file in a folder that is there", "E0201") from cause
    return where
