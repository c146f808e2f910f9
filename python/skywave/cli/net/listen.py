"""``skywave listen``."""

from __future__ import annotations

import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer
from rich.console import Console

from skywave.cli.console import JsonOption, print_json
from skywave.cli.net import options, report
from skywave.cli.net.exchange import (
    CloseOption,
    DigestsOption,
    Ending,
    Exchange,
    IdleOption,
)
from skywave.cli.net.live import live_rate
from skywave.cli.net.send import DATAGRAM, LARGEST, generated, paced

if TYPE_CHECKING:
    from skywave.net import Connection

MOST_AT_ONCE = 64
LOOK_S = 0.2


def listen(
    where: Annotated[
        str, typer.Argument(metavar="[ADDRESS:]PORT", help="DCCP port to accept connections on.")
    ],
    once: Annotated[bool, typer.Option("--once", help="End after the first connection.")] = False,
    echo: Annotated[
        bool, typer.Option("--echo", help="Send each datagram back; `skywave ping` needs this.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write received data to a file; - for standard output."),
    ] = None,
    take: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="End a connection after receiving N datagrams."),
    ] = None,
    count: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of datagrams to send to each client.")
    ] = 0,
    size: Annotated[
        int, typer.Option(metavar="BYTES", min=1, max=LARGEST, help="Bytes of data per datagram.")
    ] = DATAGRAM,
    interval_ms: Annotated[
        float, typer.Option(metavar="MS", min=0, help="Milliseconds between datagrams.")
    ] = 0,
    close: CloseOption = Ending.AWAIT,
    idle_ms: IdleOption = 0,
    digests: DigestsOption = False,
    ccid: options.CcidOption = None,
    settings: options.SetOption = None,
    service_code: options.ServiceCodeOption = "0",
    raw: options.RawOption = False,
    udp_port: options.UdpPortOption = options.DEFAULT_UDP_PORT,
    as_json: JsonOption = False,
) -> None:
    """Accept DCCP connections and count, write or echo the received data.

    Prints a report when a connection ends: with --json one object per line, with --once --json a
    single document. Ctrl-C closes all connections and stops.
    """
    place = options.place(where, host=options.ANY[4])
    config = options.config(ccid, service_code, settings)
    to_stdout = output == "-"
    with ExitStack() as stack:
        sink = None if output is None else stack.enter_context(_sink(output))
        # The stack unwinds from below: closing the socket first ends the work in the pool.
        pool = stack.enter_context(ThreadPoolExecutor(MOST_AT_ONCE))
        endpoint = stack.enter_context(options.endpoint(place.host, udp_port, raw=raw))
        listener = endpoint.listen(place.port, config=config)
        show = stack.enter_context(live_rate("received"))
        over = "IP protocol 33" if raw else f"UDP port {udp_port}"
        sys.stderr.write(f'"listening" on {place} over {over}\n')
        sys.stderr.flush()

        def serve(connection: Connection) -> dict[str, Any]:
            return Exchange(
                connection,
                paced(islice(generated(size), count), interval_ms / 1e3, None),
                close,
                idle_s=idle_ms / 1e3,
                echo=echo,
                sink=sink,
                most=take,
                digests=digests,
                show=show,
            ).run()

        def tell(document: dict[str, Any]) -> None:
            _print(document, as_json=as_json, line=not once, to_stdout=to_stdout)

        if once:
            tell(pool.submit(serve, listener.accept()).result())
            return
        running: set[Future[dict[str, Any]]] = set()
        while True:
            with suppress(TimeoutError):
                running.add(pool.submit(serve, listener.accept(timeout_s=LOOK_S)))
            for future in [future for future in running if future.done()]:
                running.remove(future)
                tell(future.result())


def _sink(output: str) -> BinaryIO:
    return sys.stdout.buffer if output == "-" else Path(output).open("wb")


def _print(document: dict[str, Any], *, as_json: bool, line: bool, to_stdout: bool) -> None:
    if as_json:
        print_json(document, line=line)
        return
    Console(stderr=to_stdout).print(report.table(f"From {document['peer']}", document))
