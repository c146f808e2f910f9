"""A path between UDP sockets that can lose packets, or fall silent, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from patience import PATIENCE_S
from validation.soak import path

if TYPE_CHECKING:
    from collections.abc import Callable


class Relay:
    """Passes UDP packets between clients and a server until it is silenced.

    ``loses`` says of each packet to the server, by its number, whether it is lost.
    """

    def __init__(
        self, server_port: int, loses: Callable[[int, bytes], bool] = lambda *_: False
    ) -> None:
        self._server = ("127.0.0.1", server_port)
        self._loses = loses
        self._count = 0
        self._silent = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._relay = self._loop.run_until_complete(self._open())
        self.port: int = self._relay.port
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def silence(self) -> None:
        """Pass nothing more."""
        self._silent.set()

    def stop(self) -> None:
        """End it."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._loop.run_until_complete(self._close())
        self._loop.close()

    async def _open(self) -> path.Relay:
        return path.Relay(self._server, self._fate)

    async def _close(self) -> None:
        self._relay.close()

    def _fate(self, packet: bytes, to_server: bool) -> list[float]:
        if self._silent.is_set():
            return []
        if to_server:
            self._count += 1
            if self._loses(self._count, packet):
                return []
        return [0.0]
