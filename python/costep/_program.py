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
from ._text import PathLike, value_text

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


def call(*words: str | None, system: Analysis | None = None) -> dict[str, Any]:
    """Has the program do something, and gives its JSON. A word that is nothing stands for the file of a system that was
    built in code, which is written for it."""
    if None not in words:
        return _call([word for word in words if word is not None])
    with tempfile.TemporaryDirectory(prefix="costep-") as folder:
        path = os.path.join(folder, "system.toml")
        if system is not None:
            system.save(folder)
        return _call([path if word is None else word for word in words])


def _call(words: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, MAIN, *words, "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    try:
        said = json.loads(done.stdout) if done.stdout.strip() else {}
    except json.JSONDecodeError:
        raise RuntimeError(f"costep {' '.join(words)}: {done.stdout}{done.stderr}") from None
    if not isinstance(said, dict):
        said = {"items": said}
    found = said.get("errors")
    if done.returncode != 0 and found:
        raise errors_of(found)
    if done.returncode != 0 and not said:
        raise RuntimeError(f"costep {' '.join(words)}: exit code {done.returncode}: {done.stderr}")
    return said


def inspect(path: PathLike) -> Card:
    """What an FMU, SSP, project, recording or run folder contains, without running any of it."""
    return Card(os.path.basename(os.fspath(path)), call("inspect", os.fspath(path)))


def methods(name: str | None = None) -> Card:
    """The coupling methods and sources of models, or one of them."""
    return Card("methods", call("methods", *([name] if name else [])))


def models(name: str | None = None) -> Card:
    """The built-in models, or one of them."""
    return Card("models", call("models", *([name] if name else [])))


def explain(code: str) -> str:
    """What an error code means.

    >>> import costep
    >>> costep.explain("E0604").splitlines()[0]
    'E0604  the run was stopped'
    """
    done = subprocess.run([sys.executable, MAIN, "explain", code], capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip())
    return done.stdout


def export_fmu(
    model: str, out: PathLike, *, fmi: int = 3, part: str | None = None, black_box: bool = False, **set: Any
) -> Card:
    """Exports the parts of a built-in model as FMUs into a folder."""
    if not isinstance(model, str):
        raise misuse(
            f"{type(model).__name__} cannot be exported as an FMU",
            "parts of built-in models can, by the name of the model: `costep.models()` lists them",
        )
    words = ["export-fmu", model, "--out", os.fspath(out), "--fmi", str(fmi)]
    words += ["--part", part] if part else []
    words += ["--black-box"] if black_box else []
    for name, value in set.items():
        words += ["--set", f"{name}={value_text(value)}"]
    return Card(model, call(*words))


def export(run: PathLike, to: PathLike, *, signals: Sequence[str] = ()) -> Card:
    """Writes a recording, or that of a run folder, as CSV or Parquet; ``signals`` may have ``*`` as wildcard.

    >>> import costep
    >>> result = costep.System("dual-mass").run(stop=0.01, record="there", progress=False)
    >>> _ = costep.export("there", "there.csv", signals=["s1.x", "s2.*"])
    >>> open("there.csv").readline().strip()
    't,s1.x,s2.F,s2.x,s2.v'
    """
    words = [word for signal in signals for word in ("--signals", signal)]
    return Card(os.path.basename(os.fspath(to)), call("export", os.fspath(run), "--to", os.fspath(to), *words))


def reproduce(
    study: str, *, out: PathLike = "costep-reproduce", quick: bool = False, report: PathLike | None = None
) -> Card:
    """Computes a published result again, claim by claim; ``costep reproduce`` lists them. Data and plot go to the folder
    ``out``, a page to the file ``report``."""
    words = ["--out", os.fspath(out), *(["--quick"] if quick else [])]
    words += [] if report is None else ["--report", os.fspath(report)]
    return Card(study, call("reproduce", study, *words))


def new_project(folder: PathLike, *fmus: PathLike) -> System:
    """Makes a project of FMUs, with connections proposed by name and unit, and opens it."""
    from ._system import System

    call("new", os.fspath(folder), *(os.fspath(fmu) for fmu in fmus))
    return System(folder)


def import_project(source: PathLike, folder: PathLike, *, allow_outside: bool = False) -> System:
    """Makes a project of a system of another tool (SSP, OSP, MasterSim, multi-model), with its FMUs, and opens it."""
    from ._system import System

    words = ["--allow-outside"] if allow_outside else []
    call("import", os.fspath(source), "--out", os.fspath(folder), *words)
    return System(folder)


def resume(folder: PathLike) -> Result:
    """Goes on with a recorded run that was stopped or killed, from its last checkpoint to its end."""
    report = call("resume", os.fspath(folder))
    result = load(folder)
    result.details.update(report)
    return result


def load(path: PathLike) -> Result:
    """The recording of a run: a file ``results.arrows``, or the folder of a run. A run that was killed has what it had
    written until then."""
    from ._result import Result

    text = os.fspath(path)
    if os.path.isdir(text):
        text = os.path.join(text, "results.arrows")
    columns = _costep.read_recording(text)
    return Result({"verdict": "not judged", "folder": os.path.dirname(text)}, columns)
