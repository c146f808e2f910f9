"""``skywave ping``."""

from __future__ import annotations

import statistics
import time
from typing import Annotated, Any

import typer

from skywave.cli.console import JsonOption, out, print_json
from skywave.cli.net import options
from skywave.net.load import HEADER, datagram

NOBODY_ANSWERED = 1
PATIENCE_S = 2.0


def ping(
    peer: Annotated[
        str,
        typer.Argument(metavar="HOST:PORT", help="Address and port of `skywave listen --echo`."),
    ],
    count: Annotated[int, typer.Option(metavar="N", min=1, help="Datagrams to send.")] = 5,
    interval_ms: Annotated[
        float, typer.Option(metavar="MS", min=0, help="Milliseconds between datagrams.")
    ] = 200,
    size: Annotated[
        int, typer.Option(metavar="BYTES", min=HEADER, help="Bytes of data per datagram.")
    ] = 100,
    ccid: options.CcidOption = None,
    settings: options.SetOption = None,
    service_code: options.ServiceCodeOption = "0",
    raw: options.RawOption = False,
    udp_port: options.UdpPortOption = options.DEFAULT_UDP_PORT,
    as_json: JsonOption = False,
) -> None:
    """Measure round-trip times of datagrams over a DCCP connection.

    The exit status is 1 if no datagram came back.
    """
    target = options.place(peer)
    trips_ms: list[float | None] = []
    with options.endpoint(options.ANY[target.version], 0, raw=raw) as endpoint:
        begin = time.monotonic()
        connection = endpoint.connect(
            target.host,
            target.port,
            udp_port=udp_port,
            config=options.config(ccid, service_code, settings),
        )
        connect_ms = 1e3 * (time.monotonic() - begin)
        if not as_json:
            out().print(f"connected to {target} in {connect_ms:.3f} ms", highlight=False)
        for index in range(count):
            sent_at = time.monotonic()
            data = datagram(index, size)
            connection.send(data)
            trip_ms = _await_echo(connection, data, sent_at)
            trips_ms.append(trip_ms)
            if not as_json:
                answer = "no answer" if trip_ms is None else f"{trip_ms:.3f} ms"
                out().print(f"{size} bytes, number {index + 1}: {answer}", highlight=False)
            if index + 1 < count:
                time.sleep(max(0.0, interval_ms / 1e3 - (time.monotonic() - sent_at)))
        connection.close()
    document = _summary(trips_ms, connect_ms)
    if as_json:
        print_json(document)
    else:
        out().print(_line(document), highlight=False)
    if not document["received"]:
        raise typer.Exit(NOBODY_ANSWERED)


def _await_echo(connection: Any, data: bytes, sent_at: float) -> float | None:
    while (left := sent_at + PATIENCE_S - time.monotonic()) > 0:
        try:
            answer = connection.recv(timeout_s=left)
        except TimeoutError:
            return None
        if answer is None:
            return None
        if answer == data:
            return 1e3 * (time.monotonic() - sent_at)
    return None


def _summary(trips_ms: list[float | None], connect_ms: float) -> dict[str, Any]:
    answered = [trip for trip in trips_ms if trip is not None]
    return {
        "connect_ms": connect_ms,
        "sent": len(trips_ms),
        "received": len(answered),
        "round_trips_ms": trips_ms,
        "min_ms": min(answered, default=None),
        "median_ms": statistics.median(answered) if answered else None,
        "max_ms": max(answered, default=None),
    }


def _line(document: dict[str, Any]) -> str:
    line = f"{document['received']} of {document['sent']} came back"
    if document["received"]:
        line += (
            f"; round trip min {document['min_ms']:.3f}, median {document['median_ms']:.3f}, "
            f"max {document['max_ms']:.3f} ms"
        )
    return line
