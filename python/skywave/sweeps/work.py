"""The runs of a sweep: planned, missing, and still to be added."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import compress
from typing import TYPE_CHECKING, Any

from skywave._known import listed
from skywave._progress import Progress
from skywave.stats import Target
from skywave.sweeps import cluster, job
from skywave.sweeps.job import Job, Keep
from skywave.sweeps.measures import MEASURES, MeasurementPlan, MeasureRequest, key_of
from skywave.sweeps.points import Grid, Point
from skywave.sweeps.store import Failure, Store

if TYPE_CHECKING:
    from distributed import Client

Do = Callable[[Iterable[Job], Keep], Generator[Failure | None, None, None]]
"""Does jobs, keeps their outcomes, and yields for each why it failed."""

POINTS_KEPT = 10_000
"""Points whose scenarios are kept in memory; those of larger sweeps are made twice."""


@contextmanager
def executor(on: str | Client | None) -> Iterator[Do]:
    """Yield the executor of jobs: this machine, or a Dask cluster."""
    if on is None:
        yield job.do
        return
    with cluster.connected(on) as client:
        yield lambda jobs, keep: cluster.do(jobs, keep, client)


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
        self._store.write_plan(pa.table(columns), about)

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
