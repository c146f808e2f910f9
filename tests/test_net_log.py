"""What the sockets say in Python's logging."""

from __future__ import annotations

import logging
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from forks import in_a_fork
from patience import PATIENCE_S
from skywave.net import TRACE, Endpoint
from skywave.net.log import LOGGER
from test_net_command import listening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PORT = 5001
OVER = "connection over"
CAPACITY = 10_000
"""How many events the core keeps for a slow handler."""


class Kept(logging.Handler):
    """Keeps what is logged, as soon as it may."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.may = threading.Event()
        self.may.set()

    def emit(self, record: logging.LogRecord) -> None:
        self.may.wait(PATIENCE_S)
        self.records.append(record)

    def has(self, text: str, level: int | None = None) -> bool:
        return any(
            text in record.getMessage() and level in (None, record.levelno)
            for record in list(self.records)
        )


@contextmanager
def kept(level: int) -> Iterator[Kept]:
    handler = Kept()
    LOGGER.addHandler(handler)
    LOGGER.setLevel(level)
    try:
        yield handler
    finally:
        LOGGER.setLevel(logging.NOTSET)
        LOGGER.removeHandler(handler)


def until(happened: Callable[[], bool]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < end_s
        time.sleep(0.01)


def connect_and_close() -> None:
    with Endpoint.udp("127.0.0.1", 0) as endpoint:
        listener = endpoint.listen(PORT)
        endpoint.connect("127.0.0.1", PORT, udp_port=endpoint.local_address[1]).close(PATIENCE_S)
        del listener


def send_strange_packets(endpoint: Endpoint, count: int) -> None:
    """Have an endpoint receive so many packets that are not DCCP's."""
    before = endpoint.stats().malformed
    with socket.socket(type=socket.SOCK_DGRAM) as stranger:
        while (arrived := endpoint.stats().malformed - before) < count:
            for _ in range(min(100, count - arrived)):
                stranger.sendto(b"strange", endpoint.local_address)
            time.sleep(0.001)


def test_the_end_of_a_connection_is_a_record_with_the_time_when_it_happened() -> None:
    with kept(logging.INFO) as handler:
        handler.may.clear()
        begin_s = time.time()
        connect_and_close()
        end_s = time.time()
        time.sleep(0.01)
        handler.may.set()
        until(lambda: handler.has(OVER))
    record = next(record for record in handler.records if OVER in record.getMessage())
    assert (record.name, record.levelname) == ("skywave.net", "INFO")
    assert "peer_port=" in record.getMessage()
    assert begin_s <= record.created <= end_s
    assert record.msecs == int(record.created % 1 * 1000)


def test_a_level_that_changes_while_a_socket_is_open_takes_effect() -> None:
    with Endpoint.udp("127.0.0.1", 0) as endpoint, kept(logging.WARNING) as handler:

        def is_logged() -> bool:
            send_strange_packets(endpoint, 1)
            return handler.has("malformed", TRACE)

        send_strange_packets(endpoint, 10)
        LOGGER.setLevel(TRACE)
        until(is_logged)
        record = next(record for record in handler.records if record.levelno == TRACE)
        assert record.levelname == "TRACE"
        LOGGER.setLevel(logging.WARNING)
        count = len(handler.records)
        connect_and_close()
        send_strange_packets(endpoint, 10)
        time.sleep(0.1)
        # What was on its way is not logged either.
        assert len(handler.records) == count


def test_a_slow_handler_delays_no_traffic_and_what_is_lost_is_counted() -> None:
    with Endpoint.udp("127.0.0.1", 0) as endpoint, kept(TRACE) as handler:
        connect_and_close()
        handler.may.clear()
        send_strange_packets(endpoint, 2 * CAPACITY)
        connect_and_close()
        handler.may.set()
        until(lambda: handler.has("events are lost", logging.WARNING))
        # And then it goes on as before.
        handler.records.clear()
        connect_and_close()
        until(lambda: handler.has(OVER))


def test_a_handler_that_fails_fails_alone(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(record: logging.LogRecord) -> bool:
        if "state" in record.getMessage():
            raise ZeroDivisionError
        return True

    with kept(logging.DEBUG) as handler:
        LOGGER.addFilter(fail)
        try:
            connect_and_close()
            until(lambda: handler.has(OVER))
        finally:
            LOGGER.removeFilter(fail)
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_threads_that_open_endpoints_share_the_log() -> None:
    with kept(logging.INFO) as handler:
        threads = [threading.Thread(target=connect_and_close) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        until(lambda: sum(OVER in record.getMessage() for record in list(handler.records)) >= 8)
    assert [thread.name for thread in threading.enumerate()].count("skywave-log") == 1


def test_a_fork_logs_what_it_does_itself(tmp_path: Path) -> None:
    stop = threading.Event()

    def strange() -> None:
        with Endpoint.udp("127.0.0.1", 0) as endpoint:
            while not stop.is_set():
                send_strange_packets(endpoint, 10)

    def child() -> None:
        with kept(logging.INFO) as handler:
            connect_and_close()
            until(lambda: handler.has(OVER))
        (tmp_path / "done").touch()

    with kept(TRACE) as handler:
        # A thread that logs while the process forks.
        thread = threading.Thread(target=strange)
        thread.start()
        try:
            until(lambda: handler.has("malformed"))
            for _ in range(5):
                in_a_fork(child)
        finally:
            stop.set()
            thread.join()
    assert (tmp_path / "done").exists()


PROGRAM = """
import logging, socket, sys
from skywave.net import Endpoint

logging.basicConfig(level=5)
endpoint = Endpoint.udp("127.0.0.1", 0)
listener = endpoint.listen(5001)
client = endpoint.connect("127.0.0.1", 5001, udp_port=endpoint.local_address[1])
with socket.socket(type=socket.SOCK_DGRAM) as stranger:
    for _ in range(500):
        stranger.sendto(b"strange", endpoint.local_address)
client.close_in_background()
"""
STUCK = (
    PROGRAM
    + """
import threading
import skywave.net.log as log

log.AT_EXIT_S = 0.1
log.LOGGER.addFilter(lambda record: threading.Event().wait())
client.abort()
"""
)


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


def test_a_program_that_ends_has_logged_the_end_of_its_connections() -> None:
    for _ in range(8):
        done = run(PROGRAM)
        assert done.returncode == 0
        assert OVER in done.stderr
        assert "Traceback" not in done.stderr


def test_a_program_ends_though_a_filter_never_returns() -> None:
    done = run(STUCK)
    assert done.returncode == 0
    assert "the last events are lost" in done.stderr


INTERRUPTED = """
import logging, signal, threading
from skywave.net import Endpoint

logging.basicConfig(level=logging.INFO)
start = threading.Thread.start

def interrupted(thread):
    threading.Thread.start = start
    # As a signal handler may.
    Endpoint.udp("127.0.0.1", 0).abort()
    raise KeyboardInterrupt

threading.Thread.start = interrupted
try:
    Endpoint.udp("127.0.0.1", 0)
except KeyboardInterrupt:
    endpoint = Endpoint.udp("127.0.0.1", 0)
listener = endpoint.listen(5001)
endpoint.connect("127.0.0.1", 5001, udp_port=endpoint.local_address[1]).abort()
"""


def test_an_interrupt_while_the_log_begins_does_not_end_it() -> None:
    done = run(INTERRUPTED)
    assert done.returncode == 0
    assert OVER in done.stderr
    assert "Traceback" not in done.stderr


def test_a_program_may_open_an_endpoint_as_it_ends() -> None:
    program = "from skywave.net import Endpoint; atexit.register(Endpoint.udp, '127.0.0.1', 0)"
    done = run("import atexit; " + program)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_listener_that_is_stopped_has_logged_its_connections(number: signal.Signals) -> None:
    arguments = ("--log", "info", "--echo")
    with listening(*arguments) as (listener, port), Endpoint.udp("127.0.0.1", 0) as client:
        connection = client.connect("127.0.0.1", PORT, udp_port=int(port))
        connection.send(b"hello")
        # Only now is the handshake complete for the listener too.
        assert connection.recv(PATIENCE_S) == b"hello"
        listener.send_signal(number)
        _, errors = listener.communicate(timeout=PATIENCE_S)
    assert OVER in errors
