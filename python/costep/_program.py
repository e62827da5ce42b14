"""What the program ``costep`` does beside runs, by its own JSON: the same words, the same results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _costep, _html
from ._errors import errors_of, misuse
from ._settings import flags, set_flags
from ._text import PathLike, Time, integer, items, times_text, value_text
from ._text import name as name_text
from ._text import path as text_path

if TYPE_CHECKING:
    from ._analysis import Analysis
    from ._result import Result
    from ._system import System

MAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")


class Card(dict[str, Any]):
    """What is known about something: the dictionary of ``--json``, shown as a card in notebooks."""

    def __init__(self, title: str, content: dict[str, Any]) -> None:
        super().__init__(content)
        self.title = title

    def _repr_html_(self) -> str:
        rows = []
        for key, value in self.items():
            if isinstance(value, list) and all(isinstance(item, dict) for item in value):
                names = [str(item.get("name", item.get("message", item))) for item in value]
                text = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
            elif isinstance(value, dict):
                text = ", ".join(f"{name} {_short(item)}" for name, item in value.items())
            else:
                text = _short(value)
            rows.append(f"<tr><th>{_html.escape(key)}</th><td>{_html.escape(text)}</td></tr>")
        return f"<b>{_html.escape(self.title)}</b><table>{''.join(rows)}</table>"

    def __reduce__(self) -> Any:
        return Card, (self.title, dict(self))


def _short(value: Any) -> str:
    text = value_text(value) if isinstance(value, (bool, int, float, str)) else json.dumps(value)
    return text if len(text) <= 200 else text[:197] + "..."


def call(
    verb: str, *words: PathLike | None, options: Sequence[str] = (), system: Analysis | None = None
) -> dict[str, Any]:
    """Has the program do something, and gives its JSON. ``words`` are what the verb is about, however they begin; one that is
    nothing stands for the file of a system that was built in code, which is written for it."""
    texts = [None if word is None else text_path(word, "a name") for word in words]
    if system is None or None not in texts:
        return _call(verb, [text for text in texts if text is not None], options)
    with tempfile.TemporaryDirectory(prefix="costep-") as folder:
        path = system.save(folder)
        return _call(verb, [path if text is None else text for text in texts], options)


def _call(verb: str, words: list[str], options: Sequence[str]) -> dict[str, Any]:
    for word in (*words, *options):
        if "\0" in word:
            raise misuse(f"{word!r} has a zero character in it", "leave it out")
    done = _done([verb, "--json", *options, "--", *words])
    try:
        said = _documents(done.stdout)
    except json.JSONDecodeError:
        raise _failed(verb, done) from None
    found = said[-1].get("errors") if said else None
    if done.returncode != 0 and found:
        raise errors_of(found)
    if not said:
        raise _failed(verb, done)
    return said[0]


def _documents(text: str) -> list[dict[str, Any]]:
    """The result, and what went wrong after it, as far as there is any."""
    found: list[dict[str, Any]] = []
    text = text.strip()
    while text:
        value, end = json.JSONDecoder().raw_decode(text)
        found.append(value if isinstance(value, dict) else {"items": value})
        text = text[end:].strip()
    return found


def _done(words: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", MAIN, *words]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")


def _failed(verb: str, done: subprocess.CompletedProcess[str]) -> _costep.Error:
    """The program said nothing that it should."""
    said = (done.stderr.strip() or done.stdout.strip())[-2000:]
    return misuse(f"`costep {verb}` ended with exit code {done.returncode}: {said}", "report this", "E0901")


def inspect(path: PathLike, *, allow_outside: bool = False) -> Card:
    """What an FMU, SSP, project, recording or run folder contains, without running any of it."""
    found = call("inspect", path, options=flags(allow_outside=allow_outside))
    return Card(os.path.basename(text_path(path)), found)


def methods(name: str | None = None) -> Card:
    """The coupling methods and sources of models, or one of them."""
    return Card("methods", call("methods", *([] if name is None else [name])))


def models(name: str | None = None) -> Card:
    """The built-in models, or one of them."""
    return Card("models", call("models", *([] if name is None else [name])))


def explain(code: str) -> str:
    """What an error code means.

    >>> import costep
    >>> costep.explain("E0604").splitlines()[0]
    'E0604  the run was stopped'
    """
    done = _done(["explain", "--", name_text(code, "a code")])
    if done.returncode != 0:
        # The same question once more, for the error as such.
        call("explain", code)
        raise _failed("explain", done)
    return done.stdout


def schema() -> dict[str, Any]:
    """The JSON Schema of project files, for editors that check and complete TOML.

    >>> import costep
    >>> "step" in costep.schema()["properties"]
    True
    """
    return call("schema")


def export_fmu(
    model: str,
    out: PathLike,
    *,
    fmi: int = 3,
    part: str | None = None,
    kind: str | None = None,
    without: Sequence[str] = (),
    bare: bool = False,
    black_box: bool = False,
    **set: Any,
) -> Card:
    """Exports the parts of a built-in model as FMUs into a folder: ``kind`` is ``cs``, ``me`` or ``both``; ``without`` leaves out
    capabilities (``state``, ``directional-derivatives``, ``input-derivatives``, ``intermediate``, ``variable-step``), ``bare`` all
    of them; a ``black_box`` has Co-Simulation alone, and none."""
    if not isinstance(model, str):
        raise misuse(
            f"{type(model).__name__} cannot be exported as an FMU",
            "parts of built-in models can, by the name of the model: `costep.models()` lists them",
        )
    left_out = items(without, "capabilities")
    options = flags(out=text_path(out), fmi=fmi, part=part, kind=kind, without=left_out, bare=bare, black_box=black_box)
    return Card(model, call("export-fmu", model, options=options + set_flags(set)))


def export(run: PathLike, to: PathLike, *, signals: Sequence[str] = ()) -> Card:
    """Writes a recording, or that of a run folder, as CSV, Parquet or Feather; ``signals`` may have ``*`` as wildcard.

    >>> import costep
    >>> result = costep.System("dual-mass").run(stop=0.01, record="there", progress=False)
    >>> _ = costep.export("there", "there.csv", signals=["s1.x", "s2.*"])
    >>> open("there.csv").readline().strip()
    't,s1.x,s2.F,s2.x,s2.v'
    """
    options = [f"--signals={signal}" for signal in items(signals, "signals")]
    return Card(os.path.basename(text_path(to)), call("export", run, options=flags(to=text_path(to)) + options))


def reproduce(
    *studies: str,
    out: PathLike = "costep-reproduce",
    quick: bool = False,
    resume: bool = False,
    report: PathLike | None = None,
) -> Card:
    """Computes published results again, claim by claim, all of them for ``"all"``; without one they are listed. Data and plots go
    to the folder ``out``, from which ``resume`` takes those that are there already; a page goes to the file ``report``.

    >>> import costep
    >>> "genser2020-tab3.4" in str(costep.reproduce())
    True
    """
    named = [name_text(study, "a study") for study in studies]
    options = flags(out=text_path(out), quick=quick, resume=resume, report=report) if named else []
    return Card(" ".join(named) or "studies", call("reproduce", *named, options=options))


def survey(
    folder: PathLike,
    *,
    steps: int = 100,
    time_limit: Time = "60 s",
    fmpy: PathLike | None = None,
    to: PathLike | None = None,
) -> Card:
    """Tries all FMUs and systems below a folder, each for at most so many communication steps and so long; compares FMUs with
    FMPy if an interpreter that has it is named, and writes a page in Markdown to the file ``to``."""
    limit = times_text([time_limit], "a time limit")
    options = flags(steps=integer(steps, "`steps`", 1), time_limit=limit, fmpy=fmpy, to=to)
    return Card(os.path.basename(os.path.abspath(folder)), call("survey", folder, options=options))


def new_project(folder: PathLike, *fmus: PathLike, copy: bool = True) -> System:
    """Makes a project of FMUs, with connections proposed by name and unit, and opens it. FMUs are copied into the folder, or
    left where they are."""
    from ._system import System

    if not fmus:
        raise misuse("a project is made of FMUs", "name them: `costep.new_project(folder, first, second)`")
    call("new", folder, *fmus, options=flags(no_copy=not copy))
    return System(folder)


def import_project(source: PathLike, folder: PathLike, *, allow_outside: bool = False) -> System:
    """Makes a project of a system of another tool (SSP, OSP, MasterSim, multi-model), with its FMUs, and opens it."""
    from ._system import System

    call("import", source, options=flags(out=text_path(folder), allow_outside=allow_outside))
    return System(folder)


def resume(
    folder: PathLike,
    *,
    time_limit: Time | None = None,
    memory_limit: int | None = None,
    verify: bool | None = None,
    checkpoint: Time | None = None,
) -> Result:
    """Goes on with a recorded run that was stopped or killed, from its last checkpoint to its end. Limits and ``verify`` are
    those of :meth:`System.run`."""
    report = call(
        "resume",
        folder,
        options=flags(
            time_limit=None if time_limit is None else times_text([time_limit], "a time limit"),
            memory_limit=None if memory_limit is None else f"{integer(memory_limit, '`memory_limit`')}B",
            verify=verify is True,
            no_verify=verify is False,
            checkpoint=None if checkpoint is None else times_text([checkpoint], "a time"),
        ),
    )
    result = load(folder)
    result.details.update(report)
    return result


def load(path: PathLike) -> Result:
    """The recording of a run: a file ``results.arrows``, or the folder of a run. A run that was killed has what it had
    written until then."""
    from ._result import Result

    text = text_path(path)
    if os.path.isdir(text):
        text = os.path.join(text, "results.arrows")
    columns = _costep.read_recording(text)
    return Result({"verdict": "not judged", "folder": os.path.dirname(text)}, columns)
