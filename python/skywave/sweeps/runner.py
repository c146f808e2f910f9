"""Running a sweep."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skywave import _arrow, _core
from skywave._known import listed
from skywave._progress import Progress
from skywave.results import Results
from skywave.scenario import Scenario
from skywave.stats import LEAST_SEEDS, Target
from skywave.sweeps import cluster, job
from skywave.sweeps.job import Job, Keep
from skywave.sweeps.measures import (
    COLUMNS,
    DEFAULT,
    MEASURES,
    MeasurementPlan,
    MeasureRequest,
    column_name,
    key_of,
)
from skywave.sweeps.points import Grid, Point, dimensions
from skywave.sweeps.store import Failure, Store
from skywave.sweeps.table import Sweep

if TYPE_CHECKING:
    from distributed import Client


MAX_SEEDS = 1000
"""The most seeds of a point, by default, if a target decides how many there are."""


Do = Callable[[Iterable[Job], Keep], Generator[Failure | None, None, None]]
"""Does jobs, keeps their outcomes, and yields for each why it failed."""

POINTS_KEPT = 10_000
"""Points whose scenarios are kept in memory; those of larger sweeps are made twice."""


class Work:
    """The runs of a sweep."""

    def __init__(
        self, grid: Grid, measuring: MeasurementPlan, seeds: Sequence[int], store: Store
    ) -> None:
        """Check the scenarios of all points, which get the same seeds."""
        self._grid, self._measuring, self._store = grid, measuring, store
        self._salt = measuring.identity()
        self._points: tuple[Point, ...] | None = None
        if len(grid) <= POINTS_KEPT:
            self._points = tuple(grid.points(self._salt, measuring.warm_up_s))
        self._seeds: list[Sequence[int]] = [seeds] * len(grid)
        self._failed: set[str] = set()
        self._values: dict[int, list[float]] = {}

    def check_flows(self, asked: Iterable[MeasureRequest]) -> None:
        """Raise ``ValueError`` if a measure of a flow is asked for that no point has."""
        named = [each for each in asked if each.of not in {"", "*"}]
        wanted = {each.of for each in named if MEASURES[each.measure].of == "flow"}
        if not wanted:
            return
        flows = {
            flow["name"]: None
            for point in self._all_points()
            for flow in json.loads(point.text)["flows"]
        }
        for name in sorted(wanted - flows.keys()):
            raise ValueError(f"there is no flow {name}: use {listed(name, flows)}")

    def store_plan(self, about: dict[str, Any]) -> None:
        """Store which runs there are."""
        import pyarrow as pa  # noqa: PLC0415  (loaded when there are tables to hold)

        names = ("run", *(each.name for each in self._grid.dimensions), "seed")
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for point, seed in self._runs():
            row = (point.run_name(seed), *point.labels, seed)
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
        self._store.create()
        self._store.write_plan(
            pa.table({name: _arrow.column(values) for name, values in columns.items()}), about
        )

    def finish(self, do: Do, progress: Callable[[Progress], None] | None) -> None:
        """Do the runs that are missing."""
        names = (point.run_name(seed) for point, seed in self._runs())
        missing = [not (self._store.has(name) or name in self._failed) for name in names]
        done = len(missing) - sum(missing)
        tell = progress or (lambda _: None)
        tell(Progress("runs", done, len(missing)))
        with closing(do(self._jobs(missing), self._store.keep)) as outcomes:
            for now_done, failure in enumerate(outcomes, start=done + 1):
                if failure is not None:
                    self._failed.add(failure.run)
                tell(Progress("runs", now_done, len(missing)))

    def add_seeds(self, target: Target, most: int) -> bool:
        """Give more seeds to points that do not meet a target yet; return whether there are any.

        As many as would do if the standard deviation stayed as it is, but at most twice as many as
        before: an estimate from few runs may be far too high. A point with a run that failed, or
        whose measure is not known, gets no more.
        """
        grows = False
        for index, (point, seeds) in enumerate(zip(self._all_points(), self._seeds, strict=True)):
            values = self._values.setdefault(index, [])
            for seed in seeds[len(values) :]:
                outcome = self._store.read(point.run_name(seed))
                known = {} if outcome is None else outcome.values
                values.append(known.get(key_of(target.measure), float("nan")))
            if target.is_met(values) or len(values) >= most:
                continue
            needed = target.seeds_needed(values)
            if needed is None:
                continue
            number = min(max(needed, len(seeds) + 1), 2 * len(seeds), most)
            self._seeds[index] = range(1, number + 1)
            grows = True
        return grows

    def _all_points(self) -> Iterable[Point]:
        if self._points is not None:
            return self._points
        return self._grid.points(self._salt, self._measuring.warm_up_s)

    def _runs(self) -> Iterator[tuple[Point, int]]:
        for point, seeds in zip(self._all_points(), self._seeds, strict=True):
            for seed in seeds:
                yield point, seed

    def _jobs(self, missing: Iterable[bool]) -> Iterator[Job]:
        first = self._seeds[0][0]
        for point, seed in compress(self._runs(), missing):
            yield Job(
                run=point.run_name(seed),
                text=point.with_seed(seed),
                members=point.members,
                measuring=self._measuring,
                is_first=seed == first,
            )


class RunsFailedWarning(UserWarning):
    """Some runs of a sweep failed; the others are in its table."""


def sweep(
    base: Scenario | str | Path | Callable[..., Scenario],
    over: Mapping[str, Iterable[object]] | None = None,
    *,
    out: str | Path,
    seeds: int | Iterable[int] = 1,
    measures: Sequence[str | Callable[[Results], float]] = DEFAULT,
    warm_up_s: float = 0.0,
    until: str | Target | None = None,
    max_seeds: int = MAX_SEEDS,
    on: str | Client | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Sweep:
    """Run a scenario with every combination of values and every seed, and store the measures.

    Skips runs that are already stored in the directory, so an interrupted sweep resumes, and a
    larger one only adds runs. A run is identified by its scenario, its seed, the version of the
    simulator and the source of members in Python: if one of these changes, it is run again.

    Args:
        base: A scenario, the path of a scenario file, or a function that returns a scenario. A
            function receives the values as keyword arguments.
        over: Values by the path of a field, such as ``"dumbbell.rate"`` or ``"flows[*].start"``;
            for a function, by the name of a parameter. Values may have names, which tables and
            figures show: ``{"dumbbell.queue": {"short": DropTail(packets=10), ...}}``.
        out: The output directory.
        seeds: The number of seeds (1, 2, ...), or the seeds. With ``until``, the initial number: at
            least ten, the default.
        measures: The columns of the table: names as in :meth:`skywave.Sweep.load`, and functions
            that take a ``Results`` and return a number. All built-in measures are always stored.
        warm_up_s: Discard samples taken before this time, in seconds.
        until: The required precision of a mean, such as ``"ci(goodput) < 2 %"``, or a
            :class:`skywave.stats.Target`: each point gets more seeds, at least ten, to reach it.
        max_seeds: With ``until``, the maximum number of seeds per point.
        on: The Dask cluster to run on: the address of its scheduler, such as
            ``"tcp://scheduler:8786"``, or a ``dask.distributed.Client``. Default: the processors
            of this machine.
        progress: Called first with the number of runs that were done before, then after each run.

    Returns:
        The results. ``failures`` lists failed runs, and a warning is issued for them; all others
        are in the table, which is also stored as ``table.csv``.

    Raises:
        ScenarioError: If a scenario is wrong; the message names its values and the field.
        OSError: If results cannot be written. Results that were written stay.
        ClusterError: If the cluster cannot be used.
        KeyboardInterrupt: If it was interrupted. Completed runs are stored.
    """
    if isinstance(base, str | Path):
        base = Scenario.from_file(base)
    measuring, columns = _measuring(measures, warm_up_s)
    taken = [*COLUMNS, *MEASURES, *measuring.own]
    grid = Grid(base, dimensions(over or {}, taken))
    if not isinstance(base, Scenario):
        try:
            inspect.signature(base).bind(**dict.fromkeys(over or {}))
        except TypeError as error:
            raise TypeError(f"the function does not take what is swept: {error}") from None
    target = None if until is None else _target(until, measuring.own)
    first = _seeds(seeds, target, max_seeds)
    store = Store(Path(out))
    work = Work(grid, measuring, first, store)
    work.check_flows(MeasureRequest.parse(column, measuring.own) for column in columns)
    about = {
        "engine": _core.ENGINE,
        "base": base.to_dict() if isinstance(base, Scenario) else _name(base),
        "dimensions": [
            {
                "name": each.name,
                "path": each.path,
                "values": each.labels,
                "names": [name for name in each.names if name is not None],
            }
            for each in grid.dimensions
        ],
        "seeds": list(first),
        "until": None if target is None else target.text,
        "warm_up_s": measuring.warm_up_s,
        "measures": columns,
        "own_measures": list(measuring.own),
    }
    work.store_plan(about)
    try:
        with nullcontext() if on is None else cluster.connected(on) as client:
            do = job.do if client is None else partial(cluster.do, client=client)
            work.finish(do, progress)
            while target is not None and work.add_seeds(target, max_seeds):
                work.store_plan(about)
                work.finish(do, progress)
    except KeyboardInterrupt:
        # The interrupt says more than why there is no table.
        with suppress(OSError, ValueError):
            Sweep.load(out).write_csv(store.csv)
        raise
    found = Sweep.load(out)
    found.write_csv(store.csv)
    if found.failures:
        warnings.warn(
            f"{len(found.failures)} of {found.planned} runs failed: see .failures, or the files in "
            f"{found.directory / 'failed'}; repeat the call to retry them",
            RunsFailedWarning,
            stacklevel=2,
        )
    return found


def _target(until: str | Target, own: Iterable[str]) -> Target:
    """Return a target for the name of a stored measure."""
    target = Target.parse(until) if isinstance(until, str) else until
    asked = MeasureRequest.parse(target.measure, own)
    if asked.of == "*":
        raise ValueError(f'"{target.text}": name one flow or link, not all')
    target.column([column_name(asked.measure, asked.of)])
    return replace(target, measure=column_name(asked.measure, asked.of))


def _seeds(seeds: int | Iterable[int], target: Target | None, max_seeds: int) -> tuple[int, ...]:
    if target is not None:
        if not isinstance(seeds, int):
            raise ValueError("seeds: give their number: a target adds to it")
        if 1 < seeds < LEAST_SEEDS:
            raise ValueError(f"seeds: {seeds} are too few: a target needs {LEAST_SEEDS} at least")
        if seeds > max_seeds:
            raise ValueError(f"seeds: {seeds} are more than the {max_seeds} at which a target ends")
        seeds = max(seeds, LEAST_SEEDS)
    chosen = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(seeds)
    if not chosen:
        raise ValueError("seeds: there are none: give at least one")
    if len(set(chosen)) < len(chosen):
        raise ValueError("seeds: one is given twice")
    return chosen


def _measuring(
    measures: Sequence[str | Callable[[Results], float]], warm_up_s: float
) -> tuple[MeasurementPlan, list[str]]:
    """Return what is measured, and the names of the table's columns."""
    own: dict[str, Callable[[Results], float]] = {}
    for measure in measures:
        if isinstance(measure, str):
            continue
        name = _name(measure)
        if not name.isidentifier():
            raise ValueError(f"a measure is called {name}: define a function with a name")
        if name in MEASURES:
            raise ValueError(f"measure {name}: there is one of that name: choose another")
        own[name] = measure
    columns = [each if isinstance(each, str) else _name(each) for each in measures]
    for column in columns:
        MeasureRequest.parse(column, own)
    return MeasurementPlan(warm_up_s, own), columns


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", type(function).__name__)
