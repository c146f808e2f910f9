"""Files over DCCP: whole, or known not to be."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest

import counted
from conftest import ROOT, assert_bad_input, run_cli, serving
from patience import PATIENCE_S
from relay import Relay
from skywave.cli.net.exchange import Ending, Exchange
from skywave.cli.net.send import judge
from skywave.net import DatagramTooLargeError
from skywave.net.file import HEAD, LARGEST, MAGIC, UNKNOWN, Assembly, Bare, Parts
from skywave.net.load import Load, datagram
from test_net_command import free_udp_port, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from skywave.net import Stats

RANDOM = random.Random(1)  # noqa: S311  (nothing is secret)
CONTENT = RANDOM.randbytes(10_007)


def parts(content: bytes, size: int = 1000) -> list[bytes]:
    return list(Parts(io.BytesIO(content), size))


@pytest.mark.parametrize("content", [b"", b"x", CONTENT[:980], CONTENT[:1960], CONTENT])
@pytest.mark.parametrize("is_regular", [False, True])
def test_parts_in_any_order_are_the_file(content: bytes, is_regular: bool, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with path.open("rb") as file:
        source = Parts(file if is_regular else io.BytesIO(content), 1000)
        sent = list(source)
    assert source.is_complete
    assert all(len(part) <= 1000 for part in sent)
    RANDOM.shuffle(sent)
    sink = io.BytesIO()
    assembly = Assembly(sink)
    for part in sent + sent[:3]:
        assembly.take(part)
    assert sink.getvalue() == content
    assert assembly.fault() is None
    expected = {"bytes": len(content), "size": len(content), "missing": 0, "whole": True}
    assert assembly.as_dict() == expected


def test_what_is_missing_is_counted() -> None:
    sent = parts(CONTENT)
    sink = io.BytesIO()
    assembly = Assembly(sink)
    for number, part in enumerate(sent):
        if number not in (3, 4):
            assembly.take(part)
    assert assembly.fault() == "1,960 of 10,007 bytes of the file are missing"
    hole = slice(3 * 980, 5 * 980)
    assert sink.getvalue()[hole] == bytes(1960)
    assert sink.getvalue()[5 * 980 :] == CONTENT[5 * 980 :]


def test_without_the_last_part_a_pipes_end_is_missing() -> None:
    assembly = Assembly(io.BytesIO())
    for part in parts(CONTENT)[:-1]:
        assembly.take(part)
    assert assembly.fault() == "the end of the file is missing"


def test_a_pipe_cannot_mend_the_order() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb") as sink:
        assembly = Assembly(sink)
        first, second, *rest = parts(CONTENT[:3000])
        for part in (second, first, *rest):
            assembly.take(part)
        assert "out of order" in str(assembly.fault())
        sink.close()
        assert sorted(source.read()) == sorted(CONTENT[:3000])


def test_a_file_that_becomes_shorter_is_not_complete(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    assembly = Assembly(io.BytesIO())
    with path.open("rb", buffering=0) as file:
        source = Parts(file, 1000)
        for number, part in enumerate(source):
            assembly.take(part)
            if number == 2:
                os.truncate(path, 3500)
    assert not source.is_complete
    assert assembly.fault() == "6,507 of 10,007 bytes of the file are missing"


@pytest.mark.parametrize(
    "part",
    [
        HEAD.pack(MAGIC, 90, 100) + bytes(11),
        HEAD.pack(MAGIC, LARGEST, UNKNOWN) + b"x",
        HEAD.pack(MAGIC, UNKNOWN, UNKNOWN),
        HEAD.pack(MAGIC, 0, LARGEST + 1),
        MAGIC,
        b"",
    ],
)
def test_what_is_no_part_of_a_file_is_data(part: bytes) -> None:
    sink = io.BytesIO()
    assembly = Assembly(sink)
    assembly.take(part)
    assert sink.getvalue() == part
    assert assembly.as_dict() is None


def test_a_second_size_is_not_believed() -> None:
    assembly = Assembly(io.BytesIO())
    assembly.take(HEAD.pack(MAGIC, 0, UNKNOWN) + bytes(100))
    for size in (50, 200, 300):
        assembly.take(HEAD.pack(MAGIC, size, size))
    assert assembly.fault() == "100 of 200 bytes of the file are missing"


@contextmanager
def listening(*options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    port = free_udp_port()
    command = ("listen", "127.0.0.1:5001", "--udp-port", str(port), "--once", "--json", *options)
    with serving(*command) as (process, _):
        yield process, port


@contextmanager
def relayed(port: int, loses: Callable[[int, bytes], bool]) -> Iterator[str]:
    relay = Relay(port, loses)
    try:
        yield str(relay.port)
    finally:
        relay.stop()


def test_a_listener_says_that_a_file_has_holes_and_fails(tmp_path: Path) -> None:
    file, copy = tmp_path / "file", tmp_path / "copy"
    file.write_bytes(CONTENT * 10)
    lost = HEAD.pack(MAGIC, 980 * 40, len(CONTENT) * 10)
    with (
        listening("--output", str(copy)) as (listener, port),
        relayed(port, lambda _, packet: lost in packet) as relay,
    ):
        options = ("--size", "1000", "--udp-port", relay, "--json")
        sent = run_cli("send", "127.0.0.1:5001", file, *options)
        output, _ = listener.communicate(timeout=PATIENCE_S)
    assert sent.returncode == 1, sent.stderr
    document = json.loads(sent.stdout)
    assert document["sent"]["unacknowledged"] == 1
    assert document["file"] == {"complete": True, "lost": 1}
    assert document["ok"] is False
    assert document["error"] == "the file has holes: 1 datagram lost; the listener reports them"
    received = json.loads(output)
    assert listener.returncode == 1
    assert received["error"] == "980 of 100,070 bytes of the file are missing"
    assert received["file"]["missing"] == 980
    assert received["ok"] is False
    hole = slice(980 * 40, 980 * 41)
    expected = bytearray(CONTENT * 10)
    expected[hole] = bytes(980)
    assert copy.read_bytes() == expected


@pytest.mark.parametrize(
    ("lost", "discarded", "says"),
    [
        (0, 0, None),
        (0, 827, "the file has holes: 827 datagrams discarded unsent; the listener reports them"),
        (
            12,
            827,
            (
                "the file has holes: 12 datagrams lost, 827 datagrams discarded unsent; "
                "the listener reports them"
            ),
        ),
    ],
)
def test_a_sender_counts_what_a_shrinking_path_discards(
    lost: int, discarded: int, says: str | None
) -> None:
    document: dict[str, Any] = {
        "ok": True,
        "error": None,
        "sent": {"discarded": discarded, "unacknowledged": lost},
        "stats": {"lost": lost, "loss_events": None},
    }
    judge(document, is_complete=True)
    assert document["error"] == says
    assert document["ok"] is (says is None)


@pytest.mark.parametrize(
    ("lost", "unacknowledged", "loss_events", "says"),
    [
        (0, 0, None, "sent to its end"),
        (24, 24, None, "sent to its end, 24 datagrams lost"),
        (2, 3, None, "sent to its end, 2 datagrams lost, 1 datagram not acknowledged"),
        (None, None, 42, "sent to its end, 42 loss events"),
    ],
)
def test_a_senders_report_says_what_the_file_lacks(
    lost: int | None, unacknowledged: int | None, loss_events: int | None, says: str
) -> None:
    shown = rows(
        sent={"datagrams": 0, "discarded": 0, "unacknowledged": unacknowledged},
        file={"complete": True, "lost": lost},
        stats={"srtt_s": None, "loss_events": loss_events, "datagrams_dropped": 0},
    )
    assert shown["file"] == says


def test_a_plain_file_arrives_as_it_is(tmp_path: Path) -> None:
    file, copy = tmp_path / "file", tmp_path / "copy"
    file.write_bytes(CONTENT)
    with listening("--output", str(copy)) as (listener, port):
        sent = run_cli("send", "127.0.0.1:5001", file, "--plain", "--udp-port", port, "--json")
        output, _ = listener.communicate(timeout=PATIENCE_S)
    assert sent.returncode == listener.returncode == 0
    assert json.loads(sent.stdout)["sent"]["bytes"] == len(CONTENT)
    assert "file" not in json.loads(output)
    assert copy.read_bytes() == CONTENT


def test_a_file_that_is_not_sent_to_its_end_fails_at_both_ends(tmp_path: Path) -> None:
    file, copy = tmp_path / "file", tmp_path / "copy"
    file.write_bytes(CONTENT)
    with listening("--output", str(copy)) as (listener, port):
        options = ("--count", "2", "--size", "1000", "--udp-port", port, "--json")
        sent = run_cli("send", "127.0.0.1:5001", file, *options)
        output, _ = listener.communicate(timeout=PATIENCE_S)
    assert sent.returncode == listener.returncode == 1
    assert json.loads(sent.stdout)["error"] == "the file was not sent to its end"
    assert json.loads(output)["error"] == "8,047 of 10,007 bytes of the file are missing"


def test_a_datagram_must_have_room_for_data(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(CONTENT)
    with listening() as (_, port):
        done = run_cli("send", "127.0.0.1:5001", file, "--size", "20", "--udp-port", port)
    assert_bad_input(done, "more than 20 bytes")


def test_a_full_disk_ends_the_connection_with_an_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(CONTENT * 10)
    with listening("--output", "/dev/full") as (listener, port):
        run_cli("send", "127.0.0.1:5001", file, "--udp-port", port, "--json")
        _, errors = listener.communicate(timeout=PATIENCE_S)
    assert listener.returncode != 0
    assert "No space left" in errors
    assert "Traceback" not in errors


class ShrinkingPath:
    """A connection whose queue a test empties, over a path that shrinks when the test says so."""

    closed = None
    peer, peer_udp_port, service_code, ccids = ("192.0.2.1", 5001), 6511, "SC=0", (2, 2)

    def __init__(self, shrinks: dict[int, int], leaves_every: int = 3) -> None:
        """Take ``{3: 500}`` for a path that carries 500 bytes after the third datagram."""
        self.max_datagram_size = 1000
        self.arrived: list[bytes] = []
        self.queue: list[bytes] = []
        self._shrinks = shrinks
        self._leaves_every = leaves_every
        self._calls = self._discarded = 0

    def send(self, data: bytes, timeout_s: float) -> None:
        assert timeout_s > 0
        if len(data) > self.max_datagram_size:
            raise DatagramTooLargeError(len(data))
        self.queue.append(data)
        self._calls += 1
        if self._calls % self._leaves_every == 0:
            self.arrived.append(self.queue.pop(0))
        if limit := self._shrinks.pop(self._calls, None):
            self._shrink(limit)

    def _shrink(self, limit: int) -> None:
        self.max_datagram_size = limit
        left = [data for data in self.queue if len(data) <= limit]
        self._discarded += len(self.queue) - len(left)
        self.queue = left

    def flush(self, timeout_s: float) -> None:
        assert timeout_s > 0
        if limit := self._shrinks.pop(0, None):
            self._shrink(limit)
        self.arrived += self.queue
        self.queue = []

    def stats(self) -> Stats:
        return counted.stats(
            datagrams_sent=len(self.arrived),
            bytes_sent=sum(map(len, self.arrived)),
            datagrams_discarded=self._discarded,
            acknowledged=len(self.arrived),
        )

    def recv(self, timeout_s: float) -> None:
        assert timeout_s > 0

    def abort(self) -> None:
        pass

    def close(self, timeout_s: float) -> None:
        pass


def exchange(path: ShrinkingPath, source: Any, **options: Any) -> Exchange:
    return Exchange(cast("Any", path), source, Ending.FIRST, 1.0, **options)


@pytest.mark.parametrize(
    "shrinks",
    [
        {1: 500},
        {7: 500},
        {7: 500, 9: 300},
        {7: 500, 12: 400, 13: 300},
        {10: 600},  # as the last part is queued
        {0: 500},  # while what is queued leaves
        {3: 5000},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [Parts, Bare])
@pytest.mark.parametrize("leaves_every", [1, 3, 100])
def test_what_a_shrinking_path_discards_is_sent_in_smaller_parts_and_in_order(
    shrinks: dict[int, int], kind: type[Parts | Bare], leaves_every: int
) -> None:
    path = ShrinkingPath(dict(shrinks), leaves_every)
    source = kind(io.BytesIO(CONTENT), 1000)
    load = exchange(path, source, digests=True)
    document = load.run()
    assert document["ok"], document["error"]
    assert load.has_sent_all
    assert source.is_complete
    assert document["sent"]["discarded"] == 0
    assert len(document["sent"]["digests"]) == len(path.arrived)
    assembly = Assembly(sink := io.BytesIO())
    for data in path.arrived:
        assembly.take(data)
    assert sink.getvalue() == CONTENT
    assert assembly.fault() is None


def test_a_given_size_stays_one_if_the_path_shrinks() -> None:
    path = ShrinkingPath({7: 500})
    load = exchange(path, Parts(io.BytesIO(CONTENT), 1000), has_fixed_size=True)
    document = load.run()
    assert document["ok"] is False
    assert "1000" in document["error"]
    assert not load.has_sent_all


def test_a_generated_load_becomes_smaller_with_the_path() -> None:
    path = ShrinkingPath({7: 500})
    document = exchange(path, Load(1000), count=20).run()
    assert document["ok"], document["error"]
    assert path.arrived == [datagram(index, 1000) for index in range(2)] + [
        datagram(index, 500) for index in range(2, 20)
    ]


def test_a_pipe_takes_what_is_repeated_in_smaller_parts() -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    sink = Pipe()
    assembly = Assembly(sink)
    sent = parts(CONTENT)
    for part in [*sent[:5], *sent[2:5], *parts(CONTENT, 300)[5:]]:
        assembly.take(part)
    assert sink.getvalue() == CONTENT
    assert assembly.fault() is None


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("ip"),
    reason="a network of its own needs root, unshare and ip",
)
@pytest.mark.parametrize("size", ["any", "fixed"])
def test_a_file_is_whole_although_the_path_shrinks(size: str) -> None:
    done = subprocess.run(
        ["unshare", "--net", sys.executable, ROOT / "tests" / "shrinking.py", size],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    if size == "any":
        assert found["sent"]["ok"], found["sent"]["error"]
        assert found["sent"]["file"]["complete"]
        assert found["received"]["file"]["whole"], found["received"]["error"]
        assert found["same"]
    else:
        assert "split it" in found["sent"]["error"]
        assert not found["sent"]["file"]["complete"]
