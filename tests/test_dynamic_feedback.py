"""Dynamic feedback (Sarwar et al. 2008, equation 2) on real sockets, over a path with delay."""

from __future__ import annotations

import heapq
import selectors
import socket
import threading
import time
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING, Self

from patience import PATIENCE_S
from skywave.net import Config, Endpoint
from skywave.scenario import DynamicFeedback, Tfrc

if TYPE_CHECKING:
    from types import TracebackType

ONE_WAY_S = 0.1
RTT_S = 2 * ONE_WAY_S
RTT_REF_MS = 20
N = round(RTT_S * 1000 / RTT_REF_MS)
"""N of equation 2 on this path, if as many packets arrive in a round-trip time."""
SECONDS = 3.0
SETTLED_S = 1.5
"""From then on the rate allows more than N packets in a round-trip time."""


class Relay:
    """Passes datagrams between a client and a server, each ``ONE_WAY_S`` later.

    ``returned_s`` has the times at which datagrams of the server arrived.
    """

    def __init__(self, server: int) -> None:
        """Listen on loopback, for a server at this UDP port."""
        self.near, self.far = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        for each in (self.near, self.far):
            each.bind(("127.0.0.1", 0))
        self.server = ("127.0.0.1", server)
        self.client: tuple[str, int] | None = None
        self.returned_s: list[float] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    @property
    def port(self) -> int:
        """The UDP port for the client."""
        return int(self.near.getsockname()[1])

    def __enter__(self) -> Self:
        """Start."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        """Stop, and close the sockets."""
        self._ended.set()
        self._thread.join()
        self.near.close()
        self.far.close()

    def _run(self) -> None:
        waiting: list[tuple[float, int, bytes, bool]] = []
        order = count()
        selector = selectors.DefaultSelector()
        for each in (self.near, self.far):
            selector.register(each, selectors.EVENT_READ)
        while not self._ended.is_set():
            next_s = waiting[0][0] - time.monotonic() if waiting else 0.05
            for key, _ in selector.select(max(next_s, 0)):
                forward = key.fileobj is self.near
                data, sender = (self.near if forward else self.far).recvfrom(65_535)
                now = time.monotonic()
                if forward:
                    self.client = sender
                else:
                    self.returned_s.append(now)
                heapq.heappush(waiting, (now + ONE_WAY_S, next(order), data, forward))
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, data, forward = heapq.heappop(waiting)
                if forward:
                    self.far.sendto(data, self.server)
                elif self.client is not None:
                    self.near.sendto(data, self.client)
        selector.close()


def reports_per_rtt(tfrc: Tfrc, port: int) -> float:
    """Return how many packets the receiver sends in a round-trip time once the rate is high."""
    config = Config(ccid=3, tfrc=tfrc)
    with (
        closing(Endpoint.udp("127.0.0.1", 0)) as near,
        closing(Endpoint.udp("127.0.0.1", 0)) as far,
    ):
        listener = far.listen(port, config=config)
        with Relay(far.local_address[1]) as relay:
            client = near.connect("127.0.0.1", port, udp_port=relay.port, config=config)
            server = listener.accept(timeout_s=PATIENCE_S)
            began = time.monotonic()
            while time.monotonic() < began + SECONDS:
                client.send(bytes(500), timeout_s=SECONDS)
            ended = time.monotonic()
            assert server.stats().datagrams_received > 0
            client.abort()
        settled = [at for at in relay.returned_s if began + SETTLED_S <= at <= ended]
        return len(settled) / (ended - began - SETTLED_S) * RTT_S


def test_reports_are_as_many_as_equation_2_says() -> None:
    """A stall of the machine delays reports, and a report covers what came meanwhile: the bounds
    are wide, but a factor of N lies between the two.
    """
    standard = reports_per_rtt(Tfrc(receiver_rtt="option"), 5051)
    assert 0.5 <= standard <= 2
    dynamic = reports_per_rtt(
        Tfrc(receiver_rtt="option", feedback=DynamicFeedback(rtt_ref=f"{RTT_REF_MS} ms")), 5052
    )
    assert 0.5 * N <= dynamic <= 1.5 * N
