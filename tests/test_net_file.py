"""Files over DCCP: whole, or known not to be."""

from __future__ import annotations

import io
import json
import os
import random
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from conftest import assert_bad_input, run_cli, serving
from relay import Relay
from skywave.cli.net.send import judge
from skywave.net.file import HEAD, LARGEST, MAGIC, UNKNOWN, Assembly, Parts
from test_net_command import free_udp_port, rows

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

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
        output, _ = listener.communicate(timeout=60)
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
        output, _ = listener.communicate(timeout=60)
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
        output, _ = listener.communicate(timeout=60)
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
        _, errors = listener.communicate(timeout=60)
    assert listener.returncode != 0
    assert "No space left" in errors
    assert "Traceback" not in errors
