"""What a run has come to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _costep, _html
from ._errors import error_of, misuse, read_json
from ._text import PathLike, write_text

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import xarray
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TIME = "t"
MOST_CHARTS = 12


class Result:
    """A run that has ended: its verdict, its error, and all outputs at the communication points.

    >>> import costep
    >>> result = costep.System("dual-mass").run(stop=0.1, step="1 ms", reference="same", progress=False)
    >>> result.verdict, result.error < 1e-3
    ('stable', True)
    >>> list(result)
    ['s1.x', 's1.v', 's2.F']
    >>> float(result.time[-1])
    0.1
    """

    def __init__(
        self,
        report: dict[str, Any],
        columns: _costep.Columns | None,
        core: _costep.Core | None = None,
        lines: Sequence[str] = (),
    ) -> None:
        self.details = report
        """Everything about the run, as ``costep run --json`` has it."""
        self.printed = list(lines)
        """The last lines that FMUs printed."""
        self._columns = columns if columns is not None else _costep.Columns([TIME], ["s"], [b""])
        self._core = core
        self._arrays: dict[str, Array] = {}

    @property
    def verdict(self) -> str:
        """``stable``, ``inaccurate``, ``suspect``, ``unstable``, ``diverged``, ``failed`` or ``not judged``."""
        return str(self.details["verdict"])

    @property
    def error(self) -> float | None:
        """About how large the error is, of the range of the signals: measured against the reference if there is one."""
        estimate = self.details.get("error_estimate")
        return None if estimate is None else float(estimate["value"])

    @property
    def judged_by(self) -> str | None:
        """What the verdict rests on: ``reference``, ``twin``, ``half step``, ``defect`` or ``growth``."""
        by = self.details.get("judged_by")
        return None if by is None else str(by)

    @property
    def failure(self) -> _costep.Error | None:
        """The error that ended the run."""
        details = self.details.get("error")
        return None if details is None else error_of(details, self)

    @property
    def method(self) -> str:
        """The coupling method, with what it has chosen."""
        chosen = self.details.get("chosen")
        return str(self.details.get("method", "")) + (f" ({chosen})" if chosen else "")

    @property
    def wall_time(self) -> float:
        """Wall time of the steps in s."""
        return float(self.details.get("wall_s", 0.0))

    @property
    def warnings(self) -> list[str]:
        """Where the method does less than it could, and what is allowed but probably not meant."""
        of_system = [str(warning["text"]) for warning in self.details.get("system_warnings", [])]
        return of_system + [str(warning) for warning in self.details.get("warnings", [])]

    @property
    def folder(self) -> str | None:
        """Where the recording is, if there is one."""
        folder = self.details.get("folder")
        return None if folder is None else str(folder)

    @property
    def names(self) -> list[str]:
        """``part.port`` of all outputs."""
        return self._columns.names[1:]

    @property
    def units(self) -> dict[str, str]:
        """Units of the outputs, as far as they have one."""
        pairs = zip(self._columns.names[1:], self._columns.units[1:])
        return {name: unit for name, unit in pairs if unit is not None}

    @property
    def time(self) -> Array:
        """The communication points in s."""
        return self[TIME]

    def __getitem__(self, name: str) -> Array:
        """An output over time, where the run has left it: no copy is made, and it cannot be written to."""
        if not isinstance(name, str) or name not in self._arrays:
            import numpy as np

            names = self._columns.names
            if name not in names:
                raise _no_signal(str(name), names)
            self._arrays[name] = np.asarray(self._columns.column(names.index(name)))
        return self._arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self._columns.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def keys(self) -> list[str]:
        """Names of all outputs, so that ``dict(result)`` works."""
        return self.names

    def __len__(self) -> int:
        """Number of communication points, the start included."""
        return len(self._columns)

    # Tables.

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All columns as a stream of Arrow, without a copy: for pyarrow, polars, DuckDB and others."""
        return self._columns.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pandas.DataFrame:
        """A table of pandas with time as its index."""
        import pandas

        index = pandas.Index(self.time, name=TIME)
        frame = pandas.DataFrame({name: self[name] for name in self}, index=index, copy=False)
        frame.attrs["units"] = self.units
        return frame

    def to_polars(self) -> polars.DataFrame:
        """A table of polars; time is its first column."""
        import polars

        return polars.DataFrame(self)

    def to_xarray(self) -> xarray.Dataset:
        """A data set of xarray over time, with units."""
        import xarray

        units = self.units
        attributes = {name: {"units": units[name]} if name in units else {} for name in self}
        variables = {name: ((TIME,), self[name], attributes[name]) for name in self}
        return xarray.Dataset(
            variables, coords={TIME: ((TIME,), self.time, {"units": "s"})}, attrs={"verdict": self.verdict}
        )

    # Pictures.

    def reference(self) -> Result:
        """The monolithic solution or, for FMUs, the same system at a much smaller step."""
        if self._core is None:
            raise misuse(
                "the system of this result is not in this process",
                "results that were loaded or unpickled have none: run the system here",
            )
        end = float(self.time[-1])
        report, columns, _ = self._core.solve(self.time.tolist(), end)
        return Result({"verdict": "reference", **read_json(report)}, columns, self._core)

    def plot(self, signals: str | Sequence[str] | None = None, *, reference: bool = False, axes: Any = None) -> Any:
        """Draws outputs over time with matplotlib, one below the other, and gives the axes.

        With ``reference`` the monolithic solution is dashed beside it.
        """
        import matplotlib.pyplot as plt

        chosen = [signals] if isinstance(signals, str) else list(self.names if signals is None else signals)
        if not chosen:
            raise misuse("there is nothing to plot", f"name signals: {', '.join(self.names[:12])}")
        if axes is None:
            _, axes = plt.subplots(len(chosen), 1, sharex=True, squeeze=False, figsize=(8, 1.9 * len(chosen) + 0.6))
        flat = list(axes.flat) if hasattr(axes, "flat") else [axes] * len(chosen)
        beside = self.reference() if reference else None
        units = self.units
        for axis, name in zip(flat, chosen):
            axis.plot(self.time, self[name], label="costep")
            if beside is not None:
                axis.plot(beside.time, beside[name], "--", color="0.35", label=beside.details["name"])
                axis.legend(loc="upper right", fontsize="small")
            axis.set_ylabel(f"{name} [{units[name]}]" if name in units else name)
            axis.grid(alpha=0.3)
        flat[-1].set_xlabel("t [s]")
        return axes

    def report(self, path: PathLike, *, reference: bool | None = None) -> str:
        """Writes the page of ``costep report`` to a file, and gives its path: verdict, the system drawn, interactive
        plots, errors, cost, how to reproduce it. A run that was recorded shows more: power bonds, what the method did.

        The monolithic solution is set beside it where that is cheap; with ``reference=True`` whatever it costs, for FMUs
        the same system at a much smaller step; with ``False`` never.

        >>> import costep
        >>> result = costep.System("dual-mass").run(stop=0.1, step="1 ms", progress=False)
        >>> result.report("rig.html")
        'rig.html'
        """
        beside = None
        if reference:
            found = self.reference()
            beside = (str(found.details["name"]), str(found.details["what"]), found._columns)
        text = _costep.run_page(json.dumps(self.details), self._columns, self._core, beside, reference is None)
        return write_text(path, text)

    def _summary(self) -> str:
        error = "-" if self.error is None else f"{self.error:.1e} of range ({self.judged_by})"
        rows = [
            ["verdict", self.verdict],
            ["error about", error],
            ["method", self.method],
            ["step", _costep.format_time(float(self.details.get("step", 0.0)))],
            ["communication points", str(len(self))],
            ["wall time", f"{1e3 * self.wall_time:.3g} ms"],
        ]
        lines = "".join(
            f"<tr><th>{_html.escape(key)}</th><td>{_html.coloured(value) if key == 'verdict' else _html.escape(value)}</td></tr>"
            for key, value in rows
        )
        failure = self.failure
        return f"<table>{lines}</table>" + ("" if failure is None else _html.preformatted(str(failure)))

    def _charts(self, most: int) -> str:
        units = self.units
        charts = []
        for name in self.names[:most]:
            charts.append(_html.chart(name, self.time, self[name], units.get(name)))
        left = len(self.names) - most
        return "".join(charts) + (f"<p>and {left} more outputs</p>" if left > 0 else "")

    def __repr__(self) -> str:
        error = "" if self.error is None else f", error about {self.error:.0e} of range ({self.judged_by})"
        return f"<Result {self.verdict}{error}: {len(self.names)} outputs, {len(self)} points>"

    def _repr_html_(self) -> str:
        return self._summary() + (self._charts(MOST_CHARTS) if len(self) > 1 else "")

    def __getstate__(self) -> dict[str, Any]:
        return {"report": self.details, "columns": self._columns, "lines": self.printed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["report"], state["columns"], None, state["lines"])  # type: ignore[misc]


def _no_signal(name: str, names: list[str]) -> _costep.Error:
    import difflib

    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names[:12])}"
    return misuse(f"there is no signal `{name}`", hint, "E0506")
