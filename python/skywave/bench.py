"""Speed and memory of the simulator, and of ns-2 for comparison.

The work is a dumbbell of TCP NewReno flows with FTP sources, 1024 bytes on the wire, 40-byte
acknowledgements, drop-tail queues, and round-trip times of 60 to 220 ms in ten steps. Each
simulator runs in a process of its own. Its CPU seconds (user and system) and peak resident memory
include start-up.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from skywave import _core, ns2

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Work:
    """A dumbbell to run. Rates and duration are text with units; the buffer is in packets."""

    flows: int
    rate: str
    buffer: int
    duration: str
    access: str = "100 Mbps"


STANDARD = (
    Work(flows=200, rate="45 Mbps", buffer=800, duration="120 s"),
    Work(flows=100, rate="100 Mbps", buffer=1000, duration="100 s"),
    Work(flows=1000, rate="1000 Mbps", buffer=12500, duration="10 s", access="10000 Mbps"),
)
"""The three rows of ``make bench``."""

ROUNDS = 5
"""Runs of each standard row beside ns-2. A single run would show what else the machine does."""


class Row(TypedDict):
    """The result of one row: the core's counts, and what the processes used."""

    work: dict[str, Any]
    counts: dict[str, Any]
    process_cpu_s: float
    peak_memory_bytes: int
    ns2: dict[str, Any] | None
    ratios: dict[str, float] | None
    rounds: list[float]
    """CPU time of ns-2 over that of our simulation, by round, ascending. The row is the median."""


class BenchError(Exception):
    """The work could not be run. The message is one line."""


def measure(work: Work, *, beside_ns2: bool = False) -> Row:
    """Run the work in a process of its own, and then in ns-2 if ``beside_ns2``.

    Raises:
        BenchError: If the work is invalid or ns-2 fails.

    """
    answer, output = run_process("dumbbell", json.dumps(asdict(work)))
    for name in ("events", "packet_hops"):
        answer[f"{name}_per_s"] = answer[name] / answer["cpu_s"]
    try:
        row = Row(
            work=asdict(work),
            counts=answer,
            process_cpu_s=output.cpu_s,
            peak_memory_bytes=output.peak_memory_bytes,
            ns2=None,
            ratios=None,
            rounds=[],
        )
        if beside_ns2:
            row["ns2"] = _measure_ns2(work, answer)
            row["ratios"] = ratios = _ratios(row)
            row["rounds"] = [ratios["cpu_ns2_over_simulation"]]
    except ns2.Ns2Error as error:
        raise BenchError(str(error)) from error
    return row


def run_process(kind: str, work: str) -> tuple[dict[str, Any], ns2.Measured]:
    """Run a piece of work in a process of its own; return its counts, and what the process used.

    Raises:
        BenchError: If the work is invalid or the process fails.

    """
    program = Path(__file__).with_name("_bench_process.py")
    try:
        output = ns2.run_measured([sys.executable, str(program), str(_core.__file__), kind, work])
    except ns2.Ns2Error as error:
        raise BenchError(str(error)) from error
    answer: dict[str, Any] = json.loads(output.stdout.splitlines()[-1])
    if "error" in answer:
        raise BenchError(answer["error"])
    return answer, output


def _measure_ns2(work: Work, counts: dict[str, Any]) -> dict[str, Any]:
    """Run the same work in ns-2, with the core's plain numbers instead of quantities with units."""
    command = ns2.command(
        "dumbbell.tcl",
        n=work.flows,
        bw=counts["rate_bps"],
        buf=work.buffer,
        dur=counts["duration_s"],
        abw=counts["access_bps"],
    )
    output = ns2.run_measured(command)
    words = output.stdout.split()
    printed = {name: value for name, _, value in (word.partition("=") for word in words)}
    return {
        "bottleneck_arrivals": int(printed["arrivals"]),
        "bottleneck_departures": int(printed["departures"]),
        "bottleneck_drops": int(printed["drops"]),
        "process_cpu_s": output.cpu_s,
        "peak_memory_bytes": output.peak_memory_bytes,
    }


def _ratios(row: Row) -> dict[str, float]:
    """Return the ratios of CPU time and memory to ns-2's, and the difference in arrivals."""
    theirs = row["ns2"]
    assert theirs is not None  # noqa: S101  (only called beside ns-2)
    arrivals = theirs["bottleneck_arrivals"]
    return {
        "cpu_ns2_over_skywave": theirs["process_cpu_s"] / row["process_cpu_s"],
        "cpu_ns2_over_simulation": theirs["process_cpu_s"] / row["counts"]["cpu_s"],
        "memory_ns2_over_skywave": theirs["peak_memory_bytes"] / row["peak_memory_bytes"],
        "arrivals_difference_percent": 100
        * (row["counts"]["bottleneck_arrivals"] - arrivals)
        / arrivals,
    }


def measure_standard(progress: Callable[[int, int], None]) -> list[Row]:
    """Run the standard rows: several rounds alternating with ns-2, or once without it."""
    try:
        ns2.find()
        rounds = ROUNDS
    except ns2.Ns2Error:
        rounds = 1
    rows = []
    for done, work in enumerate(STANDARD):
        turns = []
        for turn in range(rounds):
            progress(done * rounds + turn, len(STANDARD) * rounds)
            turns.append(measure(work, beside_ns2=rounds > 1))
        turns.sort(key=lambda turn: turn["rounds"])
        row = turns[rounds // 2]
        row["rounds"] = [ratio for turn in turns for ratio in turn["rounds"]]
        rows.append(row)
    progress(1, 1)
    return rows
