"""What an emulated link did, and how far it can be believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave.machine import Shares

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NOT_TOLD = Shares()
FAILED = 3
"""The status of an emulation that was later than it may be."""


@dataclass(frozen=True)
class Verdict:
    """A report of the emulator, with what others took of the processors meanwhile."""

    report: dict[str, Any]
    shares: Shares = NOT_TOLD

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            **self.report,
            "processors_stolen": self.shares.stolen,
            "processors_others": self.shares.others,
        }

    def lines(self) -> Iterator[str]:
        """Yield what the links did, and how far they can be believed."""
        elapsed_s = self.report["elapsed_s"]
        for link in self.report["links"]:
            rate_mbps = 8e-6 * link["delivered_bytes"] / elapsed_s
            yield (
                f"{link['name']}: {link['delivered']:,} packets, {rate_mbps:.3g} Mbps; "
                f"{_share(link['drops'], link['arrivals'])} lost, "
                f"{_share(link['marks'], link['delivered'])} marked"
            )
        yield from how_late(self.report["lateness"], self.shares)
        yield from self.doubts()

    def line(self, before: Verdict | None) -> str:
        """Return one line on what happened since an earlier report."""
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
        lateness = self.report["lateness"]
        if lateness is not None:
            parts.append(f"late by {_time(lateness['p99_s'])} (99th percentile)")
        return f"{self.report['elapsed_s']:.0f} s: " + "; ".join(parts)

    def doubts(self) -> Iterator[str]:
        """Yield what the emulator did that no link does."""
        for name, what in (
            ("overflows", "were lost on their way into the link: it is too fast for this machine"),
            ("refused", "were refused: the queues held 256 MiB; give them a limit"),
            ("unsent", "were not taken by the system at the far end"),
        ):
            if self.report[name]:
                yield f"warning: {self.report[name]:,} packets {what}"
        if self.report["capture_error"]:
            yield f"warning: the capture is not whole: {self.report['capture_error']}"

    def broken(self, strict_ms: float) -> str | None:
        """Say so if the emulator did what no link does, or was too late."""
        for doubt in self.doubts():
            return doubt.removeprefix("warning: ")
        return too_late(self.report["lateness"], strict_ms)


def how_late(lateness: Mapping[str, float] | None, shares: Shares) -> Iterator[str]:
    """Yield how late packets were, and what others took of the processors."""
    if lateness is not None:
        yield (
            f"packets left late by {_time(lateness['median_s'])} (median), "
            f"{_time(lateness['p99_s'])} (99th percentile), {_time(lateness['max_s'])} "
            f"(largest); {lateness['beyond_1_ms']:.2%} by more than 1 ms"
        )
    if shares.stolen is not None and shares.others is not None:
        yield (
            f"of the processors' time, {shares.stolen:.1%} went to other machines on the "
            f"same host, and {shares.others:.1%} to other processes and the kernel"
        )


def too_late(lateness: Mapping[str, float] | None, strict_ms: float) -> str | None:
    """Say so if the 99th percentile of lateness is above ``strict_ms``."""
    if lateness is None or 1e3 * lateness["p99_s"] <= strict_ms:
        return None
    return (
        f"packets left late by {_time(lateness['p99_s'])} (99th percentile), and "
        f"{_time(strict_ms / 1e3)} is allowed"
    )


def _share(part: int, of: int) -> str:
    return f"{part / of:.2%}" if part else "none"


def _time(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} us"
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
