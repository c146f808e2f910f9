"""``skywave send``."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from skywave._core import Duration, Rate
from skywave.cli.application import command
from skywave.cli.console import JsonOption, out, print_json
from skywave.cli.interrupts import interrupts_handed_to
from skywave.cli.messages import warn
from skywave.cli.net import options, place, report
from skywave.cli.net.ending import failure_as_json
from skywave.cli.net.exchange import CloseOption, Ending, Exchange, ExchangeOptions, unconnected
from skywave.cli.net.report import live_rate, print_line
from skywave.cli.status import FAILED
from skywave.net.file import Bare, Parts
from skywave.net.load import Load

DEFAULT_DURATION_S = 10.0
DATAGRAM = 1200
LARGEST = 65_000

app = typer.Typer()


@command(app, fails="the connection failed, or the file is not complete")
def send(
    peer: Annotated[
        str, typer.Argument(metavar="HOST:PORT", help="Address and DCCP port of the listener.")
    ],
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
            help="Payload bytes per datagram. Default: 1200, or less if the path MTU is smaller or "
            "shrinks during the transfer.",
        ),
    ] = None,
    count: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Stop after N datagrams.")
    ] = None,
    duration: Annotated[
        Duration | None,
        typer.Option(
            help='Stop sending after this time, e.g. "1 min". Default: 10 s without FILE and'
            " --count, otherwise no limit."
        ),
    ] = None,
    rate: Annotated[
        Rate | None,
        typer.Option(
            help='Rate at which to offer data, e.g. "5 Mbps". Default: as fast as possible.'
        ),
    ] = None,
    gap: options.GapOption = None,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            help="Send the bytes of FILE without framing, for receivers other than `skywave "
            "listen`. They cannot tell whether the file is complete.",
        ),
    ] = False,
    close: CloseOption = Ending.FIRST,
    *,
    how: ExchangeOptions,
    service_code: options.ServiceCodeOption = "0",
    session: options.ConnectionOptions,
    socket: options.SocketOptions,
    as_json: JsonOption = False,
) -> None:
    """Send a file, standard input or a generated load to a DCCP listener.

    Sends datagrams as congestion control allows. DCCP delivers each datagram at most once, so a
    file arrives complete only if nothing is lost: `skywave listen --output` reassembles it and
    reports missing parts. The transfer has failed if the connection fails, the peer does not
    confirm the close, or a part of the file was lost.

    Ctrl-C and SIGTERM close the connection: queued data is still sent and the peer confirms the
    close, within --close-timeout. A second signal aborts the connection. The report covers what was
    sent until then.
    """
    target = place.peer(peer)
    config = session.config(service_code)
    duration_s = None if duration is None else duration.seconds
    if rate is not None and gap is not None:
        raise typer.BadParameter("give --rate or --gap, not both")
    began = time.monotonic()

    def without(error: str, interrupted: bool) -> dict[str, Any]:
        seconds = time.monotonic() - began
        return unconnected(str(target), seconds, error, interrupted=interrupted)

    exchange: Exchange | None = None

    def interrupted(interrupt: KeyboardInterrupt) -> None:
        if exchange is None:
            raise interrupt
        exchange.interrupt(interrupt)

    with interrupts_handed_to(interrupted):
        with ExitStack() as stack:
            with failure_as_json(without, as_json=as_json):
                endpoint = stack.enter_context(options.client(target, socket))
                connection = options.connect(endpoint, target, socket, config)
                largest = connection.max_datagram_size
                length = size or min(DATAGRAM, largest)
                if length > largest:
                    raise typer.BadParameter(
                        f"--size {length} is too large for this path: give at most {largest}"
                    )
                source: Parts | Bare | None = None
                if file is not None:
                    source = (Bare if plain else Parts)(stack.enter_context(_open(file)), length)
                elif count is None and duration_s is None:
                    duration_s = DEFAULT_DURATION_S
                show = stack.enter_context(live_rate("sent", enabled=how.interval is None))
                exchange = Exchange(
                    connection,
                    source or Load(length),
                    close,
                    **how.fields(),
                    count=count,
                    has_fixed_size=size is not None,
                    gap_s=0.0 if gap is None else gap.seconds,
                    rate_bps=None if rate is None else rate.bps,
                    until=None if duration_s is None else time.monotonic() + duration_s,
                    show=show,
                    show_interval=lambda report: None if as_json else print_line(report),
                )
            document = exchange.run()
        if source is not None:
            is_complete = exchange.has_sent_all and source.is_complete
            judge(document, is_complete=is_complete, repeated=exchange.repeated)
        if as_json:
            print_json(document)
        else:
            out(markup=False).print(report.table(f"Sent to {target}", document))
    if not document["ok"]:
        raise typer.Exit(FAILED)


def judge(document: dict[str, Any], *, is_complete: bool, repeated: int = 0) -> None:
    """Add the outcome of the file to a report, as far as the sender knows it.

    DCCP sends nothing again, so what was lost is a hole, unless it is among the datagrams whose
    data was ``repeated`` in smaller ones. The listener may still have dropped what it acknowledged:
    only its own report says that the file is whole.
    """
    stats, unacknowledged = document["stats"], document["sent"]["unacknowledged"]
    # With --size, a path that takes smaller packets than before discards what was queued.
    discarded = document["sent"]["discarded"]
    # What was taken for lost may have arrived late, and then it has been acknowledged too.
    lost = None if stats["lost"] is None else min(stats["lost"], unacknowledged)
    document["file"] = {"complete": is_complete, "lost": lost}
    if not document["ok"]:
        return
    if not is_complete:
        document["ok"] = False
        document["error"] = "the file was not sent to its end"
    elif (holes := max(0, (lost or 0) - repeated)) or discarded:
        counts = ((holes, "lost"), (discarded, "discarded unsent"))
        fates = ", ".join(f"{report.datagrams(count)} {fate}" for count, fate in counts if count)
        document["ok"] = False
        document["error"] = f"the file has holes: {fates}; the listener reports them"
    elif unacknowledged or stats["loss_events"]:
        losses = report.possible_losses(document)
        warn([f"the file may have holes ({losses}): the listener reports them"])


def _open(file: str) -> BinaryIO:
    return sys.stdin.buffer if file == "-" else Path(file).open("rb")
