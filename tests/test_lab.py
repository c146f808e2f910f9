"""The laboratory's page: its protocol, whom it refuses, and the page itself in a real browser."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import zipfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect, sync_playwright
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from conftest import ROOT, assert_bad_input, run_cli
from skywave import Scenario, ScenarioError, _core, run
from skywave.lab import choices, connections, knobs, reading, toml
from skywave.lab.connections import Samples
from skywave.lab.frames import unpacked
from skywave.lab.server import application
from skywave.lab.site import STATIC, listening, server
from skywave.lab.site import address as address_of
from skywave.lab.watched import Prepared
from skywave.net import Endpoint
from test_emulate import needs_namespaces
from test_net_command import free_udp_port
from test_pages import HEIGHT, assert_looks_as_before

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page
    from starlette.testclient import WebSocketTestSession

    from skywave.lab.guard import Guard
    from skywave.net import Connection

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)
TOKEN = "of-these-tests"  # noqa: S105
PORT = 8377
ADDRESS = f"http://127.0.0.1:{PORT}"
SESSION = f"ws://127.0.0.1:{PORT}/session"
TEXT = """\
name = "short"
duration = "20 s"

[dumbbell]
pairs = 2
rate = "2 Mbps"
delay = "20 ms"
queue = { drop-tail = { packets = 20 } }
access_rate = "100 Mbps"
access_delays = ["1 ms"]

[[flows]]
name = "tcp"
from = "s1"
to = "d1"
transport = { tcp = {} }
source = { ftp = {} }

[[flows]]
name = "dccp"
from = "s2"
to = "d2"
transport = { dccp = { ccid = 3 } }
source = { ftp = {} }

[probes]
interval = "100 ms"
"""
RATE_LINE = 6


@pytest.fixture
def client() -> Iterator[TestClient]:
    app = application(token=TOKEN, port=PORT)
    with TestClient(app, base_url=ADDRESS, follow_redirects=False) as opened:
        yield opened
        # The client leaves its loop at once; a server waits for what its pages have begun.
        assert opened.portal is not None
        opened.portal.call(runs_have_ended)


async def runs_have_ended() -> None:
    tasks = asyncio.all_tasks()
    driven = [one for one in tasks if getattr(one.get_coro(), "__name__", "") == "_driven"]
    await asyncio.gather(*driven, return_exceptions=True)


@pytest.fixture
def page_of(client: TestClient) -> TestClient:
    """A client that has opened the page, as a browser has."""
    answer = client.get("/", params={"token": TOKEN})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/", "a copied address must not have the token"
    return client


@pytest.fixture
def socket(page_of: TestClient) -> Iterator[WebSocketTestSession]:
    with page_of.websocket_connect(SESSION, headers={"Origin": ADDRESS}) as opened:
        yield opened


def hello(socket: WebSocketTestSession) -> str:
    message = socket.receive_json()
    assert message["type"] == "hello"
    return str(message["session"])


@dataclass
class Received:
    """What a run has sent until some state."""

    state: dict[str, Any]
    tables: dict[str, list[dict[str, Any]]]
    epochs: set[int]


def until(socket: WebSocketTestSession, *states: str) -> Received:
    tables: dict[str, list[dict[str, Any]]] = {}
    epochs = set()
    while True:
        message = socket.receive()
        if (data := message.get("bytes")) is not None:
            header, parts = unpacked(data)
            epochs.add(header["epoch"])
            for name, part in parts.items():
                tables.setdefault(name, []).extend(part.to_pylist())
            continue
        answer = json.loads(message["text"])
        assert answer["type"] == "state", answer
        if answer["state"] in states:
            return Received(answer, tables, epochs)


# Whom it refuses.


def refusal(client: TestClient, headers: dict[str, str]) -> str:
    """Why a socket is refused."""
    with (
        pytest.raises(WebSocketDisconnect) as raised,
        client.websocket_connect(SESSION, headers=headers),
    ):
        pass
    return raised.value.reason


def test_without_the_token_nothing_is_served(client: TestClient) -> None:
    for path in ("/", "/static/lab.js", "/scenarios", "/schema"):
        assert client.get(path).status_code == 403, path
        assert client.get(path, params={"token": "guessed"}).status_code == 403, path
    assert "token" in refusal(client, {"Origin": ADDRESS})


@pytest.mark.parametrize("origin", ["http://evil.example", f"http://127.0.0.1:{PORT + 1}", "null"])
def test_other_pages_are_refused(page_of: TestClient, origin: str) -> None:
    assert page_of.get("/scenarios").status_code == 200
    assert page_of.get("/scenarios", headers={"Origin": origin}).status_code == 403
    assert "another page" in refusal(page_of, {"Origin": origin})


def test_a_socket_without_an_origin_is_refused(page_of: TestClient) -> None:
    assert "another page" in refusal(page_of, {})


def test_a_name_that_points_here_is_refused(page_of: TestClient) -> None:
    """DNS rebinding: another site's name with this machine's address."""
    headers = {"Host": f"evil.example:{PORT}", "Origin": f"http://evil.example:{PORT}"}
    assert page_of.get("/", params={"token": TOKEN}, headers=headers).status_code == 403


def test_the_page_loads_nothing_from_elsewhere(page_of: TestClient) -> None:
    answer = page_of.get("/")
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    for name in ("index.html", "lab.css"):
        text = (STATIC / name).read_text(encoding="utf-8")
        assert not re.search(r"(?:https?:)?//\w", text.replace("/static/", "")), name


def test_it_listens_on_this_machine_only() -> None:
    with listening(0) as bound:
        address, port = bound.getsockname()
        assert address == "127.0.0.1"
        with pytest.raises(OSError, match="--port 0"):
            listening(port)


# Scenarios.


def test_an_error_has_its_line(socket: WebSocketTestSession) -> None:
    hello(socket)
    wrong = TEXT.replace("2 Mbps", "2 Mbit")
    socket.send_json({"type": "check", "run": "a", "text": wrong})
    answer = socket.receive_json()
    assert (answer["type"], answer["field"]) == ("error", "dumbbell.rate")
    assert (answer["line"], answer["column"]) == (RATE_LINE, 8)
    assert "Mbit" in answer["message"]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ('"20 ms"', '"20 ms', 7),
        ("ccid = 3", "ccid = 9", 23),
        ("pairs = 2", "pears = 2", 5),
        ('to = "d2"', 'to = "d7"', 22),
    ],
)
def test_errors_of_all_kinds_have_their_line(before: str, after: str, line: int) -> None:
    with pytest.raises(reading.Wrong) as raised:
        reading.inspect(TEXT.replace(before, after))
    assert raised.value.line == line


@pytest.mark.parametrize(
    "transport",
    [
        '{ tcp = { control = "os:system" } }',
        '{ dccp = { ccid = 251, control = "os:system" } }',
    ],
)
def test_a_control_in_python_is_never_loaded(
    socket: WebSocketTestSession, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(*_: object) -> None:
        raise AssertionError("a class was looked for")

    monkeypatch.setattr("skywave.control.find", find)
    hello(socket)
    text = TEXT.replace("{ tcp = {} }", transport)
    for message in ({"type": "check"}, {"type": "start", "pace": None}):
        socket.send_json({"run": "a", "text": text, **message})
        answer = socket.receive_json()
        assert answer["type"] == "error"
        assert "Python" in answer["message"]
        assert answer["line"] == 16
    # And if it were not noticed, the core would not know it either.
    with pytest.raises(ScenarioError, match="os:system"):
        _core.inspect_scenario(text, "toml", imports=False)
    with pytest.raises(ScenarioError, match="os:system"):
        _core.SteppedRun(text)


def test_files_are_not_read_for_the_page() -> None:
    trace = 'trace = { mahimahi = "/etc/passwd" }\naccess_rate ='
    with pytest.raises(reading.Wrong, match="trace"):
        reading.inspect(TEXT.replace("access_rate =", trace))


def test_every_scenario_on_offer_can_be_run_and_has_knobs() -> None:
    every = choices.every()
    assert {choice.group for choice in every.values()} == {"Examples", "Networks of papers"}
    for choice in every.values():
        scenario = reading.inspect(choice.text).scenario
        assert any(knob.field.endswith(".rate") for knob in knobs.of_scenario(scenario)), choice.key


def test_a_scenario_is_the_same_after_it_was_written() -> None:
    for path in sorted((ROOT / "examples").glob("*.toml")):
        scenario = Scenario.from_file(path)
        again = Scenario.from_text(toml.written(scenario.to_dict()), "toml")
        assert again.digest() == scenario.digest(), path.name


# Knobs.


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("dumbbell.rate", 5_000_000, 'rate = "5 Mbps"'),
        ("dumbbell.delay", 0.3, 'delay = "300 ms"'),
        ("dumbbell.queue.drop-tail.packets", 7.2, "queue = { drop-tail = { packets = 7 } }"),
        ("dumbbell.queue", "codel", "queue = { codel = { packets = 20 } }"),
        ("dumbbell.loss", 0.01, "loss = { bernoulli = { probability = 0.01 } }"),
        ("flows[0].transport.tcp.control", "cubic", 'transport = { tcp = { control = "cubic" } }'),
        ("flows[1].transport.dccp.ccid", "2", "transport = { dccp = { ccid = 2 } }"),
    ],
)
def test_a_knob_changes_its_line_only(field: str, value: float | str, line: str) -> None:
    turned = knobs.turned(TEXT, field, value)
    before, after = TEXT.splitlines(), turned.splitlines()
    assert line in after
    assert len([one for one in after if one not in before]) == 1
    again = knobs.of_scenario(reading.inspect(turned).scenario)
    found = next((knob.value for knob in again if knob.field == field), value)
    assert found == (7 if value == 7.2 else value)


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", "other"), ("dumbbell.rate", "fast"), ("dumbbell.rate", -1), ("dumbbell.queue", "?")],
)
def test_what_is_no_knob_cannot_be_turned(field: str, value: float | str) -> None:
    with pytest.raises(reading.Wrong):
        knobs.turned(TEXT, field, value)


# Runs.


def test_a_run_sends_what_the_tables_have(
    socket: WebSocketTestSession, page_of: TestClient
) -> None:
    session = hello(socket)
    text = TEXT.replace("{ tcp = {} }", '{ tcp = { control = "cubic" } }')
    text += 'rates = true\ntables = ["controls"]\n'
    socket.send_json({"type": "start", "run": "a", "text": text, "pace": None})
    received = until(socket, "ended")
    assert received.state["time_s"] == 20
    results = run(Scenario.from_text(text, "toml"))
    for name in ("flows", "links", "rates", "controls"):
        columns = list(received.tables[name][0])
        assert received.tables[name] == results.tables[name].select(columns).to_pylist()
    answer = page_of.get(f"/runs/{session}/a/tables.zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.read("scenario.toml").decode() == text
        table = pq.read_table(io.BytesIO(archive.read("flows.parquet")))
    assert table.to_pylist() == results.flows.to_pylist()


def test_steps_are_sampling_intervals(socket: WebSocketTestSession) -> None:
    hello(socket)
    socket.send_json({"type": "start", "run": "a", "text": TEXT, "pace": 1, "paused": True})
    until(socket, "paused")
    for _ in range(3):
        socket.send_json({"type": "step", "run": "a"})
    rows: list[dict[str, Any]] = []
    while len(rows) < 6:
        message = socket.receive()
        if (data := message.get("bytes")) is not None:
            rows += unpacked(data)[1]["flows"].to_pylist()
    assert [row["time_s"] for row in rows] == pytest.approx([0.1, 0.1, 0.2, 0.2, 0.3, 0.3])


def test_a_run_is_stopped(socket: WebSocketTestSession, page_of: TestClient) -> None:
    session = hello(socket)
    endless = TEXT.replace("20 s", "90000 s")
    socket.send_json({"type": "start", "run": "a", "text": endless, "pace": None})
    socket.send_json({"type": "stop", "run": "a"})
    assert until(socket, "stopped").state["time_s"] < 90_000
    answer = page_of.get(f"/runs/{session}/a/tables.zip")
    assert answer.status_code == 200


def test_a_change_runs_again_up_to_the_present(socket: WebSocketTestSession) -> None:
    hello(socket)
    socket.send_json({"type": "start", "run": "a", "text": TEXT, "pace": None})
    until(socket, "ended")
    changed = TEXT.replace("2 Mbps", "1 Mbps")
    socket.send_json({"type": "change", "run": "a", "text": changed})
    received = until(socket, "ended")
    assert received.epochs == {1}
    expected = run(Scenario.from_text(changed, "toml")).flows
    columns = list(received.tables["flows"][0])
    assert received.tables["flows"] == expected.select(columns).to_pylist()


def test_a_wrong_change_leaves_the_run_alone(socket: WebSocketTestSession) -> None:
    hello(socket)
    socket.send_json({"type": "start", "run": "a", "text": TEXT, "pace": 1, "paused": True})
    until(socket, "paused")
    socket.send_json({"type": "change", "run": "a", "text": TEXT.replace("2 Mbps", "fast")})
    assert socket.receive_json()["type"] == "error"
    socket.send_json({"type": "pace", "run": "a", "pace": None})
    socket.send_json({"type": "play", "run": "a"})
    assert until(socket, "ended").epochs == {0}


@pytest.mark.parametrize(
    "message",
    [
        "no JSON",
        "[]",
        "[" * 100_000,
        '{"type": "start", "run": "a", "text": "", "clock": "broken"}',
        '{"type": "start", "run": "z"}',
        '{"type": "start", "run": "a"}',
        '{"type": "start", "run": "a", "text": 3}',
        '{"type": "play", "run": "a"}',
        '{"type": "drive", "run": "a"}',
        '{"run": "a"}',
    ],
)
def test_strange_messages_are_answered(socket: WebSocketTestSession, message: str) -> None:
    hello(socket)
    socket.send_text(message)
    assert socket.receive_json()["type"] == "error"


def test_bytes_end_the_session(socket: WebSocketTestSession) -> None:
    hello(socket)
    socket.send_bytes(b"text")
    with pytest.raises(WebSocketDisconnect) as raised:
        socket.receive_json()
    assert raised.value.code == 1003


@pytest.mark.parametrize(
    "text",
    ["a." * 400_000 + "a = 1", "a = " + "[" * 400_000, "a = " + "{ a = " * 100_000],
    ids=["keys", "arrays", "tables"],
)
def test_what_is_nested_too_deeply_is_refused_in_little_memory(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(reading.Wrong, match="not TOML"):
            reading.inspect(text)
        assert tracemalloc.get_traced_memory()[1] < 10 * len(text)
    finally:
        tracemalloc.stop()


def test_a_scenario_that_takes_long_to_build_keeps_no_other_page_waiting(
    page_of: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_is_answered = threading.Event()
    build = Prepared.of

    def slowly(text: str) -> Prepared:
        assert other_is_answered.wait(60)
        return build(text)

    monkeypatch.setattr(Prepared, "of", slowly)
    headers = {"Origin": ADDRESS}
    with (
        page_of.websocket_connect(SESSION, headers=headers) as socket,
        page_of.websocket_connect(SESSION, headers=headers) as other,
    ):
        hello(socket)
        hello(other)
        socket.send_json({"type": "start", "run": "a", "text": TEXT, "pace": None})
        other.send_json({"type": "check", "run": "a", "text": TEXT})
        assert other.receive_json()["type"] == "checked"
        other_is_answered.set()
        until(socket, "ended")
        other_is_answered.clear()
        socket.send_json({"type": "change", "run": "a", "text": TEXT})
        other.send_json({"type": "check", "run": "a", "text": TEXT})
        assert other.receive_json()["type"] == "checked"
        other_is_answered.set()
        until(socket, "ended")


def test_packets_and_a_figure_can_be_downloaded(
    socket: WebSocketTestSession, page_of: TestClient
) -> None:
    session = hello(socket)
    socket.send_json({"type": "start", "run": "a", "text": TEXT, "pace": None})
    until(socket, "ended")
    base = f"/runs/{session}/a"
    packets = page_of.get(f"{base}/packets.pcapng", params={"link": "r1->r2"})
    assert packets.content[:4] == b"\x0a\x0d\x0d\x0a"
    assert page_of.get(f"{base}/packets.pcapng", params={"link": "r1->r9"}).status_code == 409
    assert b"<svg" in page_of.get(f"{base}/run.svg").content
    assert page_of.get("/runs/other/a/run.svg").status_code == 404


# Runs on the real clock.


def network_namespaces() -> set[str]:
    """Those in which any thread of any process is."""
    found = set()
    for thread in Path("/proc").glob("[0-9]*/task/[0-9]*/ns/net"):
        with suppress(OSError):  # it has ended meanwhile
            found.add(str(thread.readlink()))
    return found


def assert_gone(namespaces: set[str]) -> None:
    """The system takes namespaces away in the background, once their processes have ended."""
    while namespaces & network_namespaces():
        time.sleep(0.01)


@needs_namespaces
def test_a_lived_run_sends_frames_and_has_all_tables_in_the_end(
    socket: WebSocketTestSession, page_of: TestClient
) -> None:
    session = hello(socket)
    text = TEXT.replace("20 s", "1 s")
    socket.send_json({"type": "start", "run": "a", "text": text, "clock": "real"})
    received = until(socket, "ended")
    assert received.state["clock"] == "real"
    assert received.state["time_s"] == 1
    assert "packets left late by" in received.state["notes"][0]
    # A sample every 100 ms of two flows.
    assert len(received.tables["flows"]) == 20
    answer = page_of.get(f"/runs/{session}/a/tables.zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        table = pq.read_table(io.BytesIO(archive.read("flows.parquet")))
    columns = list(received.tables["flows"][0])
    assert table.select(columns).to_pylist() == received.tables["flows"]
    refused = page_of.get(f"/runs/{session}/a/packets.pcapng", params={"link": "r1->r2"})
    assert refused.status_code == 409
    assert "--capture" in refused.text


@needs_namespaces
def test_a_lived_run_is_stopped_and_cannot_be_paused(
    socket: WebSocketTestSession, page_of: TestClient
) -> None:
    session, before = hello(socket), network_namespaces()
    endless = TEXT.replace("20 s", "90000 s")
    socket.send_json({"type": "start", "run": "a", "text": endless, "clock": "real"})
    while socket.receive().get("bytes") is None:
        pass
    begun = network_namespaces() - before
    assert begun
    for message in ({"type": "pause"}, {"type": "step"}, {"type": "change", "text": TEXT}):
        socket.send_json({"run": "a", **message})
        while "text" not in (answer := socket.receive()):
            pass
        assert "may be stopped, but not paused" in json.loads(answer["text"])["message"]
    socket.send_json({"type": "stop", "run": "a"})
    while not (stopped := until(socket, "stopped")).state["notes"]:
        pass
    assert 0 < stopped.state["time_s"] < 90_000
    assert_gone(begun)
    assert b"<svg" in page_of.get(f"/runs/{session}/a/run.svg").content


@needs_namespaces
def test_a_lived_run_ends_with_its_page(page_of: TestClient) -> None:
    before = network_namespaces()
    with page_of.websocket_connect(SESSION, headers={"Origin": ADDRESS}) as socket:
        hello(socket)
        socket.send_json({"type": "start", "run": "a", "text": TEXT, "clock": "real"})
        while socket.receive().get("bytes") is None:
            pass
        begun = network_namespaces() - before
    assert_gone(begun)


DRIVE = """
import asyncio, json, sys
from skywave.lab.lived import LivedRun

async def main():
    async def send(message):
        if isinstance(message, dict):
            print(json.dumps(message))
    run = await LivedRun.prepared("a", sys.stdin.read(), send)
    await run.drive()
    assert run.results()["flows"].num_rows == 20

asyncio.run(main())
"""


@needs_namespaces
def test_a_lived_run_needs_no_privileges() -> None:
    # A user who is not root there, and so has no privileges here.
    user = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")
    if subprocess.run([*user, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("the system has no user namespaces")
    done = subprocess.run(
        [*user, sys.executable, "-c", DRIVE],
        input=TEXT.replace("20 s", "1 s"),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if "does not let users create namespaces" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    first, *_, last = map(json.loads, done.stdout.splitlines())
    assert (first["state"], last["state"], last["time_s"]) == ("running", "ended", 1)


@needs_namespaces
def test_a_lived_run_ends_with_its_server_even_if_that_is_killed() -> None:
    before = network_namespaces()
    server = subprocess.Popen([sys.executable, "-c", DRIVE], stdin=subprocess.PIPE, text=True)
    with server:
        assert server.stdin is not None
        server.stdin.write(TEXT.replace("20 s", "90000 s"))
        server.stdin.close()
        while not (begun := network_namespaces() - before):
            assert server.poll() is None
        server.kill()
    assert_gone(begun)


def test_what_can_only_be_simulated_is_said_at_its_line(
    socket: WebSocketTestSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skywave.lab.lived.refusal", lambda: None)
    monkeypatch.setattr("skywave.lab.lived.around", list)
    hello(socket)
    text = TEXT.replace("dccp = { ccid = 3 }", 'dccp = { ccid = 3, quick_start = "2 Mbps" }')
    text = text.replace("access_rate =", "quick_start = 0.5\naccess_rate =")
    socket.send_json({"type": "start", "run": "a", "text": text, "clock": "real"})
    while (answer := socket.receive_json())["type"] == "state":
        pass
    assert "cannot run on the real clock" in answer["message"], answer
    assert answer["line"] is not None


def test_a_machine_without_namespaces_says_why(
    socket: WebSocketTestSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skywave.lab.lived.refusal", lambda: "no namespaces here")
    hello(socket)
    socket.send_json({"type": "start", "run": "a", "text": TEXT, "clock": "real"})
    assert socket.receive_json()["message"] == "no namespaces here"


# The connections of a socket.


@contextmanager
def connected() -> Iterator[tuple[Endpoint, Connection]]:
    """An endpoint that has a connection, and the other end."""
    with (
        Endpoint.udp("127.0.0.1:0") as server,
        Endpoint.udp("127.0.0.1:0") as client,
    ):
        listener = server.listen(5001)
        udp_port = int(server.local_address.rpartition(":")[2])
        with client.connect("127.0.0.1", 5001, udp_port=udp_port) as connection:
            yield server, connection
        del listener


def test_a_socket_is_sampled() -> None:
    now = 0.0
    with connected() as (endpoint, connection):
        samples = Samples(endpoint, lambda: now)
        connection.send(bytes(1000))
        while not endpoint.snapshot()["totals"]["bytes_received"]:
            time.sleep(0.01)
        now = 0.5
        samples.take()
        now = 1.0
        samples.take()
        seen, table = samples.after(0)
        assert seen == 2
        first, second = table.to_pylist()
        assert (first["time_s"], second["time_s"]) == (0.5, 1.0)
        assert first["connection"] == second["connection"]
        assert (first["goodput_bps"], second["goodput_bps"]) == (16_000, 0)
        assert first["cwnd_packets"] > 0
        assert samples.after(1)[1].num_rows == 1
        # A server that runs for days keeps two minutes.
        for _ in range(2000):
            now += 0.1
            samples.take()
        seen, table = samples.after(0)
        assert (seen, table.num_rows) == (2002, 1200)


def test_the_page_of_a_socket_is_guarded_and_read_only() -> None:
    with connected() as (endpoint, _):
        samples = Samples(endpoint)
        samples.take()
        app = connections.application(samples, token=TOKEN, port=PORT, title="A socket")
        with TestClient(app, base_url=ADDRESS, follow_redirects=False) as client:
            assert client.get("/").status_code == 403
            assert "token" in refusal(client, {"Origin": ADDRESS})
            client.get("/", params={"token": TOKEN})
            assert "another page" in refusal(client, {"Origin": "http://evil.example"})
            assert client.get("/scenarios").status_code == 404
            with client.websocket_connect(SESSION, headers={"Origin": ADDRESS}) as socket:
                greeting = socket.receive_json()
                assert (greeting["shows"], greeting["title"]) == ("connections", "A socket")
                assert socket.receive_json()["notes"] == ["1 connection is open."]
                assert unpacked(socket.receive()["bytes"])[1]["connections"].num_rows == 1
                socket.send_json({"type": "stop", "run": "a"})
                while "text" not in (answer := socket.receive()):
                    pass
                assert json.loads(answer["text"])["type"] == "error"


# The command.


def test_a_wrong_scenario_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(TEXT.replace("2 Mbps", "2 Mbit"))
    assert_bad_input(run_cli("lab", file, "--no-browser"), "dumbbell.rate")


@pytest.mark.parametrize("command", ["lab", "listen", "send"])
def test_help_names_the_extra(command: str) -> None:
    assert "skywave[lab]" in run_cli(command, "--help").stdout


def test_without_the_extra_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("server", "site", "connections"):
        monkeypatch.delitem(sys.modules, f"skywave.lab.{name}")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for command in (("lab",), ("listen", "5001", "--udp-port", "0", "--watch")):
        assert_bad_input(run_cli(*command, "--no-browser"), "uvicorn", "skywave[lab]")


def test_the_command_prints_an_address_that_opens() -> None:
    command = [sys.executable, "-m", "skywave", "lab", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stderr is not None
            address = process.stderr.readline().split()[-1]
            with httpx2.Client(follow_redirects=True) as client:
                assert "Skywave laboratory" in client.get(address).text
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=20) == 130
            assert process.stderr.read() == "interrupted\n"
        finally:
            process.kill()


# The page.


def test_the_built_page_is_current() -> None:
    """What is in the package was built from what is in lab/ (make lab builds it)."""
    lab = ROOT / "lab"
    names = ["build.mjs", "package.json", "package-lock.json", "tsconfig.json"]
    names += sorted(f"src/{path.name}" for path in (lab / "src").iterdir())
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name}\n".encode() + (lab / name).read_bytes() + b"\n")
    assert (STATIC / "sources.sha256").read_text().strip() == digest.hexdigest(), "run make lab"
    assert sum(path.stat().st_size for path in STATIC.iterdir()) < 700_000


@contextmanager
def served(app: Callable[[int], Guard]) -> Iterator[str]:
    """Serve the application of a port until the block ends; the address that a command prints."""
    bound = listening(0)
    port = bound.getsockname()[1]
    is_ready = threading.Event()
    running = server(app(port), ready=is_ready.set)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [bound]})
    thread.start()
    assert is_ready.wait(60)
    yield address_of(port, TOKEN)
    running.should_exit = True
    thread.join(timeout=20)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    first = choices.Choice("first", "File", "short", TEXT)
    with served(lambda port: application(token=TOKEN, port=port, first=first)) as served_at:
        yield served_at


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        yield started
        started.close()


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda one: wrong.append(one.text) if one.type == "error" else None)
    page.goto(address)
    expect(page.get_by_role("slider", name="Rate")).to_be_visible()
    yield page
    context.close()
    assert wrong == []


def drawn(page: Page, panel: str) -> str:
    """What a chart shows, as its picture."""
    picture = page.evaluate(
        "panel => document.querySelector(`[data-panel=${panel}] canvas`)?.toDataURL() ?? ''", panel
    )
    assert isinstance(picture, str)
    return picture


@needs_chromium
def test_a_knob_is_turned_and_the_curve_moves(opened: Page) -> None:
    opened.get_by_label("Pace").select_option("")
    opened.get_by_role("button", name="Run", exact=True).click()
    expect(opened.locator(".state")).to_contain_text("Ended")
    chart = opened.locator("[data-panel=goodput] [role=img]")
    expect(chart).to_have_attribute("aria-label", re.compile(r"tcp: [\d.]+, dccp: [\d.]+"))
    before = drawn(opened, "goodput")
    slider = opened.get_by_role("slider", name="Rate")
    slider.focus()
    for _ in range(12):
        slider.press("ArrowRight")
    expect(opened.locator(".cm-content")).not_to_contain_text('rate = "2 Mbps"')
    expect(opened.locator(".state")).to_contain_text("Ended")
    opened.wait_for_function(
        "before => document.querySelector('[data-panel=goodput] canvas')?.toDataURL() != before",
        arg=before,
    )


@needs_chromium
def test_an_error_is_shown_at_its_line(opened: Page) -> None:
    line = opened.locator(".cm-line", has_text='rate = "2 Mbps"').first
    line.click()
    opened.keyboard.press("End")
    opened.keyboard.press("Backspace")
    opened.keyboard.press("Backspace")
    opened.keyboard.type('it"')
    alert = opened.get_by_role("alert")
    expect(alert).to_contain_text(f"line {RATE_LINE}: dumbbell.rate")
    marked = opened.locator(".cm-line", has=opened.locator(".cm-lintRange-error"))
    expect(marked).to_contain_text("Mbpit")
    for _ in range(3):
        opened.keyboard.press("Backspace")
    opened.keyboard.type('s"')
    expect(alert).to_be_hidden()


@needs_chromium
def test_keys_play_pause_step_and_stop(opened: Page) -> None:
    state = opened.locator(".state")
    opened.locator("h1").click()
    opened.keyboard.press("r")
    expect(state).to_contain_text("Running")
    opened.keyboard.press("Space")
    expect(state).to_contain_text("Paused")
    before = state.text_content()
    opened.keyboard.press(".")
    expect(state).not_to_have_text(before or "")
    opened.keyboard.press("s")
    expect(state).to_contain_text("Stopped")


@needs_chromium
def test_the_keyboard_completes_keys_of_the_schema(opened: Page) -> None:
    opened.locator(".cm-line", has_text='rate = "2 Mbps"').first.click()
    opened.keyboard.press("End")
    opened.keyboard.press("Enter")
    opened.keyboard.type("jit")
    expect(opened.locator(".cm-tooltip-autocomplete")).to_contain_text("jitter")


@needs_chromium
def test_two_runs_and_a_link_to_both(opened: Page, browser: Browser, address: str) -> None:
    opened.get_by_role("button", name="Two runs").click()
    expect(opened.locator("section.run")).to_have_count(2)
    for index in range(2):
        run_ = opened.locator("section.run").nth(index)
        run_.get_by_label("Pace").select_option("")
        run_.get_by_role("button", name="Run", exact=True).click()
        expect(run_.locator(".state")).to_contain_text("Ended")
    opened.get_by_role("button", name="Copy link").click()
    opened.wait_for_function("location.hash.includes('|')")
    fragment = opened.evaluate("location.hash")
    assert TOKEN not in opened.url
    context = browser.new_context()
    other = context.new_page()
    other.goto(address + fragment)
    expect(other.locator("section.run")).to_have_count(2)
    expect(other.locator(".cm-content").nth(1)).to_contain_text('name = "short"')
    context.close()


SCREENS = [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]


@contextmanager
def on_screen(browser: Browser, address: str, width: int, scheme: Any) -> Iterator[Page]:
    height = HEIGHT[width]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(address)
    yield page
    context.close()


def assert_fits_and_is_named(page: Page, width: int) -> None:
    """Nothing is beside the screen, and a screen reader has a name for everything."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    unnamed = page.evaluate(
        """[...document.querySelectorAll('button, select, input, progress, [role=img]')]
            .filter(one => !(one.textContent.trim() || one.labels?.length || one.ariaLabel))
            .length"""
    )
    assert unnamed == 0


@needs_chromium
@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_a_run_looks_as_before(browser: Browser, address: str, width: int, scheme: str) -> None:
    with on_screen(browser, address, width, scheme) as page:
        expect(page.get_by_role("slider", name="Rate")).to_be_visible()
        expect(page.locator(".scenarios option").first).to_be_attached(timeout=30_000)
        page.get_by_label("Pace").select_option("")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.locator(".state")).to_contain_text("Ended")
        # What was last drawn is described.
        page.wait_for_function(f"() => {SERIES}.times.length === 200")
        chart = page.locator("[data-panel=goodput] [role=img]")
        expect(chart).to_have_attribute("aria-label", re.compile("tcp: .*dccp: "))
        assert_fits_and_is_named(page, width)
        assert_looks_as_before(page, f"lab-{width}-{scheme}")


SERIES = "skywaveLab.runs.get('a').charts.series('goodput')"


class Sawtooth:
    """An endpoint with two connections, whose windows go as those of Reno do."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def snapshot(self, _: int) -> dict[str, Any]:
        return {
            "states": {"OPEN": 2},
            "connections": [self.connection(one, 4.0 + 3 * one) for one in range(2)],
        }

    def connection(self, number: int, period_s: float) -> dict[str, Any]:
        cwnd = 20 + 20 * (self.now_s % period_s) / period_s
        stats = {
            **dict.fromkeys((*connections.STATE, *connections.SINCE, *connections.RATES)),
            "cwnd": cwnd,
            "ssthresh": 20.0,
            "pipe": round(cwnd),
            "srtt_s": cwnd / 1000,
            "lost": self.now_s // period_s,
            "bytes_received": 125_000 * self.now_s / (1 + number),
            "bytes_sent": 250_000 * self.now_s / (1 + number),
        }
        peer = {"peer_ip": "192.0.2.1", "peer_port": 5001 + number}
        return {"id": number, **peer, "stats": stats}


@needs_chromium
@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_a_socket_looks_as_before(browser: Browser, width: int, scheme: str) -> None:
    endpoint: Any = Sawtooth()
    samples = Samples(endpoint, lambda: endpoint.now_s)
    for index in range(1, 300):
        endpoint.now_s = index / 10
        samples.take()

    def app(port: int) -> Guard:
        return connections.application(samples, token=TOKEN, port=port, title="A socket")

    with served(app) as served_at, on_screen(browser, served_at, width, scheme) as page:
        expect(page.locator("[data-panel=ssthresh] [role=img]")).to_have_attribute(
            "aria-label", re.compile("20.0")
        )
        assert_fits_and_is_named(page, width)
        assert_looks_as_before(page, f"socket-{width}-{scheme}")


def last_time(page: Page, panel: str) -> float:
    """The time of the last sample in a chart of run A."""
    script = "panel => skywaveLab.runs.get('a').charts.series(panel).times.at(-1) ?? 0"
    return float(page.evaluate(script, panel))


@needs_chromium
@needs_namespaces
def test_a_lived_run_moves_beside_a_simulated_one_and_is_stopped(opened: Page) -> None:
    before = network_namespaces()
    opened.get_by_role("button", name="Two runs").click()
    lived, simulated = (opened.locator("section.run").nth(index) for index in range(2))
    simulated.get_by_label("Pace").select_option("")
    simulated.get_by_role("button", name="Run", exact=True).click()
    lived.get_by_label("Clock").select_option("real")
    expect(lived.locator(".note")).to_contain_text("takes as long as it says")
    expect(lived.get_by_label("Pace")).to_be_disabled()
    lived.get_by_role("button", name="Run", exact=True).click()
    expect(lived.locator(".state")).to_contain_text("Running in real time")
    moves = "least => skywaveLab.runs.get('a').charts.series('goodput').times.at(-1) > least"
    opened.wait_for_function(moves, arg=0)
    picture = drawn(opened, "goodput")
    opened.wait_for_function(moves, arg=last_time(opened, "goodput"))
    opened.wait_for_function(
        "before => document.querySelector('[data-panel=goodput] canvas').toDataURL() != before",
        arg=picture,
    )
    begun = network_namespaces() - before
    assert begun
    for name in ("Pause", "Step"):
        expect(lived.get_by_role("button", name=name)).to_be_disabled()
    expect(lived.get_by_role("slider", name="Rate")).to_be_disabled()
    lived.get_by_role("button", name="Stop").click()
    expect(lived.locator(".notes")).to_contain_text("packets left late by")
    expect(lived.locator(".state")).to_contain_text("Stopped in real time")
    expect(lived.get_by_role("slider", name="Rate")).to_be_enabled()
    expect(simulated.locator(".state")).to_contain_text("Ended")
    assert_gone(begun)


@needs_chromium
def test_where_there_is_no_real_clock_the_page_says_why(
    opened: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skywave.lab.server.refusal", lambda: "no namespaces here")
    opened.reload()
    expect(opened.get_by_role("slider", name="Rate")).to_be_visible()
    opened.get_by_label("Clock").select_option("real")
    expect(opened.locator(".note")).to_have_text("no namespaces here")
    expect(opened.get_by_role("button", name="Run", exact=True)).to_be_disabled()


@needs_chromium
def test_connections_of_a_server_come_and_go(browser: Browser) -> None:
    command = (sys.executable, "-m", "skywave", "listen", "127.0.0.1:5001", "--watch")
    udp_port = str(free_udp_port())
    with subprocess.Popen(
        [*command, "--no-browser", "--udp-port", udp_port, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as listener:
        try:
            assert listener.stderr is not None
            address = listener.stderr.readline().split()[-1]
            assert "listening" in listener.stderr.readline()
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            wrong: list[str] = []
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.goto(address)
            expect(page.get_by_role("heading")).to_contain_text(f"127.0.0.1:{udp_port}")
            expect(page.locator(".state")).to_have_text("0 connections are open.")
            expect(page.get_by_role("button")).to_have_count(0)
            with Endpoint.udp("127.0.0.1:0") as client:
                names = "skywaveLab.charts.series('goodput').names.length"
                alive = []
                for count in (1, 2):
                    alive.append(client.connect("127.0.0.1", 5001, udp_port=int(udp_port)))
                    while page.evaluate(names) < count:
                        alive[-1].send(bytes(1000))
                        page.wait_for_timeout(20)
                expect(page.locator(".state")).to_have_text("2 connections are open.")
                values = (
                    "skywaveLab.charts.series('goodput').values.every(one => one.some(Boolean))"
                )
                page.wait_for_function(values)
                chart = page.locator("[data-panel=goodput] [role=img]")
                expect(chart).to_have_attribute("aria-label", re.compile(r"1: 127.0.0.1:\d+: "))
                assert drawn(page, "cwnd")
            expect(page.locator(".state")).to_have_text("0 connections are open.")
            assert page.evaluate("document.documentElement.scrollWidth") <= 1280
            assert wrong == []
            listener.send_signal(signal.SIGINT)
            assert listener.wait(timeout=20) == 130
            assert listener.stderr.read() == "interrupted\n"
            expect(page.locator("#connection")).to_contain_text("The server is gone")
            page.context.close()
        finally:
            listener.kill()


class Crowd:
    """An endpoint whose connections, as many as a chart shows, are others each day."""

    day = 0

    def snapshot(self, _: int) -> dict[str, Any]:
        ids = range(20 * self.day, 20 * (self.day + 1))
        peer = {"peer_ip": "192.0.2.1", "peer_port": 5001}
        stats = dict.fromkeys((*connections.STATE, *connections.SINCE, *connections.RATES), 1)
        return {
            "states": {"OPEN": len(ids)},
            "connections": [{"id": one, **peer, "stats": stats} for one in ids],
        }


@needs_chromium
def test_a_server_that_runs_for_days_shows_who_is_there_now(browser: Browser) -> None:
    """What has left the page's window makes room for others, and takes no memory."""
    crowd: Any = Crowd()
    samples = Samples(crowd, lambda: 86_400.0 * crowd.day)
    page = browser.new_context().new_page()

    def app(port: int) -> Guard:
        return connections.application(samples, token=TOKEN, port=port, title="A socket")

    with served(app) as served_at:
        page.goto(served_at)
        expect(page.locator(".state")).to_be_visible()
        series = "skywaveLab.charts.series('goodput')"
        for crowd.day in (1, 2, 3):
            samples.take()
            page.wait_for_function(f"() => {series}.times.at(-1) === {86_400 * crowd.day}")
            assert page.evaluate(f"[{series}.times.length, {series}.names.length]") == [1, 20]
            assert page.evaluate(f"{series}.names[0]") == f"{20 * crowd.day}: 192.0.2.1:5001"
    page.context.close()


MANY = 20
"""Series, of the requirement that no frame is dropped."""


@needs_chromium
def test_twenty_series_arrive_whole(opened: Page) -> None:
    """50 samples a second of 20 flows: every frame is taken and drawn."""
    flows = "".join(
        f'[[flows]]\nname = "f{index}"\nfrom = "s{index}"\nto = "d{index}"\n'
        "transport = { tcp = {} }\nsource = { ftp = {} }\n"
        for index in range(1, MANY + 1)
    )
    head = TEXT[: TEXT.index("[[flows]]")].replace("pairs = 2", f"pairs = {MANY}")
    text = head.replace("20 s", "4 s") + flows + '[probes]\ninterval = "20 ms"\n'
    opened.evaluate("text => { skywaveLab.runs.get('a').text = text }", text)
    opened.get_by_label("Pace").select_option("1")
    began = time.monotonic()
    opened.get_by_role("button", name="Run", exact=True).click()
    expect(opened.locator(".state")).to_contain_text("Ended", timeout=30_000)
    took = time.monotonic() - began
    samples, names = opened.evaluate(
        """() => {
            const series = skywaveLab.runs.get('a').charts.series('goodput')
            return [series.times.length, series.names.length]
        }"""
    )
    assert (samples, names) == (4 * 50, MANY)
    frames, draws = opened.evaluate(
        "() => { const {frames, draws} = skywaveLab.runs.get('a'); return [frames, draws] }"
    )
    # It is not asserted, since it depends on the machine: docs/lab.md has what was measured.
    print(f"{frames} frames received and {draws} pictures drawn in {took:.1f} s")  # noqa: T201
