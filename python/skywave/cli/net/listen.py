"""``skywave listen``."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from skywave.cli.console import JsonOption, out, print_json
from skywave.cli.interrupts import interrupts_handed_to
from skywave.cli.net import options, place, report
from skywave.cli.net.exchange import (
    CLOSE_TIMEOUT,
    CloseOption,
    CloseTimeoutOption,
    DigestsOption,
    Ending,
    Exchange,
    IdleOption,
)
from skywave.cli.net.exchanges import Exchanges
from skywave.cli.net.interval import IntervalOption, print_line, seconds
from skywave.cli.net.live import live_rate
from skywave.cli.net.send import DATAGRAM, FAILED, LARGEST
from skywave.net.file import Assembly
from skywave.net.load import Load

if TYPE_CHECKING:
    from skywave.net import Connection

MOST_AT_ONCE = 64


def listen(
    where: Annotated[
        str,
        typer.Argument(
            metavar="[ADDRESS:]PORT",
            help="DCCP port to listen on, optionally with a local address. Default: all IPv4 and "
            "IPv6 addresses; with --raw, all IPv4 addresses.",
        ),
    ],
    once: Annotated[bool, typer.Option("--once", help="Exit after the first connection.")] = False,
    echo: Annotated[
        bool, typer.Option("--echo", help="Echo each datagram; required by `skywave ping`.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write received data to a file; - for standard output. Reassembles a file from "
            "`skywave send FILE` and exits with status 1 if parts are missing. Requires "
            "--once.",
        ),
    ] = None,
    take: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Close each connection after receiving N datagrams."),
    ] = None,
    count: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of datagrams to send to each client.")
    ] = 0,
    size: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES",
            min=1,
            max=LARGEST,
            help="Payload bytes per datagram. Default: 1200, or less if the path MTU is smaller.",
        ),
    ] = None,
    interval_ms: Annotated[
        float, typer.Option(metavar="MS", min=0, help="Gap between datagrams in milliseconds.")
    ] = 0,
    close: CloseOption = Ending.AWAIT,
    close_timeout: CloseTimeoutOption = CLOSE_TIMEOUT,
    idle_ms: IdleOption = 0,
    interval: IntervalOption = None,
    digests: DigestsOption = False,
    ccid: options.CcidOption = None,
    idle_timeout: options.IdleTimeoutOption = None,
    keepalive: options.KeepaliveOption = None,
    settings: options.SetOption = None,
    endpoint_settings: options.SetEndpointOption = None,
    service_code: options.ServiceCodeOption = "0",
    raw: options.RawOption = False,
    udp_port: options.UdpPortOption = options.DEFAULT_UDP_PORT,
    metrics: options.MetricsOption = None,
    qlog: options.QlogOption = None,
    log: options.LogOption = None,
    watch: options.WatchOption = False,
    browser: options.WatchBrowserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Accept DCCP connections and count, write or echo the received data.

    Prints a report for each connection when it ends: with --json one object per line, with --once
    --json a single document. With --once, exits with status 1 if the connection or the file fails.

    Ctrl-C and SIGTERM close all connections, print their reports and exit.
    """
    where_ = place.local(where)
    config = options.config(
        ccid, service_code, settings, idle_timeout=idle_timeout, keepalive=keepalive
    )
    interval_s = seconds(interval)
    watched = options.Watch.of(watch, browser)
    socket = options.SocketOptions(raw, endpoint_settings, metrics, qlog, log, watched)
    close_s = options.duration("--close-timeout", close_timeout).seconds
    if output is not None and not once:
        raise typer.BadParameter("--output is for one connection: give --once too")
    to_stdout = output == "-"
    with ExitStack() as stack:
        sink = None if output is None else stack.enter_context(_sink(output))
        # The stack unwinds from below: closing the socket first ends the work in the pool.
        pool = stack.enter_context(ThreadPoolExecutor(MOST_AT_ONCE))
        endpoint = stack.enter_context(options.endpoint(where_.host, udp_port, socket))
        listener = endpoint.listen(where_.port, config=config)
        show = stack.enter_context(live_rate("received", enabled=interval_s is None))
        over = "IP protocol 33" if raw else f"UDP port {udp_port}"
        sys.stderr.write(f"listening on {where_} over {over}\n")
        sys.stderr.flush()

        def exchange_over(connection: Connection) -> Exchange:
            def show_interval(report: dict[str, Any]) -> None:
                if not as_json:
                    print_line(report, name=f"{place.of_peer(connection)}: ", stderr=to_stdout)

            return Exchange(
                connection,
                Load(size or min(DATAGRAM, connection.max_datagram_size)),
                close,
                close_s,
                count=count,
                has_fixed_size=size is not None,
                gap_s=interval_ms / 1e3,
                idle_s=idle_ms / 1e3,
                echo=echo,
                assembly=None if sink is None else Assembly(sink),
                most=take,
                digests=digests,
                interval_s=interval_s,
                show=show,
                show_interval=show_interval,
            )

        def tell(document: dict[str, Any]) -> None:
            _print(document, as_json=as_json, line=not once, to_stdout=to_stdout)

        exchanges = Exchanges(listener, pool, exchange_over, tell, once=once)
        # A connection may be open before `begin` returns, and an interrupt must not lose it.
        with interrupts_handed_to(exchanges.interrupt):
            exchanges.begin()
            try:
                is_ok = exchanges.wait()
                while not once:
                    exchanges.wait()
            except KeyboardInterrupt as interrupt:
                exchanges.stop(interrupt)
                raise
    if not is_ok:
        raise typer.Exit(FAILED)


def _sink(output: str) -> BinaryIO:
    return sys.stdout.buffer if output == "-" else Path(output).open("wb")


def _print(document: dict[str, Any], *, as_json: bool, line: bool, to_stdout: bool) -> None:
    if as_json:
        print_json(document, line=line)
        return
    console = out(stderr=to_stdout, markup=False)
    console.print(report.table(f"From {document['peer']}", document))
