"""DCCP for asyncio: what :mod:`skywave.net` has, awaited.

::

    import asyncio
    from skywave.net import aio

    async def main():
        endpoint = aio.Endpoint.udp("127.0.0.1:0")
        connection = await endpoint.connect("127.0.0.1", 5001)
        await connection.send(b"hello")
        await connection.close()

    asyncio.run(main())
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from skywave import net
from skywave.net.config import UDP_PORT, Config

if TYPE_CHECKING:
    from types import TracebackType


class Connection:
    """A connection; see :class:`skywave.net.Connection`."""

    def __init__(self, blocking: net.Connection) -> None:
        self._blocking = blocking

    async def send(self, data: bytes) -> None:
        """Queue a datagram, once there is room for it."""
        await self._blocking.send_async(data)

    async def recv(self) -> bytes | None:
        """Return the next datagram; ``None`` once the connection has been closed."""
        return await self._blocking.recv_async()

    async def close(self) -> None:
        """Send what waits, close, and wait until the peer has agreed."""
        await self._blocking.close_async()

    def abort(self) -> None:
        """End the connection at once; what waits to be sent is discarded."""
        self._blocking.abort()

    def stats(self) -> net.Stats:
        """Return counters and the state of congestion control."""
        return self._blocking.stats()

    @property
    def max_datagram_size(self) -> int:
        """The most bytes that one datagram can have (RFC 4340 section 14)."""
        return self._blocking.max_datagram_size

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            await self.close()
        else:
            self.abort()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        data = await self.recv()
        if data is None:
            raise StopAsyncIteration
        return data


class Listener:
    """Takes connections on one port; see :class:`skywave.net.Listener`."""

    def __init__(self, blocking: net.Listener) -> None:
        self._blocking = blocking

    @property
    def port(self) -> int:
        """The DCCP port."""
        return self._blocking.port

    async def accept(self) -> Connection:
        """Wait for the next connection whose handshake is complete."""
        return Connection(await self._blocking.accept_async())


class Endpoint:
    """A socket that any number of connections share; see :class:`skywave.net.Endpoint`."""

    def __init__(self, blocking: net.Endpoint) -> None:
        self._blocking = blocking

    @classmethod
    def udp(cls, address: str = f"0.0.0.0:{UDP_PORT}") -> Self:
        """Open a UDP socket for DCCP over UDP (RFC 6773); needs no privileges."""
        return cls(net.Endpoint.udp(address))

    @classmethod
    def raw(cls, address: str = "0.0.0.0") -> Self:  # noqa: S104  (any address is meant)
        """Open a raw socket for IP protocol 33; needs CAP_NET_RAW."""
        return cls(net.Endpoint.raw(address))

    @property
    def local_address(self) -> str:
        """The address of the socket."""
        return self._blocking.local_address

    async def connect(
        self, host: str, port: int, *, udp_port: int = UDP_PORT, config: Config | None = None
    ) -> Connection:
        """Connect to DCCP port ``port`` of ``host``."""
        return Connection(
            await self._blocking.connect_async(host, port, udp_port=udp_port, config=config)
        )

    def listen(self, port: int, *, config: Config | None = None) -> Listener:
        """Take connections on DCCP port ``port``."""
        return Listener(self._blocking.listen(port, config=config))

    async def close(self) -> None:
        """Close all connections and then the socket."""
        await self._blocking.close_async()
