"""Counters of an emulated link, and how accurate its timing was."""

from __future__ import annotations

from collections.abc import Iterator

from skywave.realtime.accuracy import TimingAccuracy, as_text


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
