"""How accurate the timing of a run or a link in real time was."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from skywave._machine import Shares

TOO_INACCURATE = 3
"""The exit status of a command with ``--strict`` whose timing was too inaccurate."""
STRICT_MS = 1.0
"""The default of the lateness that 99 % of packets may have, in ms."""


@dataclass(frozen=True)
class TimingAccuracy(ABC):
    """The core's report on its timing, and the processor time that others used meanwhile."""

    report: dict[str, Any]
    """It has ``lateness`` with ``packets``, ``median_s``, ``p99_s``, ``max_s`` and ``beyond_1_ms``
    (a share), or None if no packet left; and counts of packets."""
    shares: Shares = field(default_factory=Shares)

    @abstractmethod
    def warnings(self) -> Iterator[str]:
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
        for warning in self.warnings():
            yield f"warning: {warning}"

    def failure(self, strict_ms: float) -> str | None:
        """Return why ``--strict`` fails: the first warning, or too much lateness.

        Returns None if there is no warning and 99 % of packets left at most ``strict_ms`` late.
        """
        for warning in self.warnings():
            return warning
        if 1e3 * self.p99_s <= strict_ms:
            return None
        return (
            f"packets left late by {as_text(self.p99_s)} (99th percentile), and "
            f"{as_text(strict_ms / 1e3)} is allowed"
        )


class RunAccuracy(TimingAccuracy):
    """How accurate the timing of a run was.

    ``report`` also has ``elapsed_s``, ``whole``, ``interrupted``, ``virtual_time``, and as counts
    of packets ``overflows``, ``undelivered``, ``unsent``, ``unknown`` and ``malformed``.
    """

    @property
    def clock(self) -> str:
        """The clock of the run: "real time" or "virtual time"."""
        return "virtual time" if self.report["virtual_time"] else "real time"

    @property
    def on_clock(self) -> str:
        """The same after a verb: "in real time" or "on virtual time"."""
        return f"{'on' if self.report['virtual_time'] else 'in'} {self.clock}"

    def warnings(self) -> Iterator[str]:
        """Yield a warning for each thing that the machine did and no network does."""
        for name, what in (
            ("overflows", "were lost because this machine is too slow for the scenario"),
            ("undelivered", "were not taken by the system at their destination"),
            ("unsent", "were not taken by the system at their sender"),
            ("malformed", "were incomplete or malformed"),
        ):
            if self.report[name]:
                yield f"{self.report[name]:,} packets {what}"


class LinkAccuracy(TimingAccuracy):
    """Counters of the links, and how accurate their timing was."""

    def lines(self) -> Iterator[str]:
        """Yield a line for each link, then lines on the accuracy of the timing."""
        elapsed_s = self.report["elapsed_s"]
        for link in self.report["links"]:
            rate_mbps = 8e-6 * link["delivered_bytes"] / elapsed_s
            yield (
                f"{link['name']}: {link['delivered']:,} packets, {rate_mbps:.3g} Mbps; "
                f"{_share(link['drops'], link['arrivals'])} lost, "
                f"{_share(link['marks'], link['delivered'])} marked"
            )
        yield from super().lines()

    def line(self, before: LinkAccuracy | None) -> str:
        """Return one line on the changes since an earlier report."""
        since_s = before.report["elapsed_s"] if before else 0.0
        span_s = self.report["elapsed_s"] - since_s
        parts = []
        for index, link in enumerate(self.report["links"]):
            earlier = before.report["links"][index] if before else {}
            delivered_bytes = link["delivered_bytes"] - earlier.get("delivered_bytes", 0)
            drops = link["drops"] - earlier.get("drops", 0)
            parts.append(
                f"{link['name']} {8e-6 * delivered_bytes / span_s:.3g} Mbps, "
                f"queue {link['queue_packets']}, lost {drops}"
            )
        if self.report["lateness"] is not None:
            parts.append(f"late by {as_text(self.p99_s)} (99th percentile)")
        return f"{self.report['elapsed_s']:.0f} s: " + "; ".join(parts)

    def warnings(self) -> Iterator[str]:
        """Yield a warning for each thing that the emulator did and no link does."""
        for name, what in (
            ("overflows", "were lost on their way into the link: it is too fast for this machine"),
            ("refused", "were refused: the queues held 256 MiB; give them a limit"),
            ("unsent", "were not taken by the system at the far end"),
        ):
            if self.report[name]:
                yield f"{self.report[name]:,} packets {what}"
        if self.report["capture_error"]:
            yield f"the capture is not whole: {self.report['capture_error']}"


def _share(part: int, of: int) -> str:
    return f"{part / of:.2%}" if part else "none"


def as_text(seconds: float) -> str:
    """Return a time as text."""
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} us"
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
