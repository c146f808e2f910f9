"""``skywave ping``."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from skywave._core import Duration
from skywave.cli.application import command
from skywave.cli.console import JsonOption, out, print_json
from skywave.cli.interrupts import interrupts_handed_to
from skywave.cli.net import options, place
from skywave.cli.net.ending import PEER_CLOSED, failure_as_json, has_peer_closed
from skywave.cli.status import FAILED
from skywave.net import Connection, NetError
from skywave.net.load import HEADER, datagram

PATIENCE_S = 2.0

app = typer.Typer()


@command(app, fails="the connection failed, or nothing came back")
def ping(
    peer: Annotated[
        str,
        typer.Argument(
            metavar="HOST:PORT", help="Address and DCCP port of a `skywave listen --echo`."
        ),
    ],
    count: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of datagrams to send.")
    ] = 5,
    gap: options.GapOption = Duration("200 ms"),  # noqa: B008  (it cannot change)
    size: Annotated[
        int, typer.Option(metavar="BYTES", min=HEADER, help="Payload bytes per datagram.")
    ] = 100,
    *,
    service_code: options.ServiceCodeOption = "0",
    session: options.ConnectionOptions,
    socket: options.SocketOptions,
    as_json: JsonOption = False,
) -> None:
    """Measure round-trip times of datagrams over a DCCP connection.

    Ctrl-C and SIGTERM stop it and print the summary so far.
    """
    target = place.peer(peer)
    config = session.config(service_code)
    console = out(markup=False)
    pings = Pings()

    def interrupted(interrupt: KeyboardInterrupt) -> None:
        if pings.connect_ms is None:
            raise interrupt
        pings.interrupt(interrupt)

    def without(error: str, _: bool) -> dict[str, Any]:
        pings.error = error
        return pings.summary()

    with interrupts_handed_to(interrupted):
        with ExitStack() as stack:
            with failure_as_json(without, as_json=as_json):
                endpoint = stack.enter_context(options.client(target, socket))
                begin = time.monotonic()
                connection = options.connect(endpoint, target, socket, config)
                pings.connect_ms = 1e3 * (time.monotonic() - begin)
            if size > (largest := connection.max_datagram_size):
                raise typer.BadParameter(
                    f"--size {size} is too large for this path: give at most {largest}"
                )
            if not as_json:
                console.print(f"connected to {target} in {pings.connect_ms:.3f} ms")

            def show(number: int, trip_ms: float | None) -> None:
                if not as_json:
                    answer = "no answer" if trip_ms is None else f"{trip_ms:.3f} ms"
                    console.print(f"{size} bytes, number {number}: {answer}")

            pings.run(connection, count, 0.0 if gap is None else gap.seconds, size, show)
        document = pings.summary()
        if as_json:
            print_json(document)
        else:
            console.print(_line(document))
        if pings.error is not None:
            sys.stderr.write(f"error: {pings.error}\n")
        elif pings.sent and not document["received"]:
            sys.stderr.write("nothing came back: the other end must be `skywave listen --echo`\n")
    if pings.error is not None or not document["received"]:
        raise typer.Exit(FAILED)


@dataclass
class Pings:
    """The measurements so far."""

    connect_ms: float | None = None
    """How long the handshake took; ``None`` if there is no connection."""
    sent: int = 0
    trips_ms: list[float | None] = field(default_factory=list)
    """The round-trip times in milliseconds; ``None`` for a datagram that did not come back."""
    error: str | None = None
    """Why it ended before its time."""
    _stopped_by: KeyboardInterrupt | None = None
    _is_measuring: bool = False

    def interrupt(self, interrupt: KeyboardInterrupt) -> None:
        """Stop it, as the handler of a signal on its thread; raise while it measures."""
        self._stopped_by = interrupt
        if self._is_measuring:
            raise interrupt

    def run(
        self,
        connection: Connection,
        count: int,
        gap_s: float,
        size: int,
        show: Callable[[int, float | None], None],
    ) -> None:
        """Send ``count`` datagrams, wait for each to come back, and close the connection.

        An interrupt aborts it, and is not raised.
        """
        try:
            self._is_measuring = True
            if self._stopped_by is not None:
                raise self._stopped_by
            try:
                self._measure(connection, count, gap_s, size, show)
            except (NetError, TimeoutError) as error:
                closed = has_peer_closed(connection, error, options.CLOSE_S)
                self.error = PEER_CLOSED if closed else str(error)
            self._is_measuring = False
        except KeyboardInterrupt:
            connection.abort()
        self.sent = connection.stats().datagrams_sent

    def _measure(
        self,
        connection: Connection,
        count: int,
        gap_s: float,
        size: int,
        show: Callable[[int, float | None], None],
    ) -> None:
        for index in range(count):
            sent_at = time.monotonic()
            data = datagram(index, size)
            connection.send(data)
            self.trips_ms.append(_await_echo(connection, data, sent_at))
            show(index + 1, self.trips_ms[-1])
            if index + 1 < count:
                time.sleep(max(0.0, gap_s - (time.monotonic() - sent_at)))
        connection.close(timeout_s=options.CLOSE_S)

    def summary(self) -> dict[str, Any]:
        """Return the summary, ready for JSON."""
        answered = [trip for trip in self.trips_ms if trip is not None]
        return {
            "connect_ms": self.connect_ms,
            "sent": self.sent,
            "received": len(answered),
            "round_trips_ms": self.trips_ms,
            "min_ms": min(answered, default=None),
            "median_ms": statistics.median(answered) if answered else None,
            "max_ms": max(answered, default=None),
            "error": self.error,
        }


def _await_echo(connection: Connection, data: bytes, sent_at: float) -> float | None:
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


def _line(document: dict[str, Any]) -> str:
    line = f"{document['received']} of {document['sent']} came back"
    if document["received"]:
        line += (
            f"; round trip min {document['min_ms']:.3f}, median {document['median_ms']:.3f}, "
            f"max {document['max_ms']:.3f} ms"
        )
    return line
