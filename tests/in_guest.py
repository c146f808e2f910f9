"""Functions for guests, which import them by name."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from skywave import Progress
from skywave.net import Config, Connection, Endpoint, IdleTimeoutError, PeerGoneError

Tell = Callable[[Progress], None]


def greet(name: str, progress: Tell) -> str:
    """Print on both streams, say how far it is, and return a greeting."""
    sys.stdout.write("on stdout\n")
    sys.stderr.write("on stderr\n")
    for done in (1.0, 2.0):
        progress(Progress("greeting", done, 2.0))
    return f"hello {name}"


def refuse(progress: Tell) -> None:
    """Raise an error."""
    raise ValueError("refused")


class UnpicklableError(Exception):
    """An error that cannot be passed on."""

    def __reduce__(self) -> str:
        return "nothing of this name"


def refuse_oddly(progress: Tell) -> None:
    """Raise an error that cannot be passed on."""
    raise UnpicklableError("odd")


class TwoPartsError(Exception):
    """An error that pickle takes and cannot make again."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")


def refuse_in_two_parts(progress: Tell) -> None:
    """Raise an error that cannot be passed on either."""
    raise TwoPartsError("this", "that")


def answer_oddly(progress: Tell) -> object:
    """Return what cannot be passed on."""
    return lambda: None


def refuse_with_a_note(progress: Tell) -> None:
    """Raise what a user's control has raised."""
    error = ValueError("of a user")
    error.add_note("in flow f")
    raise error


def leave(progress: Tell) -> None:
    """End the process."""
    os._exit(7)


def go_on(progress: Tell) -> str:
    """Go on until interrupted, and then return something."""
    try:
        while True:
            time.sleep(0.05)
            progress(Progress("going on", 0.0, 1.0))
    except KeyboardInterrupt:
        return "interrupted"


def ignore(progress: Tell) -> None:
    """Say something once, and then wait for time to pass without sleeping."""
    progress(Progress("ignoring", 0.0, 1.0))
    end_s = time.monotonic() + 600
    while time.monotonic() < end_s:
        pass


def sleep(duration_s: float, progress: Tell) -> float:
    """Sleep, and return how long it took."""
    start_s = time.monotonic()
    time.sleep(duration_s)
    return time.monotonic() - start_s


def fill(mib: int, progress: Tell) -> None:
    """Use this much memory."""
    memory = [bytearray(os.urandom(1 << 20)) for _ in range(mib)]
    progress(Progress("full", float(len(memory)), 1.0))


def crash(progress: Tell) -> None:
    """Crash the guest's kernel."""
    Path("/proc/sysrq-trigger").write_text("c", encoding="ascii")
    time.sleep(60)


def write(file: Path, progress: Tell) -> None:
    """Write a file."""
    file.write_text("written", encoding="utf-8")


def end_of_silence(sends: bool, progress: Tell) -> float:
    """Stop the peer; return after how many seconds the connection has ended."""
    with _echoing() as peer, Endpoint.udp("127.0.0.1", 0) as endpoint:
        client = endpoint.connect("127.0.0.1", 5001, udp_port=7001)
        client.send(b"first")
        client.recv(timeout_s=5)
        peer.send_signal(signal.SIGSTOP)
        start_s = time.monotonic()
        if sends:
            client.send(b"second")
        try:
            client.recv()
        except PeerGoneError:
            return time.monotonic() - start_s
        finally:
            peer.send_signal(signal.SIGCONT)
    raise AssertionError("the peer said goodbye")


def end_of_idleness(limit: str, progress: Tell) -> float:
    """Return after how many seconds a connection without data has ended."""
    with _ends(Config(idle_timeout=limit)) as (_, _, client, _):
        start_s = time.monotonic()
        try:
            client.recv()
        except IdleTimeoutError:
            return time.monotonic() - start_s
    raise AssertionError("the peer said goodbye")


def idle_for(duration_s: float, progress: Tell) -> tuple[bytes | None, int]:
    """Leave a connection alone; return what then arrives, and the packets that both ends sent."""
    with _ends(None) as (_, _, client, server):
        time.sleep(duration_s)
        client.send(b"still there")
        return server.recv(timeout_s=5), client.stats().packets_sent + server.stats().packets_sent


def rest_of_a_port(progress: Tell) -> float:
    """Return for how many seconds an ended connection has kept its ports."""
    with _ends(None) as (calling, listening, client, server):
        client.close()
        while server.recv() is not None:
            pass
        start_s = time.monotonic()
        while calling.stats().time_waits + listening.stats().time_waits:
            time.sleep(1.0)
        return time.monotonic() - start_s


@contextmanager
def _ends(
    config: Config | None,
) -> Iterator[tuple[Endpoint, Endpoint, Connection, Connection]]:
    with Endpoint.udp("127.0.0.1", 7001) as listening, Endpoint.udp("127.0.0.1", 0) as calling:
        listener = listening.listen(5001)
        client = calling.connect("127.0.0.1", 5001, udp_port=7001, config=config)
        yield calling, listening, client, listener.accept(timeout_s=5)


@contextmanager
def _echoing() -> Iterator[subprocess.Popen[bytes]]:
    command = ["listen", "5001", "--echo", "--udp-port", "7001"]
    peer = subprocess.Popen([sys.executable, "-m", "skywave", *command], stderr=subprocess.DEVNULL)
    try:
        # Importing takes no time here.
        time.sleep(1)
        yield peer
    finally:
        peer.kill()
        peer.wait()
