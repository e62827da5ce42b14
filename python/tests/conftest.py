"""Systems that the tests run: made by costep itself, by a compiler, and those of others beside the checkout."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable

import costep
import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LINKS = [("s1.x", "s2.x"), ("s1.v", "s2.v"), ("s2.F", "s1.F")]

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with the two halves of the two-mass oscillator as FMUs."""
    folder = tmp_path_factory.mktemp("fmus")
    costep.export_fmu("dual-mass", folder)
    return folder


@pytest.fixture
def pair(fmus: pathlib.Path) -> costep.System:
    """The two FMUs, connected."""
    rig = costep.System.new("pair", s1=fmus / "s1.fmu", s2=fmus / "s2.fmu")
    for source, target in LINKS:
        rig.connect(source, target)
    return rig.set({"system.stop": "0.1 s", "step.size": "1 ms"})


@pytest.fixture(scope="session")
def real() -> pathlib.Path:
    """Systems that nobody of costep made."""
    folder = ROOT.parent / "shared" / "real"
    for candidate in (folder, ROOT.parent.parent / "shared" / "real"):
        if candidate.is_dir():
            return candidate
    pytest.skip(f"{folder} is not there")


@pytest.fixture
def program() -> Command:
    """The program of the wheel."""

    def run(*words: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        beside = pathlib.Path(sys.executable).with_name("costep")
        words = tuple(os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in words)
        done = subprocess.run([str(beside), *words], capture_output=True, text=True)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], pathlib.Path]:
    """Makes an FMU that does something bad in its steps."""
    folder = tmp_path_factory.mktemp("faulty")

    def make(fault: str) -> pathlib.Path:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            pytest.skip("there is no C compiler")
        library = folder / f"{fault}.so"
        command = [compiler, "-shared", "-fPIC", f"-D{fault}", "-o", str(library), str(HERE / "faulty.c")]
        subprocess.run(command, check=True)
        fmu = folder / f"{fault}.fmu"
        with zipfile.ZipFile(fmu, "w") as archive:
            archive.write(HERE / "faulty.xml", "modelDescription.xml")
            archive.write(library, "binaries/linux64/faulty.so")
        return fmu

    return make
