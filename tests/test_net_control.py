"""Controls in Python on sockets."""

from __future__ import annotations

import re
import signal
import threading
import time
import traceback
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from patience import PATIENCE_S
from skywave import (
    Ack,
    Cubic,
    Sent,
    Vcp,
)
from skywave.net import Config, Connection, Endpoint, Listener, ResetError
from test_control import Fails, Reno

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


PORTS = count(5001)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    opened = Endpoint.udp("127.0.0.1", 0)
    yield opened
    opened.close()


def connect(endpoint: Endpoint, client: Config, server: Config) -> tuple[Connection, Listener]:
    listener = endpoint.listen(next(PORTS), config=server)
    udp_port = endpoint.local_address[1]
    connection = endpoint.connect("127.0.0.1", listener.port, udp_port=udp_port, config=client)
    return connection, listener


def test_a_program_may_look_at_a_connection_while_its_control_is_called(
    endpoint: Endpoint,
) -> None:
    class Slow(Reno):
        """Lets other threads have the interpreter in the middle of a call."""

        def on_sent(self, sent: Sent) -> None:
            time.sleep(0)

    client, listener = connect(endpoint, Config(control=Slow()), Config(ccid=251))
    server = listener.accept(timeout_s=PATIENCE_S)
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            assert client.stats().queued >= 0
            assert client.closed is None

    looker = threading.Thread(target=look)
    looker.start()
    for _ in range(100):
        client.send(b"data")
    for _ in range(100):
        assert server.recv(timeout_s=PATIENCE_S) == b"data"
    over.set()
    looker.join()


class Calls(Reno):
    """Does something when its first acknowledgement arrives, and keeps what that raises."""

    act: ClassVar[Callable[[], object]]
    raised: ClassVar[list[RuntimeError]]

    def on_ack(self, ack: Ack) -> None:
        act, Calls.act = Calls.act, lambda: None
        try:
            act()
        except RuntimeError as error:
            Calls.raised.append(error)
        super().on_ack(ack)


def on_first_ack(act: Callable[[], object]) -> list[RuntimeError]:
    Calls.act = staticmethod(act)
    Calls.raised = []
    return Calls.raised


def exchange(client: Connection, server: Connection, count: int = 20) -> None:
    for _ in range(count):
        client.send(b"data", timeout_s=PATIENCE_S)
    for _ in range(count):
        assert server.recv(timeout_s=PATIENCE_S) == b"data"


USES: dict[str, Callable[[Endpoint, Connection, Listener], object]] = {
    "send": lambda _, connection, __: connection.send(b"more", timeout_s=1),
    "recv": lambda _, connection, __: connection.recv(timeout_s=1),
    "try_recv": lambda _, connection, __: connection.try_recv(),
    "flush": lambda _, connection, __: connection.flush(timeout_s=1),
    "close": lambda _, connection, __: connection.close(timeout_s=1),
    "abort": lambda _, connection, __: connection.abort(),
    "stats": lambda _, connection, __: connection.stats(),
    "ccids": lambda _, connection, __: connection.ccids,
    "closed": lambda _, connection, __: connection.closed,
    "Endpoint": lambda _, __, ___: Endpoint.udp("127.0.0.1", 0),
    "Endpoint.stats": lambda endpoint, _, __: endpoint.stats(),
    "Endpoint.snapshot": lambda endpoint, _, __: endpoint.snapshot(),
    "Endpoint.abort": lambda endpoint, _, __: endpoint.abort(),
    "Endpoint.close": lambda endpoint, _, __: endpoint.close(timeout_s=1),
    "accept": lambda _, __, listener: listener.accept(timeout_s=1),
    "Listener.close": lambda _, __, listener: listener.close(),
}


@pytest.mark.parametrize("use", USES)
def test_a_callback_cannot_use_the_network(endpoint: Endpoint, use: str) -> None:
    client, listener = connect(endpoint, Config(control=Calls()), Config(ccid=251))
    server = listener.accept(timeout_s=PATIENCE_S)
    raised = on_first_ack(lambda: USES[use](endpoint, client, listener))
    exchange(client, server)
    with pytest.raises(RuntimeError, match=r"^Calls\.on_ack called skywave\.net: "):
        raise raised[0]
    # Nothing has happened to it.
    exchange(client, server)
    assert client.closed is None


def test_what_a_callback_does_not_catch_resets_its_connection_alone(endpoint: Endpoint) -> None:
    class Asks(Reno):
        def on_ack(self, ack: Ack) -> None:
            client.stats()

    client, listener = connect(endpoint, Config(control=Asks()), Config(ccid=251))
    server = listener.accept(timeout_s=PATIENCE_S)
    other, listener = connect(endpoint, Config(), Config())
    witness = listener.accept(timeout_s=PATIENCE_S)
    with pytest.raises(RuntimeError, match=r"^Asks\.on_ack called skywave\.net: "):
        converse(client)
    with pytest.raises(ResetError, match="aborted"):
        converse(server)
    exchange(other, witness)


def test_a_callback_may_print_a_connection_and_drop_it(endpoint: Endpoint) -> None:
    printed: list[str] = []
    held: list[Connection] = []

    def drop() -> None:
        printed.append(repr(held[0]))
        held.clear()

    client, listener = connect(endpoint, Config(control=Calls()), Config(ccid=251))
    server = listener.accept(timeout_s=PATIENCE_S)
    raised = on_first_ack(drop)
    held.append(client)
    client.send(b"data")
    del client
    assert server.recv(timeout_s=PATIENCE_S) == b"data"
    # The last reference is gone, so the connection is closed.
    assert server.recv(timeout_s=PATIENCE_S) is None
    assert raised == []
    assert printed[0].startswith("<skywave.net.Connection to 127.0.0.1:")


@pytest.mark.parametrize("use", ["stats", "send", "abort", "Endpoint.snapshot"])
def test_a_thread_for_which_a_callback_waits_is_refused(endpoint: Endpoint, use: str) -> None:
    """Otherwise the two would wait for each other for ever."""
    client, listener = connect(endpoint, Config(control=Calls()), Config(ccid=251))
    server = listener.accept(timeout_s=PATIENCE_S)
    refused: list[RuntimeError] = []
    returned = threading.Event()

    def call() -> None:
        try:
            USES[use](endpoint, client, listener)
        except RuntimeError as error:
            refused.append(error)

    def wait() -> None:
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        returned.set()

    raised = on_first_ack(wait)
    client.send(b"data")
    assert server.recv(timeout_s=PATIENCE_S) == b"data"
    assert returned.wait(PATIENCE_S)
    assert raised == []
    with pytest.raises(RuntimeError, match=r"^Calls\.on_ack has kept its connection locked for "):
        raise refused[0]
    # It had no effect.
    exchange(client, server)


def test_a_slow_callback_is_announced_once(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    class Dawdles(Reno):
        def on_ack(self, ack: Ack) -> None:
            time.sleep(0.02)

    for _ in range(2):
        client, listener = connect(endpoint, Config(control=Dawdles()), Config(ccid=251))
        exchange(client, listener.accept(timeout_s=PATIENCE_S))
    end = time.monotonic() + PATIENCE_S
    while not caplog.records and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.1)
    (record,) = [one for one in caplog.records if "Dawdles" in one.getMessage()]
    assert record.name == "skywave.control"
    assert record.levelname == "WARNING"
    took = re.search(r"Dawdles.on_ack took (\d+) ms", record.getMessage())
    assert took is not None
    assert int(took[1]) >= 20


def test_a_signal_handler_may_use_the_network(endpoint: Endpoint) -> None:
    """It runs while the call that it interrupts waits."""
    client, listener = connect(endpoint, Config(), Config())
    server = listener.accept(timeout_s=PATIENCE_S)
    before = signal.signal(signal.SIGALRM, lambda _, __: server.close(timeout_s=PATIENCE_S))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        assert client.recv(timeout_s=PATIENCE_S) is None
    finally:
        signal.signal(signal.SIGALRM, before)


def converse(connection: Connection) -> None:
    """Send a datagram and read all that comes."""
    connection.send(b"data")
    while connection.recv(timeout_s=PATIENCE_S) is not None:
        pass


def test_both_ends_of_a_socket_have_controls_of_their_own(endpoint: Endpoint) -> None:
    ours = Config(control=Reno())
    theirs = Config(control="cubic", cubic=Cubic(beta=0.8))
    client, listener = connect(endpoint, ours, theirs)
    server = listener.accept(timeout_s=PATIENCE_S)
    for sender, receiver in ((client, server), (server, client)):
        for _ in range(50):
            sender.send(b"data")
        for _ in range(50):
            assert receiver.recv(timeout_s=PATIENCE_S) == b"data"
    assert client.ccids == (251, 251)
    client.close(timeout_s=PATIENCE_S)


@pytest.mark.parametrize("method", ["on_start", "on_sent", "on_ack"])
def test_an_exception_resets_the_connection_and_its_next_call_raises_it(
    endpoint: Endpoint, method: str
) -> None:
    config = Config(control=Fails(method=method))
    client, listener = connect(endpoint, config, Config(ccid=251))
    # A server that never saw the end of the handshake has no connection to hand out.
    server = None if method == "on_start" else listener.accept(timeout_s=PATIENCE_S)
    with pytest.raises(ZeroDivisionError, match=f"in {method}") as raised:
        converse(client)
    frames = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert frames[-2:] == [method, "_fails"]
    for call in (client.flush, client.close, client.recv, lambda: client.send(b"more")):
        with pytest.raises(ZeroDivisionError):
            call()
    closed = client.closed
    assert closed is not None
    assert closed.name == "aborted"
    if server is None:
        return
    with pytest.raises(ResetError, match="aborted"):
        converse(server)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"control": "cubik"}, "control: .* is not a known control: use aimd, bbr, c4, cubic"),
        ({"control": "cubic", "cubic": Cubic(beta=2.0)}, r"cubic\.beta"),
        ({"control": "reno", "cubic": Cubic(beta=0.8)}, "cubic: .*control"),
        ({"cubic": Cubic(beta=0.8)}, "cubic: .*control"),
        ({"ccid": 2, "vcp": Vcp()}, "vcp: .*ccid"),
        ({"control": 7}, "control: invalid type"),
        ({"ccid": 3, "control": "reno"}, "ccid: CCID 3 has a control of its own"),
    ],
)
def test_a_configuration_that_is_wrong_says_so(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Config(**options)
