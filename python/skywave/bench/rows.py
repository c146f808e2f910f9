"""Speed and memory of the simulator, and of other simulators for comparison.

The work is a dumbbell of TCP NewReno flows with FTP sources, 1024 bytes on the wire, 40-byte
acknowledgements, drop-tail queues, and round-trip times of 60 to 220 ms in ten steps. Each
simulator runs in a process of its own. Its CPU seconds (user and system) and peak resident memory
include start-up.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from skywave import _core
from skywave._machine import Watch
from skywave._progress import Progress
from skywave.bench import measurement
from skywave.bench.competitors import Competitor, Dumbbell
from skywave.bench.measurement import BenchError, Measurement


@dataclass(frozen=True)
class Work:
    """A dumbbell to run. Rates and duration are text with units; the buffer is in packets."""

    flows: int
    rate: str
    buffer: int
    duration: str
    access: str = "100 Mbps"
    threads: int = 1


STANDARD = (
    Work(flows=200, rate="45 Mbps", buffer=800, duration="120 s"),
    Work(flows=100, rate="100 Mbps", buffer=1000, duration="100 s"),
    Work(flows=1000, rate="1000 Mbps", buffer=12500, duration="10 s", access="10000 Mbps"),
)
"""The three rows of ``make bench``."""

MANY = Work(flows=10_000, rate="1000 Mbps", buffer=5000, duration="20 s", access="10000 Mbps")
"""The work that threads share: many packets are under way at a time."""

ROUNDS = 5
"""Runs of a row beside other simulators. A single run would show what else the machine does."""


class CompetitorRow(TypedDict):
    """Resources that another simulator used for a row, and ratios: medians over the rounds."""

    name: str
    counts: dict[str, int]
    process_cpu_s: float
    peak_memory_bytes: int
    cpu_over_simulation: float
    """Its CPU time over that of our simulation alone."""
    cpu_over_skywave: float
    """Its CPU time over that of our whole process."""
    memory_over_skywave: float
    arrivals_difference_percent: float | None
    """How many more packets arrived at our bottleneck. None if it does not count them."""
    rounds: list[float]
    """``cpu_over_simulation`` of each round, ascending."""


class Row(TypedDict):
    """The result of one row: the core's counts, and medians of the resources used."""

    work: dict[str, Any]
    counts: dict[str, Any]
    process_cpu_s: float
    peak_memory_bytes: int
    stolen: float | None
    """Share of all processors' time that the host gave to others. None if the system does not tell,
    as in ``used_by_others``."""
    used_by_others: float | None
    """Share of all processors' time that other processes on this machine used."""
    beside: list[CompetitorRow]


class ThreadsRow(TypedDict):
    """How much faster several threads are."""

    work: dict[str, Any]
    elapsed_one_s: float
    """Elapsed time of the simulation alone on one thread: the median over the rounds."""
    elapsed_s: float
    """Elapsed time on ``work["threads"]`` threads."""
    speedup: float
    """The median, over the rounds, of the time on one thread divided by that on several."""
    rounds: list[float]
    """``speedup`` of each round, ascending."""
    stolen: float | None
    """As in :class:`Row`, and so is ``used_by_others``."""
    used_by_others: float | None


def measure_threads(
    work: Work, progress: Callable[[Progress], None] = lambda _: None
) -> ThreadsRow:
    """Run the work on one thread and on its number of threads, in turn, five times."""
    alone: list[float] = []
    shared: list[float] = []
    watch = Watch()
    for turn in range(ROUNDS):
        progress(Progress("threads", turn, ROUNDS))
        for threads, elapsed in ((1, alone), (work.threads, shared)):
            counts, _ = run_process("dumbbell", json.dumps(asdict(replace(work, threads=threads))))
            elapsed.append(counts["elapsed_s"])
    progress(Progress("threads", ROUNDS, ROUNDS))
    taken = watch.shares()
    rounds = sorted(one / several for one, several in zip(alone, shared, strict=True))
    return ThreadsRow(
        work=asdict(work),
        elapsed_one_s=statistics.median(alone),
        elapsed_s=statistics.median(shared),
        speedup=statistics.median(rounds),
        rounds=rounds,
        stolen=taken.stolen,
        used_by_others=taken.others,
    )


def measure(
    work: Work,
    others: Sequence[Competitor] = (),
    progress: Callable[[Progress], None] = lambda _: None,
) -> Row:
    """Run the work in its own process: several rounds in turn with ``others``, or once alone."""
    rounds = ROUNDS if others else 1
    ours: list[tuple[float, Measurement]] = []
    theirs: list[list[Measurement]] = [[] for _ in others]
    counted: list[dict[str, int]] = [{} for _ in others]
    watch = Watch()
    for turn in range(rounds):
        progress(Progress("bench", turn, rounds))
        counts, output = run_process("dumbbell", json.dumps(asdict(work)))
        ours.append((counts["cpu_s"], output))
        dumbbell = Dumbbell(
            flows=work.flows,
            rate_bps=counts["rate_bps"],
            buffer=work.buffer,
            duration_s=counts["duration_s"],
            access_bps=counts["access_bps"],
        )
        for index, other in enumerate(others):
            output, counted[index] = other.run(dumbbell)
            theirs[index].append(output)
    taken = watch.shares()
    counts["cpu_s"] = statistics.median(cpu_s for cpu_s, _ in ours)
    for name in ("events", "packet_hops"):
        counts[f"{name}_per_s"] = counts[name] / counts["cpu_s"]
    return Row(
        work=asdict(work),
        counts=counts,
        process_cpu_s=statistics.median(output.cpu_s for _, output in ours),
        peak_memory_bytes=_median_memory([output for _, output in ours]),
        stolen=taken.stolen,
        used_by_others=taken.others,
        beside=[
            _beside(other.name, counted[index], theirs[index], counts, ours)
            for index, other in enumerate(others)
        ],
    )


def _beside(
    name: str,
    their_counts: dict[str, int],
    theirs: list[Measurement],
    our_counts: dict[str, Any],
    ours: list[tuple[float, Measurement]],
) -> CompetitorRow:
    """Compare the rounds of another simulator with ours."""
    turns = [(their, cpu_s, our) for their, (cpu_s, our) in zip(theirs, ours, strict=True)]
    rounds = sorted(their.cpu_s / cpu_s for their, cpu_s, _ in turns)
    arrivals = their_counts.get("bottleneck_arrivals")
    return CompetitorRow(
        name=name,
        counts=their_counts,
        process_cpu_s=statistics.median(their.cpu_s for their in theirs),
        peak_memory_bytes=_median_memory(theirs),
        cpu_over_simulation=statistics.median(rounds),
        cpu_over_skywave=statistics.median(their.cpu_s / our.cpu_s for their, _, our in turns),
        memory_over_skywave=statistics.median(
            their.peak_memory_bytes / our.peak_memory_bytes for their, _, our in turns
        ),
        arrivals_difference_percent=None
        if not arrivals
        else 100 * (our_counts["bottleneck_arrivals"] - arrivals) / arrivals,
        rounds=rounds,
    )


def _median_memory(outputs: list[Measurement]) -> int:
    return statistics.median_low(output.peak_memory_bytes for output in outputs)


def run_process(kind: str, work: str) -> tuple[dict[str, Any], Measurement]:
    """Run a piece of work in its own process; return its counts and the resources used."""
    program = Path(__file__).with_name("process.py")
    output = measurement.run([sys.executable, str(program), str(_core.__file__), kind, work])
    answer: dict[str, Any] = json.loads(output.stdout.splitlines()[-1])
    if "error" in answer:
        raise BenchError(answer["error"])
    return answer, output


def measure_standard(
    others: Sequence[Competitor], progress: Callable[[Progress], None]
) -> list[Row]:
    """Run the standard rows: several rounds each in turn with ``others``, or once alone."""
    rows = []
    for done, work in enumerate(STANDARD):

        def turns(step: Progress, done: int = done) -> None:
            progress(Progress("bench", done + step.fraction, len(STANDARD)))

        rows.append(measure(work, others, turns))
    progress(Progress("bench", len(STANDARD), len(STANDARD)))
    return rows
