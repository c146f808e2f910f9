"""Runs of a reproduction, and the reporting of their progress by stage."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from skywave.simulate import run_many

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skywave.results import Results
    from skywave.scenario import Scenario

    Progress = Callable[[str, int, int], None]
    """Called with the stage, the number of its finished steps and that of all its steps."""

Key = TypeVar("Key")
Value = TypeVar("Value")
BATCH = 20
"""Runs at a time if not all series are kept. Those of hundreds of runs would take gigabytes."""


def stage(progress: Progress | None, name: str) -> Callable[[int, int], None] | None:
    """Return the progress function of the stage ``name``."""
    return None if progress is None else lambda done, total: progress(name, done, total)


def run_each(
    scenarios: Mapping[Key, Scenario], progress: Callable[[int, int], None] | None = None
) -> dict[Key, Results]:
    """Run scenarios on all cores; return their results by key."""
    return dict(zip(scenarios, run_many(scenarios.values(), progress=progress), strict=True))


def run_plans(
    *plans: Mapping[Any, Scenario], progress: Callable[[int, int], None] | None = None
) -> list[dict[Any, Results]]:
    """Run several sets of scenarios together; return the results of each set by key.

    Run one after the other, cores would idle at the end of each set. Put the longest set first.
    """
    every = [scenario for plan in plans for scenario in plan.values()]
    runs = iter(run_many(every, progress=progress))
    return [dict(zip(plan, islice(runs, len(plan)), strict=True)) for plan in plans]


def measure_each(
    scenarios: Mapping[Key, Scenario],
    measure: Callable[[Key, Results], Value],
    progress: Callable[[int, int], None] | None = None,
) -> dict[Key, Value]:
    """Run scenarios on all cores; return the measurements of their results by key."""
    keys = list(scenarios)
    measured: dict[Key, Value] = {}
    for begun in range(0, len(keys), BATCH):
        batch = keys[begun : begun + BATCH]

        def step(done: int, _of: int, begun: int = begun) -> None:
            if progress is not None:
                progress(begun + done, len(keys))

        runs = run_many((scenarios[key] for key in batch), progress=step)
        measured.update(
            (key, measure(key, results)) for key, results in zip(batch, runs, strict=True)
        )
    return measured
