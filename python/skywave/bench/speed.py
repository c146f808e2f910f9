"""Speed of papers' experiments, beside ns-2's run of the same."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from skywave._machine import Watch
from skywave._progress import Progress
from skywave.bench import measurement, rows
from skywave.papers import ns2

if TYPE_CHECKING:
    from skywave.papers.protocol import TimedRun

ROUNDS = 5
"""Measurements of each run, alternating with ns-2's."""


class Speed(TypedDict):
    """The speed of one run; medians over the rounds."""

    scheme: str
    cpu_s: float
    """CPU time of the simulation alone."""
    process_cpu_s: float
    ns2_process_cpu_s: float | None
    """None if ns-2 is missing or cannot run it."""
    cpu_ns2_over_simulation: float | None
    cpu_ns2_over_skywave: float | None
    stolen: float | None
    """Share of all processors' time that the host gave to others. None if the system does not tell,
    as in ``used_by_others``."""
    used_by_others: float | None
    """Share of all processors' time that other processes on this machine used."""


def measure(runs: Sequence[TimedRun], progress: Callable[[Progress], None]) -> list[Speed]:
    """Measure runs, one after the other."""
    speeds = []
    with tempfile.TemporaryDirectory(prefix="skywave-speed-") as scratch:
        for done, run in enumerate(runs):
            progress(Progress("runs", done, len(runs)))
            speeds.append(_measure(run, Path(scratch)))
    progress(Progress("runs", len(runs), len(runs)))
    return speeds


def _measure(run: TimedRun, scratch: Path) -> Speed:
    scenario = scratch / "scenario.json"
    scenario.write_text(run.scenario.to_json(), encoding="utf-8")
    try:
        theirs = None if run.ns2 is None else run.ns2(scratch / "ns2.csv")
    except ns2.Ns2Error:
        theirs = None
    simulation, process, other = [], [], []
    watch = Watch()
    for _ in range(ROUNDS):
        answer, output = rows.run_process("scenario", str(scenario))
        simulation.append(float(answer["cpu_s"]))
        process.append(output.cpu_s)
        if theirs is not None:
            other.append(measurement.run(theirs).cpu_s)
    taken = watch.shares()
    return Speed(
        scheme=run.scheme,
        cpu_s=statistics.median(simulation),
        process_cpu_s=statistics.median(process),
        ns2_process_cpu_s=statistics.median(other) if other else None,
        cpu_ns2_over_simulation=_ratio(other, simulation),
        cpu_ns2_over_skywave=_ratio(other, process),
        stolen=taken.stolen,
        used_by_others=taken.others,
    )


def _ratio(theirs: list[float], ours: list[float]) -> float | None:
    """Return the median over rounds of their ratios."""
    if not theirs:
        return None
    return statistics.median(a / b for a, b in zip(theirs, ours, strict=True))
