"""Reports at regular intervals on a connection, as iperf3 prints them."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from skywave.net import Connection, Stats

Totals: TypeAlias = tuple[int, int, int, int, int]


class Intervals:
    """Looks at a connection at regular intervals until it is stopped."""

    def __init__(
        self, connection: Connection, interval_s: float, show: Callable[[dict[str, Any]], None]
    ) -> None:
        """Begin; ``show`` is called with each report, from its own thread."""
        self._connection = connection
        self._interval_s = interval_s
        self._show = show
        self._reports: list[dict[str, Any]] = []
        self._start = self._last_at = time.monotonic()
        # Data may have arrived with the handshake.
        self._last: Totals = (0, 0, 0, 0, 0)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> list[dict[str, Any]]:
        """Report the rest, which may be shorter than an interval, and return all reports."""
        self._stopped.set()
        self._thread.join()
        if not self._reports or _totals(self._connection.stats()) != self._last:
            self._report()
        return self._reports

    def _run(self) -> None:
        while True:
            due = self._start + (len(self._reports) + 1) * self._interval_s
            if self._stopped.wait(max(0.0, due - time.monotonic())):
                return
            self._report()

    def _report(self) -> None:
        now, stats = time.monotonic(), self._connection.stats()
        totals = _totals(stats)
        sent, received, refused, lost, events = (
            after - before for before, after in zip(self._last, totals, strict=True)
        )
        seconds = max(now - self._last_at, 1e-9)
        report = {
            "start_s": self._last_at - self._start,
            "end_s": now - self._start,
            "sent_bytes": sent,
            "sent_bps": 8 * sent / seconds,
            "received_bytes": received,
            "received_bps": 8 * received / seconds,
            "srtt_s": stats.srtt_s,
            "cwnd": stats.cwnd,
            "rate_bps": stats.rate_bps,
            "dropped_by_peer": refused,
            "lost": None if stats.lost is None else lost,
            "loss_events": None if stats.loss_events is None else events,
        }
        self._last_at, self._last = now, totals
        self._reports.append(report)
        self._show(report)


def _totals(stats: Stats) -> Totals:
    """Return bytes sent and received, packets dropped by the peer and lost, and loss events."""
    lost, loss_events = stats.lost or 0, stats.loss_events or 0
    refused = stats.dropped_by_peer
    return stats.bytes_sent, stats.bytes_received, refused, lost, loss_events


def print_line(report: dict[str, Any], *, name: str = "", stderr: bool = False) -> None:
    """Print a report on one line, after the name of its connection."""
    stream = sys.stderr if stderr else sys.stdout
    stream.write(f"{name}{line(report)}\n")
    stream.flush()


def line(report: dict[str, Any]) -> str:
    """Return a report as one line."""
    parts = [f"{report['start_s']:6.1f} - {report['end_s']:6.1f} s"]
    ways = [way for way in ("sent", "received") if report[f"{way}_bytes"]]
    parts += [f"{way} {1e-6 * report[f'{way}_bps']:,.2f} Mbps" for way in ways] or ["no data"]
    if report["srtt_s"] is not None:
        parts.append(f"srtt {1e3 * report['srtt_s']:.1f} ms")
    if ways == ["received"]:
        # The state of congestion control is that of what is sent.
        return "  ".join(parts)
    if report["cwnd"] is not None:
        parts.append(f"cwnd {report['cwnd']:.1f}")
        parts.append(f"lost {report['lost']}")
    if report["rate_bps"] is not None:
        parts.append(f"X {1e-6 * report['rate_bps']:,.2f} Mbps")
        parts.append(f"loss events {report['loss_events']}")
    if report["dropped_by_peer"]:
        parts.append(f"dropped by the peer {report['dropped_by_peer']}")
    return "  ".join(parts)
