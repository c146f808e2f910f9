"""The network's commands, as processes of their own over loopback."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest

from conftest import assert_bad_input, run_cli, run_process, serving
from patience import PATIENCE_S
from skywave.cli.net import listen, options
from skywave.cli.net.exchange import ExchangeOptions
from skywave.cli.net.perf import loopback_table
from skywave.cli.net.report import table
from skywave.cli.net.send import DEFAULT_DURATION_S
from skywave.net import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future
    from pathlib import Path


def free_udp_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def listening(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `skywave listen` until the block ends; gives it and the UDP port."""
    port = str(free_udp_port())
    command = ("listen", "127.0.0.1:5001", "--udp-port", port, *options)
    with serving(*command, says="listening on 127.0.0.1:5001") as (process, _):
        yield process, port


def rows(**changes: Any) -> dict[str, str]:
    """Return the rows of a report on a connection without data, apart from the changes."""
    document = {
        "seconds": 1.0,
        "sent": {"datagrams": 0, "discarded": 0, "unacknowledged": 0},
        "received": dict.fromkeys(("datagrams", "missing", "altered", "duplicates"), 0),
        "stats": {"srtt_s": None, "datagrams_dropped": 0},
        "end": None,
        "error": None,
    }
    names, values = (column.cells for column in table("Report", document | changes).columns)
    return {str(name): str(value) for name, value in zip(names, values, strict=True)}


def test_a_report_says_where_datagrams_went() -> None:
    name = "dropped by this end's receive queue (datagrams)"
    assert name not in rows()
    stats = {"srtt_s": None, "datagrams_dropped": 5384}
    assert rows(stats=stats)[name] == "5,384"


def test_the_report_of_send_explains_a_rate_that_the_peer_limits() -> None:
    window = {"rate_bps": None, "cwnd": 44.0, "ssthresh": 2.0, "lost": 0, "marked": 0}
    stats = {"srtt_s": None, "datagrams_dropped": 0, "dropped_by_peer": 615, **window}
    sent = {"datagrams": 9000, "bytes": 1, "discarded": 0, "unacknowledged": 0}
    shown = rows(sent=sent, stats=stats)
    assert shown["arrived, but dropped by the peer (packets)"] == "615"
    assert shown["ssthresh (packets)"] == "2.0"
    shown = rows(sent=sent, stats=stats | {"ssthresh": None, "dropped_by_peer": 0})
    assert shown["ssthresh (packets)"] == "unbounded"
    assert "arrived, but dropped by the peer (packets)" not in shown


def test_a_file_arrives(tmp_path: Path) -> None:
    file, copy = tmp_path / "file", tmp_path / "copy"
    file.write_bytes(bytes(range(256)) * 40)
    with listening("--once", "--json", "--output", str(copy)) as (listener, port):
        sent = run_cli("send", "127.0.0.1:5001", file, "--udp-port", port, "--json")
        assert sent.returncode == 0, sent.stderr
        output, _ = listener.communicate(timeout=PATIENCE_S)
    document = json.loads(sent.stdout)
    assert document["file"] == {"complete": True, "lost": 0}
    assert document["end"] == {"origin": "local", "code": 1, "name": "closed"}
    received = json.loads(output)
    assert received["file"] == {"bytes": 10_240, "size": 10_240, "missing": 0, "whole": True}
    assert received["end"]["origin"] == "remote"
    assert copy.read_bytes() == file.read_bytes()


def test_connections_are_logged_for_qvis(tmp_path: Path) -> None:
    logs = {"server": tmp_path / "server", "client": tmp_path / "client"}
    with listening("--once", "--json", "--qlog", str(logs["server"])) as (listener, port):
        load = ("--count", "20", "--udp-port", port, "--qlog", logs["client"])
        sent = run_cli("send", "127.0.0.1:5001", *load, "--json")
        assert sent.returncode == 0, sent.stderr
        listener.communicate(timeout=PATIENCE_S)
    for role, directory in logs.items():
        [file] = directory.iterdir()
        assert file.name.endswith(f"-{role}.sqlog")
        header, *events = map(json.loads, file.read_text().split("\x1e")[1:])
        assert header["trace"]["vantage_point"]["type"] == role
        name = "transport:packet_sent" if role == "client" else "transport:packet_received"
        packets = [event["data"] for event in events if event["name"] == name]
        assert sum(packet["raw"]["payload_length"] > 0 for packet in packets) == 20


def test_the_end_of_each_connection_is_logged() -> None:
    with listening("--once", "--json") as (_, port):
        load = ("--count", "1", "--udp-port", port, "--json", "--log", "info")
        sent = run_process("send", "127.0.0.1:5001", *load)
        assert sent.returncode == 0, sent.stderr
    [line] = sent.stderr.splitlines()
    assert "INFO" in line
    assert "peer_port=5001" in line
    assert "connection over" in line
    assert "reason=Closed" in line


@pytest.mark.parametrize("ccid", ["2", "3"])
def test_a_generated_load_arrives_unaltered(ccid: str) -> None:
    options = ("--ccid", ccid, "--service-code", "TEST")
    with listening("--once", "--json", *options) as (listener, port):
        load = ("--count", "50", "--size", "400", "--udp-port", port)
        sent = run_cli("send", "127.0.0.1:5001", *load, *options, "--json")
        assert sent.returncode == 0, sent.stderr
        output, _ = listener.communicate(timeout=PATIENCE_S)
    document = json.loads(output)
    received = document["received"]
    assert (received["datagrams"], received["bytes"]) == (50, 20_000)
    assert received["altered"] == received["duplicates"] == received["foreign"] == 0
    assert document["service_code"] == "SC:TEST"
    assert document["ccid"] == [int(ccid), int(ccid)]
    assert json.loads(sent.stdout)["ccid"] == [int(ccid), int(ccid)]


def test_options_of_the_connection_have_the_names_of_its_config() -> None:
    """TFRC with dynamic feedback at both ends, where the receiver is told the round-trip time."""
    settings = (
        "tfrc.receiver_rtt=option",
        "tfrc.feedback.dynamic.rtt_ref=50 ms",
        "tfrc.rules=rfc3448",
    )
    options = ["--ccid", "3", *(word for setting in settings for word in ("--option", setting))]
    with listening("--once", "--json", *options) as (listener, port):
        load = ("--count", "50", "--size", "400", "--udp-port", port)
        sent = run_cli("send", "127.0.0.1:5001", *load, *options, "--json")
        assert sent.returncode == 0, sent.stderr
        output, _ = listener.communicate(timeout=PATIENCE_S)
    assert json.loads(output)["received"]["datagrams"] == 50


def test_either_side_can_end_it() -> None:
    with listening("--once", "--json", "--take", "3") as (listener, port):
        options = ("--count", "3", "--udp-port", port, "--close", "await", "--json")
        sent = run_cli("send", "127.0.0.1:5001", *options)
        assert sent.returncode == 0, sent.stderr
        output, _ = listener.communicate(timeout=PATIENCE_S)
    assert json.loads(sent.stdout)["end"]["origin"] == "remote"
    assert json.loads(output)["end"] == {"origin": "local", "code": 1, "name": "closed"}


def test_once_ends_with_the_first_connection_however_short(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class OverAtOnce(ThreadPoolExecutor):
        """Comes back from submitting only when the work is done."""

        def submit(self, *work: Any, **options: Any) -> Future[Any]:
            future = super().submit(*work, **options)
            wait([future])
            return future

    is_listening = Event()

    class Announced(io.StringIO):
        def flush(self) -> None:
            is_listening.set()

    monkeypatch.setattr(listen, "ThreadPoolExecutor", OverAtOnce)
    monkeypatch.setattr(sys, "stderr", Announced())
    port = free_udp_port()
    given = {
        "once": True,
        "take": 1,
        "how": ExchangeOptions(),
        "session": options.ConnectionOptions(),
        "socket": options.SocketOptions(udp_port=port),
        "as_json": True,
    }
    listener = Thread(target=listen.listen, args=["127.0.0.1:5001"], kwargs=given, daemon=True)
    listener.start()
    assert is_listening.wait(PATIENCE_S)
    with closing(Endpoint.udp("127.0.0.1", 0)) as endpoint:
        connection = endpoint.connect("127.0.0.1", 5001, udp_port=port)
        connection.send(b"all there is")
        assert connection.recv() is None
    listener.join(timeout=PATIENCE_S)
    assert not listener.is_alive()
    assert json.loads(capsys.readouterr().out)["received"]["datagrams"] == 1


def test_a_reset_is_reported_at_both_ends() -> None:
    with listening("--once", "--json", "--digests") as (listener, port):
        # A connection that ends by a Reset before it is accepted is no longer there to accept: the
        # third datagram, and the Reset after it, leave when the listener has long taken it.
        load = ("--count", "3", "--gap", "700 ms", "--digests")
        options = ("--udp-port", port, "--close", "reset", "--json")
        sent = run_cli("send", "127.0.0.1:5001", *load, *options)
        output, _ = listener.communicate(timeout=PATIENCE_S)
    ours, theirs = json.loads(sent.stdout), json.loads(output)
    assert ours["end"] == {"origin": "local", "code": 2, "name": "aborted"}
    assert theirs["end"] == {"origin": "remote", "code": 2, "name": "aborted"}
    assert ours["ok"]
    assert theirs["ok"]
    assert len(theirs["received"]["digests"]) == 3
    assert ours["sent"]["digests"] == theirs["received"]["digests"]


def test_both_ends_can_send() -> None:
    load = ("--count", "20", "--size", "300")
    with listening("--once", "--json", *load, "--take", "20") as (listener, port):
        options = ("--count", "20", "--udp-port", port, "--close", "await", "--json")
        sent = run_cli("send", "127.0.0.1:5001", *options)
        assert sent.returncode == 0, sent.stderr
        output, _ = listener.communicate(timeout=PATIENCE_S)
    assert json.loads(sent.stdout)["received"]["datagrams"] == 20
    assert json.loads(output)["received"]["datagrams"] == 20


def test_ping_and_an_interrupt() -> None:
    with listening("--echo") as (listener, port):
        options = ("--count", "3", "--gap", "1 ms", "--udp-port", port)
        done = run_cli("ping", "127.0.0.1:5001", *options, "--json")
        assert done.returncode == 0, done.stderr
        listener.send_signal(signal.SIGINT)
        _, errors = listener.communicate(timeout=PATIENCE_S)
    answer = json.loads(done.stdout)
    assert answer["received"] == 3
    assert 0 < answer["min_ms"] <= answer["median_ms"] <= answer["max_ms"]
    assert listener.returncode == 130
    assert errors.endswith("interrupted\n")
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["send", "nowhere"], ["HOST:PORT"]),
        (["send", "127.0.0.1:99999"], ['the port "99999"', "1 to 65535"]),
        (["send", "127.0.0.1"], ["HOST:PORT"]),
        (["send", "fd77::2:5001"], ['"[fd77::2]:5001"']),
        (["ping", "fd77::2"], ['"[fd77::2]:5001"']),
        (["ping", "[fd77::2]"], ["HOST:PORT", '"[2001:db8::1]:5001"']),
        (["listen", "[fd77::2:5001"], ["ADDRESS:PORT", "[2001:db8::1]:5001"]),
        (["listen", "0"], ["1 to 65535"]),
        (["perf", "to", "[::1"], ["HOST:PORT"]),
        (["listen", "5001", "--output", "copy"], ["--once"]),
        (["listen", "5001", "--endpoint-option", "bakclog=5"], ["bakclog", "no option"]),
        (["listen", "5001", "--endpoint-option", "backlog=-5"], ["backlog", "0 or more"]),
        (["send", "127.0.0.1:5001", "--interval", "0 s"], ["--interval"]),
        (["send", "127.0.0.1:5001", "--rate", "0 bps"], ["--rate", "above 0"]),
        (["send", "127.0.0.1:5001", "--rate", "5 bananas", "--size", "10"], ["bananas"]),
        (["send", "127.0.0.1:5001", "--rate", "5 Mbps", "--gap", "5 ms"], ["--rate"]),
        (["listen", "5001", "--service-code", "LONGER"], ["LONGER", "four characters"]),
        (["listen", "5001", "--option", "ssthresh"], ["ssthresh", "KEY=VALUE"]),
        (["listen", "5001", "--option", "ssthresh=20"], ["ssthresh", "no option"]),
        (["listen", "5001", "--option", "=20"], ["not a name"]),
        (["listen", "5001", "--option", "tfrc=20"], ["wrong form"]),
        (
            ["listen", "5001", "--ccid", "2", "--option", "tfrc.rules=ns2"],
            ["tfrc", "CCID 2 is not TFRC"],
        ),
        (["listen", "5001", "--option", "ecn=maybe"], ["ecn", "a boolean"]),
        (
            ["listen", "5001", "--option", "linger=5 s", "--option", "linger.after=1"],
            ["linger.after=1", "contradicts"],
        ),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], names: list[str]) -> None:
    assert_bad_input(run_cli(*arguments), *names)


def test_the_help_of_send_says_how_long_it_sends() -> None:
    words = " ".join(run_cli("send", "--help").stdout.replace("│", " ").split())
    assert f"Default: {DEFAULT_DURATION_S:g} s without FILE" in words


def test_nobody_there_is_status_1() -> None:
    done = run_cli("send", "127.0.0.1:5001", "--udp-port", free_udp_port(), "--count", "1")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["send", "ping", "perf to"])
def test_json_is_printed_without_a_connection_too(command: str) -> None:
    options = ("--udp-port", free_udp_port(), "--json")
    done = run_cli(*command.split(), "127.0.0.1:5001", *options)
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert done.stderr == f"error: {document['error']}\n"
    assert document.get("ok", False) is False
    echoing = ("--echo",) if command == "ping" else ()
    with (
        serving("perf", "serve", "--udp-port", (port := str(free_udp_port())))
        if command == "perf to"
        else listening(*echoing)
    ) as (_, other):
        port = port if command == "perf to" else other
        load = {"send": ("--count", 1), "ping": ("--count", 1), "perf to": ("--duration", "0.1 s")}
        peer = "127.0.0.1" if command == "perf to" else "127.0.0.1:5001"
        done = run_cli(*command.split(), peer, *load[command], "--udp-port", port, "--json")
    assert done.returncode == 0, done.stderr
    # A reader of the document finds the same fields; those of perf are its results.
    fields = json.loads(done.stdout).keys()
    assert fields >= document.keys() if command == "perf to" else fields == document.keys()


def test_json_is_printed_if_the_attempt_to_connect_is_interrupted() -> None:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as silent:
        silent.bind(("127.0.0.1", 0))
        port = str(silent.getsockname()[1])
        command = ("send", "127.0.0.1:5001", "--udp-port", port, "--json")
        with serving(*command, says="no answer") as (sender, _):
            sender.send_signal(signal.SIGINT)
            output, _ = sender.communicate(timeout=PATIENCE_S)
    assert sender.returncode == 130
    document = json.loads(output)
    assert (document["ok"], document["interrupted"]) == (False, True)


def test_the_help_of_perf_says_what_its_port_is_and_what_a_duration_leaves() -> None:
    words = " ".join(run_cli("perf", "to", "--help").stdout.replace("│", " ").split())
    assert "Default DCCP port: 5201." in words
    assert "Data still queued then is sent and measured" in words


def test_perf_between_two_processes() -> None:
    port = str(free_udp_port())
    with serving("perf", "serve", "--udp-port", port, "--json") as (server, _):
        options = ("--duration", "0.5 s", "--udp-port", port, "--rate", "2 Mbps", "--json")
        done = run_cli("perf", "to", "127.0.0.1", *options)
        assert done.returncode == 0, done.stderr
        server.send_signal(signal.SIGINT)
        output, _ = server.communicate(timeout=PATIENCE_S)
    report = json.loads(done.stdout)
    assert 0 < report["arrived"]["datagrams"] <= report["datagrams_sent"]
    bits = 8 * report["arrived"]["bytes"]
    assert report["goodput_bps"] == pytest.approx(bits / report["seconds"])
    # All that is offered in half a second.
    assert bits < 1.25e6
    assert json.loads(output)["datagrams"] == report["arrived"]["datagrams"]


def test_an_interrupted_perf_says_that_it_has_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("skywave._core.perf_send", interrupted)
    port = str(free_udp_port())
    with serving("perf", "serve", "--udp-port", port):
        done = run_cli("perf", "to", "127.0.0.1", "--udp-port", port)
    assert (done.returncode, done.stdout) == (130, "")
    first, second = done.stderr.splitlines()
    assert first.startswith("no result: ")
    assert second == "interrupted"


def test_perf_over_loopback() -> None:
    small = ("--duration", "0.2 s", "--pings", "200")
    idle = ("--idle-connections", "100", "--keepalive", "300 ms")
    done = run_cli("perf", "loopback", *small, *idle, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    for way in ("dccp", "udp"):
        found = report[way]
        assert found["goodput_bps"] == pytest.approx(8 * 1200 * found["datagrams_per_s"])
        assert found["round_trip_median_us"] > 0
    ratios = [
        each["dccp"]["datagrams_per_s"] / each["udp"]["datagrams_per_s"]
        for each in report["rounds"]
    ]
    assert min(ratios) <= report["ratios"]["datagrams_dccp_over_udp"] <= max(ratios)
    assert report["idle"]["connections"] == 100
    for share, is_told in ((0.0, False), (0.05, True)):
        for each in report["rounds"]:
            each["stolen"] = share
        caption = str(loopback_table(report, 1200).caption)
        assert "us with both ends on one thread" in caption
        assert ("other guests of the host used 5 % of the processors" in caption) is is_told


@pytest.mark.parametrize("options", [(), ("--once",), ("--once", "--json")])
def test_a_listener_ends_if_nobody_reads_its_reports(options: tuple[str, ...]) -> None:
    port = str(free_udp_port())
    reading, writing = os.pipe()
    os.close(reading)
    command = ["listen", "127.0.0.1:5001", "--udp-port", port, *options]
    with subprocess.Popen(
        [sys.executable, "-m", "skywave", *command],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
    ) as listener:
        os.close(writing)
        assert listener.stderr is not None
        assert "listening" in listener.stderr.readline()
        sent = run_cli("send", "127.0.0.1:5001", "--udp-port", port, "--count", "3")
        assert sent.returncode == 0, sent.stderr
        try:
            assert listener.wait(timeout=PATIENCE_S) == 141
        finally:
            listener.kill()
