"""The stages of a reproduction: told of while they run, and Skywave's own runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from skywave.simulate import run_many

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skywave.papers import Progress
    from skywave.results import Results
    from skywave.scenario import Scenario

Key = TypeVar("Key")


def stage(progress: Progress | None, name: str) -> Callable[[int, int], None] | None:
    """Return what a stage of this name tells its progress to."""
    return None if progress is None else lambda done, total: progress(name, done, total)


def run_each(
    scenarios: Mapping[Key, Scenario], progress: Callable[[int, int], None] | None = None
) -> dict[Key, Results]:
    """Run scenarios on all cores; return each one's results under its key."""
    return dict(zip(scenarios, run_many(scenarios.values(), progress=progress), strict=True))
