"""Runs of a reproduction, whose progress is reported by stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, TypeVar

from skywave._progress import Progress, stage
from skywave._simulate import run_many
from skywave.results import Results
from skywave.scenario import Scenario

__all__ = ["measure_each", "run_each", "run_plans", "stage"]

Key = TypeVar("Key")
Value = TypeVar("Value")


def run_each(
    scenarios: Mapping[Key, Scenario], progress: Callable[[Progress], None] | None = None
) -> dict[Key, Results]:
    """Run scenarios on all cores; return their results by key."""
    return measure_each(scenarios, lambda _, results: results, progress)


def run_plans(
    *plans: Mapping[Any, Scenario], progress: Callable[[Progress], None] | None = None
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
    progress: Callable[[Progress], None] | None = None,
) -> dict[Key, Value]:
    """Run scenarios on all cores; return the measurements of their results by key."""
    runs = run_many(scenarios.values(), progress=progress)
    return {key: measure(key, results) for key, results in zip(scenarios, runs, strict=True)}
