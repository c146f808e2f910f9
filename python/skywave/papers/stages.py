"""Runs of a reproduction, and the reporting of their progress by stage."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from skywave._simulate import run_many

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skywave.results import Results
    from skywave.scenario import Scenario

    Progress = Callable[[str, int, int], None]
    """Called with the stage, the number of its finished steps and that of all its steps."""

Key = TypeVar("Key")
Value = TypeVar("Value")


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
    runs = run_many(every, progress=progress)
    return [dict(zip(plan, islice(runs, len(plan)), strict=True)) for plan in plans]


def measure_each(
    scenarios: Mapping[Key, Scenario],
    measure: Callable[[Key, Results], Value],
    progress: Callable[[int, int], None] | None = None,
) -> dict[Key, Value]:
    """Run scenarios on all cores; return the measurements of their results by key."""
    runs = run_many(scenarios.values(), progress=progress)
    return {key: measure(key, results) for key, results in zip(scenarios, runs, strict=True)}
