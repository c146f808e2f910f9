"""The report on an exchange of datagrams, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from skywave.net import Stats


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
    ]
    rows += [(name, f"{count:,}") for name, count in missed if count]
    received = document["received"]
    wrong = (kind for kind in ("missing", "altered", "duplicates") if received[kind])
    rows += [(f"{kind} (datagrams)", f"{received[kind]:,}") for kind in wrong]
    if "file" in document:
        rows.append(("file", "whole" if document["file"]["whole"] else "not whole"))
    if stats["srtt_s"] is not None:
        rows.append(("round-trip time (ms)", f"{1e3 * stats['srtt_s']:.3f}"))
    if document["sent"]["datagrams"]:
        rows += congestion(stats)
    if end is not None:
        who = "this end" if end["origin"] == "local" else "the peer"
        rows.append(("ended", f"{end['name']} (code {end['code']}), by {who}"))
    if document["error"]:
        rows.append(("error", document["error"]))
    return rows


def congestion(stats: Stats) -> list[tuple[str, str]]:
    """Return the state of congestion control, of a window or of a rate, as names and values."""
    if stats["rate_bps"] is not None:
        return [
            ("allowed rate X (Mbps)", f"{1e-6 * stats['rate_bps']:,.3f}"),
            ("rate received X_recv (Mbps)", f"{1e-6 * (stats['receive_rate_bps'] or 0):,.3f}"),
            ("loss event rate p", f"{stats['loss_event_rate']:.3g}"),
            ("loss events", f"{stats['loss_events']:,}"),
        ]
    return [
        ("cwnd (packets)", f"{stats['cwnd']:.1f}"),
        ("lost (packets)", f"{stats['lost']:,}"),
        ("marked by routers (packets)", f"{stats['marked']:,}"),
    ]
