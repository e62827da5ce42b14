"""What the program can do, the API can: with the same results, for parts of all kinds, however names begin."""

from __future__ import annotations

import datetime
import json
import pathlib
import shutil
import subprocess
from collections.abc import Callable

import costep
import numpy as np
import pytest
from conftest import LINKS, Command


class Spring:
    """A spring and damper in Python, as equations of a mass that hangs on it."""

    inputs, outputs, x0 = {"F": "N"}, {"x": "m", "v": "m/s"}, [0.1, 0.0]

    def derivatives(self, t: float, x: np.ndarray, u: np.ndarray) -> list[float]:
        return [x[1], -100.0 * x[0] - x[1] + u[0]]

    def output(self, t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        return x


def hung(mass: object) -> costep.System:
    """A mass with a damper that lags."""
    damper = costep.LTI([[-50.0]], [[50.0]], [[-2.0]], inputs={"v": "m/s"}, outputs={"F": "N"})
    rig = costep.System.new("hung", mass=mass, damper=damper)
    rig.connect("mass.v", "damper.v")
    rig.connect("damper.F", "mass.F")
    return rig.set({"system.stop": "1 s", "step.size": "5 ms", "system.solver": "dopri5:1e-9"})


def linear_mass() -> costep.LTI:
    a, b = [[0.0, 1.0], [-100.0, -1.0]], [[0.0], [1.0]]
    return costep.LTI(a, b, np.eye(2), inputs=Spring.inputs, outputs=Spring.outputs, x0=Spring.x0)


def test_export_ssp_keeps_what_was_set(pair: costep.System) -> None:
    pair.save("pair")
    rig = costep.System("pair")
    before = rig.run()
    rig["s2"].set(ck=2e5)
    rig.export_ssp("pair.ssp")
    changed = costep.System("pair.ssp").run(stop=0.1, step="1 ms")
    assert np.array_equal(changed["s1.x"], rig.run()["s1.x"])
    assert not np.array_equal(changed["s1.x"], before["s1.x"])


def test_windows_count_with_parts_in_python(tmp_path: pathlib.Path) -> None:
    method, models, windows = "prestep:learning=50", "rls", [10, 20]
    ours = hung(Spring()).stability(method=method, models=models, windows=windows, report="bohl.html")
    linear = hung(linear_mass()).stability(method=method, models=models, windows=windows)
    assert [one["window"] for one in ours["bohl"]] == windows == [one["window"] for one in linear["bohl"]]
    for one, other in zip(ours["bohl"], linear["bohl"]):
        assert one["beta"] == pytest.approx(other["beta"], rel=1e-3)
    assert "Bohl exponents" in (tmp_path / "bohl.html").read_text()
    # A method that learns is judged so without being asked; one that does not cannot be.
    assert "bohl" in hung(Spring()).stability(method=method, models=models)
    for system in (hung(Spring()), hung(linear_mass())):
        with pytest.raises(costep.Error, match="zoh"):
            system.stability(method="zoh", windows=[10])
        with pytest.raises(costep.Error, match="a window is an integer"):
            system.stability(method=method, models=models, windows=[0])


def test_plots_of_loops(tmp_path: pathlib.Path) -> None:
    plots = []
    for name, mass in (("python.svg", Spring()), ("linear.svg", linear_mass())):
        hung(mass).stability(method="zoh", steps="5ms,10ms", nyquist=name)
        plots.append((tmp_path / name).read_text())
    assert all(plot.startswith("<svg") and "mass.F" in plot for plot in plots)


def test_files_anywhere_are_allowed_in_all_that_is_done(fmus: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A system of another tool that refers to files more than three folders above."""
    deep = tmp_path / "a" / "b" / "c" / "d" / "e"
    deep.mkdir(parents=True)
    for name in ("s1", "s2"):
        shutil.copy(fmus / f"{name}.fmu", tmp_path)
    parts = "".join(f'<Simulator name="{name}" source="../../../../../{name}.fmu"/>' for name in ("s1", "s2"))
    wires = "".join(
        f'<VariableConnection><Variable simulator="{source[:2]}" name="{source[3:]}"/>'
        f'<Variable simulator="{target[:2]}" name="{target[3:]}"/></VariableConnection>'
        for source, target in LINKS
    )
    space = "http://opensimulationplatform.com/MSMI/OSPSystemStructure"
    (deep / "OspSystemStructure.xml").write_text(
        f'<OspSystemStructure xmlns="{space}" version="0.1"><BaseStepSize>0.001</BaseStepSize>'
        f"<Simulators>{parts}</Simulators><Connections>{wires}</Connections></OspSystemStructure>"
    )
    file = deep / "OspSystemStructure.xml"
    with pytest.raises(costep.Error, match="outside|folder"):
        costep.System(file)
    rig = costep.System(file, set={"system.stop": "0.05 s"}, allow_outside=True)
    assert rig.check()["ok"]
    assert len(rig.identify("models.toml")["models"]) == 2
    assert rig.stability(method="zoh", steps=["1 ms"])["steps"][0]["stable"]
    assert len(rig.map(steps=["1 ms", "2 ms"], methods=["zoh"], radius=False).to_pandas()) == 2
    assert rig.advise(0.1, methods=["zoh"], equal_steps=True)["choice"]["reaches"]
    assert costep.inspect(file, allow_outside=True)
    rig.export_ssp("rig.ssp")
    assert costep.System("rig.ssp").parts == ["s1", "s2"]


def test_words_that_begin_with_a_hyphen(fmus: pathlib.Path, pair: costep.System) -> None:
    rig = costep.System("dual-mass")
    calls: list[Callable[[], object]] = [
        lambda: costep.models("--help"),
        lambda: costep.methods("-h"),
        lambda: costep.explain("--version"),
        lambda: costep.inspect("--help"),
        lambda: costep.export("-x", "--list"),
        lambda: costep.export_fmu("--help", "there"),
        lambda: costep.reproduce("--help"),
        lambda: costep.resume("--json"),
        lambda: costep.doe("--print"),
        lambda: costep.import_project("--help", "there"),
        lambda: costep.System("--help"),
        lambda: rig.stability(method="--help"),
        lambda: rig.map(methods=["--help"]),
        lambda: rig.map({"--help": [1.0, 2.0]}),
        lambda: rig.identify("models.toml", method="-h"),
        lambda: rig.advise(methods=["-h"]),
        lambda: rig.compare(methods=["-h"]),
        lambda: rig.run(method="--help"),
    ]
    for call in calls:
        with pytest.raises(costep.Error) as raised:
            call()
        assert len(raised.value.hint) > 10 and "Usage" not in str(raised.value), raised.value
    # Files may have such names: also those with FMUs, for which the program starts itself again.
    shutil.copy(fmus / "s1.fmu", "-s1.fmu")
    assert costep.inspect("-s1.fmu")["model_name"] == costep.inspect(fmus / "s1.fmu")["model_name"]
    made = costep.new_project("-pair", "-s1.fmu", fmus / "s2.fmu", copy=False)
    assert made.check(probe=True)["ok"] and len(made.parts) == 2
    assert rig.identify("-models.toml")["models"]


def test_lengths_of_time(tmp_path: pathlib.Path) -> None:
    rig = costep.System("dual-mass")
    ms, short = datetime.timedelta(milliseconds=1), np.timedelta64(2, "ms")
    judged = rig.stability(method="zoh", steps=[ms, short], at=datetime.timedelta(0))
    assert [step["step"] for step in judged["steps"]] == [1e-3, 2e-3]
    assert len(rig.stability(method="zoh", step=ms)["steps"]) == 7
    assert sorted(rig.map(steps=[ms, short], methods=["zoh"], radius=False).to_pandas().step) == [1e-3, 2e-3]
    assert rig.advise(0.1, time=datetime.timedelta(seconds=30), methods=["predictive"])["choice"]["reaches"]
    assert rig.identify("models.toml", step=ms)["models"]
    assert [row["step"] for row in rig.compare(methods=["zoh"], steps=[ms, 2e-3])] == [1e-3, 2e-3]
    assert [row["step"] for row in rig.compare(methods=["zoh"], steps="1ms..2ms:2")] == [1e-3, 2e-3]


@pytest.fixture(scope="module")
def needy(tmp_path_factory: pytest.TempPathFactory, faulty: Callable[[str], pathlib.Path]) -> pathlib.Path:
    """An FMU whose library needs another one that is not there."""
    import zipfile

    folder, good = tmp_path_factory.mktemp("needy"), faulty("GOOD")
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None
    (folder / "gone.c").write_text("int gone(void) { return 0; }")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", "libgone.so", "gone.c"], check=True, cwd=folder)
    words = ["-shared", "-fPIC", "-o", "faulty.so", pathlib.Path(__file__).with_name("faulty.c")]
    link = ["-Wl,--no-as-needed", "-L.", "-lgone"]
    subprocess.run([compiler, *words, *link], check=True, cwd=folder)
    made = folder / "needy.fmu"
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(made, "w") as archive:
        archive.writestr("modelDescription.xml", source.read("modelDescription.xml"))
        archive.write(folder / "faulty.so", "binaries/linux64/faulty.so")
    return made


class Wave:
    inputs: list[str] = []
    outputs = ["y"]

    def step(self, t: float, dt: float, u: np.ndarray) -> float:
        return float(np.sin(t + dt))


def test_check_of_systems_with_parts_in_python(
    program: Command, faulty: Callable[[str], pathlib.Path], needy: pathlib.Path
) -> None:
    def rig(fmu: pathlib.Path, wave: object) -> costep.System:
        made = costep.System.new(fmu=fmu, wave=wave)
        return made.set({"system.stop": "1 s", "step.size": "10 ms"})

    compiled = costep.LTI([[-1.0]], [], [[1.0]], inputs=[], outputs=["y"])
    good = rig(faulty("GOOD"), Wave)
    found, theirs = good.check(), rig(faulty("GOOD"), compiled).check()
    assert found["open_inputs"] == ["fmu.u"] == theirs["open_inputs"] and set(found) == set(theirs)
    probed = good.check(probe=True)
    assert probed["ok"] and [card["part"] for card in probed["probes"]] == ["fmu", "wave"]
    assert probed["probes"][1]["repeatable"] and probed["probes"][1]["taken_back"]
    for wave in (Wave, compiled):
        with pytest.raises(costep.Error, match="libgone.so") as raised:
            rig(needy, wave).check()
        assert raised.value.code == "E0111"
    with pytest.raises(costep.Error, match="probe=True"):
        good.check(sandbox=True)
    quiet = costep.System("dual-mass", set={"step.size": "7 ms"})
    if quiet.check()["warnings"]:
        with pytest.raises(costep.Error):
            quiet.check(strict=True)


def test_comparisons_take_models_and_leave_recordings(program: Command) -> None:
    rig, methods = costep.System("dual-mass", set={"system.stop": "50 ms"}), ["zoh", "prestep"]
    ours = rig.compare(methods=methods, steps=["1 ms"], models="rls", record="runs")
    words = ["--methods", ",".join(methods), "--steps", "1ms", "--models", "rls", "--set", "system.stop=50ms", "--json"]
    theirs = json.loads(program("compare", "dual-mass", *words).stdout)["runs"]
    assert [row["method"] for row in ours] == [run["method"] for run in theirs] and "rls" in ours[1]["method"]
    assert [row["eps_mono"] for row in ours] == [run["eps_mono"] for run in theirs]
    recorded = costep.load(ours[1]["recording"])
    assert len(recorded) == 51 and "s1.x" in recorded
    assert '"s1.x"' in pathlib.Path(ours.report("both.html")).read_text()
    with pytest.raises(costep.Error):
        rig.compare(methods=["zoh", "nothing"])
    # Without names all that are possible are run, and it is said why others are not.
    every = costep.System.new(wave=Wave, lag=costep.TransferFunction([1.0], [1.0, 1.0]))
    every.connect("wave.y", "lag.u")
    table = every.compare(stop=0.05, steps=["10 ms"])
    assert len(table) > 3 and table.not_possible and not any(row["failure"] for row in table)


def test_settings_of_runs(pair: costep.System) -> None:
    rig = costep.System("dual-mass")
    varied = rig.run(stop=0.1, tolerance=1e-3, control="predictor-corrector", method="nepce")
    assert len(set(np.round(np.diff(varied.time), 9))) > 1 and varied.verdict == "stable"
    first, second = (rig.run(stop=0.05, method="zoh", schedule=kind)["s1.x"] for kind in ("parallel", "sequential:s2,s1"))
    assert not np.array_equal(first, second)
    confined = pair.run(sandbox=True)
    assert np.array_equal(confined["s1.x"], pair.run()["s1.x"])
    with pair.start(sandbox=True, tolerance=1e-3, method="nepce") as sim:
        sim.step(2)
        assert sim.number == 2
    with pytest.raises(costep.Error, match="not both"):
        rig.compare(methods=["zoh"], steps=["1 ms"], tolerance=1e-3)
    # What a project confines stays confined in processes of their own.
    pair.set({"fmu.s1.isolation": "sandbox"})
    text = pair._core(isolation="process").to_toml()
    assert 'isolation = "sandbox"' in text and 'isolation = "process"' in text


def test_plans_in_shards(tmp_path: pathlib.Path) -> None:
    (tmp_path / "plan.toml").write_text(
        '[plan]\nsystem = "dual-mass"\nmethods = ["zoh", "predictive"]\nstop = "20 ms"\n[parameters]\nck = [1e4, 1e5]\n'
    )
    whole = costep.doe("plan.toml")
    for shard in ("1/2", "2/2"):
        costep.doe("plan.toml", shard=shard, out=f"part-{shard[0]}")
    merged = costep.doe("plan.toml", merge=["part-1", "part-2"])
    assert merged["effects"] == whole["effects"] and len(merged.to_pandas()) == 4


def test_other_verbs(fmus: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "all").mkdir()
    shutil.copy(fmus / "s1.fmu", tmp_path / "all")
    found = costep.survey("all", steps=5, time_limit="20 s", to="page.md")
    assert {file["file"] for file in found["files"]} == {"s1.fmu"} and "s1" in (tmp_path / "page.md").read_text()
    costep.export_fmu("dual-mass", "bare", fmi=2, kind="cs", without=["state"], part="s1", m1=2.0)
    card = costep.inspect("bare/s1.fmu")
    assert card["kinds"] == ["co-simulation"] and not card["abilities"]["rollback"]
    with pytest.raises(costep.Error, match="nowhere"):
        costep.export_fmu("dual-mass", "bare", without=["nowhere"])
    assert "genser2020-tab3.4" in str(costep.reproduce())


def test_systems_of_text_know_their_folder(fmus: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Names of files in a text are relative to its folder, also when it is written elsewhere."""
    shutil.copytree(fmus, tmp_path / "project" / "fmus")
    text = '[system]\nname = "one"\nstop = "10 ms"\n[step]\nsize = "1 ms"\n[fmu.s1]\nfile = "fmus/s1.fmu"\n'
    rig = costep.System.from_toml(text, "project")
    assert rig.check()["ok"]
    (tmp_path / "elsewhere").mkdir()
    copy = costep.System(rig.save("elsewhere"))
    assert np.array_equal(copy.run()["s1.x"], rig.run()["s1.x"])
    # FMUs of a package go along with it.
    rig.export_ssp("one.ssp")
    copy = costep.System(costep.System("one.ssp").save("unpacked"))
    assert np.array_equal(copy.run(stop="10 ms", step="1 ms")["s1.x"], rig.run()["s1.x"])
