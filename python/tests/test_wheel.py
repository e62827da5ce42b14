"""The wheel: what it may be installed on, and a new environment with nothing but it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest


@pytest.fixture
def wheel() -> pathlib.Path:
    path = os.environ.get("COSTEP_WHEEL")
    if path is None:
        pytest.skip("COSTEP_WHEEL names no wheel")
    return pathlib.Path(path).resolve()


def test_it_is_for_many_systems_and_versions_of_python(wheel: pathlib.Path) -> None:
    assert "-cp310-abi3-manylinux" in wheel.name
    scripts = pathlib.Path(sys.executable).parent
    shown = subprocess.run([scripts / "auditwheel", "show", wheel], capture_output=True, text=True)
    assert shown.returncode == 0 and "manylinux" in shown.stdout, shown.stdout + shown.stderr
    audited = subprocess.run([scripts / "abi3audit", "--strict", wheel], capture_output=True, text=True)
    assert audited.returncode == 0, audited.stdout + audited.stderr
    names = zipfile.ZipFile(wheel).namelist()
    assert {"costep/py.typed", "costep/_costep.pyi", "costep/__main__.py"} <= set(names)
    assert not any(name.startswith("tests") for name in names)


def test_it_is_small(wheel: pathlib.Path) -> None:
    assert wheel.stat().st_size < 25e6


def test_a_new_environment(wheel: pathlib.Path, tmp_path: pathlib.Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    scripts = tmp_path / "venv" / "bin"
    subprocess.run([scripts / "pip", "install", "--quiet", "--disable-pip-version-check", wheel], check=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    demo = subprocess.run([scripts / "costep", "demo"], capture_output=True, text=True, env=clean, cwd=tmp_path)
    assert demo.returncode == 0 and "predictive" in demo.stdout, demo.stderr
    script = """
import costep
costep.export_fmu("dual-mass", "fmus")
rig = costep.new_project("pair", "fmus/s1.fmu", "fmus/s2.fmu")
result = rig.run(stop=0.3, step="1 ms")
print(result.verdict, result["s1.x"].shape)
"""
    done = subprocess.run([scripts / "python", "-c", script], capture_output=True, text=True, env=clean, cwd=tmp_path)
    assert done.stdout == "stable (301,)\n", done.stderr
