"""Coupled systems."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _costep
from ._analysis import Analysis
from ._comparison import Comparison
from ._errors import misuse, read_json
from ._part import Part
from ._parts import code_part, linear_part
from ._progress import Progress, teller
from ._result import Result
from ._settings import external, run_settings, settings_of, shape_of
from ._simulation import Simulation
from ._text import PathLike, Time, Times, full_path, items, lengths, number, pairs, value_text
from ._text import name as name_text

FMU = ".fmu"


class System(Analysis):
    """A coupled system: what is opened, or built from parts and connections.

    ``source`` is a folder with a ``system.toml``, a project file, an ``.ssp`` or ``.ssd``, an
    ``OspSystemStructure.xml``, an ``.msim``, an FMU alone, or the name of a built-in model.

    >>> import costep
    >>> rig = costep.System("dual-mass", set={"ck": 2e5})
    >>> rig.outputs
    ['s1.x', 's1.v', 's2.F']
    >>> rig.run(stop=0.05, progress=False).verdict
    'stable'
    """

    def __init__(self, source: PathLike, *, set: Mapping[str, Any] | None = None, allow_outside: bool = False) -> None:
        if not isinstance(source, (str, os.PathLike)):
            hint = "name a file, a folder or a built-in model; `System.new` builds one from parts"
            raise misuse(f"a system cannot be opened by {type(source).__name__}", hint)
        text = name_text(os.fspath(source), "a path")
        if "\0" not in text and os.path.exists(text):
            text = os.path.abspath(text)
        self._begin(source=text, allow_outside=allow_outside)
        for key, value in pairs(set, "`set`").items():
            self._change(key, value)
        # Mistakes are told here, not by whoever uses it first.
        self._core()

    def _begin(self, **recipe: Any) -> None:
        self._recipe: dict[str, Any] = {
            "source": None,
            "text": None,
            "folder": _here(),
            "name": "system",
            "parts": [],
            "connections": [],
            "signals": [],
            "changes": [],
            "allow_outside": False,
            **recipe,
        }
        self._code: dict[str, Any] = {}
        self._cached: tuple[Any, _costep.Core] | None = None

    @classmethod
    def new(cls, name: str = "system", /, **parts: Any) -> System:
        """A system of parts: files of FMUs, ``"model/part"`` of built-in models, :class:`LTI`,
        :class:`TransferFunction`, objects of ``control`` and ``scipy.signal``, and classes of your own.

        >>> import costep
        >>> rig = costep.System.new(left="dual-mass/s1", right="dual-mass/s2")
        >>> for output, input in [("left.x", "right.x"), ("left.v", "right.v"), ("right.F", "left.F")]:
        ...     rig.connect(output, input)
        >>> rig.run(stop=0.1, step="1 ms", solver="euler:10us", progress=False).verdict
        'stable'
        """
        system = cls.__new__(cls)
        system._begin(name=name_text(name, "the name of a system"))
        for part, what in parts.items():
            system.add(part, what)
        return system

    @classmethod
    def from_toml(cls, text: str, folder: PathLike = ".") -> System:
        """The text of a project file; names of files in it are relative to ``folder``."""
        system = cls.__new__(cls)
        system._begin(text=name_text(text, "a project"), folder=full_path(folder, "a folder"))
        system._core()
        return system

    def add(self, name: str, part: Any) -> Part:
        """Adds a part under a name; see :meth:`new`."""
        self._refuse_if_opened("add")
        name_text(name, "the name of a part")
        if any(part_of["name"] == name for part_of in self._recipe["parts"]):
            raise misuse(f"there is another part `{name}`", "give one of them another name")
        if isinstance(part, (str, os.PathLike)):
            text = os.fspath(part)
            if text.lower().endswith(FMU):
                entry: dict[str, Any] = {"kind": "fmu", "name": name, "file": os.path.abspath(text)}
            elif text.count("/") == 1:
                model, built_in = text.split("/")
                entry = {"kind": "model", "name": name, "model": model, "part": built_in}
            else:
                raise misuse(
                    f"`{text}` is neither an FMU nor a part of a built-in model",
                    "name a file that ends with .fmu, or write `model/part`: `costep.models()` lists models",
                )
        elif (linear := linear_part(part)) is not None:
            entry = {"kind": "linear", "name": name, **linear}
        else:
            entry, make = code_part(name, part)
            self._code[name] = make
        self._recipe["parts"].append(entry)
        return Part(self, name)

    def connect(
        self,
        source: str,
        target: str,
        *,
        gain: float | None = None,
        offset: float = 0.0,
        unit: str | None = None,
        sum: bool = False,
    ) -> None:
        """Connects an output to an input, both ``part.port``: ``target = gain * source + offset``.

        ``unit="convert"`` converts between units that differ; ``sum`` adds to other sources of the input.
        """
        self._refuse_if_opened("connect")
        if unit not in (None, "convert"):
            raise misuse(f"`unit={unit!r}` says nothing", 'write `unit="convert"`, or leave it out')
        self._recipe["connections"].append(
            {
                "from": name_text(source, "an output"),
                "to": name_text(target, "an input"),
                "gain": None if gain is None else number(gain, "a gain"),
                "offset": number(offset, "an offset"),
                "convert": unit == "convert",
                "sum": bool(sum),
            }
        )

    def drive(self, target: str, signal: Any, *, hold: bool = False, sum: bool = False) -> None:
        """Drives an input from outside, by a constant, by points ``(times, values)`` between which it is linear (or
        held), or by a shape: ``{"sine": dict(amplitude=1.0, frequency=2.0)}``, ``{"step": dict(value=1.0, start=0.1)}``.
        """
        shape = shape_of(signal, hold)
        if any(letter in name_text(target, "an input") for letter in '"\\\n'):
            raise misuse(f"there is no input {target!r}", "name one as `part.port`: `rig.inputs` lists them")
        if self._recipe["source"] is not None:
            self._become_text()
        if self._recipe["text"] is not None:
            self._recipe["text"] += external(target, shape, sum)
        else:
            self._recipe["signals"].append({"to": target, "shape": shape, "sum": sum})

    def _become_text(self) -> None:
        """What was opened becomes the text of a project, which takes further external inputs."""
        source = str(self._recipe["source"])
        if source.lower().endswith(".ssp"):
            raise misuse("`drive` does not change packages", "make a project of it: `costep import FILE --out FOLDER`")
        folder = os.path.dirname(source) if os.path.isfile(source) else source
        folder = folder if os.path.isdir(folder) else _here()
        self._recipe.update(text=self.to_toml(), source=None, changes=[], folder=folder)

    def set(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> System:
        """Changes parameters or any key of the project, as ``--set`` does: ``rig.set({"step.size": "1 ms"}, ck=2e5)``."""
        for key, value in {**pairs(values, "changes"), **more}.items():
            self._change(key, value)
        return self

    def _change(self, path: str, value: Any) -> None:
        self._recipe["changes"].append([path, value_text(value)])

    def _refuse_if_opened(self, verb: str) -> None:
        if self._recipe["source"] is not None or self._recipe["text"] is not None:
            raise misuse(
                f"`{verb}` changes systems that are built in code only",
                "build it with `System.new`, or change the project file",
            )

    def __getitem__(self, part: str) -> Part:
        names = self.parts
        if part not in names:
            raise misuse(f"there is no part `{part}`", f"its parts are {', '.join(names)}")
        return Part(self, part)

    # What can be done with it.

    def run(
        self,
        stop: Time | None = None,
        step: Time | None = None,
        method: Any = None,
        *,
        models: str | None = None,
        solver: str | None = None,
        threads: int | None = None,
        tolerance: float | None = None,
        control: str | None = None,
        schedule: str | None = None,
        reference: str = "auto",
        verify: bool | None = None,
        record: PathLike | None = None,
        checkpoint: Time | None = None,
        time_limit: Time | None = None,
        memory_limit: int | None = None,
        supervise: bool = True,
        sandbox: bool = False,
        progress: Progress = None,
        check: bool = True,
    ) -> Result:
        """Runs it to its end and judges it.

        ``method`` is a coupling method with its options, ``"nepce:alpha=0.5"``, or an object with ``extrapolate``.
        With a ``tolerance`` steps vary, by the error that ``control`` names. ``schedule`` is the order of stepping:
        ``parallel``, ``sequential:s2,s1``. ``reference`` is what errors are measured against: ``auto``, ``none``, ``same``,
        a solver such as ``dopri5:1e-10``, or ``step``; ``verify`` whether a run without one is repeated at half its step.
        ``record`` is a folder for a recording, with a ``checkpoint`` after every such wall time. FMUs run in a second process
        unless ``supervise`` is false; ``sandbox`` confines each in a process of its own. A run that ends with an error raises
        it, with what there is of the run as its ``result``; ``check=False`` gives that result instead.

        >>> import costep
        >>> rig = costep.System("dual-mass")
        >>> rig.run(step="5 ms", method="zoh", progress=False).verdict
        'unstable'
        """
        method, changes = settings_of(stop, step, method, models, solver, threads, tolerance, control, schedule)
        core = self._core(changes, method, _isolation(supervise and self._calls_python(method), sandbox))
        settings = run_settings(reference, verify, record, time_limit, memory_limit, supervise, checkpoint)
        facts = read_json(core.facts())
        tell, bar = teller(progress, facts["start"], facts["stop"])
        try:
            report, columns, lines = core.run(settings, tell)
        except BaseException as raised:
            # Also what a signal handler or the one who is told of progress raises.
            found = getattr(raised, "result", None)
            if isinstance(found, tuple):
                raised.result = Result(read_json(found[0]), found[1], core)  # type: ignore[attr-defined]
            raise
        finally:
            if bar is not None:
                bar.close()
        result = Result(read_json(report), columns, core, lines)
        if check and result.failure is not None:
            raise result.failure
        return result

    def start(
        self,
        step: Time | None = None,
        method: Any = None,
        *,
        stop: Time | None = None,
        models: str | None = None,
        solver: str | None = None,
        threads: int | None = None,
        tolerance: float | None = None,
        control: str | None = None,
        schedule: str | None = None,
        reference: str = "none",
        record: PathLike | None = None,
        checkpoint: Time | None = None,
        isolate: bool = True,
        sandbox: bool = False,
    ) -> Simulation:
        """Starts a run that is taken step by step. FMUs get processes of their own unless ``isolate`` is false: then
        steps are as fast as they can be, but an FMU that crashes takes Python along. Settings are those of :meth:`run`.

        >>> import costep
        >>> with costep.System("dual-mass").start(step="1 ms") as sim:
        ...     while sim.time < 0.01:
        ...         sim.step()
        ...     round(sim.time, 6)
        0.01
        """
        method, changes = settings_of(stop, step, method, models, solver, threads, tolerance, control, schedule)
        core = self._core(changes, method, _isolation(isolate, sandbox))
        settings = run_settings(reference, False, record, None, None, False, checkpoint)
        return Simulation(core, core.start(settings))

    def compare(
        self,
        methods: Sequence[str] = (),
        steps: Times = (),
        *,
        stop: Time | None = None,
        models: str | None = None,
        solver: str | None = None,
        tolerance: float | None = None,
        control: str | None = None,
        schedule: str | None = None,
        reference: str = "same",
        record: PathLike | None = None,
        supervise: bool = True,
        sandbox: bool = False,
        progress: Progress = None,
    ) -> Comparison:
        """Runs it with several methods (all that are possible if none is named) and steps, and measures all runs. ``record`` is a
        folder for a recording of every run, which its row names. Other settings are those of :meth:`run`.

        >>> import costep
        >>> table = costep.System("dual-mass").compare(methods=["zoh", "auto"], steps=["5 ms"], progress=False)
        >>> [(row["method"], row["verdict"]) for row in table]
        [('zoh', 'unstable'), ('auto', 'stable')]
        """
        methods, spans = items(methods, "methods"), lengths(steps, "steps")
        if tolerance is not None and spans:
            raise misuse("with a tolerance the steps vary", "give `steps` or a `tolerance`, not both")
        _, changes = settings_of(
            stop, None, None, models, solver, tolerance=tolerance, control=control, schedule=schedule
        )
        changes += [("step.size", spans[0])] if spans else []
        core = self._core(changes, None, _isolation(supervise and bool(self._code), sandbox))
        settings = {
            "methods": [name_text(method, "a method") for method in methods],
            "steps": spans,
            "reference": name_text(reference, "a reference"),
            "has_models": models is not None,
            "record": None if record is None else full_path(record, "`record`"),
            "supervise": bool(supervise),
        }
        runs = max(len(methods), 1) * max(len(spans), 1)
        tell, bar = teller(progress, 0.0, float(runs)) if methods else (None, None)
        by_runs = None if tell is None else lambda done, _time: tell(done, float(done))
        try:
            report, _, _ = core.compare(json.dumps(settings), by_runs)
        except BaseException as stopped:
            found = getattr(stopped, "result", None)
            if isinstance(found, tuple):
                # The runs that were done.
                stopped.result = Comparison(read_json(found[0]), core)  # type: ignore[attr-defined]
            raise
        finally:
            if bar is not None:
                bar.close()
        return Comparison(read_json(report), core)

    # Inside.

    def __copy__(self) -> System:
        """One that can be changed without the other; parts in Python are the same objects."""
        other = type(self).__new__(type(self))
        other.__setstate__({"recipe": copy.deepcopy(self._recipe), "code": dict(self._code)})
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {"recipe": self._recipe, "code": self._code}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._recipe, self._code, self._cached = state["recipe"], state["code"], None


def _here() -> str:
    """The present folder, from which names of files are taken; the root if it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


def _isolation(is_apart: bool, sandbox: bool) -> str | None:
    """In which processes FMUs run."""
    return "sandbox" if sandbox else ("process" if is_apart else None)
