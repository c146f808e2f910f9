"""How fast the schemes run, those with RED beside ns-2's run of the same."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from skywave import bench, ns2
from skywave.papers.chen2010 import oracle, setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from skywave.papers.chen2010.setting import Scheme

ROUNDS = 5
"""How often each run is measured, in turn with ns-2's."""


class Speed(TypedDict):
    """One scheme, one seed: medians of the rounds."""

    scheme: str
    cpu_s: float
    """CPU of the simulation alone."""
    process_cpu_s: float
    ns2_process_cpu_s: float | None
    """Absent where ns-2 is, or does not have the scheme."""
    cpu_ns2_over_simulation: float | None
    cpu_ns2_over_skywave: float | None


def measure(progress: Callable[[int, int], None]) -> list[Speed]:
    """Measure every scheme.

    Raises:
        BenchError: where a process fails.

    """
    speeds = []
    with tempfile.TemporaryDirectory(prefix="skywave-speed-") as scratch:
        for done, scheme in enumerate(setting.SCHEMES):
            progress(done, len(setting.SCHEMES))
            speeds.append(_measure(scheme, Path(scratch)))
    progress(1, 1)
    return speeds


def _measure(scheme: Scheme, scratch: Path) -> Speed:
    seed = min(setting.SEEDS)
    scenario = scratch / f"{scheme.name}.json"
    scenario.write_text(setting.scenario(scheme, seed).to_json(), encoding="utf-8")
    try:
        theirs = None
        if scheme in oracle.KNOWN:
            theirs = oracle.command(scheme, seed, scratch / f"{scheme.name}.csv")
    except ns2.Ns2Error:
        theirs = None
    simulation, process, other = [], [], []
    for _ in range(ROUNDS):
        answer, output = bench.run_process("scenario", str(scenario))
        simulation.append(float(answer["cpu_s"]))
        process.append(output.cpu_s)
        if theirs is not None:
            other.append(ns2.run_measured(theirs).cpu_s)
    ns2_s = statistics.median(other) if other else None
    return Speed(
        scheme=scheme.label,
        cpu_s=statistics.median(simulation),
        process_cpu_s=statistics.median(process),
        ns2_process_cpu_s=ns2_s,
        cpu_ns2_over_simulation=_ratio(other, simulation),
        cpu_ns2_over_skywave=_ratio(other, process),
    )


def _ratio(theirs: list[float], ours: list[float]) -> float | None:
    """Return the median of the rounds' ratios."""
    if not theirs:
        return None
    return statistics.median(a / b for a, b in zip(theirs, ours, strict=True))
