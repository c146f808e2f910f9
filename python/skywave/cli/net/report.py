"""The report on an exchange of datagrams, for a terminal."""

from __future__ import annotations

from typing import Any

from rich.table import Table


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
