"""``skywave send``."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skywave.cli.console import JsonOption, out, print_json
from skywave.cli.net import options, report
from skywave.cli.net.exchange import (
    CloseOption,
    DigestsOption,
    Ending,
    Exchange,
    IdleOption,
)
from skywave.cli.net.live import live_rate
from skywave.net.load import datagram
from skywave.quantities import Duration, Rate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

DEFAULT_DURATION_S = 10.0
DATAGRAM = 1200
LARGEST = 65_000
FAILED = 1


def send(
    peer: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Address and DCCP port.")],
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="File to send in datagrams; - for standard input. Default: a generated load.",
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES",
            min=1,
            max=LARGEST,
            help="Bytes of data per datagram. Default: 1200, or less if the path takes less.",
        ),
    ] = None,
    count: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Stop after N datagrams.")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="S", help='Stop after this time, e.g. "10 s".')
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="R",
            help='Rate at which to offer data, e.g. "5 Mbps". Default: as fast as possible.',
        ),
    ] = None,
    interval_ms: Annotated[
        float | None,
        typer.Option(
            metavar="MS", min=0, help="Milliseconds between datagrams, instead of --rate."
        ),
    ] = None,
    ccid: options.CcidOption = None,
    settings: options.SetOption = None,
    service_code: options.ServiceCodeOption = "0",
    raw: options.RawOption = False,
    udp_port: options.UdpPortOption = options.DEFAULT_UDP_PORT,
    close: CloseOption = Ending.FIRST,
    idle_ms: IdleOption = 0,
    digests: DigestsOption = False,
    as_json: JsonOption = False,
) -> None:
    """Send a file, standard input or a generated load to a DCCP listener.

    Datagrams leave as congestion control allows. DCCP delivers each one once or not at all, so a
    file arrives whole only if nothing is lost.
    """
    target = options.place(peer)
    duration_s = None if duration is None else Duration(duration).seconds
    gap_s = _gap(rate, interval_ms, size)
    with ExitStack() as stack:
        endpoint = stack.enter_context(options.endpoint(options.ANY[target.version], 0, raw=raw))
        connection = endpoint.connect(
            target.host,
            target.port,
            udp_port=udp_port,
            config=options.config(ccid, service_code, settings),
        )
        length = size or min(DATAGRAM, connection.max_datagram_size)
        if file is not None:
            source = _pieces(stack.enter_context(_open(file)), length)
        else:
            if count is None and duration_s is None:
                duration_s = DEFAULT_DURATION_S
            source = generated(length)
        show = stack.enter_context(live_rate("sent"))
        document = Exchange(
            connection,
            paced(islice(source, count), gap_s, duration_s),
            close,
            idle_s=idle_ms / 1e3,
            digests=digests,
            show=show,
        ).run()
    if as_json:
        print_json(document)
    else:
        out().print(report.table(f"Sent to {target}", document))
    if not document["ok"]:
        raise typer.Exit(FAILED)


def paced(
    source: Iterator[bytes], gap_s: float | None, duration_s: float | None
) -> Iterator[bytes]:
    """Yield a datagram every ``gap_s`` seconds, for ``duration_s`` seconds."""
    start = time.monotonic()
    for index, data in enumerate(source):
        if gap_s is not None:
            time.sleep(max(0.0, start + index * gap_s - time.monotonic()))
        if duration_s is not None and time.monotonic() - start >= duration_s:
            return
        yield data


def _gap(rate: str | None, interval_ms: float | None, size: int | None) -> float | None:
    if rate is not None and interval_ms is not None:
        raise typer.BadParameter("give --rate or --interval-ms, not both")
    if interval_ms is not None:
        return interval_ms / 1000
    if rate is None:
        return None
    if size is None:
        raise typer.BadParameter("--rate counts bytes of data: give --size too")
    return 8 * size / Rate(rate).bps


def _open(file: str) -> BinaryIO:
    return sys.stdin.buffer if file == "-" else Path(file).open("rb")


def _pieces(source: BinaryIO, size: int) -> Iterator[bytes]:
    while piece := source.read(size):
        yield piece


def generated(size: int) -> Iterator[bytes]:
    """Yield generated datagrams without end."""
    index = 0
    while True:
        yield datagram(index, size)
        index += 1
