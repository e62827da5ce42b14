"""Every example of the documents, of the docstrings and of the notebooks works."""

from __future__ import annotations

import doctest
import importlib
import pathlib
import pkgutil
import re
import shutil
import subprocess
import sys

import costep
import pytest
from conftest import ROOT, Command

MODULES = [f"costep.{module.name}" for module in pkgutil.iter_modules(costep.__path__) if module.name != "__main__"]


def blocks(path: str) -> str:
    text = (ROOT / path).read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found, path
    return "\n".join(found)


def test_the_manual() -> None:
    exec(compile(blocks("docs/python.md"), "docs/python.md", "exec"), {"__name__": "manual"})


def test_the_readme(program: Command, capsys: pytest.CaptureFixture[str]) -> None:
    program("export-fmu", "dual-mass", "--out", "fmus")
    program("new", "pair", "fmus/s1.fmu", "fmus/s2.fmu")
    exec(compile(blocks("README.md"), "README.md", "exec"), {"__name__": "readme"})
    assert "stable" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["costep", *MODULES])
def test_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    assert doctest.testmod(module, verbose=False).failed == 0


def test_everything_public_has_a_docstring() -> None:
    for name in costep.__all__:
        thing = getattr(costep, name)
        assert isinstance(thing, str) or (thing.__doc__ or "").strip(), name
        for attribute, member in vars(thing).items() if isinstance(thing, type) else ():
            if not attribute.startswith("_") and (callable(member) or isinstance(member, property)):
                assert (member.__doc__ or "").strip(), f"{name}.{attribute}"


def test_the_program(program: Command) -> None:
    assert "predictive" in program("demo").stdout
    assert pathlib.Path("costep-demo/system.toml").is_file()
    assert program("run", "nothing", check=False).returncode == 1
    assert program("--version").stdout.strip().endswith(costep.__version__)
    done = subprocess.run([sys.executable, "-m", "costep", "explain", "E0620"], capture_output=True, text=True)
    assert done.returncode == 0 and "Python" in done.stdout


def test_notebooks(tmp_path: pathlib.Path) -> None:
    for notebook in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        shutil.copy(notebook, tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbmake", "--rootdir", ".", "."]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and "4 passed" in done.stdout, done.stdout


def check_pages(rig: costep.System, result: costep.Result, folder: pathlib.Path) -> None:
    """Those of the program: the same plots, from memory as from a recording."""
    page = pathlib.Path(result.report(folder / "rig.html")).read_text()
    assert "monolithic" in page and ">stable<" in page and "How to reproduce it" in page
    assert "monolithic" not in plots(pathlib.Path(result.report(folder / "none.html", reference=False)).read_text())
    assert plots(page) == plots(pathlib.Path(result.report(folder / "rig.html", reference=True)).read_text())
    # A recording has what lies between the points too, which memory has not.
    rig = rig.set(**{"record.between": False})
    recorded = rig.run(stop=0.1, step="1 ms", record=folder / "there")
    more = plots(pathlib.Path(recorded.report(folder / "there.html")).read_text())
    assert plots(page).splitlines()[:1] == more.splitlines()[:1] and len(more) > len(plots(page))
    loaded = plots(pathlib.Path(costep.load(folder / "there").report(folder / "loaded.html")).read_text())
    assert loaded == more
    import pickle

    alone = pathlib.Path(pickle.loads(pickle.dumps(result)).report(folder / "alone.html")).read_text()
    assert "s2.F" in plots(alone) and ">stable<" in alone
    table = rig.compare(methods=["zoh", "predictive"], steps=["1 ms", "2 ms"], progress=False)
    good = sum(row["verdict"] == "stable" for row in table)
    assert f">{good} of 4 stable<" in pathlib.Path(table.report(folder / "both.html")).read_text()


def plots(page: str) -> str:
    """The plots of a page, one per line."""
    import json

    found = re.search(r'id="data">(.*?)</script>', page)
    assert found is not None
    data = json.loads(found.group(1))
    lines = [
        json.dumps([[trace.get("name"), trace.get("y")] for trace in plot["traces"]]) for plot in data["plots"]
    ]
    return "\n".join(lines)


def test_pictures(tmp_path: pathlib.Path) -> None:
    import xml.dom.minidom

    rig = costep.System("dual-mass")
    result = rig.run(stop=0.1, step="1 ms")
    for shown in (rig.graph(), re.findall(r"<svg.*?</svg>", result._repr_html_())[0]):
        assert xml.dom.minidom.parseString(shown).documentElement.tagName == "svg"
    check_pages(rig, result, tmp_path)
    import matplotlib

    matplotlib.use("Agg")
    axes = result.plot(["s1.x", "s2.F"], reference=True)
    assert axes.shape == (2, 1) and len(axes[0, 0].lines) == 2
    card = costep.inspect(rig.save(tmp_path / "project"))
    assert "<table>" in card._repr_html_() and "dual-mass" in str(card)
    assert "<script>" not in costep._html.table(["a"], [["<script>"]])
