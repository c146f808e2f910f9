"""A flow over a path that loses named packets, as ns-2 and Skywave both run it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

import numpy as np


class Kind(StrEnum):
    """A type of flow; the value is its name on the command line."""

    TAHOE = "tahoe"
    RENO = "reno"
    NEWRENO = "newreno"
    SACK1 = "sack1"
    VEGAS = "vegas"
    CCID2 = "ccid2"
    TFRC = "tfrc"


TCP = (Kind.TAHOE, Kind.RENO, Kind.NEWRENO, Kind.SACK1, Kind.VEGAS)

SECONDS = 8
"""The simulated time of a run."""

WINDOWS = (6, 12, 20, 28, 40, 60)
"""Receiver's windows to draw from. A larger one would add an option to Skywave's SYN."""

SSTHRESHES = (10, 20, 40, 100)
"""Initial ssthreshes of CCID 2 to draw from."""

INITIAL_WINDOWS = (1, 2, 4)
RATES_KBPS = (410, 790, 1610)
"""No divisors of the access link's 8 Mbps. With a divisor, more packets arrive at a full queue at
the instant at which another leaves it, and rounding decides in ns-2 whether they are dropped."""

DELAYS_MS = (50, 100, 250)
QUEUES = (10, 20, 50)
MOST_DROPS = 5
DROPPED = range(8, 71)
"""The data packets that a drawn link may lose, by order of arrival."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """The parameters of a run. ``str`` gives one line, which :meth:`parse` reads."""

    kind: Kind
    window: int = 28
    """TCP: the receiver's window, which is also the initial ssthresh."""
    iw: int = 2
    """TCP: the initial window."""
    ssthresh: int = 20
    """CCID 2: the initial ssthresh."""
    kbps: int = 800
    """The rate of the bottleneck."""
    ms: int = 100
    """The one-way delay of the bottleneck."""
    queue: int = 50
    """The bottleneck's queue in packets, as ns-2 counts them: with the one in transmission."""
    drops: tuple[int, ...] = ()
    """The data packets that the bottleneck loses, by order of arrival, counted from 1. A
    retransmission counts as another packet."""

    def __str__(self) -> str:
        numbers = ",".join(str(number) for number in self.drops) or "none"
        values = [f"{name}={getattr(self, name)}" for name in parameters(self.kind)]
        return " ".join([self.kind.value, *values, f"drops={numbers}"])

    def having(self, name: str, value: int) -> Self:
        """Return the case with another value of one of its :func:`parameters`."""
        values: dict[str, Any] = {name: value}
        return replace(self, **values)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a case. What it leaves out has its default.

        Raises:
            ValueError: If it is not a case; the message says why.

        """
        first, *rest = text.split() or [""]
        if first not in list(Kind):
            raise ValueError(f"{first!r} is not a type of flow: use {', '.join(Kind)}")
        kind = Kind(first)
        case = cls(kind=kind)
        for word in rest:
            name, _, value = word.partition("=")
            if name == "drops":
                numbers = () if value == "none" else tuple(map(_positive, value.split(",")))
                case = replace(case, drops=tuple(sorted(set(numbers))))
            elif name in parameters(kind):
                case = case.having(name, _positive(value))
            else:
                known = ", ".join([*parameters(kind), "drops"])
                raise ValueError(f"{name!r} is no parameter of {kind}: use {known}")
        if case.window > max(WINDOWS):
            raise ValueError(f"window={case.window} is above {max(WINDOWS)}")
        if case.queue < 2:
            raise ValueError("queue=1 is below 2: it counts the packet in transmission")
        return case


def parameters(kind: Kind) -> tuple[str, ...]:
    """Return the names of the parameters that a type of flow has, without ``drops``."""
    own = ("window", "iw") if kind in TCP else ("ssthresh",) if kind is Kind.CCID2 else ()
    return (*own, "kbps", "ms", "queue")


def draw(kind: Kind, seed: int, index: int) -> Case:
    """Return the case of this ``index`` among those of a type that ``seed`` draws."""
    generator = np.random.default_rng((seed, list(Kind).index(kind), index))

    def one(values: tuple[int, ...]) -> int:
        return int(generator.choice(values))

    case = Case(
        kind=kind,
        window=one(WINDOWS),
        iw=one(INITIAL_WINDOWS),
        ssthresh=one(SSTHRESHES),
        kbps=one(RATES_KBPS),
        ms=one(DELAYS_MS),
        queue=one(QUEUES),
    )
    drops = generator.choice(DROPPED, size=generator.integers(MOST_DROPS + 1), replace=False)
    return replace(case, drops=tuple(sorted(int(number) for number in drops)))


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise ValueError(f"{text!r} is not a number from 1 on")
    return int(text)
