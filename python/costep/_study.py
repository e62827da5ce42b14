"""Many runs of one system: maps and designs of experiments."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from ._errors import misuse
from ._program import Card, call
from ._settings import flags, set_flags
from ._text import PathLike, full_path, items, path, value_text

if TYPE_CHECKING:
    import pandas

Levels = Union[str, Sequence[Any]]
"""Levels of a factor: a list, or text such as ``"1e3..1e6:log:13"``."""


class Study(Card):
    """What many runs have come to: the dictionary of ``--json``, and the rows of all runs."""

    def __init__(self, title: str, content: dict[str, Any], folder: str, keeper: Any = None) -> None:
        super().__init__(title, content)
        self.folder = folder
        """Where rows, figures and the optimal set are; a temporary folder goes with this object."""
        self._keeper = keeper

    def to_pandas(self) -> pandas.DataFrame:
        """One row per run: its levels, verdict, errors, spectral radius and cost."""
        import pandas

        names = (os.path.join(self.folder, name) for name in ("map.parquet", "rows.parquet"))
        file = next((name for name in names if os.path.exists(name)), None)
        if file is None:
            raise misuse(
                f"the rows are not in `{self.folder}` any more",
                "a temporary folder goes with its object, also when a copy is pickled: name one with `out=`",
            )
        return pandas.read_parquet(file)

    def __reduce__(self) -> Any:
        return Study, (self.title, dict(self), self.folder)


def study(title: str, out: PathLike | None, make: Callable[[str], dict[str, Any]]) -> Study:
    """Has runs done in a folder, which is a temporary one if none is named."""
    if out is not None:
        return Study(title, make(path(out)), full_path(out))
    keeper = tempfile.TemporaryDirectory(prefix="costep-")
    return Study(title, make(keeper.name), keeper.name, keeper)


def levels_text(levels: Levels) -> str:
    """Levels as a command line has them.

    >>> levels_text([1e3, 1e4]), levels_text("1..3:3"), levels_text(["1 ms", "2 ms"])
    ('1000.0,10000.0', '1..3:3', '1 ms,2 ms')
    """
    return levels if isinstance(levels, str) else ",".join(value_text(level) for level in items(levels, "levels"))


def doe(
    plan: PathLike,
    *,
    set: Mapping[str, Any] | None = None,
    out: PathLike | None = None,
    report: PathLike | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    shard: str | None = None,
    merge: Sequence[PathLike] | None = None,
) -> Study:
    """Runs a full factorial plan and says what each factor and each pair of them does to the error.

    ``plan`` is a file, or the name of one that comes with costep. ``out`` is a folder for rows, figures and the optimal
    set, from which an interrupted plan goes on; ``report`` a page (HTML) about all of it. ``shard="2/4"`` does a part of the runs,
    for batch systems; ``merge`` takes the rows of all shards from their folders, and does none.

    >>> import costep
    >>> _ = open("plan.toml", "w").write('''
    ... [plan]
    ... system = "dual-mass"
    ... methods = ["zoh", "predictive"]
    ... stop = "20 ms"
    ... [parameters]
    ... ck = [1e4, 1e5]
    ... ''')
    >>> found = costep.doe("plan.toml")
    >>> found["runs"], sorted(found["optimum"]), len(found["effects"])
    (4, ['ck', 'method'], 3)
    >>> found["optimum"]["method"]["value"]
    'predictive'
    """
    options = flags(report=report, jobs=jobs, fresh=fresh, shard=shard) + set_flags(set)
    words = [plan] if merge is None else ["merge", plan, *items(merge, "folders of shards")]
    return study(path(plan), out, lambda folder: call("doe", *words, options=[*options, f"--out={folder}"]))
