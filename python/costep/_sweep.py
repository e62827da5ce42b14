"""Many runs of one system: on all cores, or on whatever an executor offers."""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import math
import os
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from . import _costep, _html
from ._errors import misuse, read_json
from ._result import Result
from ._settings import run_settings, settings_of
from ._system import System
from ._text import PathLike, integer, items, pairs, value_text
from ._text import path as text_path

if TYPE_CHECKING:
    import pandas

Grid = Union[Mapping[str, Iterable[Any]], Sequence[Mapping[str, Any]]]
"""Values of each parameter, all of which are combined; or the combinations themselves."""
Row = dict[str, Any]
Measure = Callable[[Result], Mapping[str, Any]]

SETTINGS = ("stop", "step", "method", "models", "solver")
TASKS_PER_WORKER = 8
RETRIES = 3


class Sweep:
    """The rows of a sweep, in the order of the grid: parameters, verdict, error, and what was measured.

    Two sweeps are equal if their rows are: wall times are not among them.
    """

    def __init__(self, rows: list[Row], wall_times: list[float | None]) -> None:
        self.rows = rows
        """One dictionary per run."""
        self.wall_times = wall_times
        """Wall time of each run in s."""

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a table of pandas."""
        import pandas

        return pandas.DataFrame(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sweep) and json.dumps(self.rows) == json.dumps(other.rows)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Sweep of {len(self)} runs>"

    def _repr_html_(self) -> str:
        head = list(dict.fromkeys(key for row in self.rows for key in row))
        verdict = head.index("verdict") if "verdict" in head else None
        cells = [[_cell(row.get(key)) for key in head] for row in self.rows]
        return _html.table(head, cells, verdict)


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else ("-" if value is None else str(value))


def sweep(
    system: System,
    grid: Grid,
    *,
    executor: Any = None,
    workers: int | None = None,
    runs_per_task: int | None = None,
    measure: Measure | None = None,
    resume: PathLike | None = None,
    on_row: Callable[[int, Row], object] | None = None,
    reference: str = "auto",
    verify: bool | None = None,
    time_limit: float | str | None = None,
) -> Sweep:
    """Runs a system with all combinations of values.

    Names are those of :meth:`System.set`, or ``step``, ``stop``, ``method``, ``models``, ``solver``. Without an
    ``executor`` all cores are used; else it is a ``concurrent.futures.Executor``, a client of Dask, or Ray (the module, or
    ``"ray"``), which also looks after workers that are lost. ``measure`` makes further columns of each result.
    ``on_row`` is told of every run as soon as it is done. With ``resume`` rows are also kept in a file, and a sweep that was
    interrupted goes on where it was.

    >>> import costep
    >>> table = costep.sweep(costep.System("dual-mass"), {"ck": [1e5, 2e5], "step": ["1 ms", "5 ms"]},
    ...                      measure=lambda result: {"end": float(result["s1.x"][-1])})
    >>> [(row["ck"], row["step"], row["verdict"]) for row in table]
    [(100000.0, '1 ms', 'stable'), (100000.0, '5 ms', 'stable'), (200000.0, '1 ms', 'stable'), (200000.0, '5 ms', 'stable')]
    """
    if not isinstance(system, System):
        raise misuse(f"{type(system).__name__} is no system", "give a `costep.System`")
    for what, function in (("measure", measure), ("on_row", on_row)):
        if function is not None and not callable(function):
            raise misuse(f"`{what}={function!r}` cannot be called", "give a function, or leave it out")
    workers = None if workers is None else integer(workers, "`workers`", 1)
    runs_per_task = None if runs_per_task is None else integer(runs_per_task, "`runs_per_task`", 1)
    points = _points(grid)
    settings = run_settings(reference, verify, None, time_limit, None, True)
    store = _Store(resume, system, points, settings)
    todo = [index for index in range(len(points)) if index not in store.done]
    runs = _runs(system, points, todo, settings, measure, executor, workers, runs_per_task)
    try:
        for index, row, wall in runs:
            store.add(index, row, wall)
            if on_row is not None:
                on_row(index, row)
    finally:
        if isinstance(runs, Generator):
            runs.close()
        store.close()
    done = [store.done[index] for index in range(len(points))]
    return Sweep([row for row, _ in done], [wall for _, wall in done])


Done = tuple[int, Row, float | None]


def _runs(
    system: System,
    points: list[dict[str, Any]],
    todo: list[int],
    settings: str,
    measure: Measure | None,
    executor: Any,
    workers: int | None,
    runs_per_task: int | None,
) -> Iterator[Done]:
    if not todo:
        return iter(())
    if executor is None and not system._code and not any(_method_object(points[index]) for index in todo):
        return _on_all_cores(system, points, todo, settings, measure, workers)
    job = _Job(system, points, settings, measure)
    if executor is None:
        return (done for index in todo for done in job([index]))
    return _elsewhere(job, todo, executor, workers, runs_per_task)


def _points(grid: Grid) -> list[dict[str, Any]]:
    if isinstance(grid, Mapping):
        names = list(grid)
        values = [
            [values] if isinstance(values, (str, bytes)) else items(values, f"levels of `{name}`")
            for name, values in grid.items()
        ]
        return [dict(zip(names, chosen)) for chosen in itertools.product(*values)]
    return [pairs(point, "combinations") for point in items(grid, "combinations")]


def _method_object(point: Mapping[str, Any]) -> bool:
    return not isinstance(point.get("method", ""), str)


def _plain(value: Any) -> Any:
    """A value of a parameter as a row has it."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return value if isinstance(value, (bool, int, float, str, list, type(None))) else repr(value)


def _recipe(system: System, point: Mapping[str, Any]) -> dict[str, Any]:
    """The system with the values of a point."""
    stop, step, method, models, solver = (point.get(name) for name in SETTINGS)
    _, changes = settings_of(stop, step, method, models, solver)
    own = [[name, value_text(value)] for name, value in point.items() if name not in SETTINGS]
    more = own + [[path, value_text(value)] for path, value in changes]
    return {**system._recipe, "changes": system._recipe["changes"] + more}


def _row(point: Mapping[str, Any], report: dict[str, Any], result: Result | None, measure: Measure | None) -> Row:
    estimate = report.get("error_estimate")
    failure = report.get("error")
    row: Row = {name: _plain(value) for name, value in point.items()}
    row["verdict"] = report["verdict"]
    row["error"] = None if estimate is None else estimate["value"]
    row["failure"] = None if failure is None else f"{failure.get('code')}: {failure.get('message')}"
    if measure is not None and result is not None and failure is None:
        measured = pairs(measure(result), "what `measure` gives")
        row.update({name: _plain(value) for name, value in measured.items()})
    return row


def _on_all_cores(
    system: System,
    points: list[dict[str, Any]],
    todo: list[int],
    settings: str,
    measure: Measure | None,
    workers: int | None,
) -> Iterator[Done]:
    recipes = [json.dumps(_recipe(system, points[index])) for index in todo]
    cores = workers or len(os.sched_getaffinity(0))
    pool = _costep.Pool(recipes, settings, cores, measure is not None)
    try:
        for number, text, columns in pool:
            report, index = read_json(text), todo[number]
            result = None if columns is None else Result(report, columns)
            yield index, _row(points[index], report, result, measure), report.get("wall_s")
    finally:
        pool.close()


class _Job:
    """Some runs of a sweep, in whatever process."""

    def __init__(self, system: System, points: list[dict[str, Any]], settings: str, measure: Measure | None) -> None:
        self.system, self.points, self.settings, self.measure = system, points, settings, measure

    def __call__(self, indices: Sequence[int]) -> list[Done]:
        return [self._one(index) for index in indices]

    def _one(self, index: int) -> Done:
        point = self.points[index]
        method = point.get("method") if _method_object(point) else None
        other = {**point, "method": "auto"} if method is not None else point
        recipe = _recipe(self.system, other)
        try:
            if method is not None:
                from ._parts import MethodCalls

                method = MethodCalls.of(method)
            # FMUs beside code of Python have no second process to run in.
            isolation = "process" if self.system._calls_python(method) else None
            core = _costep.Core(json.dumps(recipe), self.system._code, method, isolation)
            text, columns, _ = core.run(self.settings, None)
            report = read_json(text)
            return index, _row(point, report, Result(report, columns), self.measure), report.get("wall_s")
        except _costep.Error as error:
            return index, _row(point, {"verdict": "failed", "error": error.errors[0]}, None, None), None


_JOBS: dict[bytes, _Job] = {}


def _work(packed: bytes, indices: list[int]) -> list[Done]:
    """The side of a worker: the job is unpacked once."""
    key = hashlib.sha256(packed).digest()
    job = _JOBS.get(key)
    if job is None:
        _JOBS.clear()
        job = _JOBS[key] = pickle.loads(packed)
    return job(indices)


def _packed(job: _Job) -> bytes:
    try:
        return pickle.dumps(job)
    except Exception:
        # Functions that have no name of their own.
        cloudpickle: Any = importlib.import_module("cloudpickle")
        return bytes(cloudpickle.dumps(job))


def _elsewhere(
    job: _Job, todo: list[int], executor: Any, workers: int | None, runs_per_task: int | None
) -> Iterator[Done]:
    kind = type(executor).__module__.partition(".")[0]
    packed = _packed(job)
    if executor == "ray" or getattr(executor, "__name__", None) == "ray":
        yield from _with_ray(packed, todo, workers, runs_per_task)
    elif kind == "distributed":
        count = workers or max(len(executor.scheduler_info()["workers"]), 1)
        yield from _with_dask(packed, _tasks(todo, count, runs_per_task), executor)
    elif callable(getattr(executor, "submit", None)):
        count = workers or getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        yield from _with_futures(packed, _tasks(todo, count, runs_per_task), executor)
    else:
        hint = 'give a concurrent.futures.Executor, a client of Dask, or "ray"'
        raise misuse(f"`{executor!r}` is not an executor", hint)


def _tasks(todo: list[int], workers: int, runs_per_task: int | None) -> list[list[int]]:
    """Many runs per task: what it costs to send one is paid once."""
    size = runs_per_task or max(1, math.ceil(len(todo) / (TASKS_PER_WORKER * workers)))
    return [todo[at : at + size] for at in range(0, len(todo), size)]


def _with_futures(packed: bytes, tasks: list[list[int]], executor: Any) -> Iterator[Done]:
    from concurrent.futures import as_completed

    futures = [executor.submit(_work, packed, task) for task in tasks]
    try:
        for future in as_completed(futures):
            yield from future.result()
    finally:
        for future in futures:
            future.cancel()


def _with_dask(packed: bytes, tasks: list[list[int]], client: Any) -> Iterator[Done]:
    distributed: Any = importlib.import_module("distributed")
    sent = client.scatter(packed, broadcast=False)
    futures = [client.submit(_work, sent, task, retries=RETRIES, pure=False) for task in tasks]
    try:
        for future in distributed.as_completed(futures):
            yield from future.result()
    finally:
        client.cancel(futures)


def _with_ray(packed: bytes, todo: list[int], workers: int | None, runs_per_task: int | None) -> Iterator[Done]:
    ray: Any = importlib.import_module("ray")
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False)
    count = workers or int(ray.cluster_resources().get("CPU", 1))
    work, sent = ray.remote(max_retries=RETRIES)(_work), ray.put(packed)
    waiting = [work.remote(sent, task) for task in _tasks(todo, count, runs_per_task)]
    try:
        while waiting:
            ready, waiting = ray.wait(waiting)
            for one in ready:
                yield from ray.get(one)
    finally:
        for one in waiting:
            ray.cancel(one)


class _Store:
    """Rows that are done, also in a file if there is one."""

    def __init__(self, path: PathLike | None, system: System, points: list[dict[str, Any]], settings: str) -> None:
        self.done: dict[int, tuple[Row, float | None]] = {}
        self.file: Any = None
        if path is None:
            return
        wanted = json.dumps([system._recipe, [{n: _plain(v) for n, v in point.items()} for point in points], settings])
        head = hashlib.sha256(wanted.encode()).hexdigest()
        file = text_path(path)
        if os.path.isdir(file):
            raise misuse(f"`{file}` is a folder, not a file for rows", "name a file: `sweep.jsonl`", "E0201")
        if os.path.exists(file):
            self._read(file, head)
        try:
            self.file = open(file, "a", encoding="utf-8")
        except OSError as cause:
            raise misuse(f"`{file}` cannot be written: {cause}", "name a file in a folder that is there", "E0201") from cause
        if self.file.tell() == 0:
            self._write(head)

    def _read(self, path: str, head: str) -> None:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        if lines and lines[0] != json.dumps(head):
            raise misuse(f"`{path}` holds the rows of another sweep", "name another file, or remove it")
        for line in lines[1:]:
            try:
                index, row, wall = json.loads(line)
            except ValueError:
                # The last line of a process that was killed.
                continue
            self.done[index] = (row, wall)

    def _write(self, value: Any) -> None:
        self.file.write(json.dumps(value) + "\n")
        self.file.flush()

    def add(self, index: int, row: Row, wall: float | None) -> None:
        self.done[index] = (row, wall)
        if self.file is not None:
            self._write([index, row, wall])

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
