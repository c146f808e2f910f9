"""What is printed about an exchange of datagrams: while it runs, at intervals, and in the end."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from skywave.net import Connection, Stats

Totals: TypeAlias = tuple[int, int, int, int, int]
REFRESH_S = 0.25


def table(title: str, document: dict[str, Any]) -> Table:
    """Return the report on a connection as a table of names and values."""
    shown = Table(title=title, title_justify="left", show_header=False)
    shown.add_column()
    shown.add_column(justify="right")
    for row in _rows(document):
        shown.add_row(*row)
    return shown


def _rows(document: dict[str, Any]) -> list[tuple[str, str]]:
    seconds = max(document["seconds"], 1e-9)
    stats, end = document["stats"], document["end"]
    rows = [("time (s)", f"{document['seconds']:.3f}")]
    for way in ("sent", "received"):
        count = document[way]
        if count["datagrams"]:
            rows.append((f"{way} (datagrams)", f"{count['datagrams']:,}"))
            rows.append((f"{way} (Mbps of data)", f"{8e-6 * count['bytes'] / seconds:,.3f}"))
    missed = [
        ("discarded unsent (datagrams)", document["sent"]["discarded"]),
        ("not acknowledged (datagrams)", document["sent"]["unacknowledged"]),
        ("not echoed, too large for the path back (datagrams)", document["sent"].get("too_large")),
    ]
    rows += [(name, f"{count:,}") for name, count in missed if count]
    received = document["received"]
    wrong = (kind for kind in ("missing", "altered", "duplicates") if received[kind])
    rows += [(f"{kind} (datagrams)", f"{received[kind]:,}") for kind in wrong]
    if dropped := stats["datagrams_dropped"]:
        rows.append(("dropped by this end's receive queue (datagrams)", f"{dropped:,}"))
    if "file" in document:
        rows.append(("file", _file(document)))
    if stats["srtt_s"] is not None:
        rows.append(("round-trip time (ms)", f"{1e3 * stats['srtt_s']:.3f}"))
    if document["sent"]["datagrams"]:
        rows += congestion(stats)
        if refused := stats["dropped_by_peer"]:
            rows.append(("arrived, but dropped by the peer (packets)", f"{refused:,}"))
    if end is not None:
        who = "this end" if end["origin"] == "local" else "the peer"
        rows.append(("ended", f"{end['name']} (code {end['code']}), by {who}"))
    if document["error"]:
        rows.append(("error", document["error"]))
    return rows


def _file(document: dict[str, Any]) -> str:
    """Return rows about a file: a listener knows whether it is complete, a sender its losses."""
    file = document["file"]
    if "whole" in file:
        return "whole" if file["whole"] else "not whole"
    sent = "sent to its end" if file["complete"] else "not sent to its end"
    return ", ".join(part for part in (sent, possible_losses(document)) if part)


def possible_losses(document: dict[str, Any]) -> str:
    """Return why a sent file may be incomplete; nothing if everything was acknowledged."""
    lost = document["file"]["lost"]
    if lost is None:
        events = document["stats"]["loss_events"]
        return f"{events:,} loss events" if events else ""
    unknown = document["sent"]["unacknowledged"] - lost
    counts = ((lost, "lost"), (unknown, "not acknowledged"))
    return ", ".join(f"{datagrams(count)} {fate}" for count, fate in counts if count)


def datagrams(count: int) -> str:
    """Return a number of datagrams in words."""
    return f"{count:,} datagram{'' if count == 1 else 's'}"


def congestion(stats: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the state of congestion control, of a window or of a rate, as names and values."""
    if stats["rate_bps"] is not None:
        return [
            ("allowed rate X (Mbps)", f"{1e-6 * stats['rate_bps']:,.3f}"),
            ("rate received X_recv (Mbps)", f"{1e-6 * (stats['receive_rate_bps'] or 0):,.3f}"),
            ("loss event rate p", f"{stats['loss_event_rate']:.3g}"),
            ("loss events", f"{stats['loss_events']:,}"),
        ]
    ssthresh = stats["ssthresh"]
    return [
        ("cwnd (packets)", f"{stats['cwnd']:.1f}"),
        ("ssthresh (packets)", "unbounded" if ssthresh is None else f"{ssthresh:.1f}"),
        ("lost (packets)", f"{stats['lost']:,}"),
        ("marked by routers (packets)", f"{stats['marked']:,}"),
    ]


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


@contextmanager
def live_rate(verb: str, *, enabled: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Show datagrams, bytes and the current rate on stderr, if that is a terminal.

    Yields a function that takes the totals of datagrams and bytes. It may be called for each
    datagram.
    """
    console = Console(stderr=True)
    if not (enabled and console.is_terminal):
        yield lambda _datagrams, _size: None
        return
    start = shown_at = time.monotonic()
    shown_bytes = 0
    with Live(Text(), console=console, transient=True, auto_refresh=False) as live:

        def show(datagrams: int, size: int) -> None:
            nonlocal shown_at, shown_bytes
            now = time.monotonic()
            if now - shown_at < REFRESH_S:
                return
            rate_mbps = 8e-6 * (size - shown_bytes) / (now - shown_at)
            line = (
                f"{now - start:6.1f} s  {verb} {datagrams:,} datagrams, {size / 1e6:,.2f} MB"
                f"  {rate_mbps:,.2f} Mbps"
            )
            live.update(Text(line), refresh=True)
            shown_at, shown_bytes = now, size

        yield show
