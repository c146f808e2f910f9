"""Functions for guests, which import them by name."""

from __future__ import annotations

import gc
import math
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

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


def behind_nat(forgets_s: float, keepalive: str, idle_s: float, progress: Tell) -> bytes | None:
    """Leave a connection behind a NAT alone; return what the server's next datagram brings."""
    with Endpoint.udp("127.0.0.1", 7001) as listening, Endpoint.udp("127.0.0.1", 0) as calling:
        # That of either end is enough.
        config = Config(keepalive=keepalive)
        listener = listening.listen(5001, config=config)
        with _Nat(7001, forgets_s=forgets_s) as nat:
            client = calling.connect("127.0.0.1", 5001, udp_port=nat.port, config=config)
            server = listener.accept(timeout_s=5)
            time.sleep(idle_s)
            server.send(b"news")
            try:
                return client.recv(timeout_s=5)
            except TimeoutError:
                return None
            finally:
                client.abort()
                server.abort()


class _Nat:
    """Maps a UDP client to a port of its own, until nothing has passed for a while.

    It admits no more than ``admits`` packets of the server.
    """

    def __init__(
        self, server_port: int, *, forgets_s: float = math.inf, admits: float = math.inf
    ) -> None:
        self._server = ("127.0.0.1", server_port)
        self._forgets_s = forgets_s
        self._admits = admits
        self._inside = self._socket()
        self.port: int = self._inside.getsockname()[1]
        self._is_over = False
        self._thread = threading.Thread(target=self._run)

    @staticmethod
    def _socket() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind(("127.0.0.1", 0))
        return made

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        self._thread.join()

    def _run(self) -> None:
        client, outside, used_s = None, self._socket(), time.monotonic()
        while not self._is_over:
            for ready in select.select([self._inside, outside], [], [], 1.0)[0]:
                packet, source = ready.recvfrom(65535)
                has_forgotten = time.monotonic() - used_s > self._forgets_s
                if ready is self._inside:
                    if has_forgotten:
                        outside.close()
                        outside = self._socket()
                    client = source
                    outside.sendto(packet, self._server)
                elif client is not None and not has_forgotten and self._admits > 0:
                    self._admits -= 1
                    self._inside.sendto(packet, client)
                else:
                    continue
                used_s = time.monotonic()
        self._inside.close()
        outside.close()


def larger_path(mtu: int, larger: int, progress: Tell) -> tuple[int, int, float]:
    """Enlarge the MTU of the path; return the MPS before and after, and after how many seconds."""

    def set_mtu(bytes_: int) -> None:
        subprocess.run(["ip", "link", "set", "lo", "mtu", str(bytes_)], check=True)

    set_mtu(mtu)
    with _ends(None) as (_, _, client, server):
        for _ in range(60):
            client.send(b"small")
            server.recv(timeout_s=5)
            time.sleep(1.0)
        before = client.max_datagram_size
        set_mtu(larger)
        start_s = time.monotonic()
        while client.max_datagram_size == before and time.monotonic() - start_s < 3600:
            client.send(b"small")
            server.recv(timeout_s=5)
            time.sleep(1.0)
        found_s = time.monotonic() - start_s
        time.sleep(60)
        return before, client.max_datagram_size, found_s


def end_of_partopen(progress: Tell) -> float:
    """Lose all that the server sends after its Response; return when the client gives up."""
    with Endpoint.udp("127.0.0.1", 7001) as listening, Endpoint.udp("127.0.0.1", 0) as calling:
        config = Config(silence_timeout="1 h", keepalive="2 h")
        with listening.listen(5001), _Nat(7001, admits=1) as nat:
            client = calling.connect("127.0.0.1", 5001, udp_port=nat.port, config=config)
            start_s = time.monotonic()
            try:
                client.recv()
            except PeerGoneError:
                return time.monotonic() - start_s
    raise AssertionError("the peer said goodbye")


@dataclass
class Day:
    """What each hour of a day has left behind."""

    anonymous_kib: list[int]
    descriptors: list[int]
    connections: list[int]
    """Those that exist when nothing but the long one should."""
    sent: int
    received: int


def day(hours: int, progress: Tell) -> Day:
    """Keep one connection, and open another one each minute; return what is left each hour."""
    found = Day([], [], [], 0, 0)
    with _ends(None) as (calling, listening, client, server):
        listener = listening.listen(5002)
        for minute in range(60 * hours):
            config = Config(ccid=(2, 3, 4)[minute % 3])
            brief = calling.connect("127.0.0.1", 5002, udp_port=7001, config=config)
            other = listener.accept(timeout_s=5)
            pairs = [(client, server), (brief, other), (other, brief)]
            for step in range(20):
                for sender, receiver in pairs:
                    data = f"{minute}.{step}".encode()
                    sender.send(data, timeout_s=60)
                    found.sent += 1
                    found.received += receiver.recv(timeout_s=60) == data
            # A third each: closed, aborted, and forgotten.
            if minute % 9 < 3:
                brief.close(timeout_s=60)
            elif minute % 9 < 6:
                other.abort()
            del brief, other, pairs, sender, receiver
            time.sleep(60)
            if minute % 60 == 59:
                gc.collect()
                status = Path("/proc/self/status").read_text(encoding="ascii")
                anonymous = next(line for line in status.splitlines() if "RssAnon" in line)
                found.anonymous_kib.append(int(anonymous.split()[1]))
                found.descriptors.append(len([*Path("/proc/self/fd").iterdir()]))
                found.connections.append(calling.stats().connections)
                progress(Progress("hours", minute / 60, float(hours)))
        listener.close()
    return found


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
