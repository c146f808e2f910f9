"""How fast experiments of papers run, beside ns-2's run of the same."""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from skywave import bench, ns2

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skywave.scenario import Scenario

ROUNDS = 5
"""How often each run is measured, in turn with ns-2's."""


@dataclass(frozen=True)
class Timed:
    """A run of which it is measured how long it takes.

    ``ns2`` returns the command by which ns-2 does the same, and writes its answer to a path; None
    where ns-2 cannot.
    """

    scheme: str
    scenario: Scenario
    ns2: Callable[[Path], list[str]] | None = None


class Speed(TypedDict):
    """One run: medians of the rounds."""

    scheme: str
    cpu_s: float
    """CPU of the simulation alone."""
    process_cpu_s: float
    ns2_process_cpu_s: float | None
    """Absent where ns-2 is, or cannot do it."""
    cpu_ns2_over_simulation: float | None
    cpu_ns2_over_skywave: float | None


def measure(runs: Sequence[Timed], progress: Callable[[int, int], None]) -> list[Speed]:
    """Measure runs, one after the other.

    Raises:
        BenchError: where a process fails.

    """
    speeds = []
    with tempfile.TemporaryDirectory(prefix="skywave-speed-") as scratch:
        for done, run in enumerate(runs):
            progress(done, len(runs))
            speeds.append(_measure(run, Path(scratch)))
    progress(1, 1)
    return speeds


def _measure(run: Timed, scratch: Path) -> Speed:
    scenario = scratch / "scenario.json"
    scenario.write_text(run.scenario.to_json(), encoding="utf-8")
    try:
        theirs = None if run.ns2 is None else run.ns2(scratch / "ns2.csv")
    except ns2.Ns2Error:
        theirs = None
    simulation, process, other = [], [], []
    for _ in range(ROUNDS):
        answer, output = bench.run_process("scenario", str(scenario))
        simulation.append(float(answer["cpu_s"]))
        process.append(output.cpu_s)
        if theirs is not None:
            other.append(ns2.run_measured(theirs).cpu_s)
    return Speed(
        scheme=run.scheme,
        cpu_s=statistics.median(simulation),
        process_cpu_s=statistics.median(process),
        ns2_process_cpu_s=statistics.median(other) if other else None,
        cpu_ns2_over_simulation=_ratio(other, simulation),
        cpu_ns2_over_skywave=_ratio(other, process),
    )


def _ratio(theirs: list[float], ours: list[float]) -> float | None:
    """Return the median of the rounds' ratios."""
    if not theirs:
        return None
    return statistics.median(a / b for a, b in zip(theirs, ours, strict=True))
