"""Ten sequences of arrivals for a DualPI2 queue, for a link of a given rate.

Loads are shares of the rate of the link. Packets have 1500 B unless said otherwise. All numbers are
from ``random.random()`` (Mersenne Twister, the same in each version) with a seed for each source,
so the sequences are the same everywhere.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RATES_MBPS = (10, 50)
DURATION_S = 10
CLASSIC, L4S, ECT0 = 0, 1, 2
"""The ECN fields: Not-ECT, ECT(1) and ECT(0), which is Classic too."""
MTU = 1500
HEADER = "time_us,bytes,ecn"


@dataclass(frozen=True)
class Arrival:
    """A packet that arrives."""

    time_us: int
    size: int
    ecn: int

    @property
    def kind(self) -> str:
        """``L`` for L4S and ``C`` for Classic."""
        return "L" if self.ecn == L4S else "C"


@dataclass(frozen=True)
class Link:
    """The link behind the queue, and how long packets arrive."""

    mbps: int
    duration_us: float = DURATION_S * 1e6

    def gap_us(self, load: float, size: float = MTU) -> float:
        """Return the time between packets of a load."""
        return size * 8 / (load * self.mbps)


def constant(link: Link, load: float, ecn: int, start_us: int = 0) -> list[Arrival]:
    """Return packets at equal intervals."""
    gap_us = link.gap_us(load)
    count = int((link.duration_us - start_us) / gap_us)
    return [Arrival(int(start_us + index * gap_us), MTU, ecn) for index in range(count)]


def poisson(
    link: Link, load: float, ecn: int, seed: int, sizes: Sequence[int] = (MTU,)
) -> list[Arrival]:
    """Return packets with exponential gaps; sizes have equal chances."""
    draw = random.Random(seed).random  # noqa: S311 - nothing is secret
    mean_us = link.gap_us(load, sum(sizes) / len(sizes))
    time_us = 0.0
    packets: list[Arrival] = []
    while True:
        time_us -= mean_us * math.log(1 - draw())
        if time_us >= link.duration_us:
            return packets
        packets.append(Arrival(int(time_us), sizes[int(draw() * len(sizes))], ecn))


def bursts(link: Link, load: float, ecn: int, count: int, speed: float) -> list[Arrival]:
    """Return bursts of ``count`` packets at ``speed`` times the rate; their mean is ``load``."""
    gap_us, period_us = link.gap_us(speed), count * link.gap_us(load)
    return [
        Arrival(int(burst * period_us + index * gap_us), MTU, ecn)
        for burst in range(int(link.duration_us / period_us))
        for index in range(count)
    ]


def on_off(link: Link, load: float, ecn: int) -> list[Arrival]:
    """Return packets at equal intervals in every other 100 ms."""
    return [each for each in constant(link, load, ecn) if each.time_us % 200_000 < 100_000]


SEQUENCES: dict[str, Callable[[Link], list[Arrival]]] = {
    "classic_bursts_on_off_140": lambda link: on_off(link, 1.4, CLASSIC),
    "classic_overload_120": lambda link: constant(link, 1.2, CLASSIC),
    "classic_poisson_95": lambda link: poisson(link, 0.95, CLASSIC, 2, (100, MTU)),
    "ect0_poisson_110": lambda link: poisson(link, 1.1, ECT0, 3),
    "l4s_bursts_70": lambda link: bursts(link, 0.7, L4S, 16, 4),
    "l4s_overload_120": lambda link: constant(link, 1.2, L4S),
    "l4s_poisson_90": lambda link: poisson(link, 0.9, L4S, 1),
    "mixed_both_overload_150": lambda link: (
        constant(link, 0.9, L4S) + poisson(link, 0.6, CLASSIC, 6)
    ),
    "mixed_classic_overload_110": lambda link: (
        poisson(link, 0.3, L4S, 4) + poisson(link, 0.8, CLASSIC, 5)
    ),
    "mixed_constant_90": lambda link: (
        constant(link, 0.45, L4S) + constant(link, 0.45, CLASSIC, start_us=37)
    ),
}


def arrivals(name: str, link: Link) -> list[Arrival]:
    """Return a sequence, in the order of time."""
    return sorted(SEQUENCES[name](link), key=lambda packet: packet.time_us)


def text(packets: Sequence[Arrival]) -> str:
    """Return the lines that the programs read: ``time_us,bytes,ecn`` after a header."""
    lines = (f"{packet.time_us},{packet.size},{packet.ecn}\n" for packet in packets)
    return f"{HEADER}\n" + "".join(lines)
