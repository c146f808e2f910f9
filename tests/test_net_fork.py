"""Sockets and forks: a fork neither ends nor uses its parent's connections, and opens its own."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import threading
import warnings
from typing import TYPE_CHECKING

import pytest

from forks import in_a_fork
from patience import PATIENCE_S
from skywave.net import Connection, Endpoint, ForkedError, Listener, NetError, aio

if TYPE_CHECKING:
    from collections.abc import Callable

PORT = 5001


class Ends:
    """A connection and everything that belongs to it."""

    def __init__(self) -> None:
        self.endpoint: Endpoint | None = Endpoint.udp("127.0.0.1", 0)
        self.listener: Listener | None = self.endpoint.listen(PORT)
        self.client: Connection | None = self.endpoint.connect(
            "127.0.0.1", PORT, udp_port=self.endpoint.local_address[1]
        )
        self.server: Connection | None = self.listener.accept(timeout_s=PATIENCE_S)

    def drop(self) -> None:
        self.endpoint = self.listener = self.client = self.server = None
        gc.collect()

    def work(self) -> None:
        """Assert that the connection is open, and carries a datagram."""
        assert self.client is not None
        assert self.server is not None
        self.client.send(b"still here")
        assert self.server.recv(timeout_s=PATIENCE_S) == b"still here"
        assert self.client.closed is None


def test_what_a_fork_drops_the_parent_keeps() -> None:
    ends = Ends()
    in_a_fork(ends.drop)
    ends.work()


def test_a_fork_that_ends_as_programs_do_leaves_the_parents_connection_alone() -> None:
    ends = Ends()
    context = multiprocessing.get_context("fork")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = context.Process(target=ends.drop)
        child.start()
    child.join(PATIENCE_S)
    assert child.exitcode == 0
    ends.work()


def test_every_call_on_what_is_the_parents_fails_at_once() -> None:
    ends = Ends()
    endpoint, listener, client = ends.endpoint, ends.listener, ends.client
    assert endpoint is not None
    assert listener is not None
    assert client is not None
    calls: list[Callable[[], object]] = [
        lambda: client.recv(timeout_s=2),
        lambda: client.send(b"no"),
        client.try_recv,
        client.flush,
        client.close,
        client.abort,
        client.stats,
        lambda: client.peer,
        lambda: client.peer_udp_port,
        lambda: client.closed,
        lambda: listener.accept(timeout_s=2),
        listener.try_accept,
        lambda: listener.port,
        lambda: endpoint.connect("127.0.0.1", PORT),
        lambda: endpoint.listen(PORT + 1),
        lambda: endpoint.local_address,
        endpoint.stats,
        endpoint.snapshot,
        endpoint.close,
        endpoint.abort,
    ]

    def child() -> None:
        for call in calls:
            with pytest.raises(ForkedError, match=rf"belongs to process {os.getppid()}\b.*open an"):
                call()

    in_a_fork(child)
    assert issubclass(ForkedError, NetError)
    ends.work()


def test_asyncio_says_so_too() -> None:
    async def main() -> None:
        endpoint = aio.Endpoint.udp("127.0.0.1", 0)
        listener = endpoint.listen(PORT)
        client = await endpoint.connect("127.0.0.1", PORT, udp_port=endpoint.local_address[1])
        server = await listener.accept()

        async def use() -> None:
            with pytest.raises(ForkedError):
                await client.recv()
            with pytest.raises(ForkedError):
                await listener.accept()

        # In a thread, which has no loop that runs.
        thread = threading.Thread(target=in_a_fork, args=[lambda: asyncio.run(use())])
        thread.start()
        await asyncio.to_thread(thread.join)
        await client.send(b"still here")
        assert await asyncio.wait_for(server.recv(), PATIENCE_S) == b"still here"
        endpoint.abort()

    asyncio.run(main())


def test_a_fork_has_endpoints_of_its_own() -> None:
    ends = Ends()

    def child() -> None:
        Ends().work()

        async def echo() -> None:
            endpoint = aio.Endpoint.udp("127.0.0.1", 0)
            listener = endpoint.listen(PORT)
            client = await endpoint.connect("127.0.0.1", PORT, udp_port=endpoint.local_address[1])
            server = await listener.accept()
            await client.send(b"hello")
            assert await server.recv() == b"hello"
            await client.close()

        asyncio.run(echo())
        # And a fork of the fork.
        in_a_fork(lambda: Ends().work())

    in_a_fork(child)
    ends.work()


def test_a_fork_reaches_its_parent_over_the_network() -> None:
    ends = Ends()
    assert ends.endpoint is not None
    assert ends.listener is not None
    port = ends.endpoint.local_address[1]

    def child() -> None:
        connection = Endpoint.udp("127.0.0.1", 0).connect("127.0.0.1", PORT, udp_port=port)
        connection.send(b"from the fork")
        connection.close(timeout_s=PATIENCE_S)

    in_a_fork(child)
    accepted = ends.listener.accept(timeout_s=PATIENCE_S)
    assert accepted.recv(timeout_s=PATIENCE_S) == b"from the fork"
