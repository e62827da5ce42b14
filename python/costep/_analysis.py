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
from ._study import Levels, Study, levels_text, steps_text, study
from ._text import PathLike, Time, number, seconds, time_text


class Analysis(Structure):
    """Checks, models, stability, maps, and other files of a system."""

    def check(self, *, probe: bool = False) -> Card:
        """All mistakes and warnings at once; with ``probe`` every part is called too.

        >>> import costep
        >>> costep.System("dual-mass").check()["ok"]
        True
        """
        if self._calls_python():
            if probe:
                raise misuse(
                    "`probe` tries FMUs and built-in parts, and this system has parts in Python",
                    "leave `probe` out, and take some steps: `with rig.start() as sim: sim.step(10)`",
                )
            found: dict[str, Any] = read_json(_costep.check(self._core(isolate=True)))
            if found["errors"]:
                raise errors_of(found["errors"])
            return Card("check", found)
        flags = ["--probe"] if probe else []
        return Card("check", call("check", *self._words(), *flags, system=self))

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
            _, changes = settings_of(None, step, None, models, None, None)
            settings = {"method": method, "out": os.path.abspath(out)}
            core = self._core(changes, isolate=True)
            return Card("identify", read_json(_costep.identify(core, json.dumps(settings))))
        words = flags(method=method, models=models, step=step)
        words += ["--out", os.fspath(out)]
        return Card("identify", call("identify", *self._words(), *words, system=self._stepping(step)))

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
        if self._calls_python():
            settings = {
                "error": number(error, "an error"),
                "time": seconds(time),
                "methods": ",".join(methods) or None,
                "equal_steps": equal_steps,
            }
            found = read_json(_costep.advise(self._core(isolate=True), json.dumps(settings)))
            if found["choice"] is None and found["errors"]:
                raise errors_of(found["errors"])
            return Card("advice", found)
        words = flags(error=number(error, "an error"), time=steps_text([time]))
        words += ["--methods", ",".join(methods)] if methods else []
        words += ["--equal-steps"] if equal_steps else []
        return Card("advice", call("advise", *self._words(), *words, system=self))

    def stability(
        self,
        *,
        method: str | None = None,
        models: str | None = None,
        step: Time | None = None,
        steps: Sequence[Time] = (),
        at: Time | None = None,
        by_models: bool = False,
        windows: Sequence[int] = (),
        report: PathLike | None = None,
        methods: Sequence[str] = (),
    ) -> Card:
        """Whether one macro step forgets small perturbations: spectral radius over ``steps`` (around its own if none is
        given), the largest stable one, the mode that grows and the signals in it, eigenvalues, phase margins.

        ``at`` is the time of the run at which a step is linearised; ``by_models`` takes local models in place of native
        parts too. For methods that learn during the run these are Bohl exponents, over ``windows`` of macro steps.
        ``report`` is a page (HTML), on which ``methods`` stand beside that of the system, all if none is named.

        >>> import costep
        >>> found = costep.System("dual-mass").stability(method="zoh", steps=["1 ms", "3 ms"])
        >>> [step["stable"] for step in found["steps"]]
        [True, False]
        >>> round(1e3 * found["largest_stable_step"], 2)
        2.29
        """
        if self._calls_python():
            return self._stability_here(method, models, step, steps, at, by_models, report, methods)
        words = flags(method=method, models=models, step=step, at=None if at is None else steps_text([at]))
        words += ["--steps", steps_text(steps)] if steps else []
        words += ["--by-models"] if by_models else []
        words += ["--bohl", "--windows", ",".join(str(window) for window in windows)] if windows else []
        words += [] if report is None else ["--report", os.fspath(report)]
        words += ["--methods", ",".join(methods)] if methods else []
        system = self._stepping(step if step is not None or not steps else steps[0])
        return Card("stability", call("stability", *self._words(), *words, system=system))

    def _stability_here(
        self,
        method: str | None,
        models: str | None,
        step: Time | None,
        steps: Sequence[Time],
        at: Time | None,
        by_models: bool,
        report: PathLike | None,
        methods: Sequence[str],
    ) -> Card:
        """Parts that are written in Python are in this process only."""
        _, changes = settings_of(None, step, method, models, None, None)
        settings = {
            "steps": [seconds(length) for length in steps],
            "at": None if at is None else seconds(at),
            "by_models": by_models,
            "report": None if report is None else os.fspath(report),
            "methods": ",".join(methods) or None,
        }
        core = self._core(changes, isolate=True)
        return Card("stability", read_json(_costep.stability(core, json.dumps(settings))))

    def map(
        self,
        vary: Mapping[str, Levels] | None = None,
        *,
        steps: str | Sequence[Time] = (),
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
        words = flags(models=models, reference=reference, jobs=jobs)
        for name, levels in (vary or {}).items():
            words += ["--vary", f"{name}={levels_text(levels)}"]
        words += ["--steps", steps_text(steps)] if steps else []
        words += ["--methods", ",".join(methods)] if methods else []
        words += [] if radius else ["--no-radius"]
        words += ["--fresh"] if fresh else []
        words += [] if report is None else ["--report", os.fspath(report)]
        system = self._stepping(None if isinstance(steps, str) or not steps else steps[0])
        title = f"map of {self.name}"
        return study(title, out, lambda folder: call("map", *self._words(), "--out", folder, *words, system=system))

    def export_ssp(self, out: PathLike) -> None:
        """Writes a system of FMUs as an SSP."""
        call("export", self._file(), "--ssp", "--to", os.fspath(out), system=self)

    def save(self, folder: PathLike) -> str:
        """Writes it as a project that can be opened again, and gives the path of its file."""
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "system.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._text())
        return path

    def _text(self) -> str:
        if self._calls_python():
            raise misuse(
                f"`{next(iter(self._code))}` is written in Python and cannot be written to a file",
                "parts that are FMUs, parts of built-in models, `LTI` or transfer functions can; pickle keeps the rest",
            )
        return self.to_toml()

    def _stepping(self, step: Time | None) -> Analysis:
        """The same with a macro step, which a system in code need not have to be looked at with others."""
        if step is None:
            return self
        other = copy.copy(self)
        other._recipe = {**self._recipe, "changes": [*self._recipe["changes"], ["step.size", time_text(step)]]}
        return other

    def _file(self) -> str | None:
        """What a command line names; nothing if it has to be written first."""
        return None if self._recipe["source"] is None else str(self._recipe["source"])

    def _words(self) -> list[str | None]:
        """The system as words of a command line; nothing stands for the file that it is written to."""
        if self._recipe["source"] is None:
            return [None]
        words: list[str | None] = [self._file()]
        for path, value in self._recipe["changes"]:
            words += ["--set", f"{path}={value}"]
        return words
