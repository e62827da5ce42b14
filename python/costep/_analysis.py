"""What can be found out about a system beside runs of it."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _costep
from ._errors import errors_of, misuse, read_json
from ._program import Card, call
from ._settings import flags, settings_of
from ._structure import Structure
from ._study import Levels, Study, levels_text, study
from ._text import (
    PathLike,
    Time,
    Times,
    full_path,
    integer,
    items,
    lengths,
    number,
    pairs,
    seconds,
    time_text,
    times_text,
)


class Analysis(Structure):
    """Checks, models, stability, maps, and other files of a system."""

    def check(self, *, probe: bool = False, sandbox: bool = False, strict: bool = False) -> Card:
        """All mistakes and warnings at once; with ``probe`` every part is called too, with ``sandbox`` FMUs then are confined, and
        what they open is listed. ``strict`` takes warnings for mistakes.

        >>> import costep
        >>> costep.System("dual-mass").check()["ok"]
        True
        """
        if sandbox and not probe:
            raise misuse("`sandbox` confines FMUs that are called", "write `check(probe=True, sandbox=True)`")
        if self._calls_python():
            isolation = "sandbox" if sandbox else "process"
            found: dict[str, Any] = read_json(_costep.check(self._core(isolation=isolation), probe))
        else:
            found = self._call("check", flags(probe=probe, sandbox=sandbox))
        mistakes = found["errors"] + (found["warnings"] if strict else [])
        if mistakes:
            raise errors_of(mistakes)
        return Card("check", found)

    def identify(
        self, out: PathLike, *, method: str | None = None, models: str | None = None, step: Time | None = None
    ) -> Card:
        """Identifies models of the parts from a run, and writes them to a file for use in other runs.

        >>> import costep
        >>> rig = costep.System("dual-mass")
        >>> [model["part"] for model in rig.identify("models.toml")["models"]]
        ['s1', 's2']
        >>> rig.run(method="identified:file=models.toml", progress=False).verdict
        'stable'
        """
        if self._calls_python():
            _, changes = settings_of(step=step, models=models)
            settings = {"method": method, "out": full_path(out)}
            core = self._core(changes, isolation="process")
            return Card("identify", read_json(_costep.identify(core, json.dumps(settings))))
        options = flags(method=method, models=models, step=_text_of(step), out=full_path(out))
        return Card("identify", self._call("identify", options, step))

    def advise(
        self,
        error: float = 1e-3,
        *,
        time: Time = "60 s",
        methods: Sequence[str] = (),
        equal_steps: bool = False,
    ) -> Card:
        """The cheapest coupling method and step with an error of at most ``error``, a share of the ranges of the outputs,
        found by trials within a wall ``time``. What would make it cheaper is said too: inputs for which a hold is enough,
        what to ask of makers of FMUs. Raises an error if nothing that was tried is that good.

        >>> import costep
        >>> found = costep.System("dual-mass").advise(1e-2, methods=["zoh", "foh", "predictive"], equal_steps=True)
        >>> choice = found["choice"]
        >>> choice["method"], choice["error"] <= 1e-2, choice["reaches"]
        ('predictive', True, True)
        """
        share, named = number(error, "an error"), items(methods, "methods")
        if self._calls_python():
            settings = {
                "error": share,
                "time": seconds(time),
                "methods": ",".join(named) or None,
                "equal_steps": equal_steps,
            }
            found = read_json(_costep.advise(self._core(isolation="process"), json.dumps(settings)))
            if found["choice"] is None and found["errors"]:
                raise errors_of(found["errors"])
            return Card("advice", found)
        options = flags(error=share, time=_text_of(time), methods=named, equal_steps=equal_steps)
        return Card("advice", self._call("advise", options))

    def stability(
        self,
        *,
        method: str | None = None,
        models: str | None = None,
        step: Time | None = None,
        steps: Times = (),
        at: Time | None = None,
        by_models: bool = False,
        windows: Sequence[int] = (),
        nyquist: PathLike | None = None,
        report: PathLike | None = None,
        methods: Sequence[str] = (),
    ) -> Card:
        """Whether one macro step forgets small perturbations: spectral radius over ``steps`` (around its own if none is
        given), the largest stable one, the mode that grows and the signals in it, eigenvalues, phase margins.

        ``at`` is the time of the run at which a step is linearised; ``by_models`` takes local models in place of native
        parts too. For methods that learn during the run these are Bohl exponents, over ``windows`` of macro steps.
        ``nyquist`` is a plot (SVG) of the loops under held inputs, ``report`` a page (HTML), on which ``methods`` stand beside
        that of the system, all if none is named.

        >>> import costep
        >>> found = costep.System("dual-mass").stability(method="zoh", steps=["1 ms", "3 ms"])
        >>> [step["stable"] for step in found["steps"]]
        [True, False]
        >>> round(1e3 * found["largest_stable_step"], 2)
        2.29
        """
        spans = [integer(window, "a window", 1) for window in items(windows, "windows")]
        named = items(methods, "methods")
        if self._calls_python():
            _, changes = settings_of(step=step, method=method, models=models)
            settings = {
                "steps": lengths(steps, "steps"),
                "at": None if at is None else seconds(at),
                "by_models": by_models,
                "windows": spans,
                "nyquist": None if nyquist is None else full_path(nyquist),
                "report": None if report is None else full_path(report),
                "methods": ",".join(named) or None,
            }
            core = self._core(self._with_first(changes, steps), isolation="process")
            return Card("stability", read_json(_costep.stability(core, json.dumps(settings))))
        options = flags(
            method=method,
            models=models,
            step=_text_of(step),
            steps=times_text(steps, "steps") or None,
            at=_text_of(at),
            by_models=by_models,
            bohl=bool(spans),
            windows=spans,
            nyquist=None if nyquist is None else full_path(nyquist),
            report=None if report is None else full_path(report),
            methods=named,
        )
        return Card("stability", self._call("stability", options, step if step is not None else self._first(steps)))

    def map(
        self,
        vary: Mapping[str, Levels] | None = None,
        *,
        steps: Times = (),
        methods: Sequence[str] = (),
        models: str | None = None,
        reference: str = "same",
        radius: bool = True,
        out: PathLike | None = None,
        report: PathLike | None = None,
        jobs: int | None = None,
        fresh: bool = False,
    ) -> Study:
        """Verdict, error and spectral radius over parameters and steps, method by method, on all cores.

        Levels are a list or text, ``"1e3..1e6:log:13"``; steps likewise. ``out`` is a folder for rows and figures, from
        which an interrupted map goes on; ``report`` a page (HTML) with the maps.

        >>> import costep
        >>> rig = costep.System("dual-mass")
        >>> found = rig.map({"ck": "1e4..1e6:log:3"}, steps=["1 ms", "4 ms"], methods=["zoh", "predictive"])
        >>> [(row["method"], row["runs"]) for row in found["methods"]]
        [('zoh', 6), ('predictive', 6)]
        >>> len(found.to_pandas())
        12
        """
        if self._calls_python():
            raise misuse(
                f"`{next(iter(self._code))}` is written in Python, and maps run on all cores without it",
                "`costep.sweep` does many runs of systems with parts in Python, `rig.compare` several methods and steps",
            )
        options = flags(
            models=models,
            reference=reference,
            jobs=None if jobs is None else integer(jobs, "`jobs`", 1),
            steps=times_text(steps, "steps") or None,
            methods=items(methods, "methods"),
            no_radius=not radius,
            fresh=fresh,
            report=None if report is None else full_path(report),
        )
        options += [f"--vary={name}={levels_text(levels)}" for name, levels in pairs(vary, "levels").items()]

        def run(folder: str) -> dict[str, Any]:
            return self._call("map", [*options, f"--out={folder}"], self._first(steps))

        return study(f"map of {self.name}", out, run)

    def export_ssp(self, out: PathLike) -> None:
        """Writes a system of FMUs as an SSP, with everything that was set."""
        self._refuse_code()
        _costep.export_ssp(self._core(), full_path(out))

    def save(self, folder: PathLike) -> str:
        """Writes it as a project that can be opened again, and gives the path of its file. FMUs of packages go along, others are
        named where they are."""
        self._refuse_code()
        return str(self._core().save(full_path(folder)))

    def _refuse_code(self) -> None:
        if self._calls_python():
            raise misuse(
                f"`{next(iter(self._code))}` is written in Python and cannot be written to a file",
                "parts that are FMUs, parts of built-in models, `LTI` or transfer functions can; pickle keeps the rest",
            )

    def _first(self, steps: Times) -> float | None:
        """The first of several steps, which a system in code need not have to be looked at with others."""
        return next(iter(lengths(steps, "steps")), None)

    def _with_first(self, changes: list[tuple[str, Any]], steps: Times) -> list[tuple[str, Any]]:
        """Changes with the first of the steps, unless the system has a step or the changes do."""
        first = self._first(steps)
        has_step = self._has_step() or any(path == "step.size" for path, _ in changes)
        return changes if first is None or has_step else [*changes, ("step.size", first)]

    def _has_step(self) -> bool:
        """Whether it has a macro step of its own: systems that are built in code have none at first."""
        paths = (path for path, _ in self._recipe["changes"])
        return not self._recipe["parts"] or any(path in ("step.size", "step.tolerance") for path in paths)

    def _call(self, verb: str, options: Sequence[str], step: Time | None = None) -> dict[str, Any]:
        """Has the program do something with it, which may need a macro step if it has none."""
        if self._recipe["source"] is not None:
            changes = [f"--set={path}={value}" for path, value in self._recipe["changes"]]
            outside = flags(allow_outside=self._recipe["allow_outside"])
            return call(verb, self._recipe["source"], options=[*changes, *outside, *options])
        system = self
        if step is not None and not self._has_step():
            system = copy.copy(self)
            system._recipe["changes"].append(["step.size", time_text(step)])
        return call(verb, None, options=options, system=system)


def _text_of(time: Time | None) -> str | None:
    return None if time is None else times_text([time], "times")
