"""DCCP for asyncio: the API of :mod:`skywave.net` with awaitable methods.

::

    import asyncio
    from skywave.net import aio

    async def main():
        endpoint = aio.Endpoint.udp(udp_port=0)
        connection = await endpoint.connect("127.0.0.1", 5001)
        await connection.send(b"hello")
        await connection.close()

    asyncio.run(main())
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import Self, TypeVar

from skywave import net
from skywave.net.protocol import UDP_PORT

__all__ = ["Connection", "Endpoint", "Listener"]

Blocking = TypeVar("Blocking")

TURN = 32
"""How much a task takes without waiting before other tasks get their turn."""


class _Block(ABC):
    """``async with`` ends it."""

    _blocking: net.Connection | net.Listener | net.Endpoint
    _taken = 0

    async def _take_turn(self) -> None:
        """Let other tasks run while one reads endlessly."""
        self._taken += 1
        if self._taken % TURN == 0:
            await asyncio.sleep(0)

    @abstractmethod
    async def _leave(self, kind: type[BaseException] | None) -> None:
        """End it, as fits the exception that leaves the block, if one does."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        await self._leave(kind)

    def __repr__(self) -> str:
        return repr(self._blocking).replace("skywave.net.", "skywave.net.aio.", 1)


class _Closing(_Block):
    """``async with`` closes it, and aborts it after an exception.

    If the task is cancelled, it is closed in the background.
    """

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    def close_in_background(self) -> None: ...

    @abstractmethod
    def abort(self) -> None: ...

    async def _leave(self, kind: type[BaseException] | None) -> None:
        if kind is None:
            await self.close()
        elif issubclass(kind, Exception):
            self.abort()
        else:
            self.close_in_background()


class Connection(_Closing):
    """A connection; see :class:`skywave.net.Connection`, whose calls raise the same errors.

    :meth:`Endpoint.connect` and :meth:`Listener.accept` create connections. ``async for`` gives one
    datagram after another, until the connection has been closed.
    """

    _blocking: net.Connection

    def __init__(self, blocking: net.Connection) -> None:
        self._blocking = _checked(blocking, net.Connection)

    async def send(self, data: bytes | bytearray | memoryview) -> None:
        """Queue a datagram, waiting for room if necessary."""
        await self._blocking._send_async(data)

    async def recv(self) -> bytes | None:
        """Return the next datagram, or ``None`` if the connection has been closed.

        Cancelling it, as ``asyncio.wait_for`` does, loses no datagram.
        """
        await self._take_turn()
        while True:
            # Between waiting and taking there is no place to be cancelled, so nothing is lost.
            try:
                return self._blocking.try_recv()
            except BlockingIOError:
                await self._blocking._readable_async()

    async def flush(self) -> None:
        """Wait until all queued datagrams have left."""
        await self._blocking._flush_async()

    async def close(self) -> None:
        """Send queued datagrams, close the connection, and wait until the peer confirms.

        If cancelled, as by ``asyncio.timeout``, closing continues; ``abort`` ends it.
        """
        await self._blocking._close_async()

    def close_in_background(self) -> None:
        """Close without waiting for the end."""
        self._blocking.close_in_background()

    def abort(self) -> None:
        """End the connection at once with a Reset. Queued datagrams are discarded."""
        self._blocking.abort()

    def stats(self) -> net.Stats:
        """Return counters and the state of congestion control."""
        return self._blocking.stats()

    @property
    def max_datagram_size(self) -> int:
        """The largest size of a datagram, in bytes (RFC 4340 section 14)."""
        return self._blocking.max_datagram_size

    @property
    def peer(self) -> tuple[str, int]:
        """The peer's host and DCCP port."""
        return self._blocking.peer

    @property
    def peer_udp_port(self) -> int | None:
        """The peer's UDP port; ``None`` over IP."""
        return self._blocking.peer_udp_port

    @property
    def service_code(self) -> str:
        """The Service Code, e.g. "SC:VOIP" or "SC=42"."""
        return self._blocking.service_code

    @property
    def ccids(self) -> tuple[int, int]:
        """The CCIDs of the data that this end sends and of the data that it receives."""
        return self._blocking.ccids

    @property
    def closed(self) -> net.Closed | None:
        """How the connection ended; ``None`` while it is open."""
        return self._blocking.closed

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        """Return the next datagram; the iteration ends when the connection has been closed."""
        data = await self.recv()
        if data is None:
            raise StopAsyncIteration
        return data


class Listener(_Block):
    """Accepts connections on one DCCP port; see :class:`skywave.net.Listener`.

    :meth:`Endpoint.listen` creates it. It accepts until it is closed or nothing refers to it.
    ``async with`` closes it, and ``async for`` gives one connection after another.
    """

    _blocking: net.Listener

    def __init__(self, blocking: net.Listener) -> None:
        self._blocking = _checked(blocking, net.Listener)

    @property
    def port(self) -> int:
        """The DCCP port."""
        return self._blocking.port

    async def accept(self) -> Connection:
        """Wait for the next connection whose handshake is complete.

        Cancelling it, as ``asyncio.wait_for`` does, loses no connection.
        """
        await self._take_turn()
        while True:
            try:
                return Connection(self._blocking.try_accept())
            except BlockingIOError:
                await self._blocking._acceptable_async()

    def close(self) -> None:
        """Stop accepting connections. Those that have been accepted stay open."""
        self._blocking.close()

    async def _leave(self, kind: type[BaseException] | None) -> None:  # noqa: ARG002
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Connection:
        """Return the next connection; the iteration ends when it or the endpoint is closed."""
        try:
            return await self.accept()
        except (net.ClosedError, net.EndpointClosedError):
            raise StopAsyncIteration from None


class Endpoint(_Closing):
    """A UDP or raw socket and the connections on it; see :class:`skywave.net.Endpoint`.

    :meth:`udp` and :meth:`raw` open it. Its calls raise the errors of the blocking ones.
    """

    _blocking: net.Endpoint

    def __init__(self, blocking: net.Endpoint) -> None:
        self._blocking = _checked(blocking, net.Endpoint)

    @classmethod
    def udp(
        cls, host: str = "", udp_port: int = UDP_PORT, *, config: net.EndpointConfig | None = None
    ) -> Self:
        """Open a UDP socket for DCCP over UDP (RFC 6773). This needs no privileges.

        Without a host, it is at all addresses of IPv4 and IPv6, or of IPv4 where the system has no
        IPv6. With ``udp_port=0`` the system chooses a port, as a client wants.
        """
        return cls(net.Endpoint.udp(host, udp_port, config=config))

    @classmethod
    def raw(
        cls,
        host: str = "0.0.0.0",  # noqa: S104  (all addresses are intended)
        *,
        config: net.EndpointConfig | None = None,
    ) -> Self:
        """Open a raw socket for IP protocol 33. This needs CAP_NET_RAW."""
        return cls(net.Endpoint.raw(host, config=config))

    @property
    def local_address(self) -> tuple[str, int]:
        """The host and the UDP port of the socket; the port is 0 over IP."""
        return self._blocking.local_address

    async def connect(
        self, host: str, port: int, *, udp_port: int = UDP_PORT, config: net.Config | None = None
    ) -> Connection:
        """Connect to DCCP port ``port`` of a host; see :meth:`skywave.net.Endpoint.connect`."""
        return Connection(
            await self._blocking._connect_async(host, port, udp_port=udp_port, config=config)
        )

    def listen(self, port: int, *, config: net.Config | None = None) -> Listener:
        """Accept connections on DCCP port ``port``."""
        return Listener(self._blocking.listen(port, config=config))

    async def close(self) -> None:
        """Close all connections and wait until they have ended.

        If cancelled, as by ``asyncio.timeout``, closing continues; ``abort`` ends it.
        """
        await self._blocking._close_async()

    def close_in_background(self) -> None:
        """Close without waiting for the end."""
        self._blocking.close_in_background()

    def abort(self) -> None:
        """End all connections at once with Resets. Queued datagrams are discarded."""
        self._blocking.abort()

    def stats(self) -> net.EndpointStats:
        """Return the endpoint's own counters."""
        return self._blocking.stats()

    def snapshot(self, most: int = 1000) -> net.Snapshot:
        """Return statistics of the ``most`` oldest connections one by one, and sums over all.

        It looks at each connection, and takes about a microsecond for each.
        """
        return self._blocking.snapshot(most)


def _checked(blocking: Blocking, kind: type[Blocking]) -> Blocking:
    if not isinstance(blocking, kind):
        raise TypeError(f"{blocking!r} is no {kind.__name__}: open one with Endpoint.udp")
    return blocking
