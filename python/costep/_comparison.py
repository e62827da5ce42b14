"""Comparisons of methods and steps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _html
from ._costep import Core, comparison_page, format_time
from ._errors import misuse
from ._text import PathLike, write_text

if TYPE_CHECKING:
    import pandas

COLUMNS = ("method", "step", "verdict", "error", "energy_drift", "wall_s")


class Comparison:
    """Runs with several methods and steps, each a row; see :meth:`costep.System.compare`."""

    def __init__(self, report: dict[str, Any], core: Core | None = None) -> None:
        self.details = report
        """Everything, as ``costep compare --json`` has it."""
        self._core = core
        self.rows: list[dict[str, Any]] = [
            {**run, "error": run.get("eps_mono"), "failure": run.get("error")} for run in report["runs"]
        ]
        """One dictionary per run: method, step, verdict, error against the reference, and more."""

    @property
    def warnings(self) -> list[str]:
        """What went wrong beside the runs."""
        return [str(warning["text"]) for warning in self.details.get("warnings", [])]

    @property
    def not_possible(self) -> dict[str, str]:
        """Methods that were left out because they cannot be used with this system, and why."""
        return {left["method"]: str(left["error"]["message"]) for left in self.details.get("not_possible", [])}

    def best(self) -> dict[str, Any]:
        """The row with the smallest error among those that are stable; of all if none is."""
        measured = [row for row in self.rows if row["error"] is not None]
        if not measured:
            raise misuse("no run has been measured", "a reference that works is needed, and a run that ends")
        stable = [row for row in measured if row["verdict"] == "stable"]
        return min(stable or measured, key=lambda row: float(row["error"]))

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a table of pandas."""
        import pandas

        return pandas.DataFrame([{column: row.get(column) for column in COLUMNS} for row in self.rows])

    def report(self, path: PathLike) -> str:
        """Writes a page to a file, and gives its path: table, error over work and step, errors of all outputs, and the signals if
        the runs were recorded."""
        if self._core is None:
            raise misuse("the system of this comparison is not in this process", "compare it here")
        return write_text(path, comparison_page(json.dumps(self.details), self._core))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_core": None}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self.rows[index]

    def _cells(self) -> list[list[str]]:
        def drift(row: dict[str, Any]) -> str:
            value = row.get("energy_drift")
            return "-" if value is None else f"{100 * value:+.2g} %"

        def error(row: dict[str, Any]) -> str:
            return "-" if row["error"] is None else f"{row['error']:.1e}"

        return [
            [
                row["method"],
                format_time(row["step"]),
                row["verdict"],
                error(row),
                drift(row),
                f"{1e3 * row['wall_s']:.3g} ms",
            ]
            for row in self.rows
        ]

    def __repr__(self) -> str:
        table = [["method", "step", "verdict", "error", "energy drift", "time"], *self._cells()]
        widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table)

    def _repr_html_(self) -> str:
        return _html.table(["method", "step", "verdict", "error", "energy drift", "time"], self._cells(), verdict=2)
