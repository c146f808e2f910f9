"""One DCCP connection through the kernel's sockets: what runs in the guest.

``send HOST:PORT`` connects, ``listen ADDRESS:PORT`` accepts one connection. Both take the options
and print the JSON document that ``validation/linux/README.md`` describes, as ``skywave send`` and
``skywave listen`` do, so that the runner treats both ends alike.

The guest starts this file by itself: it imports nothing but Python's library.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import hashlib
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from types import FrameType

# <linux/dccp.h>, <bits/socket_type.h>
SOCK_DCCP = 6
IPPROTO_DCCP = 33
SOL_DCCP = 269
DCCP_SOCKOPT_SERVICE = 2
DCCP_SOCKOPT_CCID = 13
DCCP_SOCKOPT_TX_CCID = 14
DCCP_SOCKOPT_RX_CCID = 15

# What a socket's error after a Reset (net/dccp/input.c, dccp_reset_code_convert) says of its code.
RESET_CODES = {errno.ECONNRESET: 2, errno.ECONNREFUSED: 3, errno.EBADRQC: 8, errno.EUSERS: 9}
CLOSED = 1
ABORTED = 2

LINGER_S = 5
"""How long close() may take to empty the send queue; without SO_LINGER the queue is thrown away."""

FULL_QUEUE_S = 0.0005
"""Sleep while the send queue is full: send says EAGAIN, yet poll says that it can be written."""


class DeadlineError(Exception):
    """The connection was not over in time."""


def _give_up(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - signal's
    raise DeadlineError("not over when the runner gave up")


@dataclass
class Traffic:
    """Datagrams that went one way."""

    datagrams: int = 0
    digests: list[str] = field(default_factory=list)

    def add(self, datagram: bytes) -> None:
        """Count one datagram and note its digest."""
        self.datagrams += 1
        self.digests.append(hashlib.sha256(datagram).hexdigest()[:16])


class Connection:
    """A connection of which one end decides when it is over."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.timeout: float = options.timeout
        self.interval: float = options.gap
        self.deadline: float = time.monotonic() + self.timeout
        self.sent = Traffic()
        self.received = Traffic()
        self.ccid: list[int] | None = None
        self.end: dict[str, Any] | None = None

    def run(self) -> None:
        """Connect or accept, move datagrams, and close or await the other's close."""
        with self._established() as stream:
            stream.setblocking(False)
            self.ccid = _ccids(stream)  # says that there is a connection, whatever becomes of it
            self._exchange(stream)
            self.ccid = _ccids(stream)
            if self.end is None:
                abort = self.options.close == "reset"
                self.end = {"origin": "local", "code": ABORTED if abort else CLOSED}
                if abort:
                    _set_linger(stream, 0)

    def report(self, error: str | None) -> dict[str, Any]:
        """Return the document to print."""
        return {
            "ok": error is None,
            "error": error,
            "ccid": self.ccid,
            "sent": vars(self.sent),
            "received": vars(self.received),
            "end": self.end,
        }

    def _left(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise DeadlineError(f"not over within {self.timeout:g} s")
        return left

    def _socket(self, host: str) -> socket.socket:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        new = socket.socket(family, SOCK_DCCP, IPPROTO_DCCP)
        new.setsockopt(SOL_DCCP, DCCP_SOCKOPT_SERVICE, struct.pack("!I", self.options.service_code))
        if self.options.ccid is not None:
            new.setsockopt(SOL_DCCP, DCCP_SOCKOPT_CCID, bytes([self.options.ccid]))
        new.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _set_linger(new, LINGER_S)
        return new

    def _established(self) -> socket.socket:
        host, port = self.options.address
        if self.options.role == "send":
            stream = self._socket(host)
            stream.settimeout(self._left())
            stream.connect((host, port))
            return stream
        with self._socket(host) as listener:
            listener.bind((host, port))
            listener.listen(1)
            sys.stderr.write('{"listening": true}\n')
            sys.stderr.flush()
            with contextlib.suppress(OSError):
                os.fsync(2)  # User Mode Linux's hostfs shows the line to the host only now
            listener.settimeout(self._left())
            stream, _ = listener.accept()
            return stream

    def _exchange(self, stream: socket.socket) -> None:
        """Send and receive until the peer ends, or until it is on us to end."""
        options = self.options
        poll = select.poll()
        poll.register(stream, select.POLLIN)
        next_send = last = time.monotonic()
        while True:
            now = time.monotonic()
            sending = self.sent.datagrams < options.count
            if sending and now >= next_send:
                pause = self._send(stream)
                next_send = now + pause
                last = now
                continue
            quiet = last + options.close_idle
            ending = not sending and options.close != "await"
            if ending and now >= quiet:
                return
            until = next_send if sending else quiet if ending else now + self._left()
            left = self._left()
            if not poll.poll(1000 * max(0.0, min(until - now, left)) + 0.5):
                continue
            if not self._receive(stream):
                return
            last = time.monotonic()

    def _send(self, stream: socket.socket) -> float:
        """Send one datagram; return seconds until the next may go."""
        size = self.options.size
        index = self.sent.datagrams.to_bytes(8, "big")
        datagram = (index + os.urandom(max(0, size - len(index))))[:size]
        try:
            stream.send(datagram)
        except BlockingIOError:
            return FULL_QUEUE_S
        except OSError as error:
            if error.errno not in (errno.EPIPE, *RESET_CODES):
                raise
            return self.timeout  # the peer has ended: recv is about to say how
        self.sent.add(datagram)
        return self.interval

    def _receive(self, stream: socket.socket) -> bool:
        """Receive one datagram; false, with ``end`` set, where the connection is over."""
        try:
            datagram = stream.recv(65536)
        except BlockingIOError:
            return True
        except OSError as error:
            if error.errno not in RESET_CODES:
                raise
            self.end = {"origin": "remote", "code": RESET_CODES[error.errno]}
            return False
        if not datagram:  # a Reset too ends the stream, and leaves its code as the socket's error
            reset = stream.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            self.end = {"origin": "remote", "code": RESET_CODES.get(reset, CLOSED)}
            return False
        self.received.add(datagram)
        return True


def _ccids(stream: socket.socket) -> list[int]:
    return [
        stream.getsockopt(SOL_DCCP, option)
        for option in (DCCP_SOCKOPT_TX_CCID, DCCP_SOCKOPT_RX_CCID)
    ]


def _set_linger(stream: socket.socket, seconds: int) -> None:
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, seconds))


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def _seconds(text: str) -> float:
    """Return a time in milliseconds, "20 ms", in seconds."""
    return float(text.removesuffix(" ms")) / 1000


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("role", choices=("send", "listen"))
    parser.add_argument("address", type=_address)
    parser.add_argument("--ccid", type=int)
    parser.add_argument("--service-code", type=int, required=True)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--size", type=int, default=0)
    parser.add_argument("--gap", type=_seconds, default=0.0)
    parser.add_argument("--close-idle", type=_seconds, default=0.0)
    parser.add_argument("--close", choices=("first", "await", "reset"), default="await")
    parser.add_argument("--timeout", type=float, default=20.0)
    return parser.parse_args()


def main() -> int:
    """Run one connection and print what happened; 1 where it failed."""
    signal.signal(signal.SIGTERM, _give_up)
    connection = Connection(_options())
    error = None
    try:
        connection.run()
    except (OSError, DeadlineError) as failure:
        error = f"{type(failure).__name__}: {failure}"
    sys.stdout.write(json.dumps(connection.report(error)) + "\n")
    return 0 if error is None else 1


if __name__ == "__main__":
    sys.exit(main())
