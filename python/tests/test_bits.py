"""What Python gets is what the program computes, to the last bit."""

from __future__ import annotations

import pathlib

import costep
import numpy as np
import pytest
from conftest import Command


def same(result: costep.Result, recorded: costep.Result) -> None:
    assert result.names and set(recorded.names) >= set(result.names)
    for name in ["t", *result.names]:
        ours, theirs = result[name].view(np.int64), recorded[name].view(np.int64)
        assert np.array_equal(ours, theirs), name


@pytest.mark.parametrize("method", ["auto", "zoh", "nepce:alpha=0.5", "identified"])
def test_a_built_in_model(program: Command, method: str) -> None:
    program("run", "dual-mass", "--method", method, "--step", "2ms", "--t-end", "0.1s", "--out", "cli", check=False)
    result = costep.System("dual-mass").run(stop=0.1, step="2 ms", method=method)
    same(result, costep.load("cli"))


def test_two_fmus(program: Command, fmus: pathlib.Path, pair: costep.System) -> None:
    pair.save("pair")
    said = program("run", "pair", "--out", "cli", "--json").stdout
    for result in (pair.run(), pair.run(supervise=False), costep.System("pair").run()):
        same(result, costep.load("cli"))
        assert f'"verdict":"{result.verdict}"' in said.replace(" ", "").replace("\n", "")
    with pair.start() as sim:
        while not sim.is_done:
            sim.step()
        same(sim.finish(), costep.load("cli"))


@pytest.mark.parametrize(
    "path",
    [
        "libcosim/tests/data/fmi2/quarter_truck/OspSystemStructure.xml",
        "mastersim/data/tests/linux64/Lotka_Volterra_System/LV_Richardson_noiter.msim",
    ],
)
def test_systems_of_other_tools(program: Command, real: pathlib.Path, path: str) -> None:
    program("run", real / path, "--t-end", "0.5s", "--step", "10ms", "--no-verify", "--out", "cli", check=False)
    result = costep.System(real / path).run(stop="0.5 s", step="10 ms", verify=False)
    same(result, costep.load("cli"))


def test_packages(program: Command, pair: costep.System) -> None:
    pair.save("pair")
    costep.System("pair").export_ssp("pair.ssp")
    program("run", "pair.ssp", "--t-end", "0.1s", "--step", "1ms", "--out", "cli")
    same(costep.System("pair.ssp").run(stop=0.1, step="1 ms"), costep.load("cli"))


def test_comparisons(program: Command) -> None:
    import json

    words = ["compare", "dual-mass", "--methods", "zoh,nepce,auto", "--steps", "1ms,5ms", "--json"]
    theirs = json.loads(program(*words).stdout)["runs"]
    ours = costep.System("dual-mass").compare(methods=["zoh", "nepce", "auto"], steps=["1 ms", 0.005])
    keys = ("method", "step", "verdict", "eps_mono", "energy_drift")
    assert [[run[key] for key in keys] for run in theirs] == [[row[key] for key in keys] for row in ours]
    assert ours.best()["method"] == "auto"
    assert len(ours.to_pandas()) == 6
