"""Sweeps give the same table wherever their runs are done."""

from __future__ import annotations

import os
import pathlib
import signal
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import costep
import numpy as np
import pytest

GRID = {"ck": [1e5, 2e5, 4e5], "dk": [100.0, 1000.0], "step": ["1 ms", "2 ms"], "method": ["zoh", "auto"]}


def end(result: costep.Result) -> dict[str, float]:
    return {"x": float(result["s1.x"][-1])}


@pytest.fixture(scope="module")
def local() -> costep.Sweep:
    return costep.sweep(costep.System("dual-mass"), GRID, measure=end)


def test_rows_are_those_of_single_runs(local: costep.Sweep) -> None:
    assert len(local) == 24
    for row in (local[0], local[13], local[23]):
        rig = costep.System("dual-mass", set={"ck": row["ck"], "dk": row["dk"]})
        result = rig.run(step=row["step"], method=row["method"], check=False)
        assert (row["verdict"], row["error"]) == (result.verdict, result.error)
        assert row["x"] == result["s1.x"][-1]
    assert [row["ck"] for row in local][:9] == [1e5] * 8 + [2e5]
    assert len(local.to_pandas()) == 24 and "stable" in local._repr_html_()


def test_executors_give_the_same_table(local: costep.Sweep) -> None:
    rig, seen = costep.System("dual-mass"), []
    with ThreadPoolExecutor(2) as threads:
        assert costep.sweep(rig, GRID, measure=end, executor=threads, on_row=lambda k, row: seen.append(k)) == local
    assert sorted(seen) == list(range(24))
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        assert costep.sweep(rig, GRID, measure=end, executor=processes, runs_per_task=5) == local
    with pytest.raises(costep.Error, match="not an executor"):
        costep.sweep(rig, GRID, executor=3)


def test_fmus_in_a_sweep(pair: costep.System) -> None:
    grid = {"s2.ck": [1e5, 2e5], "step": ["1 ms", "2 ms"]}
    table = costep.sweep(pair, grid, measure=end)
    assert [row["verdict"] for row in table] == ["stable"] * 4
    pair["s2"].set(ck=2e5)
    assert pair.run(step="2 ms")["s1.x"][-1] == table[3]["x"]


def test_failures_are_rows() -> None:
    table = costep.sweep(costep.System("dual-mass"), {"step": ["1 ms", "5 ms"], "method": ["foh"], "stop": [5.0]})
    assert table[1]["verdict"] == "diverged" and table[1]["failure"].startswith("E0601")
    bad = costep.sweep(costep.System("dual-mass"), [{"nothing": 1.0}])
    assert bad[0]["verdict"] == "failed" and "nothing" in bad[0]["failure"]


def test_parts_in_python() -> None:
    rig = costep.System.new(
        plant=costep.TransferFunction([1.0], [1.0, 1.0]),
        gain=costep.Function(lambda t, u: -2.0 * u[0] + 1.0, inputs=["y"], outputs=["u"]),
    )
    rig.connect("plant.y", "gain.y")
    rig.connect("gain.u", "plant.u")
    grid = {"step": [0.01, 0.02], "stop": [1.0]}
    here = costep.sweep(rig, grid)
    assert [row["verdict"] for row in here] == ["stable"] * 2
    # Functions without a name go to other processes too.
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        assert costep.sweep(rig, grid, executor=processes) == here


def test_an_interrupted_sweep_goes_on(local: costep.Sweep, tmp_path: pathlib.Path) -> None:
    rig, file, seen = costep.System("dual-mass"), tmp_path / "sweep.jsonl", []

    def stop_after_five(index: int, row: dict) -> None:
        seen.append(index)
        if len(seen) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        costep.sweep(rig, GRID, measure=end, resume=file, on_row=stop_after_five)
    # A process that was killed while it wrote.
    with open(file, "a") as text:
        text.write('[7, {"ck"')
    rest: list[int] = []
    again = costep.sweep(rig, GRID, measure=end, resume=file, on_row=lambda k, row: rest.append(k))
    assert again == local and sorted(seen + rest) == list(range(24))
    assert costep.sweep(rig, GRID, measure=end, resume=file) == local
    with pytest.raises(costep.Error, match="another sweep"):
        costep.sweep(rig, {"ck": [1.0]}, resume=file)


def test_dask_survives_the_loss_of_a_worker(tmp_path: pathlib.Path) -> None:
    distributed = pytest.importorskip("distributed")
    grid = {"ck": list(np.linspace(1e5, 4e5, 16)), "stop": [5.0], "step": ["0.5 ms"]}
    rig = costep.System("dual-mass")
    local = costep.sweep(rig, grid, measure=end, verify=False, reference="none")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=str(tmp_path)
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victims = [worker.pid for worker in cluster.workers.values()]
        killed = []

        def kill_one(index: int, row: dict) -> None:
            if not killed:
                killed.append(victims[0])
                os.kill(victims[0], signal.SIGKILL)

        table = costep.sweep(
            rig, grid, measure=end, executor=client, runs_per_task=2, on_row=kill_one, verify=False, reference="none"
        )
        assert killed and table == local


def test_ray_survives_the_loss_of_a_worker() -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        rig, killed = costep.System("dual-mass"), []

        def measure(result: costep.Result) -> dict[str, float]:
            return {"x": float(result["s1.x"][-1]), "process": float(os.getpid())}

        def kill_one(index: int, row: dict) -> None:
            if not killed:
                killed.append(int(row["process"]))
                os.kill(killed[0], signal.SIGKILL)
                time.sleep(0.1)

        grid = {"ck": list(np.linspace(1e5, 4e5, 16)), "stop": [5.0], "step": ["0.5 ms"]}
        table = costep.sweep(
            rig, grid, measure=measure, executor="ray", runs_per_task=2, on_row=kill_one, verify=False, reference="none"
        )
        local = costep.sweep(rig, grid, measure=end, verify=False, reference="none")
        without = [{name: value for name, value in row.items() if name != "process"} for row in table]
        assert killed and without == local.rows
    finally:
        ray.shutdown()
