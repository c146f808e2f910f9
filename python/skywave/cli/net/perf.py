"""``skywave perf``."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from statistics import fmean
from typing import Annotated, Any

import typer
from rich.table import Table

from skywave import _core
from skywave._core import Duration, Rate
from skywave._progress import Progress
from skywave.cli.application import command, group
from skywave.cli.console import JsonOption, out, print_json, progress_bar
from skywave.cli.interrupts import interrupts_handed_to
from skywave.cli.messages import write_line
from skywave.cli.net import options, place
from skywave.cli.net.ending import PEER_CLOSED, failure_as_json, has_peer_closed
from skywave.cli.net.report import live_rate
from skywave.cli.status import NETWORK_FAILED
from skywave.net import NetError

SERVICE = "PERF"
PORT = 5201
MOST_AT_ONCE = 64
LOOK_S = 0.2


app = group("perf", "Measure the speed of DCCP between two hosts or on this one.")

DurationOption = Annotated[
    Duration,
    typer.Option(
        help='How long to offer data, e.g. "10 s". Data still queued then is sent and '
        "measured, which takes seconds on a slow path."
    ),
]
SizeOption = Annotated[
    int, typer.Option(metavar="BYTES", min=1, max=65_000, help="Payload bytes per datagram.")
]
LASTING = Duration("5 s")
KEEPALIVE = Duration("5 s")


@command(app, fails=NETWORK_FAILED)
def serve(
    connection: options.ConnectionOptions,
    socket: options.SocketOptions,
    as_json: JsonOption = False,
) -> None:
    """Receive from the clients of `skywave perf to` and count, until Ctrl-C.

    With --json, prints one object per line for each client.
    """
    with ExitStack() as stack:
        # The stack unwinds from below: closing the socket first ends the work in the pool.
        pool = stack.enter_context(ThreadPoolExecutor(MOST_AT_ONCE))
        endpoint = stack.enter_context(options.endpoint("", socket))
        listener = endpoint.listen(PORT, config=connection.config(SERVICE))
        sys.stderr.write(f"listening on DCCP port {PORT} over {socket.over}\n")
        sys.stderr.flush()

        def count(client: _core.Connection) -> None:
            peer = place.of_peer(client)
            try:
                counts = json.loads(_core.perf_serve(client))
            except NetError as error:
                out(stderr=True, markup=False).print(f"{peer}: {error}")
                return
            if as_json:
                print_json({"peer": peer, **counts}, line=True)
            else:
                line = f"{peer}: {counts['datagrams']:,} datagrams, {counts['bytes']:,} B"
                out(markup=False).print(line)

        # No connection is lost between being accepted and being counted.
        interrupts: list[KeyboardInterrupt] = []
        with interrupts_handed_to(interrupts.append):
            while not interrupts:
                with suppress(TimeoutError):
                    pool.submit(count, listener.accept(timeout_s=LOOK_S))


@command(app, fails=NETWORK_FAILED)
def to(
    server: Annotated[
        str,
        typer.Argument(
            metavar="HOST[:PORT]",
            help=f"Host that runs `skywave perf serve`. Default DCCP port: {PORT}.",
        ),
    ],
    duration: DurationOption = LASTING,
    size: SizeOption = 1200,
    rate: Annotated[
        Rate | None, typer.Option(help='Maximum rate at which to offer data, e.g. "5 Mbps".')
    ] = None,
    *,
    session: options.ConnectionOptions,
    socket: options.SocketOptions,
    as_json: JsonOption = False,
) -> None:
    """Measure the path to a host that runs `skywave perf serve`."""
    target = place.peer(server, PORT)
    config = session.config(SERVICE)

    def without_result(error: str, _: bool) -> dict[str, Any]:
        return {"ok": False, "error": error}

    with ExitStack() as stack, failure_as_json(without_result, as_json=as_json):
        endpoint = stack.enter_context(options.client(target, socket))
        connection = options.connect(endpoint, target, socket, config)
        with live_rate("arrived") as show:

            def progress(text: str) -> None:
                arrived = json.loads(text)["arrived"]
                show(arrived["datagrams"], arrived["bytes"])

            try:
                text = _core.perf_send(
                    connection,
                    duration_s=duration.seconds,
                    datagram=size,
                    rate_bps=None if rate is None else rate.bps,
                    progress=progress,
                )
            except NetError as error:
                if has_peer_closed(connection, error, options.CLOSE_S):
                    raise NetError(PEER_CLOSED) from error
                raise
            except KeyboardInterrupt:
                write_line("no result: the server tells it when everything has arrived")
                raise
        refused = connection.stats().dropped_by_peer
    report = {"ok": True, "error": None, **json.loads(text), "dropped_by_peer": refused}
    if as_json:
        print_json(report)
    else:
        out(markup=False).print(_client_table(str(target), report))


@command(app)
def loopback(
    duration: DurationOption = LASTING,
    size: SizeOption = 1200,
    pings: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Round trips to measure, in groups of 50: with the ends on two threads, then on "
            "one.",
        ),
    ] = 20_000,
    idle: Annotated[
        int,
        typer.Option(
            "--idle-connections",
            metavar="N",
            min=0,
            help="Idle connections to open, to measure their memory and CPU cost.",
        ),
    ] = 10_000,
    keepalive: Annotated[
        Duration,
        typer.Option(
            help='Have idle connections probe their peer this often, e.g. "5 s". The measurement '
            "takes twice as long."
        ),
    ] = KEEPALIVE,
    as_json: JsonOption = False,
) -> None:
    """Measure both ends on this host, and compare with plain UDP and, if compiled in, quinn."""
    if not keepalive.seconds:
        raise typer.BadParameter("give a time above 0", param_hint="--keepalive")
    with progress_bar() as show:
        text = _core.perf_loopback(
            duration_s=duration.seconds,
            datagram=size,
            pings=pings,
            idle=idle,
            keepalive_s=keepalive.seconds,
            progress=lambda _stage, done: show(Progress("perf", done, 1.0)),
        )
    report = json.loads(text)
    if as_json:
        print_json(report)
    else:
        out().print(loopback_table(report, size))


def _client_table(target: str, report: dict[str, Any]) -> Table:
    sent, arrived = report["datagrams_sent"], report["arrived"]["datagrams"]
    table = Table(title=f"DCCP to {target}", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("goodput (Mbps of data)", f"{1e-6 * report['goodput_bps']:,.3f}")
    table.add_row("time (s)", f"{report['seconds']:.3f}")
    table.add_row("sent (datagrams)", f"{sent:,}")
    table.add_row("arrived (datagrams)", f"{arrived:,}")
    table.add_row("lost (%)", f"{100 * (sent - arrived) / max(sent, 1):.3f}")
    if report["dropped_by_peer"]:
        dropped = report["dropped_by_peer"]
        table.add_row("arrived, but dropped by the peer (datagrams)", f"{dropped:,}")
    if report["srtt_us"] is not None:
        table.add_row("round-trip time (ms)", f"{1e-3 * report['srtt_us']:.3f}")
    if report["cwnd"] is not None:
        table.add_row("cwnd (packets)", f"{report['cwnd']:.1f}")
    if report["rate_bps"] is not None:
        table.add_row("allowed rate X (Mbps)", f"{1e-6 * report['rate_bps']:,.3f}")
    return table


def loopback_table(report: dict[str, Any], size: int) -> Table:
    """Return a loopback report, measured with datagrams of ``size`` bytes, as a table."""
    names = [name for name in ("dccp", "udp", "quinn") if report[name] is not None]
    table = Table(title=f"Loopback, one connection, datagrams of {size} B", title_justify="left")
    table.add_column("")
    for name in names:
        table.add_column(
            {"dccp": "DCCP", "udp": "plain UDP", "quinn": "quinn"}[name], justify="right"
        )
    for label, key, scale in (
        ("datagrams (1/s)", "datagrams_per_s", 1.0),
        ("goodput (Mbps of data)", "goodput_bps", 1e-6),
        ("CPU, both ends (ns per datagram)", "cpu_ns_per_datagram", 1.0),
        ("round trip of 100 B, median (us)", "round_trip_median_us", 1.0),
        ("round trip of 100 B, mean (us)", "round_trip_mean_us", 1.0),
        ("the same on one thread, median (us)", "one_thread_round_trip_median_us", 1.0),
    ):
        values = [report[name][key] for name in names]
        cells = ["-" if value is None else f"{scale * value:,.1f}" for value in values]
        table.add_row(label, *cells)
    ratios, idle, timer = report["ratios"], report["idle"], report["timer"]
    spread = [
        each["dccp"]["datagrams_per_s"] / each["udp"]["datagrams_per_s"]
        for each in report["rounds"]
    ]
    stolen = [each["stolen"] or 0.0 for each in report["rounds"]]
    notes = [
        (
            f"datagrams: DCCP / plain UDP {ratios['datagrams_dccp_over_udp']:.2f}"
            f" ({min(spread):.2f} to {max(spread):.2f} in {len(spread)} rounds)"
        ),
        f"CPU of a datagram: plain UDP / DCCP {ratios['cpu_udp_over_dccp']:.2f}",
    ]
    if ratios["datagrams_dccp_over_quinn"] is not None:
        notes.append(f"DCCP / quinn {ratios['datagrams_dccp_over_quinn']:.2f}")
    notes.append(
        f"round trip: DCCP - plain UDP {ratios['round_trip_dccp_less_udp_us']:.1f} us,"
        f" {ratios['one_thread_round_trip_dccp_less_udp_us']:.1f} us with both ends on one thread"
    )
    if idle is not None:
        notes.append(
            f"{idle['connections']:,} idle connections: {1e-6 * idle['bytes']:.1f} MB, of each"
            f" {1e-3 * idle['server_bytes']:.1f} kB at the server and"
            f" {1e-3 * idle['client_bytes']:.1f} kB at the client; a keepalive takes"
            f" {idle['keepalive_us']:.1f} us at both"
        )
    if fmean(stolen) >= 0.01:
        notes.append(
            f"other guests of the host used {100 * fmean(stolen):.0f} % of the processors:"
            " the ratios come from a disturbed machine"
        )
    notes.append(
        f"a timer of 2 ms is late by {timer['mean_us']:.0f} us, p99 {timer['p99_us']:.0f} us"
    )
    table.caption = "; ".join(notes)
    table.caption_justify = "left"
    return table
