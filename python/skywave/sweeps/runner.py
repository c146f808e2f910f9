"""Running a sweep."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skywave import _core
from skywave.scenario import Scenario
from skywave.scenario.quantities import Duration
from skywave.stats import LEAST_SEEDS, Target
from skywave.sweeps.measures import COLUMNS, DEFAULT, MEASURES, Asked, Measuring, column_name
from skywave.sweeps.points import Grid, check_function, dimensions
from skywave.sweeps.store import Store
from skywave.sweeps.table import Sweep, load
from skywave.sweeps.work import Work, executor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from distributed import Client

    from skywave.results import Results
    from skywave.sweeps.work import Progress

MAX_SEEDS = 1000
"""The most seeds of a point, by default, if a target decides how many there are."""


class RunsFailedWarning(UserWarning):
    """Some runs of a sweep failed; the others are in its table."""


def sweep(
    base: Scenario | str | Path | Callable[..., Scenario],
    over: Mapping[str, Iterable[object]] | None = None,
    *,
    out: str | Path,
    seeds: int | Iterable[int] = 1,
    measures: Sequence[str | Callable[[Results], float]] = DEFAULT,
    warm_up: Duration | str = "0 s",
    until: str | None = None,
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
            for a function, by the name of a parameter.
        out: The output directory.
        seeds: The number of seeds (1, 2, ...), or the seeds. With ``until``, the initial number: at
            least ten, the default.
        measures: The columns of the table: names as in :func:`skywave.load`, and functions that
            take a ``Results`` and return a number. All built-in measures are always stored.
        warm_up: Discard samples taken before this time.
        until: The required precision of a mean, such as ``"ci(goodput) < 2 %"``
            (:class:`skywave.stats.Target`): each point gets more seeds, at least ten, to reach it.
        max_seeds: With ``until``, the maximum number of seeds per point.
        on: The Dask cluster to run on: the address of its scheduler, such as
            ``"tcp://scheduler:8786"``, or a ``dask.distributed.Client``. Default: the processors
            of this machine.
        progress: Called when a run is done.

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
    measuring, columns = _measuring(measures, Duration(warm_up))
    taken = [*COLUMNS, *MEASURES, *measuring.own]
    grid = Grid(base, dimensions(over or {}, taken))
    if not isinstance(base, Scenario):
        check_function(base, over or {})
    target = None if until is None else _target(until, measuring.own)
    first = _seeds(seeds, target, max_seeds)
    store = Store(Path(out))
    work = Work(grid, measuring, first, store)
    work.check_flows(Asked.parse(column, measuring.own) for column in columns)
    about = {
        "engine": _core.ENGINE,
        "base": base.to_dict() if isinstance(base, Scenario) else _name(base),
        "dimensions": [
            {"name": each.name, "path": each.path, "values": each.labels}
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
        with executor(on) as do:
            work.finish(do, progress)
            while target is not None and work.add_seeds(target, max_seeds):
                work.store_plan(about)
                work.finish(do, progress)
    except KeyboardInterrupt:
        # The interrupt says more than why there is no table.
        with suppress(OSError, ValueError):
            load(out).write_csv(store.csv)
        raise
    found = load(out)
    found.write_csv(store.csv)
    if found.failures:
        warnings.warn(
            f"{len(found.failures)} of {found.planned} runs failed: see .failures, or the files in "
            f"{found.directory / 'failed'}; repeat the call to retry them",
            RunsFailedWarning,
            stacklevel=2,
        )
    return found


def _target(until: str, own: Iterable[str]) -> Target:
    """Return a target for the name of a stored measure."""
    target = Target.parse(until)
    asked = Asked.parse(target.measure, own)
    if asked.of == "*":
        raise ValueError(f'"{until}": name one flow or link, not all')
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
        Asked.parse(column, own)
    return Measuring(warm_up.seconds, own), columns


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", type(function).__name__)
