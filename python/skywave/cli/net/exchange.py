"""One end of a connection: send a load, receive data, close."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skywave._core import Duration
from skywave.cli.net import place
from skywave.cli.net.ending import LOOK_S, PEER_CLOSED, has_peer_closed
from skywave.cli.net.report import Intervals, datagrams
from skywave.net import (
    AbortedError,
    Closed,
    ClosedError,
    Connection,
    DatagramTooLargeError,
    NetError,
    PeerGoneError,
    ResetError,
    Stats,
)
from skywave.net.load import Check

if TYPE_CHECKING:
    from skywave.net.file import Assembly
    from skywave.net.load import Source

DIGEST = 16
UNSETTLED = 256
"""How many datagrams to keep, in case that they are discarded, before looking which have left."""


class Ending(StrEnum):
    """How this end finishes the connection."""

    FIRST = "first"
    """Close the connection once everything is sent."""
    RESET = "reset"
    """Reset the connection once everything is sent."""
    AWAIT = "await"
    """Receive until the peer closes the connection."""


CloseOption = Annotated[
    Ending,
    typer.Option(
        help="How to finish: close (first) or reset once everything is sent, or await the "
        "peer's close."
    ),
]


@dataclass(frozen=True)
class ExchangeOptions:
    """Options of an exchange, of either end."""

    close_timeout: Annotated[
        Duration,
        typer.Option(
            "--close-timeout",
            help="Time limit for closing: for the peer's acknowledgements and its reply to the "
            "close and, after --duration or an interrupt, for sending queued data. Anything "
            "left is discarded and reported.",
        ),
    ] = Duration("5 s")  # noqa: RUF009  (it cannot change)
    close_idle: Annotated[
        Duration | None,
        typer.Option(
            "--close-idle", help="Close only after the connection has been idle for this long."
        ),
    ] = None
    interval: Annotated[
        Duration | None,
        typer.Option(
            "--interval",
            "-i",
            help='Report rate, round-trip time, cwnd and losses at this interval, e.g. "1 s". With '
            "--json, include the reports in the document.",
        ),
    ] = None
    digests: Annotated[
        bool,
        typer.Option(
            "--digests", help="With --json, list the digest (truncated SHA-256) of every datagram."
        ),
    ] = False

    def __post_init__(self) -> None:
        """Refuse reports without a pause."""
        if self.interval is not None and not self.interval.seconds:
            raise typer.BadParameter(f'--interval is "{self.interval}": give a time, such as "1 s"')

    def fields(self) -> dict[str, Any]:
        """Return the fields of an :class:`Exchange` that they are."""
        return {
            "close_s": self.close_timeout.seconds,
            "idle_s": 0.0 if self.close_idle is None else self.close_idle.seconds,
            "interval_s": None if self.interval is None else self.interval.seconds,
            "digests": self.digests,
        }


ABORTED = 2


@dataclass
class Exchange:
    """One end of a connection, from the handshake to its end."""

    connection: Connection
    source: Source
    """The datagrams to send."""
    close: Ending
    close_s: float
    """How long the close may take before the connection is aborted."""
    count: int | None = None
    """The number of datagrams after which to stop sending; ``None`` for no limit."""
    has_fixed_size: bool = False
    """Whether it is an error that the path comes to take smaller datagrams only."""
    gap_s: float = 0.0
    """The time between datagrams."""
    rate_bps: float | None = None
    """The rate at which to send data, instead of ``gap_s``."""
    until: float | None = None
    """When to stop sending, by the monotonic clock; ``None`` for never."""
    idle_s: float = 0.0
    echo: bool = False
    """Whether to send received datagrams back."""
    assembly: Assembly | None = None
    """Where to write received data, if anywhere."""
    most: int | None = None
    """The number of received datagrams after which to finish; ``None`` for no limit."""
    digests: bool = False
    interval_s: float | None = None
    """How often to report; ``None`` for never."""
    show: Callable[[int, int], None] = lambda _datagrams, _size: None
    """Called with the total datagrams and bytes so far, sent or received."""
    show_interval: Callable[[dict[str, Any]], None] = lambda _report: None
    """Called with each report of an interval."""
    has_sent_all: bool = False
    """Whether everything in the source has been queued."""
    stopped_by: KeyboardInterrupt | None = None
    """What ended it before its time."""
    _is_reading: bool = False
    """Whether the thread that runs it waits for the source, which nothing but an exception ends."""
    _check: Check = field(default_factory=Check)
    _sent: int = 0
    _sent_bytes: int = 0
    _taken: int = 0
    """The datagrams of the source among those sent."""
    _unsettled: deque[bytes] = field(default_factory=deque)
    """The last datagrams queued, at least those that may not have left or not have arrived."""
    _settle_at: int = UNSETTLED
    """How many of them there may be."""
    _longest: int = 0
    """The size of the longest datagram since the last were taken back."""
    _discarded: int = 0
    """The datagrams that have been taken back because they were discarded."""
    _known_lost: int = 0
    """The datagrams lost before those that are unsettled."""
    repeated: int = 0
    """The datagrams that were sent, and sent again in smaller ones because they may be lost."""
    _digests: dict[str, list[str]] = field(default_factory=lambda: {"sent": [], "received": []})
    _too_large: int = 0
    """The datagrams too large to be echoed."""
    _active: float = 0.0
    _heard: int = 0
    """The packets that had come from the peer at the last look."""
    _heard_at: float = 0.0
    _error: str | None = None
    _is_ending: bool = False
    """Whether this end has begun to end the connection."""
    _is_ours: bool = False
    """Whether this end has ended the connection, rather than the peer."""

    def run(self) -> dict[str, Any]:
        """Run the exchange to its end and return its report, ready for JSON.

        An interrupt closes the connection, and a second one aborts it. Neither is raised.
        """
        start = self._active = self._heard_at = time.monotonic()
        intervals = None
        receiver = threading.Thread(target=self._receive, daemon=True)
        try:
            try:
                # On a busy machine, an interval may be over before both threads have begun.
                receiver.start()
                if self.interval_s is not None:
                    intervals = Intervals(self.connection, self.interval_s, self.show_interval)
                self._send()
                if self.close is Ending.AWAIT or self.most is not None:
                    while receiver.is_alive() and not self._is_stopped:
                        receiver.join(LOOK_S)
                if self.close is not Ending.AWAIT or self.most is not None or self._is_stopped:
                    self._end()
            except KeyboardInterrupt as interrupt:
                if self._is_stopped and interrupt is not self.stopped_by:
                    raise
                self.stop(interrupt)
                self._end()
        except (NetError, TimeoutError) as error:
            self._fail(error)
        except KeyboardInterrupt:
            self.connection.abort()
        if receiver.ident is not None:
            receiver.join()
        seconds = time.monotonic() - start
        reports = None if intervals is None else intervals.stop()
        return self._document(seconds, reports)

    def stop(self, interrupt: KeyboardInterrupt) -> None:
        """Close the connection now. Queued data has the time limit for closing."""
        self.stopped_by = interrupt

    def interrupt(self, interrupt: KeyboardInterrupt) -> None:
        """Stop it, as the handler of a signal on the thread that runs it.

        Raises:
            KeyboardInterrupt: If that thread waits for the source.
        """
        self.stop(interrupt)
        if self._is_reading:
            raise interrupt

    @property
    def _is_stopped(self) -> bool:
        return self.stopped_by is not None

    def _is_over(self) -> bool:
        """Return whether nothing more is to be sent."""
        return self._is_stopped or (self.until is not None and time.monotonic() >= self.until)

    def _send(self) -> None:
        due = time.monotonic()
        while not self.has_sent_all:
            for data in self._rest():
                while not self._is_over() and (wait_s := due - time.monotonic()) > 0:
                    time.sleep(min(wait_s, LOOK_S))
                if not self._queue(data):
                    break
                due += 8 * len(data) / self.rate_bps if self.rate_bps else self.gap_s
            else:
                self.has_sent_all = True
            if self._is_over():
                return
            if self.has_sent_all and self._adapts and self._flush_and_take_back():
                self.has_sent_all = False

    @property
    def _adapts(self) -> bool:
        """Whether the datagrams of the source become smaller if the path comes to need that.

        What is echoed waits in the same queue, and its sizes are the peer's.
        """
        return not self.has_fixed_size and not self.echo

    def _rest(self) -> Iterator[bytes]:
        datagrams = iter(self.source)
        while self.count is None or self._taken < self.count:
            self._is_reading = True
            # What came before this was only noted; what comes from here on is raised.
            if self.stopped_by is not None:
                raise self.stopped_by
            data = next(datagrams, None)
            self._is_reading = False
            if data is None:
                return
            yield data

    def _queue(self, data: bytes) -> bool:
        """Queue a datagram; return False if it is over, or the source has taken datagrams back."""
        # What the queue discards are its last datagrams only if no shorter one is behind them.
        if self._adapts and len(data) < self._longest and self._flush_and_take_back(data):
            return False
        while not self._is_over():
            try:
                self.connection.send(data, timeout_s=LOOK_S)
            except TimeoutError:
                # There is no room yet.
                continue
            except DatagramTooLargeError:
                if not self._adapts:
                    raise
                self._take_back(data)
                return False
            self._taken += 1
            self._count_sent(data)
            self.show(self._sent, self._sent_bytes)
            if self._adapts:
                self._longest = max(self._longest, len(data))
                self._unsettled.append(data)
                self._settle()
            return True
        return False

    def _flush_and_take_back(self, *rejected: bytes) -> bool:
        """Wait until everything has left; return whether the source has taken something back."""
        self._flush()
        if self._is_over() or self.connection.closed is not None:
            return False
        limit = self.connection.max_datagram_size
        if limit >= self._longest and self._new_discards(self.connection.stats()) == 0:
            return False
        self._take_back(*rejected)
        return True

    def _take_back(self, *rejected: bytes) -> None:
        """Have the source split datagrams that have become too large for the path.

        Queued datagrams are discarded if they are too large, and those are the last ones. Of those
        that had left, some may have been too large for a router; if a receiver can tell what comes
        twice, they are sent again too, as far as they have not been acknowledged.
        """
        # In this order: a path that shrinks in between refuses the next datagram.
        limit = self.connection.max_datagram_size
        stats = self.connection.stats()
        discarded = min(self._new_discards(stats), len(self._unsettled))
        doubtful = 0
        if self.source.may_repeat and stats.acknowledged is not None and limit < self._longest:
            outstanding = stats.datagrams_sent - stats.acknowledged - self._known_lost
            doubtful = min(max(0, outstanding), len(self._unsettled) - discarded)
        self._discarded += discarded
        self.repeated += doubtful
        again = [self._unsettled.pop() for _ in range(discarded + doubtful)]
        again.reverse()
        for data in again[doubtful:]:
            self._taken -= 1
            self._sent -= 1
            self._sent_bytes -= len(data)
        if self.digests and discarded:
            del self._digests["sent"][-discarded:]
        size = min(limit, self._longest) if self._longest else limit
        self.source.take_back([*again, *rejected], size)
        self._longest = 0

    def _new_discards(self, stats: Stats) -> int:
        return stats.datagrams_discarded - self._discarded

    def _settle(self) -> None:
        """Forget the datagrams that have left and, if they could be sent again, have arrived."""
        if len(self._unsettled) < self._settle_at:
            return
        stats = self.connection.stats()
        keep = self._sent - stats.datagrams_sent
        acknowledged, lost = stats.acknowledged, stats.lost
        if self.source.may_repeat and acknowledged is not None:
            self._known_lost = min(lost or 0, stats.datagrams_sent - acknowledged)
            keep += stats.datagrams_sent - acknowledged - self._known_lost
        while len(self._unsettled) > max(0, keep):
            self._unsettled.popleft()
        self._settle_at = 2 * len(self._unsettled) + UNSETTLED

    def _count_sent(self, data: bytes) -> None:
        self._sent += 1
        self._sent_bytes += len(data)
        self._active = time.monotonic()
        if self.digests:
            self._digests["sent"].append(_digest(data))

    def _receive(self) -> None:
        try:
            while self.most is None or self._check.received < self.most:
                try:
                    data = self.connection.recv(timeout_s=LOOK_S)
                except TimeoutError:
                    self._look()
                    continue
                if data is None:
                    return
                self._take(data)
        except OSError as error:
            # Of the network, or of the file that is written. What is still to be echoed when this
            # end closes is no failure.
            if not (self._is_ending and isinstance(error, ClosedError)):
                self._fail(error)

    def _look(self) -> None:
        """See whether something has come from the peer."""
        heard = self.connection.stats().packets_received
        if heard != self._heard:
            self._heard, self._heard_at = heard, time.monotonic()

    def _take(self, data: bytes) -> None:
        self._check.take(data)
        self._active = time.monotonic()
        if self.digests:
            self._digests["received"].append(_digest(data))
        if self.assembly is not None:
            self.assembly.take(data)
        if self.echo:
            self._echo(data)
        if not self._sent or self.echo:
            self.show(self._check.received, self._check.size)

    def _echo(self, data: bytes) -> None:
        try:
            self.connection.send(data)
        except DatagramTooLargeError:
            # The path back may take less than the path here. The others can still be echoed.
            self._too_large += 1
        else:
            self._count_sent(data)

    def _end(self) -> None:
        """End the connection, if the peer has not done so."""
        while (
            not self._is_stopped and (wait_s := self._active + self.idle_s - time.monotonic()) > 0
        ):
            time.sleep(min(wait_s, LOOK_S))
        self._flush()
        if self.connection.closed is not None:
            return
        self._is_ending = True
        self._look()
        if self.close is Ending.RESET:
            self.connection.abort()
        else:
            self.connection.close(timeout_s=self.close_s)
        self._is_ours = True

    def _flush(self) -> None:
        """Wait until everything has left, however long that takes, but not beyond the end."""
        while self.connection.closed is None and not self._is_over():
            try:
                self.connection.flush(timeout_s=LOOK_S)
            except TimeoutError:
                continue
            return

    def _fail(self, error: Exception) -> None:
        # What this end aborts it aborts for another reason. A reset by the peer is no failure if
        # this end would reset too, or waits for the peer to finish.
        is_expected = isinstance(error, AbortedError) or (
            isinstance(error, ResetError)
            and self.close in (Ending.RESET, Ending.AWAIT)
            and self._is_aborted
        )
        if self._error is None and not is_expected:
            self._error = self._meaning(error)
        # The other thread waits for the end.
        self.connection.abort()
        # What did not come from the peer came from here, even if it was the peer's silence.
        is_peers = isinstance(error, ResetError) and not isinstance(error, AbortedError)
        self._is_ours |= self._is_aborted and not is_peers

    def _meaning(self, error: Exception) -> str:
        """Return an error's message for users of the commands."""
        if self._has_peer_closed(error):
            return PEER_CLOSED
        if not isinstance(error, (TimeoutError, PeerGoneError)):
            return str(error)
        self._look()
        silent_s = time.monotonic() - self._heard_at
        silent = f"the peer stopped answering: nothing acknowledged for {silent_s:.0f} s"
        if isinstance(error, PeerGoneError):
            return silent
        late = self._late_close()
        if silent_s >= self.close_s:
            return f"{silent}; {late}"
        # What is queued has to leave first, and then what waits in routers has to arrive.
        return f"{late}; on a slow path, allow more time with --close-timeout"

    def _late_close(self) -> str:
        """Return how far the close had come when its time was over."""
        sent, limit = self._counts(self.connection.stats()), f"within {self.close_s:g} s"
        unacknowledged = sent["unacknowledged"]
        rest = f", {unacknowledged:,} not acknowledged" if unacknowledged else ""
        if discarded := sent["discarded"]:
            return f"not all data left {limit}: {datagrams(discarded)} discarded{rest}"
        left = f"; all datagrams had left{rest}" if sent["datagrams"] else ""
        return f"the peer did not confirm the close {limit}{left}"

    def _has_peer_closed(self, error: Exception) -> bool:
        if self._is_ending:
            return False
        try:
            return has_peer_closed(
                self.connection, error, self.close_s, is_over=lambda: self._is_stopped
            )
        except KeyboardInterrupt as interrupt:
            self.stop(interrupt)
            return False

    @property
    def _is_aborted(self) -> bool:
        return self.connection.closed == Closed(code=ABORTED, name="aborted")

    def _counts(self, stats: Stats) -> dict[str, Any]:
        """Return counts of this end's datagrams by outcome."""
        acknowledged = stats.acknowledged
        # What was queued and has not left is not sent. An interrupt may come between queuing a
        # datagram and counting it.
        return {
            "datagrams": stats.datagrams_sent,
            "bytes": stats.bytes_sent,
            "discarded": max(0, self._sent - stats.datagrams_sent),
            "unacknowledged": (
                None if acknowledged is None else max(0, stats.datagrams_sent - acknowledged)
            ),
        }

    def _document(self, seconds: float, intervals: list[dict[str, Any]] | None) -> dict[str, Any]:
        closed, stats = self.connection.closed, self.connection.stats()
        sent = self._counts(stats)
        if self.echo:
            sent["too_large"] = self._too_large
        received: dict[str, Any] = self._check.as_dict()
        if self.digests:
            sent["digests"] = self._digests["sent"]
            received["digests"] = self._digests["received"]
        file = self.assembly and self.assembly.as_dict()
        error = self._error or (self.assembly and self.assembly.fault())
        return {
            "ok": error is None,
            "error": error,
            "interrupted": self._is_stopped,
            "seconds": seconds,
            "peer": place.of_peer(self.connection),
            "service_code": self.connection.service_code,
            "ccid": list(self.connection.ccids),
            "sent": sent,
            "received": received,
            **({} if file is None else {"file": file}),
            "end": closed
            and {"origin": "local" if self._is_ours else "remote", **closed.to_dict()},
            "stats": stats.to_dict(),
            **({} if intervals is None else {"intervals": intervals}),
        }


def unconnected(peer: str, seconds: float, error: str, *, interrupted: bool) -> dict[str, Any]:
    """Return the document of an exchange for which no connection was made.

    It has the fields that every exchange has. Fields that only a connection has are None.
    """
    of_a_connection = ("service_code", "ccid", "sent", "received", "end", "stats")
    return {
        "ok": False,
        "error": error,
        "interrupted": interrupted,
        "seconds": seconds,
        "peer": peer,
        **dict.fromkeys(of_a_connection),
    }


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:DIGEST]
