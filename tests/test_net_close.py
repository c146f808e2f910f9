"""The end of connections and endpoints whose peer does not answer: time limits, and abort."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from relay import Relay
from skywave.net import Connection, Endpoint, aio

if TYPE_CHECKING:
    from collections.abc import Iterator

PORT = 5001
PATIENCE_S = 60
SHORT_S = 0.2


@contextmanager
def to_a_server() -> Iterator[Relay]:
    """A relay to a server that accepts connections."""
    server = Endpoint.udp("127.0.0.1:0")
    listener = server.listen(PORT)
    relay = Relay(int(server.local_address.rpartition(":")[2]))
    try:
        yield relay
    finally:
        relay.stop()
        server.abort()
        del listener


@contextmanager
def to_silence() -> Iterator[tuple[Endpoint, Connection]]:
    """A connection whose peer no longer answers."""
    client = Endpoint.udp("127.0.0.1:0")
    with to_a_server() as relay:
        connection = client.connect("127.0.0.1", PORT, udp_port=relay.port)
        relay.silence()
        yield client, connection
        client.abort()


def is_aborted(connection: Connection | aio.Connection) -> bool:
    closed = connection.closed
    return closed is not None and closed["name"] == "aborted"


def test_a_close_that_takes_too_long_aborts_and_counts_what_is_discarded() -> None:
    with to_silence() as (_, connection):
        for _ in range(500):
            connection.send(bytes(1000))
        with pytest.raises(TimeoutError, match=rf"within {SHORT_S} s.*aborted.*discarded: [1-9]"):
            connection.close(timeout_s=SHORT_S)
        assert is_aborted(connection)


def test_an_endpoint_closes_within_its_time_and_aborts_the_rest() -> None:
    with to_silence() as (client, connection):
        with pytest.raises(TimeoutError, match=rf"within {SHORT_S} s; aborted: 1"):
            client.close(timeout_s=SHORT_S)
        assert is_aborted(connection)
        # Nothing is left to wait for.
        client.close(timeout_s=PATIENCE_S)
        assert client.stats()["connections"] == 0


def test_abort_does_not_wait() -> None:
    with to_silence() as (client, connection):
        client.abort()
        assert is_aborted(connection)
        client.close(timeout_s=PATIENCE_S)


def test_asyncio_has_the_same_limits() -> None:
    async def main(relay: Relay) -> None:
        client = aio.Endpoint.udp("127.0.0.1:0")
        one, other, third = [
            await client.connect("127.0.0.1", PORT, udp_port=relay.port) for _ in range(3)
        ]
        relay.silence()
        with pytest.raises(TimeoutError, match="aborted"):
            await one.close(timeout_s=SHORT_S)
        assert is_aborted(one)

        # A close that is cancelled goes on, so that an abort can follow it.
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(SHORT_S):
                await other.close()
        assert other.closed is None
        other.abort()
        assert is_aborted(other)

        with pytest.raises(TimeoutError, match="aborted: 1"):
            await client.close(timeout_s=SHORT_S)
        assert is_aborted(third)
        await client.close()

    with to_a_server() as relay:
        asyncio.run(main(relay))


def test_a_close_in_time_is_no_error() -> None:
    with to_a_server() as relay:
        client = Endpoint.udp("127.0.0.1:0")
        connection = client.connect("127.0.0.1", PORT, udp_port=relay.port)
        connection.close(timeout_s=PATIENCE_S)
        client.close(timeout_s=PATIENCE_S)
        closed = connection.closed
        assert closed is not None
        assert closed["name"] == "closed"


def test_with_closes_and_aborts_after_an_exception() -> None:
    with to_a_server() as relay, Endpoint.udp("127.0.0.1:0") as client:
        with client.connect("127.0.0.1", PORT, udp_port=relay.port) as connection:
            connection.send(b"hello")
        assert connection.closed == {"code": 1, "name": "closed"}
        with (
            pytest.raises(ZeroDivisionError),
            client.connect("127.0.0.1", PORT, udp_port=relay.port) as connection,
        ):
            _ = 1 / 0
        assert is_aborted(connection)
