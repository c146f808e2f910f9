"""Other simulators that run the benchmark dumbbell, for comparison: ns-2 and htsim."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from skywave.bench import measurement
from skywave.bench.measurement import BenchError
from skywave.papers import ns2


@dataclass(frozen=True)
class Dumbbell:
    """The benchmark dumbbell in plain numbers."""

    flows: int
    rate_bps: int
    buffer: int
    """In packets, including the one in transmission."""
    duration_s: float
    access_bps: int


@dataclass(frozen=True)
class Competitor:
    """A simulator that runs the benchmark dumbbell.

    ``command`` returns its command line, ``read`` the counts in its output. ``remedy`` says what to
    do if it fails.
    """

    name: str
    command: Callable[[Dumbbell], list[str]]
    read: Callable[[str], dict[str, int]]
    remedy: str | None = None

    def run(self, work: Dumbbell) -> tuple[measurement.Measurement, dict[str, int]]:
        """Run the work; return the resources that the process used, and the counts."""
        try:
            output = measurement.run(self.command(work))
            return output, self.read(output.stdout)
        except BenchError as error:
            if self.remedy is None:
                raise
            raise BenchError(f"{self.name}: {error}; {self.remedy}") from error


def find_ns2() -> Competitor:
    """Return ns-2."""
    try:
        ns2.find()
    except ns2.Ns2Error as error:
        raise BenchError(str(error)) from error
    return Competitor("ns-2", _ns2_command, _ns2_counts)


def _ns2_command(work: Dumbbell) -> list[str]:
    return ns2.command(
        "dumbbell.tcl",
        n=work.flows,
        bw=work.rate_bps,
        buf=work.buffer,
        dur=work.duration_s,
        abw=work.access_bps,
    )


def _ns2_counts(stdout: str) -> dict[str, int]:
    printed = {name: value for name, _, value in (word.partition("=") for word in stdout.split())}
    return {
        "bottleneck_arrivals": int(printed["arrivals"]),
        "bottleneck_departures": int(printed["departures"]),
        "bottleneck_drops": int(printed["drops"]),
    }


HTSIM_VARIANTS = {"full": True, "light": False}
"""Whether a packet passes a queue and a pipe on each of six hops, as here and in ns-2, or only the
bottleneck's queue and one pipe each way."""

_HTSIM_REMEDY = "build it as validation/htsim/README.md says"
_HTSIM_COUNTS = {"events": "events", "delivered": "packets_delivered", "drops": "bottleneck_drops"}
"""The counts that validation/htsim/bench.cpp prints, and their names here."""


def find_htsim(program: Path) -> list[Competitor]:
    """Return htsim in both variants; ``program`` is validation/htsim/bench.cpp, built."""
    if not program.exists():
        raise BenchError(f"--htsim {program}: no such file; {_HTSIM_REMEDY}")
    if not program.is_file() or not os.access(program, os.X_OK):
        raise BenchError(f"--htsim {program}: not an executable file; {_HTSIM_REMEDY}")
    return [
        Competitor(
            f"htsim {variant}",
            partial(_htsim_command, program.absolute(), full),
            _htsim_counts,
            _HTSIM_REMEDY,
        )
        for variant, full in HTSIM_VARIANTS.items()
    ]


def _htsim_command(program: Path, full: bool, work: Dumbbell) -> list[str]:
    numbers = (
        work.flows,
        work.rate_bps / 1e6,
        work.buffer,
        work.duration_s,
        work.access_bps / 1e6,
        int(full),
    )
    return [str(program), *map(str, numbers)]


def _htsim_counts(stdout: str) -> dict[str, int]:
    """Read the last line that starts with a count: names and numbers in turn."""
    for line in reversed(stdout.splitlines()):
        words = line.split()
        if words[:1] == ["events"]:
            printed = dict(zip(words[::2], words[1::2], strict=False))
            if "drops" in printed and all(value.isdecimal() for value in printed.values()):
                return {
                    ours: int(printed[theirs])
                    for theirs, ours in _HTSIM_COUNTS.items()
                    if theirs in printed
                }
    raise BenchError("the output has no line with the counts of events and drops")
