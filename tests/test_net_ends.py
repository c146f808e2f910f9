"""How the network's commands end: by their limits, by interrupts, and when the peer is gone."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager
from itertools import pairwise
from threading import Condition, Event, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from conftest import ROOT, assert_bad_input, run_cli, serving
from patience import PATIENCE_S
from relay import Relay
from skywave.cli.net import exchange, options, ping
from skywave.cli.net.listen import Exchanges
from skywave.cli.net.report import line
from skywave.net import Endpoint, Listener
from skywave.net.load import Load
from test_net_command import free_udp_port
from test_net_endpoint import needs_ipv6

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PORT = 5001
PEER = f"127.0.0.1:{PORT}"
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}
CLOSE = 6
"""The type of a DCCP-Close (RFC 4340 section 5.1)."""
SAYS = {signal.SIGINT: "interrupted\n", signal.SIGTERM: "terminated\n"}


@contextmanager
def listening(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `skywave listen` for all addresses until the block ends; gives it and the UDP port."""
    port = str(free_udp_port())
    with serving("listen", str(PORT), "--udp-port", port, *options) as (process, _):
        yield process, port


@contextmanager
def command(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a command in a process that can be interrupted."""
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "skywave", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def silent_after_the_handshake(
    loses: Callable[[int, bytes], bool] = lambda *_: False,
) -> Iterator[tuple[Relay, Endpoint]]:
    """A listener that can be silenced, as if its host had lost its power."""
    with closing(Endpoint.udp("127.0.0.1", 0)) as server:
        relay = Relay(server.local_address[1], loses)
        try:
            yield relay, server
        finally:
            relay.stop()
            server.abort()


@contextmanager
def serving_here() -> Iterator[tuple[Listener, int]]:
    """A listener in this process, and its UDP port."""
    with closing(Endpoint.udp("127.0.0.1", 0)) as server:
        yield server.listen(PORT), server.local_address[1]
        server.abort()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_a_datagram_that_is_too_large_is_an_error_with_the_largest_size() -> None:
    with listening() as (_, port):
        for name in ("send", "ping"):
            done = run_cli(name, PEER, "--size", "65000", "--udp-port", port)
            assert_bad_input(done, "--size 65000", "at most 64000")


def test_a_listener_whose_datagrams_are_too_large_does_not_hang() -> None:
    load = ("--count", "1", "--size", "65000")
    with (
        listening("--once", "--json", *load) as (listener, port),
        Endpoint.udp("127.0.0.1", 0) as endpoint,
    ):
        # A peer that closes first would be another reason.
        connection = endpoint.connect("127.0.0.1", PORT, udp_port=int(port))
        output, _ = listener.communicate(timeout=PATIENCE_S)
        connection.abort()
    assert "exceeds the maximum of 64000 bytes" in json.loads(output)["error"]
    assert listener.returncode == 1


@needs_ipv6
def test_addresses_of_ipv6_are_printed_and_a_listener_takes_both_versions() -> None:
    with listening("--echo") as (listener, port):
        for host in ("127.0.0.1", "[::1]"):
            options = ("--count", "1", "--udp-port", port)
            done = run_cli("ping", f"{host}:{PORT}", *options)
            assert done.returncode == 0, done.stderr
            assert done.stdout.startswith(f"connected to {host}:{PORT} in ")
            done = run_cli("send", f"{host}:{PORT}", *options)
            assert done.stdout.startswith(f"Sent to {host}:{PORT} ")
        listener.send_signal(signal.SIGINT)
        output, _ = listener.communicate(timeout=PATIENCE_S)
    titles = re.findall(r"^From (.*):\d+ DCCP port \d+ *$", output, flags=re.MULTILINE)
    assert titles == ["127.0.0.1", "127.0.0.1", "[::1]", "[::1]"]


def test_what_a_listener_says() -> None:
    with listening() as (listener, _):
        listener.send_signal(signal.SIGINT)
        listener.wait(PATIENCE_S)
    port = str(free_udp_port())
    with serving("listen", str(PORT), "--udp-port", port, says=f"listening on DCCP port {PORT} ov"):
        done = run_cli("listen", str(PORT), "--udp-port", port)
    assert done.returncode == 2
    assert done.stderr == (
        f"error: UDP port {port} is in use: choose another with --udp-port, here and at the other"
        " end\n"
    )


def test_json_is_json() -> None:
    """ssthresh is infinite at first, which JSON cannot express."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    with listening("--once", "--json") as (listener, port):
        sent = run_cli("send", PEER, "--count", "1", "--udp-port", port, "--json")
        output, _ = listener.communicate(timeout=PATIENCE_S)
    for text in (sent.stdout, output):
        assert json.loads(text, parse_constant=refuse)["stats"]["ssthresh"] is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sender_reports_what_was_sent(number: signal.Signals) -> None:
    with listening("--once", "--json") as (listener, port):
        load = ("--gap", "1 ms", "--interval", "50 ms", "--duration", "1 h")
        with command("send", PEER, "--udp-port", port, *load) as sender:
            while " cwnd " not in line_of(sender):
                assert sender.poll() is None
            sender.send_signal(number)
            output, errors = sender.communicate(timeout=PATIENCE_S)
        received, _ = listener.communicate(timeout=PATIENCE_S)
    assert sender.returncode == STATUS[number]
    assert errors == SAYS[number]
    assert f"Sent to {PEER}" in output
    assert "closed (code 1), by this end" in output
    document = json.loads(received)
    assert document["ok"]
    assert document["received"]["datagrams"] > 0


def test_an_interrupt_as_the_sender_begins_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "Intervals", mock.Mock(side_effect=KeyboardInterrupt))
    with serving_here() as (listener, port), Endpoint.udp("127.0.0.1", 0) as endpoint:
        connection = endpoint.connect("127.0.0.1", PORT, udp_port=port)
        accepted = listener.accept(timeout_s=PATIENCE_S)
        load = exchange.Exchange(
            connection, Load(4), exchange.Ending.FIRST, close_s=PATIENCE_S, interval_s=1.0
        )
        document = load.run()
        assert accepted.recv(timeout_s=PATIENCE_S) is None
    assert document["ok"], document["error"]
    assert document["interrupted"] is True
    assert document["sent"]["datagrams"] == 0


def test_an_interrupt_before_a_sender_reads_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes between two datagrams is only noted, and reading could wait for ever."""
    count_sent = exchange.Exchange._count_sent  # noqa: SLF001

    def interrupted(sender: exchange.Exchange, data: bytes) -> None:
        count_sent(sender, data)
        sender.interrupt(KeyboardInterrupt())

    monkeypatch.setattr(exchange.Exchange, "_count_sent", interrupted)

    def source() -> Any:
        yield b"first"
        pytest.fail("it reads")

    with serving_here() as (listener, port), Endpoint.udp("127.0.0.1", 0) as endpoint:
        connection = endpoint.connect("127.0.0.1", PORT, udp_port=port)
        accepted = listener.accept(timeout_s=PATIENCE_S)
        load = exchange.Exchange(
            connection, source(), exchange.Ending.FIRST, close_s=PATIENCE_S, has_fixed_size=True
        )
        document = load.run()
        assert accepted.recv(timeout_s=PATIENCE_S) == b"first"
    assert document["ok"], document["error"]
    assert document["interrupted"] is True
    assert not load.has_sent_all


def test_an_interrupted_sender_prints_its_json() -> None:
    with serving_here() as (listener, port):
        load = ("--udp-port", str(port), "--json", "--gap", "10 ms", "--duration", "1 h")
        with command("send", PEER, *load) as sender:
            accepted = listener.accept(timeout_s=PATIENCE_S)
            assert accepted.recv(timeout_s=PATIENCE_S) is not None
            sender.send_signal(signal.SIGINT)
            output, errors = sender.communicate(timeout=PATIENCE_S)
    assert errors == "interrupted\n"
    document = json.loads(output)
    assert document["interrupted"] is True
    assert document["sent"]["datagrams"] > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("once", [False, True])
def test_an_interrupted_listener_reports_every_connection(
    number: signal.Signals, once: bool
) -> None:
    clients = 1 if once else 3
    options = ["--json", "--echo", *(["--once"] if once else [])]
    with (
        listening(*options) as (listener, port),
        closing(Endpoint.udp("127.0.0.1", 0)) as endpoint,
    ):
        connections = [
            endpoint.connect("127.0.0.1", PORT, udp_port=int(port)) for _ in range(clients)
        ]
        for connection in connections:
            connection.send(b"hello")
            assert connection.recv(timeout_s=PATIENCE_S) == b"hello"
        listener.send_signal(number)
        output, errors = listener.communicate(timeout=PATIENCE_S)
    decoder, documents = json.JSONDecoder(), []
    while output:
        document, end = decoder.raw_decode(output)
        documents.append(document)
        output = output[end:].lstrip()
    assert [document["received"]["datagrams"] for document in documents] == [1] * clients
    for document in documents:
        assert document["interrupted"] is True
        assert document["end"] == {"origin": "local", "code": 1, "name": "closed"}
    assert listener.returncode == STATUS[number]
    assert errors == SAYS[number]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_before_a_listener_waits_loses_no_report(number: signal.Signals) -> None:
    """It comes while the main thread waits for the accepting one to begin, with its lock released.

    An exception from there would be replaced by one that says that the lock is not locked.
    """
    port, begin, release = free_udp_port(), Exchanges.begin, Condition._release_save  # type: ignore[attr-defined]  # noqa: SLF001
    is_beginning = Event()

    def begin_noted(exchanges: Exchanges) -> None:
        is_beginning.set()
        begin(exchanges)

    def release_and_interrupt(condition: Condition) -> object:
        released = release(condition)
        if is_beginning.is_set() and current_thread() is main_thread():
            is_beginning.clear()
            connection = endpoint.connect("127.0.0.1", PORT, udp_port=port)
            connection.send(b"hello")
            assert connection.recv(timeout_s=PATIENCE_S) == b"hello"
            signal.raise_signal(number)
        return released

    arguments = ("listen", str(PORT), "--udp-port", str(port), "--once", "--echo", "--json")
    with (
        closing(Endpoint.udp("127.0.0.1", 0)) as endpoint,
        mock.patch.object(Exchanges, "begin", begin_noted),
        mock.patch.object(Condition, "_release_save", release_and_interrupt),
    ):
        done = run_cli(*arguments)
    assert done.returncode == STATUS[number]
    assert json.loads(done.stdout)["interrupted"] is True


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("name", "running"), [("send", exchange.Exchange), ("ping", ping.Pings)], ids=["send", "ping"]
)
def test_an_interrupt_beside_what_a_client_does_loses_no_report(
    name: str, running: type, when: str
) -> None:
    """It comes when there is a connection, but nothing sent, or all is done, but not reported."""
    run = running.run  # type: ignore[attr-defined]

    def run_interrupted(self: object, *arguments: object) -> object:
        if when == "before":
            signal.raise_signal(signal.SIGTERM)
        done = run(self, *arguments)
        if when == "after":
            signal.raise_signal(signal.SIGTERM)
        return done

    with listening("--echo") as (_, port), mock.patch.object(running, "run", run_interrupted):
        done = run_cli(name, PEER, "--count", "1", "--udp-port", port, "--json")
    assert done.returncode == STATUS[signal.SIGTERM]
    assert done.stderr == SAYS[signal.SIGTERM]
    document = json.loads(done.stdout)
    assert document["error"] is None
    sent = document["sent"]["datagrams"] if name == "send" else document["sent"]
    assert sent == (0 if when == "before" else 1)


def test_a_sender_that_waits_for_its_input_can_be_interrupted() -> None:
    with (
        serving_here() as (listener, port),
        command(
            "send", PEER, "-", "--udp-port", str(port), "--size", "100", "--plain", "--json"
        ) as sender,
    ):
        accepted = listener.accept(timeout_s=PATIENCE_S)
        assert sender.stdin is not None
        sender.stdin.write(100 * "x")
        sender.stdin.flush()
        assert accepted.recv(timeout_s=PATIENCE_S) == 100 * b"x"
        sender.send_signal(signal.SIGINT)
        assert sender.wait(PATIENCE_S) == STATUS[signal.SIGINT]
        document = json.loads(sender.communicate()[0])
    assert document["interrupted"] is True
    assert document["file"]["complete"] is False


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_interrupted_ping_prints_its_summary(options: tuple[str, ...]) -> None:
    with serving_here() as (listener, port):
        load = ("--count", "1000", "--gap", "10 ms", "--udp-port", str(port))
        with command("ping", PEER, *load, *options) as ping:
            accepted = listener.accept(timeout_s=PATIENCE_S)
            for _ in range(3):
                data = accepted.recv(timeout_s=PATIENCE_S)
                assert data is not None
                accepted.send(data)
            # That it sends another means that it has the third.
            assert accepted.recv(timeout_s=PATIENCE_S) is not None
            ping.send_signal(signal.SIGINT)
            output, errors = ping.communicate(timeout=PATIENCE_S)
    assert ping.returncode == 130
    assert errors == "interrupted\n"
    if options:
        document = json.loads(output)
        assert (document["sent"], document["received"], document["error"]) == (4, 3, None)
    else:
        assert "3 of 4 came back; round trip min " in output


def test_a_ping_that_nobody_answers_names_the_option() -> None:
    with silent_after_the_handshake() as (relay, server):
        listener = server.listen(PORT)
        done = run_cli("ping", PEER, "--count", "1", "--udp-port", relay.port)
        del listener
    assert done.returncode == 1
    assert "0 of 1 came back" in done.stdout
    assert "`skywave listen --echo`" in done.stderr


@contextmanager
def black_hole() -> Iterator[str]:
    """The port of a host that takes packets and never answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as hole:
        hole.bind(("127.0.0.1", 0))
        yield str(hole.getsockname()[1])


@pytest.mark.parametrize("command", ["send", "ping", "perf to"])
def test_a_command_without_an_answer_says_how_long_it_waits(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "UNANSWERED_S", 0.1)
    with black_hole() as port:
        limit = ("--option", "connect_timeout=500 ms")
        done = run_cli(*command.split(), PEER, "--udp-port", port, *limit)
    assert done.returncode == 1
    first, second = done.stderr.splitlines()
    assert first == (
        f"no answer from {PEER} yet; giving up after 0.5 s (--option connect_timeout=...)"
    )
    assert second.startswith("error: ")


def test_an_attempt_without_an_answer_can_be_interrupted() -> None:
    with black_hole() as port, command("ping", PEER, "--udp-port", port) as ping:
        assert ping.stderr is not None
        assert "giving up after 180 s" in ping.stderr.readline()
        ping.send_signal(signal.SIGINT)
        assert ping.wait(PATIENCE_S) == 130


@pytest.mark.parametrize("command", ["send", "ping"])
def test_a_peer_that_closes_early_is_named_without_advice_to_a_programmer(command: str) -> None:
    load = {"send": ("--duration", "1 h"), "ping": ("--count", "1000")}[command]
    with serving_here() as (listener, port):

        def close_after_one() -> None:
            accepted = listener.accept(timeout_s=PATIENCE_S)
            accepted.recv(timeout_s=PATIENCE_S)
            accepted.close(timeout_s=PATIENCE_S)

        closing_peer = Thread(target=close_after_one)
        closing_peer.start()
        done = run_cli(command, PEER, "--udp-port", port, *load, "--json")
        closing_peer.join()
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"] == "the peer closed before everything was sent"


def test_a_duration_is_a_limit_even_if_the_peer_is_gone() -> None:
    with silent_after_the_handshake() as (relay, server):
        listener = server.listen(PORT)
        load = ("--duration", "1 s", "--close-timeout", "500 ms", "--gap", "10 ms")
        port = str(relay.port)
        with command("send", PEER, "--udp-port", port, *load, "--json") as sender:
            accepted = listener.accept(timeout_s=PATIENCE_S)
            accepted.recv(timeout_s=PATIENCE_S)
            relay.silence()
            output, _ = sender.communicate(timeout=PATIENCE_S)
    document = json.loads(output)
    assert sender.returncode == 1
    silence = re.match(
        r"the peer stopped answering: nothing acknowledged for (\d+) s; "
        r"(not all data left|the peer did not confirm the close) within 0.5 s",
        document["error"],
    )
    assert silence is not None, document["error"]
    # It has been silent since the first datagram.
    assert 1 <= int(silence[1]) <= document["seconds"] + 0.5
    assert document["end"] == {"origin": "local", "code": 2, "name": "aborted"}
    sent = document["sent"]
    assert sent["unacknowledged"] > 0
    assert document["error"].endswith(f", {sent['unacknowledged']} not acknowledged")
    if silence[2] == "not all data left":
        assert f": {sent['discarded']} datagram" in document["error"]
    else:
        assert sent["discarded"] == 0


def test_a_close_that_is_not_confirmed_says_what_became_of_the_data() -> None:
    def is_close(_: int, packet: bytes) -> bool:
        return packet[8] >> 1 & 0xF == CLOSE

    with silent_after_the_handshake(is_close) as (relay, server):
        listener = server.listen(PORT)
        load = ("--count", "20", "--close-timeout", "500 ms")
        with command("send", PEER, "--udp-port", str(relay.port), *load, "--json") as sender:
            accepted = listener.accept(timeout_s=PATIENCE_S)
            output, _ = sender.communicate(timeout=PATIENCE_S)
            assert accepted.stats().datagrams_received == 20
    document = json.loads(output)
    assert sender.returncode == 1
    sent = document["sent"]
    assert (sent["datagrams"], sent["discarded"]) == (20, 0)
    unacknowledged = sent["unacknowledged"]
    rest = f", {unacknowledged} not acknowledged" if unacknowledged else ""
    # Whether the peer has been silent for as long depends on when its last acknowledgement came.
    said = re.search(
        r"(nothing acknowledged for \d s; |^)the peer did not confirm the close within 0.5 s; "
        rf"all datagrams had left{rest}(; on a slow path, .*--close-timeout|$)",
        document["error"],
    )
    assert said is not None, document["error"]
    assert (said[1] == "") == (said[2] != "")


def test_a_peer_that_falls_silent_is_named_when_that_ends_the_connection() -> None:
    with silent_after_the_handshake() as (relay, server):
        listener = server.listen(PORT)
        load = ("--duration", "1 h", "--gap", "10 ms", "--option", "silence_timeout=1 s")
        with command("send", PEER, "--udp-port", str(relay.port), *load, "--json") as sender:
            accepted = listener.accept(timeout_s=PATIENCE_S)
            accepted.recv(timeout_s=PATIENCE_S)
            relay.silence()
            output, _ = sender.communicate(timeout=PATIENCE_S)
    assert sender.returncode == 1
    error = json.loads(output)["error"]
    assert re.fullmatch(r"the peer stopped answering: nothing acknowledged for [1-9]\d* s", error)


def test_intervals_are_in_the_document_and_add_up() -> None:
    with listening("--once", "--json", "--interval", "100 ms") as (listener, port):
        load = ("--duration", "600 ms", "--rate", "8 Mbps", "--interval", "100 ms")
        sent = run_cli("send", PEER, "--udp-port", port, *load, "--json")
        output, _ = listener.communicate(timeout=PATIENCE_S)
    ours, theirs = json.loads(sent.stdout), json.loads(output)
    for document, way in ((ours, "sent"), (theirs, "received")):
        intervals = document["intervals"]
        assert len(intervals) > 1
        total = sum(interval[f"{way}_bytes"] for interval in intervals)
        assert total == document[way]["bytes"] > 0
        for one, other in pairwise(intervals):
            assert one["end_s"] == other["start_s"]
        for interval in intervals:
            bits = 8 * interval[f"{way}_bytes"]
            seconds = interval["end_s"] - interval["start_s"]
            assert interval[f"{way}_bps"] == pytest.approx(bits / seconds)
    # --rate without --size offers datagrams of 1200 bytes.
    assert ours["sent"]["bytes"] == 1200 * ours["sent"]["datagrams"]


def test_a_line_has_what_an_interval_knows() -> None:
    report = {
        "start_s": 1.0,
        "end_s": 2.0,
        "sent_bytes": 125_000,
        "sent_bps": 1e6,
        "received_bytes": 0,
        "received_bps": 0.0,
        "srtt_s": 0.02,
        "cwnd": 12.5,
        "rate_bps": None,
        "lost": 3,
        "loss_events": None,
        "dropped_by_peer": 0,
    }
    begin = "   1.0 -    2.0 s  "
    assert line(report) == f"{begin}sent 1.00 Mbps  srtt 20.0 ms  cwnd 12.5  lost 3"
    tfrc = report | {"cwnd": None, "lost": None, "rate_bps": 2_000_000, "loss_events": 1}
    assert line(tfrc) == f"{begin}sent 1.00 Mbps  srtt 20.0 ms  X 2.00 Mbps  loss events 1"
    receiver = report | {"sent_bytes": 0, "received_bytes": 125_000, "received_bps": 1e6}
    assert line(receiver) == f"{begin}received 1.00 Mbps  srtt 20.0 ms"
    idle = report | {"sent_bytes": 0, "srtt_s": None}
    assert line(idle) == f"{begin}no data  cwnd 12.5  lost 3"
    assert line(report | {"dropped_by_peer": 615}).endswith("lost 3  dropped by the peer 615")
