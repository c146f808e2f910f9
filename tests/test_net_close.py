"""The end of connections and endpoints whose peer does not answer: time limits, and abort."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from patience import PATIENCE_S
from relay import Relay
from skywave import Ack, Context, Control, Loss, Pacing, Timeout
from skywave.net import (
    AbortedError,
    Closed,
    ClosedError,
    Config,
    Connection,
    ConnectTimeoutError,
    DiscardedError,
    Endpoint,
    IdleTimeoutError,
    Listener,
    NetError,
    PeerGoneError,
    RefusedError,
    ResetError,
    aio,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PORT = 5001
SHORT_S = 0.2


@contextmanager
def to_a_server() -> Iterator[Relay]:
    """A relay to a server that accepts connections."""
    server = Endpoint.udp("127.0.0.1", 0)
    listener = server.listen(PORT)
    relay = Relay(server.local_address[1])
    try:
        yield relay
    finally:
        relay.stop()
        server.abort()
        del listener


@contextmanager
def to_silence() -> Iterator[tuple[Endpoint, Connection]]:
    """A connection whose peer no longer answers."""
    client = Endpoint.udp("127.0.0.1", 0)
    with to_a_server() as relay:
        connection = client.connect("127.0.0.1", PORT, udp_port=relay.port)
        relay.silence()
        yield client, connection
        client.abort()


def is_aborted(connection: Connection | aio.Connection) -> bool:
    closed = connection.closed
    return closed is not None and closed.name == "aborted"


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
        assert client.stats().connections == 0


def test_abort_does_not_wait() -> None:
    with to_silence() as (client, connection):
        client.abort()
        assert is_aborted(connection)
        client.close(timeout_s=PATIENCE_S)


def test_a_close_of_asyncio_that_is_cancelled_continues() -> None:
    async def main(relay: Relay) -> None:
        client = aio.Endpoint.udp("127.0.0.1", 0)
        one, other = [
            await client.connect("127.0.0.1", PORT, udp_port=relay.port) for _ in range(2)
        ]
        relay.silence()
        closing: list[aio.Connection | aio.Endpoint] = [one, client]
        for each, ends in zip(closing, (one, other), strict=True):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(SHORT_S):
                    await each.close()
            assert ends.closed is None
            each.abort()
            assert is_aborted(ends)
        await client.close()

    with to_a_server() as relay:
        asyncio.run(main(relay))


def test_a_close_in_time_is_no_error() -> None:
    with to_a_server() as relay:
        client = Endpoint.udp("127.0.0.1", 0)
        connection = client.connect("127.0.0.1", PORT, udp_port=relay.port)
        connection.close(timeout_s=PATIENCE_S)
        client.close(timeout_s=PATIENCE_S)
        closed = connection.closed
        assert closed is not None
        assert closed.name == "closed"


def test_with_closes_and_aborts_after_an_exception() -> None:
    with to_a_server() as relay, Endpoint.udp("127.0.0.1", 0) as client:
        with client.connect("127.0.0.1", PORT, udp_port=relay.port) as connection:
            connection.send(b"hello")
        assert connection.closed == Closed(code=1, name="closed")
        with (
            pytest.raises(ZeroDivisionError),
            client.connect("127.0.0.1", PORT, udp_port=relay.port) as connection,
        ):
            _ = 1 / 0
        assert is_aborted(connection)


@contextmanager
def connected(config: Config | None = None) -> Iterator[tuple[Connection, Connection, Listener]]:
    """Both ends of a connection, and the listener."""
    with Endpoint.udp("127.0.0.1", 0) as endpoint:
        listener = endpoint.listen(PORT, config=config)
        udp_port = endpoint.local_address[1]
        client = endpoint.connect("127.0.0.1", PORT, udp_port=udp_port, config=config)
        yield client, listener.accept(timeout_s=PATIENCE_S), listener


class Slow(Control):
    """A packet every 100 ms."""

    def on_start(self, context: Context) -> None:  # noqa: ARG002
        self.pacing = Pacing(0.1)

    def on_ack(self, ack: Ack) -> None:
        """Acknowledgements change nothing."""

    def on_loss(self, loss: Loss) -> None:
        """Losses change nothing."""

    def on_timeout(self, timeout: Timeout) -> None:
        """Timeouts change nothing."""


def test_a_close_tells_what_did_not_leave_within_linger() -> None:
    with connected(Config(control=Slow(), linger="50 ms")) as (client, server, _):
        for _number in range(10):
            client.send(b"data")
        with pytest.raises(DiscardedError, match=r"[1-9] queued datagrams were discarded"):
            client.close(timeout_s=PATIENCE_S)
        assert 1 <= sum(1 for _ in server) < 10
    assert issubclass(DiscardedError, ClosedError)


def test_a_block_tells_it_too() -> None:
    with connected(Config(control=Slow(), linger="50 ms")) as (client, _server, _):
        for _number in range(10):
            client.send(b"data")
        with pytest.raises(DiscardedError), client:
            pass


def test_a_peer_that_is_gone_has_an_error_of_its_own() -> None:
    quick = Config(silence_timeout="300 ms", keepalive="100 ms")
    with to_a_server() as relay, Endpoint.udp("127.0.0.1", 0) as client:
        connection = client.connect("127.0.0.1", PORT, udp_port=relay.port, config=quick)
        connection.send(b"hello")
        until = time.monotonic() + PATIENCE_S
        while not connection.stats().acknowledged and time.monotonic() < until:
            time.sleep(0.01)
        relay.silence()
        with pytest.raises(PeerGoneError, match="stopped answering"):
            connection.recv(timeout_s=PATIENCE_S)
        with pytest.raises(PeerGoneError):
            connection.send(b"too late")
    assert not issubclass(PeerGoneError, TimeoutError)


def test_an_idle_connection_has_an_error_of_its_own() -> None:
    with (
        connected(Config(idle_timeout="100 ms")) as (client, _server, _),
        pytest.raises(IdleTimeoutError, match="idle timeout"),
    ):
        client.recv(timeout_s=PATIENCE_S)


def test_some_errors_are_those_of_python_too() -> None:
    assert issubclass(ConnectTimeoutError, TimeoutError)
    assert issubclass(RefusedError, ConnectionRefusedError)
    assert issubclass(ResetError, ConnectionResetError)
    assert issubclass(NetError, OSError)


def test_what_was_aborted_is_closed() -> None:
    with connected() as (client, server, _):
        with client:
            client.abort()
        client.close()
        with pytest.raises(AbortedError):
            client.recv()
        with pytest.raises(ResetError):
            server.recv(timeout_s=PATIENCE_S)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_who_is_asked_to_stop_closes_in_the_background(stop: type[BaseException]) -> None:
    with connected() as (client, server, _):
        client.send(b"last words")
        with pytest.raises(stop), client:
            raise stop
        assert server.recv(timeout_s=PATIENCE_S) == b"last words"
        assert server.recv(timeout_s=PATIENCE_S) is None


def test_a_task_that_is_cancelled_closes_in_the_background() -> None:
    async def main() -> None:
        async with (
            aio.Endpoint.udp("127.0.0.1", 0) as server,
            aio.Endpoint.udp(udp_port=0) as client,
        ):
            udp_port = server.local_address[1]
            listener = server.listen(PORT)
            connection = await client.connect("127.0.0.1", PORT, udp_port=udp_port)
            accepted = await listener.accept()

            async def serve() -> None:
                async with accepted:
                    await accepted.send(b"hello")
                    await asyncio.sleep(PATIENCE_S)

            serving = asyncio.create_task(serve())
            assert await connection.recv() == b"hello"
            serving.cancel()
            async with asyncio.timeout(PATIENCE_S):
                assert await connection.recv() is None
            with pytest.raises(asyncio.CancelledError):
                await serving

    asyncio.run(main())


def test_a_server_that_is_interrupted_closes_its_connections() -> None:
    """As Ctrl-C does it: asyncio cancels the main task, and the program ends."""
    program = f"""
import asyncio
from skywave.net import aio

async def main():
    async with aio.Endpoint.udp("127.0.0.1", 0) as endpoint:
        listener = endpoint.listen({PORT})
        print(endpoint.local_address[1], flush=True)
        async with await listener.accept() as connection:
            await connection.send(b"hello")
            await asyncio.sleep({PATIENCE_S})

asyncio.run(main())
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            udp_port = int(server.stdout.readline())
            with Endpoint.udp("127.0.0.1", 0) as endpoint:
                connection = endpoint.connect("127.0.0.1", PORT, udp_port=udp_port)
                assert connection.recv(timeout_s=PATIENCE_S) == b"hello"
                server.send_signal(signal.SIGINT)
                assert connection.recv(timeout_s=PATIENCE_S) is None
            _, errors = server.communicate(timeout=PATIENCE_S)
        finally:
            server.kill()
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_a_listener_that_is_closed_accepts_no_more() -> None:
    with connected() as (client, server, listener):
        with listener:
            pass
        assert list(listener) == []
        with pytest.raises(ClosedError, match="listener"):
            listener.accept()
        server.send(b"still there")
        assert client.recv(timeout_s=PATIENCE_S) == b"still there"


def test_a_listener_of_asyncio_that_is_closed_accepts_no_more() -> None:
    async def main() -> None:
        async with aio.Endpoint.udp("127.0.0.1", 0) as endpoint:
            async with endpoint.listen(PORT) as listener:
                waiting = asyncio.create_task(listener.accept())
                await asyncio.sleep(0)
            with pytest.raises(ClosedError):
                await waiting
            assert [connection async for connection in listener] == []

    asyncio.run(main())
