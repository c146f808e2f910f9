"""Running scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from skywave import _core
from skywave.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from skywave.scenario import Scenario


def run(
    scenario: Scenario,
    *,
    progress: Callable[[float], None] | None = None,
    captures: Mapping[str, str] | None = None,
    verify_physics: bool = False,
) -> Results:
    """Run a scenario; the same scenario and seed give the same results to the last bit.

    Args:
        scenario: what to run.
        progress: told the fraction done, 0 to 1, every 32,768 events. An exception that
            it raises stops the run.
        captures: pcapng files to write, by link: ``{"r1->r2": "bottleneck.pcapng"}``.
        verify_physics: replay the run's record through the physics verifier; what it finds is in
            ``Results.violations``.

    Raises:
        ScenarioError: with the field that is wrong.
        OSError: where a capture cannot be written.

    """
    files = dict(captures) if captures else {}
    try:
        finished = _core.run(
            scenario.to_json(),
            progress=progress,
            captures=files or None,
            verify_physics=verify_physics,
        )
    except BaseException:
        # Half a capture is worse than none.
        for file in files.values():
            Path(file).unlink(missing_ok=True)
        raise
    return Results(finished)


def run_many(
    scenarios: Iterable[Scenario], *, progress: Callable[[int, int], None] | None = None
) -> list[Results]:
    """Run scenarios on all cores and return their results in the same order.

    Args:
        scenarios: what to run.
        progress: told how many runs are done, and how many there are.

    Raises:
        ScenarioError: with the field that is wrong.

    """
    texts = [scenario.to_json() for scenario in scenarios]
    return [Results(run) for run in _core.run_many(texts, progress=progress)]
