"""DCCP on real sockets from Python: the blocking face, asyncio's, and what errors say."""

from __future__ import annotations

import asyncio
import pydoc
import re
from itertools import count
from typing import TYPE_CHECKING

import pytest

from patience import PATIENCE_S
from skywave.net import (
    BadServiceCodeError,
    Closed,
    ClosedError,
    Config,
    Connection,
    ConnectionSnapshot,
    ConnectTimeoutError,
    DatagramTooLargeError,
    Endpoint,
    EndpointStats,
    Listener,
    NetError,
    RefusedError,
    ResetError,
    Snapshot,
    Stats,
    Totals,
    aio,
)
from skywave.net.load import Check, datagram

if TYPE_CHECKING:
    from collections.abc import Iterator

PORTS = count(5001)
IMPATIENT_S = 0.000_3
"""About as long as a wait for a datagram on loopback, so that many are cancelled as it arrives."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A UDP endpoint on loopback, closed in the end."""
    opened = Endpoint.udp("127.0.0.1", 0)
    yield opened
    opened.close()


def pair(
    endpoint: Endpoint, config: Config | None = None
) -> tuple[Connection, Connection, Listener]:
    """A client and a server end over one socket."""
    listener = endpoint.listen(next(PORTS), config=config)
    client = endpoint.connect(
        "127.0.0.1", listener.port, udp_port=endpoint.local_address[1], config=config
    )
    return client, listener.accept(timeout_s=PATIENCE_S), listener


@pytest.mark.parametrize("ccid", [2, 3, 4])
def test_datagrams_arrive_whole_and_in_order(endpoint: Endpoint, ccid: int) -> None:
    client, server, _listener = pair(endpoint, Config(ccid=ccid, service_codes=("TEST",)))
    check = Check()
    for index in range(20):
        client.send(datagram(index, 100 + index))
    while check.received < 20:
        data = server.recv(timeout_s=PATIENCE_S)
        assert data is not None
        check.take(data)
    whole = Check(received=20, size=sum(range(100, 120)))
    assert check.as_dict() | {"missing": 0} == whole.as_dict()
    assert client.service_code == "SC:TEST"
    stats = client.stats()
    assert stats.datagrams_sent == 20
    assert (stats.cwnd is None) == (ccid != 2)
    assert (stats.rate_bps is None) == (ccid == 2)


def test_the_initial_ssthresh_is_that_of_the_configuration(endpoint: Endpoint) -> None:
    for config in (Config(initial_ssthresh=20), Config(control="cubic", initial_ssthresh=20)):
        client, _server, _listener = pair(endpoint, config)
        assert client.stats().ssthresh == 20
    with pytest.raises(ValueError, match="initial_ssthresh: CCID 3 is TFRC"):
        pair(endpoint, Config(ccid=3, initial_ssthresh=20))


def test_without_a_configuration_the_path_decides_how_large_a_datagram_is(
    endpoint: Endpoint,
) -> None:
    sizes = [pair(endpoint, config)[0].max_datagram_size for config in (None, Config())]
    assert sizes == [64_000, 64_000]


def test_a_close_ends_the_other_side_quietly(endpoint: Endpoint) -> None:
    client, server, _listener = pair(endpoint)
    client.send(b"last words")
    client.close(timeout_s=PATIENCE_S)
    assert server.recv() == b"last words"
    assert server.recv() is None
    closed = client.closed
    assert closed is not None
    assert (closed.code, closed.name) == (1, "closed")
    for end in (client, server):
        with pytest.raises(ClosedError, match="closed"):
            end.send(b"too late")


def test_a_reset_is_an_error_with_its_code(endpoint: Endpoint) -> None:
    client, server, _listener = pair(endpoint)
    client.abort()
    with pytest.raises(ResetError, match="Reset Code 2"):
        server.recv(timeout_s=PATIENCE_S)


def test_no_datagram_in_time(endpoint: Endpoint) -> None:
    client, _server, _listener = pair(endpoint)
    with pytest.raises(TimeoutError, match="no datagram within"):
        client.recv(timeout_s=0.05)


def test_nobody_listens(endpoint: Endpoint) -> None:
    with pytest.raises(RefusedError, match="nobody listens"):
        endpoint.connect("127.0.0.1", 9, udp_port=endpoint.local_address[1])


def test_another_service(endpoint: Endpoint) -> None:
    listener = endpoint.listen(next(PORTS), config=Config(service_codes=("VOIP",)))
    with pytest.raises(BadServiceCodeError, match="service code"):
        endpoint.connect(
            "127.0.0.1",
            listener.port,
            udp_port=endpoint.local_address[1],
            config=Config(service_codes=("FILE",)),
        )


def test_nobody_answers(endpoint: Endpoint) -> None:
    # 192.0.2.0/24 is for documentation (RFC 5737): nothing is there.
    with pytest.raises(NetError) as caught:
        endpoint.connect("192.0.2.1", 5001, config=Config(connect_timeout="200 ms"))
    assert isinstance(caught.value, ConnectTimeoutError) or "route" in str(caught.value)


def test_a_datagram_larger_than_the_path_takes(endpoint: Endpoint) -> None:
    client, _server, _listener = pair(endpoint)
    largest = client.max_datagram_size
    with pytest.raises(DatagramTooLargeError, match=str(largest)):
        client.send(bytes(largest + 1))


def test_a_time_without_a_unit_is_refused() -> None:
    with pytest.raises(TypeError, match="5 is not a Duration: give text with a unit"):
        Config(linger=5)  # type: ignore[arg-type]


def test_what_is_no_configuration_is_refused(endpoint: Endpoint) -> None:
    with pytest.raises(TypeError, match=r"config is 5: give a skywave\.net\.Config"):
        endpoint.listen(next(PORTS), config=5)  # type: ignore[arg-type]


def test_a_wait_that_is_cancelled_loses_no_datagram() -> None:
    datagrams = 2_000

    async def main() -> list[int]:
        endpoint = aio.Endpoint.udp("127.0.0.1", 0)
        listener = endpoint.listen(next(PORTS))
        port = endpoint.local_address[1]
        client, server = await asyncio.gather(
            endpoint.connect("127.0.0.1", listener.port, udp_port=port), listener.accept()
        )

        async def send() -> None:
            for number in range(datagrams):
                await client.send(number.to_bytes(4, "big"))
                if number % 4 == 0:
                    await asyncio.sleep(IMPATIENT_S)
            await client.close()

        sending = asyncio.create_task(send())
        arrived, cancelled = [], 0
        while True:
            try:
                data = await asyncio.wait_for(server.recv(), IMPATIENT_S)
            except TimeoutError:
                cancelled += 1
                continue
            if data is None:
                break
            arrived.append(int.from_bytes(data, "big"))
        await sending
        await endpoint.close()
        assert cancelled > 0
        return arrived

    assert asyncio.run(main()) == list(range(datagrams))


def test_a_wait_that_is_cancelled_loses_no_connection() -> None:
    clients = 200

    async def main() -> int:
        endpoint = aio.Endpoint.udp("127.0.0.1", 0)
        listener = endpoint.listen(next(PORTS))
        port = endpoint.local_address[1]

        async def connect() -> list[aio.Connection]:
            return [
                await endpoint.connect("127.0.0.1", listener.port, udp_port=port)
                for _ in range(clients)
            ]

        connecting = asyncio.create_task(connect())
        accepted: list[aio.Connection] = []
        cancelled = 0
        while len(accepted) < clients and cancelled < 100_000:
            try:
                accepted.append(await asyncio.wait_for(listener.accept(), IMPATIENT_S))
            except TimeoutError:
                cancelled += 1
        for connection in (*await connecting, *accepted):
            connection.abort()
        await endpoint.close()
        assert cancelled > 0
        return len(accepted)

    assert asyncio.run(main()) == clients


def test_asyncio_serves_many_at_once() -> None:
    async def echo(listener: aio.Listener, clients: int) -> None:
        async def serve(connection: aio.Connection) -> None:
            async for data in connection:
                await connection.send(data)

        accepted = [await listener.accept() for _ in range(clients)]
        await asyncio.gather(*map(serve, accepted))

    async def ask(endpoint: aio.Endpoint, port: int, number: int) -> bytes | None:
        address = endpoint.local_address[1]
        async with await endpoint.connect("127.0.0.1", port, udp_port=address) as connection:
            await connection.send(datagram(number, 200))
            return await connection.recv()

    async def main() -> None:
        endpoint = aio.Endpoint.udp("127.0.0.1", 0)
        listener = endpoint.listen(next(PORTS))
        server = asyncio.create_task(echo(listener, 10))
        asked = (ask(endpoint, listener.port, number) for number in range(10))
        answers = await asyncio.gather(*asked)
        assert answers == [datagram(number, 200) for number in range(10)]
        await server
        await endpoint.close()

    asyncio.run(main())


def test_a_generated_load_shows_what_the_network_did() -> None:
    check = Check()
    altered = bytearray(datagram(3, 64))
    altered[40] ^= 1
    for data in (
        datagram(1, 64),
        datagram(0, 64),
        datagram(1, 64),
        bytes(altered),
        datagram(5, 64),
        b"something else",
        b"",
    ):
        check.take(data)
    assert check.as_dict() == {
        "datagrams": 7,
        "bytes": 5 * 64 + 14,
        "missing": 3,
        "altered": 1,
        "duplicates": 1,
        "reordered": 1,
        "foreign": 2,
    }


@pytest.mark.parametrize(
    "kind", [Stats, Totals, EndpointStats, ConnectionSnapshot, Snapshot, Closed]
)
def test_help_describes_every_key(kind: type) -> None:
    shown = pydoc.plain(pydoc.render_doc(kind))
    for key in kind.__annotations__:
        assert re.search(rf"^ \|      {key}: [A-Z]", shown, flags=re.MULTILINE), key
