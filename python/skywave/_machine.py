"""Processor time that other processes and guests take during a measurement."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

STAT = Path("/proc/stat")


@dataclass(frozen=True)
class Ticks:
    """CPU time of all processors since the system started, in ticks, from proc_stat(5)."""

    all: int
    busy: int
    """Time spent in processes and in the kernel on this machine."""
    stolen: int
    """Time that the host of a virtual machine gave to others."""

    @classmethod
    def now(cls) -> Self | None:
        """Return the current values; None if the system does not provide them."""
        try:
            return cls.read(STAT.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    @classmethod
    def read(cls, stat: str) -> Self | None:
        """Return the values in the text of /proc/stat; None if it has none."""
        label, *fields = (stat.splitlines() or [""])[0].split() or [""]
        if label != "cpu" or len(fields) < 8 or not all(field.isdecimal() for field in fields[:8]):
            return None
        # Guest time, after these, is included in user.
        user, nice, system, idle, iowait, irq, softirq, steal = map(int, fields[:8])
        busy = user + nice + system + irq + softirq
        return cls(all=busy + idle + iowait + steal, busy=busy, stolen=steal)


@dataclass(frozen=True)
class Shares:
    """Shares of the time of all processors, from 0 to 1. None if unknown."""

    stolen: float | None = None
    """Given to others by the host of a virtual machine."""
    others: float | None = None
    """Used on this machine by other processes, and by the kernel for them."""


def shares(before: Ticks | None, after: Ticks | None, own: float) -> Shares:
    """Return the shares of others between two moments; we used ``own`` ticks ourselves."""
    if before is None or after is None or after.all <= before.all:
        return Shares()
    passed = after.all - before.all
    return Shares(
        stolen=max(after.stolen - before.stolen, 0) / passed,
        others=max(after.busy - before.busy - own, 0) / passed,
    )


class Watch:
    """Watches the processors from its creation on.

    Ticks are coarse, usually 10 ms: the shares of a short time are rough.
    """

    def __init__(self) -> None:
        self._own = _own_ticks()
        self._before = Ticks.now()

    def shares(self) -> Shares:
        """Return the shares so far of others: neither this process nor its ended children."""
        after = Ticks.now()
        return shares(self._before, after, _own_ticks() - self._own)


def _own_ticks() -> float:
    """Return the CPU time of this process and of its children that have ended, in ticks."""
    return sum(os.times()[:4]) * os.sysconf("SC_CLK_TCK")
