"""Results are shown where they are, and memory is given back."""

from __future__ import annotations

import gc
import pathlib

import costep
import numpy as np
import pyarrow
import pytest


def test_a_million_rows_are_not_copied() -> None:
    source = costep.LTI([[-1.0]], [[1.0]], [[1.0]], inputs=["u"], outputs=["y"], x0=[1.0])
    rig = costep.System.new(lag=source)
    rig.drive("lag.u", 0.0)
    result = rig.run(stop=10.0, step="10 us", method="zoh", reference="none", verify=False)
    assert len(result) == 1_000_001
    first, second = result["lag.y"], np.asarray(result._columns.column(1))
    address = first.__array_interface__["data"][0]
    assert address == second.__array_interface__["data"][0]
    # The columns of Arrow are the same memory.
    table = pyarrow.table(result)
    assert table.num_rows == 1_000_001
    assert table["lag.y"].chunk(0).buffers()[1].address == address
    # And polars reads it there.
    series = result.to_polars()["lag.y"]
    assert series.to_arrow().buffers()[1].address == address
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1.0
    # It lives as long as somebody looks at it.
    expected = float(first[-1])
    del result, second, table, series
    gc.collect()
    assert float(first[-1]) == expected and abs(expected - np.exp(-10.0)) < 1e-9


def resident() -> int:
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_ten_thousand_runs_leave_nothing_behind() -> None:
    def loop(times: int) -> None:
        for _ in range(times):
            rig = costep.System("dual-mass")
            result = rig.run(stop=0.01, step="1 ms", progress=False, verify=False, reference="none")
            assert result["s1.x"].size == 11
            del rig, result

    loop(500)
    gc.collect()
    before = resident()
    loop(10_000)
    gc.collect()
    assert resident() - before < 5e6


def test_objects_of_python_are_given_back() -> None:
    import weakref

    class Controller:
        inputs, outputs = ["y"], ["u"]

        def step(self, t: float, dt: float, u: np.ndarray) -> float:
            return -float(u[0])

    class Hold:
        def extrapolate(self, t: float, h: float, z: np.ndarray, past: list) -> np.ndarray:
            return z

    controller, method = Controller(), Hold()
    seen = [weakref.ref(controller), weakref.ref(method)]
    rig = costep.System.new(plant=costep.TransferFunction([1], [1, 1]), controller=controller)
    rig.connect("plant.y", "controller.y")
    rig.connect("controller.u", "plant.u")
    rig.run(stop=1, step=0.1, method=method)
    del rig, controller, method
    gc.collect()
    assert [one() for one in seen] == [None, None]


def test_tables() -> None:
    result = costep.System("dual-mass").run(stop=0.1, step="1 ms")
    frame = result.to_pandas()
    assert list(frame) == result.names and frame.index.name == "t" and frame.attrs["units"]["s2.F"] == "N"
    assert np.array_equal(frame["s1.x"], result["s1.x"])
    assert result.to_polars()["t"].to_list() == result.time.tolist()
    data = result.to_xarray()
    assert data["s1.x"].attrs["units"] == "m" and np.array_equal(data["t"], result.time)
    assert {name: result[name] for name in result}.keys() == dict(result).keys()
