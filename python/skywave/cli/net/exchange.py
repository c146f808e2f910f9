"""One end of a connection: send a load, receive data, close."""

from __future__ import annotations

import hashlib
import threading
import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from skywave.net import NetError
from skywave.net.load import Check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skywave.net import Connection

LOOK_S = 0.05
DIGEST = 16


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
        help="How to finish: close once everything is sent (first), reset, or await the peer."
    ),
]
IdleOption = Annotated[
    float,
    typer.Option(
        "--idle-ms",
        metavar="MS",
        min=0,
        help="Before closing, wait until nothing has been sent or received for this long.",
    ),
]
DigestsOption = Annotated[
    bool,
    typer.Option("--digests", help="With --json, list digests of datagrams (SHA-256, truncated)."),
]


@dataclass
class Exchange:
    """One end of a connection, from the handshake to its end."""

    connection: Connection
    source: Iterable[bytes]
    """The datagrams to send."""
    close: Ending
    idle_s: float = 0.0
    echo: bool = False
    """Whether to send received datagrams back."""
    sink: BinaryIO | None = None
    """Where to write received data, if anywhere."""
    most: int | None = None
    """The number of received datagrams after which to finish; ``None`` for no limit."""
    digests: bool = False
    show: Callable[[int, int], None] = lambda _datagrams, _size: None
    """Called with the total datagrams and bytes so far, sent or received."""
    _check: Check = field(default_factory=Check)
    _sent: int = 0
    _sent_bytes: int = 0
    _digests: dict[str, list[str]] = field(default_factory=lambda: {"sent": [], "received": []})
    _active: float = 0.0
    _error: str | None = None

    def run(self) -> dict[str, Any]:
        """Run the exchange to its end and return what happened, ready for JSON."""
        start = self._active = time.monotonic()
        receiver = threading.Thread(target=self._receive, daemon=True)
        receiver.start()
        ours = False
        try:
            self._send()
            if self.close is Ending.AWAIT or self.most is not None:
                self._await(receiver)
            if self.close is not Ending.AWAIT or self.most is not None:
                ours = self._end()
        except NetError as error:
            self._note(error)
        receiver.join()
        return self._document(time.monotonic() - start, ours=ours)

    def _send(self) -> None:
        for data in self.source:
            self.connection.send(data)
            self._count_sent(data)
            self.show(self._sent, self._sent_bytes)

    def _count_sent(self, data: bytes) -> None:
        self._sent += 1
        self._sent_bytes += len(data)
        self._active = time.monotonic()
        if self.digests:
            self._digests["sent"].append(_digest(data))

    def _receive(self) -> None:
        try:
            while self.most is None or self._check.received < self.most:
                data = self.connection.recv()
                if data is None:
                    return
                self._take(data)
        except NetError as error:
            self._note(error)

    def _take(self, data: bytes) -> None:
        self._check.take(data)
        self._active = time.monotonic()
        if self.digests:
            self._digests["received"].append(_digest(data))
        if self.sink is not None:
            self.sink.write(data)
        if self.echo:
            self.connection.send(data)
            self._count_sent(data)
        if not self._sent or self.echo:
            self.show(self._check.received, self._check.size)

    def _await(self, receiver: threading.Thread) -> None:
        while receiver.is_alive():
            receiver.join(LOOK_S)

    def _end(self) -> bool:
        """End the connection; return whether this end did so, rather than the peer."""
        while (wait_s := self._active + self.idle_s - time.monotonic()) > 0:
            time.sleep(min(wait_s, LOOK_S))
        if self.connection.closed is not None:
            return False
        if self.close is Ending.RESET:
            self.connection.flush()
            self.connection.abort()
        else:
            self.connection.close()
        return True

    def _note(self, error: NetError) -> None:
        # Our own reset is not a failure; nor is the peer's if we wait for the peer to finish.
        expected = self.close is Ending.RESET or self.close is Ending.AWAIT
        ended = self.connection.closed
        if not (expected and ended is not None and ended["code"] == ABORTED):
            self._error = str(error)

    def _document(self, seconds: float, *, ours: bool) -> dict[str, Any]:
        closed = self.connection.closed
        sent: dict[str, Any] = {"datagrams": self._sent, "bytes": self._sent_bytes}
        received: dict[str, Any] = self._check.as_dict()
        if self.digests:
            sent["digests"] = self._digests["sent"]
            received["digests"] = self._digests["received"]
        return {
            "ok": self._error is None,
            "error": self._error,
            "seconds": seconds,
            "peer": self.connection.peer,
            "service_code": self.connection.service_code,
            "ccid": list(self.connection.ccids),
            "sent": sent,
            "received": received,
            "end": closed and {"origin": "local" if ours else "remote", **closed},
            "stats": self.connection.stats(),
        }


ABORTED = 2


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:DIGEST]
