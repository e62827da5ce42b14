"""Effects of a plan against statsmodels."""

from __future__ import annotations

import json
import pathlib

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
    found = json.loads(program("doe", "plan.toml", "--out", "there", "--json").stdout)
    rows = pyarrow.parquet.read_table(tmp_path / "there/rows.parquet").to_pandas()
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
