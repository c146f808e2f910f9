"""Running a sweep."""

from __future__ import annotations

from contextlib import ExitStack, closing
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from skywave import _core
from skywave.quantities import Duration
from skywave.scenario import Scenario
from skywave.sweeps import cluster, local
from skywave.sweeps.job import Job
from skywave.sweeps.measures import DEFAULT, MEASURES, Column, Measuring
from skywave.sweeps.points import Grid, Point, check_function, dimensions
from skywave.sweeps.store import Store
from skywave.sweeps.table import Sweep, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from distributed import Client

    from skywave.results import Results
    from skywave.sweeps.store import Failure

POINTS_KEPT = 10_000
"""Points whose scenarios are kept in memory; those of larger sweeps are made twice."""


@frozen
class Progress:
    """How far a sweep is."""

    done: int
    """Runs that are done, failed ones included."""
    resumed: int
    """Of these, runs that were done before."""
    total: int
    failed: int


def sweep(
    base: Scenario | str | Path | Callable[..., Scenario],
    over: Mapping[str, Iterable[object]] | None = None,
    *,
    out: str | Path,
    seeds: int | Iterable[int] = 1,
    measures: Sequence[str | Callable[[Results], float]] = DEFAULT,
    warm_up: Duration | str = "0 s",
    on: str | Client | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Sweep:
    """Run a scenario with every combination of values and every seed, and store the measures.

    Runs that the folder has already are not run again, so a sweep that was interrupted goes on
    where it was, and a larger one runs what is new. A run belongs to its scenario, its seed, the
    version of the simulator and the source of controls in Python: if one of these changes, it is
    run anew.

    Args:
        base: A scenario, the file of one, or a function that returns one. A function gets the
            values by name.
        over: Values by the path of a field, such as ``"dumbbell.rate"`` or ``"flows[*].start"``;
            for a function, by the name of a parameter.
        out: The folder for results.
        seeds: How many seeds, from 1 on, or the seeds.
        measures: The columns of the table: names as in :func:`skywave.load`, and functions of a
            ``Results`` that return a number. All built-in measures are stored in any case.
        warm_up: What is sampled until then does not count.
        on: The Dask cluster that does the runs: the address of its scheduler, such as
            ``"tcp://scheduler:8786"``, or a ``dask.distributed.Client``. Default: the processors
            of this machine.
        progress: Called when a run is done.

    Returns:
        The results. ``failures`` has the runs that failed; the others are in the table.

    Raises:
        ScenarioError: If a scenario is wrong; the message names its values and the field.
        OSError: If results cannot be written. Those that were stay.
        ClusterError: If the cluster cannot be used.
        KeyboardInterrupt: If it was interrupted. What was done is stored.

    """
    begun = Begun.of(base, over or {}, out=out, seeds=seeds, measures=measures, warm_up=warm_up)
    begun.finish(on, progress)
    return load(out)


@frozen
class Begun:
    """A sweep whose plan is stored."""

    grid: Grid
    points: tuple[Point, ...] | None
    """The points, if there are not too many."""
    store: Store
    seeds: tuple[int, ...]
    measuring: Measuring
    salt: object

    @property
    def total(self) -> int:
        """The number of runs."""
        return len(self.grid) * len(self.seeds)

    @classmethod
    def of(
        cls,
        base: Scenario | str | Path | Callable[..., Scenario],
        over: Mapping[str, Iterable[object]],
        *,
        out: str | Path,
        seeds: int | Iterable[int],
        measures: Sequence[str | Callable[[Results], float]],
        warm_up: Duration | str,
    ) -> Begun:
        """Check what was asked for, and store the plan; see :func:`sweep`."""
        if isinstance(base, str | Path):
            base = Scenario.from_file(base)
        measuring, columns = _measuring(measures, Duration(warm_up))
        taken = ["run", "seed", "fingerprint", "wall_s", *MEASURES, *measuring.own]
        grid = Grid(base, dimensions(over, taken))
        if not isinstance(base, Scenario):
            check_function(base, over)
        chosen = _seeds(seeds)
        salt = measuring.identity()
        kept = tuple(grid.points(salt)) if len(grid) <= POINTS_KEPT else None
        begun = cls(grid, kept, Store(Path(out)), chosen, measuring, salt)
        begun.store.create()
        plan = begun._plan()
        about = {
            "engine": _core.ENGINE,
            "base": base.to_dict() if isinstance(base, Scenario) else _name(base),
            "dimensions": [
                {"name": each.name, "path": each.path, "values": each.labels}
                for each in grid.dimensions
            ],
            "seeds": list(chosen),
            "warm_up_s": measuring.warm_up_s,
            "measures": columns,
            "own_measures": list(measuring.own),
        }
        begun.store.write_plan(plan, about)
        return begun

    def _points(self) -> Iterable[Point]:
        return self.grid.points(self.salt) if self.points is None else self.points

    def _plan(self) -> pa.Table:
        import pyarrow as pa  # noqa: PLC0415

        columns: dict[str, list[Any]] = {
            name: [] for name in ("run", *(each.name for each in self.grid.dimensions), "seed")
        }
        for point in self._points():
            for seed in self.seeds:
                row = (point.run_name(seed), *point.labels, seed)
                for column, value in zip(columns.values(), row, strict=True):
                    column.append(value)
        return pa.table(columns)

    def finish(
        self, on: str | Client | None = None, progress: Callable[[Progress], None] | None = None
    ) -> None:
        """Run what is not done."""
        missing = [not self.store.has(run) for run in self._runs()]
        resumed = len(missing) - sum(missing)
        state = Progress(resumed, resumed, len(missing), 0)
        if progress is not None:
            progress(state)
        try:
            with ExitStack() as stack:
                for failure in self._do(self._jobs(missing), on, stack):
                    failed = state.failed + (failure is not None)
                    state = evolve(state, done=state.done + 1, failed=failed)
                    if progress is not None:
                        progress(state)
        except BaseException:
            # What was done at the same time is stored too.
            if progress is not None:
                stored = sum(self.store.has(run) for run in self._runs())
                progress(evolve(state, done=stored + state.failed))
            raise

    def _do(
        self, jobs: Iterator[Job], on: str | Client | None, stack: ExitStack
    ) -> Iterator[Failure | None]:
        if on is None:
            outcomes = local.do(jobs, self.store.keep)
        else:
            client = stack.enter_context(cluster.connected(on))
            outcomes = cluster.do(jobs, self.store.keep, client)
        return stack.enter_context(closing(outcomes))

    def _runs(self) -> Iterator[str]:
        return (point.run_name(seed) for point in self._points() for seed in self.seeds)

    def _jobs(self, missing: Iterable[bool]) -> Iterator[Job]:
        runs = ((point, seed) for point in self._points() for seed in self.seeds)
        for point, seed in compress(runs, missing):
            yield Job(point.run_name(seed), point.with_seed(seed), point.controls, self.measuring)


def _seeds(seeds: int | Iterable[int]) -> tuple[int, ...]:
    chosen = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(seeds)
    if not chosen:
        raise ValueError("seeds: there are none: give one at least")
    if len(set(chosen)) < len(chosen):
        raise ValueError("seeds: one is given twice")
    return chosen


def _measuring(
    measures: Sequence[str | Callable[[Results], float]], warm_up: Duration
) -> tuple[Measuring, list[str]]:
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
        Column.parse(column, own)
    return Measuring(warm_up.seconds, own), columns


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", type(function).__name__)
