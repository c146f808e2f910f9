"""How accurate the timing of a run or a link in real time was."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skywave._machine import Shares

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT_BELIEVED = 3
"""The exit status of a command whose ``--strict`` what it ran has not met."""
STRICT_MS = 1.0
"""How late 99 % of packets may be, in ms, unless somebody says otherwise."""


@dataclass(frozen=True)
class Verdict(ABC):
    """What the core reports, with what others took of the processors meanwhile."""

    report: dict[str, Any]
    """It has ``lateness`` with ``packets``, ``median_s``, ``p99_s``, ``max_s`` and ``beyond_1_ms``
    (a share), or None if no packet left; and counts of packets."""
    shares: Shares = field(default_factory=Shares)

    @abstractmethod
    def doubts(self) -> Iterator[str]:
        """Yield a warning for each thing that the machine did and no network does."""

    @property
    def p99_s(self) -> float:
        """The 99th percentile of how late packets left, in seconds."""
        lateness = self.report["lateness"]
        return float(lateness["p99_s"]) if lateness else 0.0

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            **self.report,
            "processors_stolen": self.shares.stolen,
            "processors_others": self.shares.others,
        }

    def lines(self) -> Iterator[str]:
        """Yield the lateness of packets, the processor time used by others, and warnings."""
        lateness = self.report["lateness"]
        if lateness is not None:
            yield (
                f"packets left late by {as_text(lateness['median_s'])} (median), "
                f"{as_text(lateness['p99_s'])} (99th percentile), {as_text(lateness['max_s'])} "
                f"(largest); {lateness['beyond_1_ms']:.2%} by more than 1 ms"
            )
        if self.shares.stolen is not None and self.shares.others is not None:
            yield (
                f"of the processors' time, {self.shares.stolen:.1%} went to other machines on the "
                f"same host, and {self.shares.others:.1%} to other processes and the kernel"
            )
        for doubt in self.doubts():
            yield f"warning: {doubt}"

    def broken(self, strict_ms: float) -> str | None:
        """Return the first warning, or one if 1 % of packets left more than ``strict_ms`` late."""
        for doubt in self.doubts():
            return doubt
        if 1e3 * self.p99_s <= strict_ms:
            return None
        return (
            f"packets left late by {as_text(self.p99_s)} (99th percentile), and "
            f"{as_text(strict_ms / 1e3)} is allowed"
        )


def as_text(seconds: float) -> str:
    """Return a time as text."""
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} us"
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
