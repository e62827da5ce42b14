"""Effects of a plan against statsmodels."""

from __future__ import annotations

import json
import pathlib

import costep
import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from conftest import Command
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

PLAN = """
[plan]
system = "dual-mass"
method = "prestep:paper=true"
steps = ["1 ms", "2 ms"]
stop = "20 ms"

[options]
phi_steps = [1, 10, 100]
ede = [false, true]

[parameters]
ck = "5e4..2e5:log:3"
"""


def test_effects_are_those_of_statsmodels(program: Command, tmp_path: pathlib.Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    found = costep.doe("plan.toml", out="there", report="plan.html")
    rows = found.to_pandas()
    assert rows.equals(pyarrow.parquet.read_table(tmp_path / "there/rows.parquet").to_pandas())
    again = json.loads(program("doe", "plan.toml", "--out", "there", "--json").stdout)
    assert again["effects"] == found["effects"] and again["optimum"] == found["optimum"]
    assert "phi_steps" in (tmp_path / "plan.html").read_text()
    assert list(rows.run) == list(range(36)) and set(rows.verdict) <= {"stable", "inaccurate"}
    rows["error"] = rows.eps_mono.clip(upper=1.0)
    factors = ["phi_steps", "ede", "ck", "step"]
    model = ols("error ~ (" + " + ".join(f"C({name})" for name in factors) + ") ** 2", data=rows).fit()
    table = anova_lm(model)
    for effect in found["effects"]:
        row = table.loc[":".join(f"C({name})" for name in effect["factors"])]
        assert effect["degrees_of_freedom"] == row.df
        assert effect["sum_of_squares"] == pytest.approx(row.sum_sq, rel=1e-9, abs=1e-15)
        assert effect["mean_square"] == pytest.approx(row.mean_sq, rel=1e-9, abs=1e-15)
    assert len(found["effects"]) == len(table) - 1
    assert found["rest"]["sum_of_squares"] == pytest.approx(table.loc["Residual"].sum_sq, rel=1e-9)
    assert found["rest"]["degrees_of_freedom"] == table.loc["Residual"].df
    near = rows.error <= 1.1 * rows.error.min()
    assert found["nearly_optimal"] == near.sum()
    assert found["optimum"]["ck"]["value"] == pytest.approx(rows.ck[near].mean(), rel=1e-12)
    assert found["optimum"]["phi_steps"]["value"] == np.round(rows.phi_steps[near].mean())
    assert found["optimum"]["ede"]["value"] == bool(pd.Series(rows.ede[near]).mode()[0])


def test_maps_and_stability_are_those_of_the_program(program: Command, tmp_path: pathlib.Path) -> None:
    rig = costep.System("dual-mass", set={"dk": 50.0})
    found = rig.map({"ck": [1e4, 1e5]}, steps=[1e-3, "3 ms"], methods=["zoh", "predictive"], report="map.html")
    words = ["--set", "dk=50", "--vary", "ck=1e4,1e5", "--steps", "1ms,3ms", "--methods", "zoh,predictive"]
    said = json.loads(program("map", "dual-mass", *words, "--out", "there", "--json").stdout)
    assert found["methods"] == said["methods"] and (tmp_path / "map.html").is_file()
    judged = rig.stability(method="zoh", steps=["1 ms", "3 ms"], report="radius.html", methods=["foh"])
    words = ["--set", "dk=50", "--method", "zoh", "--steps", "1ms,3ms", "--json"]
    assert judged["steps"] == json.loads(program("stability", "dual-mass", *words).stdout)["steps"]
    assert (tmp_path / "radius.html").is_file()
    table = found.to_pandas()
    rows = table[(table.ck == 1e5) & (table.method == "zoh")].sort_values("step")
    assert [step["radius"] for step in judged["steps"]] == pytest.approx(list(rows.spectral_radius), rel=1e-6)
    with pytest.raises(costep.Error) as raised:
        rig.map({"ckk": [1.0, 2.0]})
    assert "ckk" in str(raised.value)


def test_stability_of_parts_in_code(tmp_path: pathlib.Path) -> None:
    # Two lags in a ring with one minus sign, held inputs: the map of a step can be written down.
    rig = costep.System.new(
        lag=costep.LTI([[-1.0]], [[1.0]], [[1.0]], inputs=["u"], outputs=["y"], x0=[1.0]),
        back=costep.LTI([[-1.0]], [[1.0]], [[-1.0]], inputs=["u"], outputs=["y"]),
    )
    rig.connect("lag.y", "back.u")
    rig.connect("back.y", "lag.u")
    rig.set({"system.stop": "1 s"})
    found = rig.stability(method="zoh", step=0.1, steps=[0.1, 0.5], report="loop.html")
    for step in found["steps"]:
        decay = np.exp(-step["step"])
        held = np.array([[decay, decay - 1.0], [1.0 - decay, decay]])
        assert step["radius"] == pytest.approx(max(abs(np.linalg.eigvals(held))), rel=1e-9)
    assert "Nyquist" in (tmp_path / "loop.html").read_text()
