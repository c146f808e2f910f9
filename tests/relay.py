"""A path between two UDP sockets that can lose packets, or fall silent."""

from __future__ import annotations

import select
import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_S = 60


class Relay:
    """Passes UDP packets between a client and a server until it is silenced.

    ``loses`` says of each packet to the server, by its number, whether it is lost.
    """

    def __init__(
        self, server_port: int, loses: Callable[[int, bytes], bool] = lambda *_: False
    ) -> None:
        self._loses = loses
        self._count = 0
        self._server = ("127.0.0.1", server_port)
        self._client: tuple[str, int] | None = None
        self._near, self._far = (socket.socket(type=socket.SOCK_DGRAM) for _ in range(2))
        for each in (self._near, self._far):
            each.bind(("127.0.0.1", 0))
        self.port: int = self._near.getsockname()[1]
        self._silent = threading.Event()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def silence(self) -> None:
        """Pass nothing more."""
        self._silent.set()

    def stop(self) -> None:
        """End it."""
        self._done.set()
        self._thread.join(PATIENCE_S)
        self._near.close()
        self._far.close()

    def _run(self) -> None:
        while not self._done.is_set():
            ready, _, _ = select.select([self._near, self._far], [], [], 0.05)
            for each in ready:
                packet, sender = each.recvfrom(65_536)
                if each is self._near:
                    self._client = sender
                if self._silent.is_set():
                    continue
                if each is self._near:
                    self._count += 1
                    if not self._loses(self._count, packet):
                        self._far.sendto(packet, self._server)
                elif self._client is not None:
                    self._near.sendto(packet, self._client)
