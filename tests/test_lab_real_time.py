"""Runs of the page in real time."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from conftest import ROOT
from lab import (
    ADDRESS,
    SESSION,
    TEXT,
    assert_gone,
    drawn,
    hello,
    needs_chromium,
    network_namespaces,
    until,
)
from skywave.realtime import privileges
from skywave.realtime.privileges import LaunchError
from test_emulate import needs_namespaces

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page
    from starlette.testclient import TestClient, WebSocketTestSession


@needs_namespaces
def test_a_real_time_run_sends_frames_and_has_all_tables_in_the_end(
    socket: WebSocketTestSession, page_of: TestClient
) -> None:
    session = hello(socket)
    text = TEXT.replace("20 s", "1 s")
    socket.send_json({"type": "start", "run": "a", "text": text, "clock": "real_time"})
    received = until(socket, "ended")
    assert received.state["clock"] == "real_time"
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
def test_a_real_time_run_is_stopped_and_cannot_be_paused(
    socket: WebSocketTestSession, page_of: TestClient
) -> None:
    session, before = hello(socket), network_namespaces(os.getpid())
    endless = TEXT.replace("20 s", "90000 s")
    socket.send_json({"type": "start", "run": "a", "text": endless, "clock": "real_time"})
    while socket.receive().get("bytes") is None:
        pass
    begun = network_namespaces(os.getpid()) - before
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
    assert stopped.tables["flows"][-1]["time_s"] == stopped.state["time_s"]
    assert_gone(begun)
    assert b"<svg" in page_of.get(f"/runs/{session}/a/run.svg").content


@needs_namespaces
def test_a_real_time_run_ends_with_its_page(page_of: TestClient) -> None:
    before = network_namespaces(os.getpid())
    with page_of.websocket_connect(SESSION, headers={"Origin": ADDRESS}) as socket:
        hello(socket)
        socket.send_json({"type": "start", "run": "a", "text": TEXT, "clock": "real_time"})
        while socket.receive().get("bytes") is None:
            pass
        begun = network_namespaces(os.getpid()) - before
    assert_gone(begun)


DRIVE = """
import asyncio, json, sys
from skywave.lab.real_time import ProcessRun

async def main():
    async def send(message):
        if isinstance(message, dict):
            print(json.dumps(message))
    run = await ProcessRun.prepared("a", sys.stdin.read(), send)
    await run.drive()
    assert run.results()["flows"].num_rows == 20

asyncio.run(main())
"""


@needs_namespaces
def test_a_real_time_run_needs_no_privileges() -> None:
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
def test_a_real_time_run_ends_with_its_server_even_if_that_is_killed() -> None:
    before = network_namespaces(os.getpid())
    server = subprocess.Popen([sys.executable, "-c", DRIVE], stdin=subprocess.PIPE, text=True)
    with server:
        assert server.stdin is not None
        server.stdin.write(TEXT.replace("20 s", "90000 s"))
        server.stdin.close()
        while not (begun := network_namespaces(server.pid) - before):
            assert server.poll() is None
        server.kill()
    assert_gone(begun)


def test_what_can_only_be_simulated_is_said_at_its_line(
    socket: WebSocketTestSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skywave.lab.real_time.refusal", lambda: None)
    monkeypatch.setattr("skywave.lab.real_time.around", list)
    hello(socket)
    text = TEXT.replace("dccp = { ccid = 3 }", 'dccp = { ccid = 3, quick_start = "2 Mbps" }')
    text = text.replace("access_rate =", "quick_start = 0.5\naccess_rate =")
    socket.send_json({"type": "start", "run": "a", "text": text, "clock": "real_time"})
    while (answer := socket.receive_json())["type"] == "state":
        pass
    assert "cannot run in real time" in answer["message"], answer
    assert answer["line"] is not None


def test_namespaces_are_tried_until_they_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[list[str]] = []

    def refuse(namespaces: list[str], *, is_root: bool) -> None:
        tried.append(namespaces)
        if len(tried) == 1:
            raise LaunchError(f"not for {'root' if is_root else 'users'}")

    privileges.check.cache_clear()
    monkeypatch.setattr(privileges, "check_namespaces", refuse)
    try:
        assert [privileges.refusal() is None for _ in range(4)] == [False, True, True, True]
        privileges.around()
        assert len(tried) == 2
    finally:
        privileges.check.cache_clear()


def test_a_machine_without_namespaces_says_why(
    socket: WebSocketTestSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skywave.lab.real_time.refusal", lambda: "no namespaces here")
    hello(socket)
    socket.send_json({"type": "start", "run": "a", "text": TEXT, "clock": "real_time"})
    assert socket.receive_json()["message"] == "no namespaces here"


STARTING = """
import sys, time
import pyarrow as pa
from skywave import realtime
from skywave.lab import real_time_process

def run(scenario, progress, samples):
    row = {"time_s": 0.1, "link": "r1->r2", "name": "q", "value": 1.0}
    samples(0.1, {"queues": pa.RecordBatch.from_pylist([row])})
    while True:
        progress(None)
        time.sleep(0.01)

realtime.run = run
real_time_process.main(sys.argv[-1])
"""
"""A run whose networks are never there. It sends a frame, so that one knows when it has begun."""


@pytest.fixture
def instead(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have a script run in the place of each real-time run's process."""

    def run_instead(script: str) -> None:
        monkeypatch.setattr("skywave.lab.real_time.refusal", lambda: None)
        monkeypatch.setattr("skywave.lab.real_time.around", lambda: [sys.executable, "-c", script])

    return run_instead


def test_who_stops_a_run_that_starts_is_told_of_no_error(
    socket: WebSocketTestSession, instead: Callable[[str], None]
) -> None:
    instead(STARTING)
    hello(socket)
    for _ in range(3):  # the second and the third begin in the place of the one before
        socket.send_json({"type": "start", "run": "a", "text": TEXT, "clock": "real_time"})
        while (message := socket.receive()).get("bytes") is None:
            assert json.loads(message["text"])["type"] == "state", message
    socket.send_json({"type": "stop", "run": "a"})
    for _ in ("told", "over"):
        assert until(socket, "stopped").state["notes"] == []
    socket.send_json({"type": "check", "run": "a", "text": TEXT})
    assert socket.receive_json()["type"] == "checked"


OVER = """
import struct, sys
from skywave.lab.frames import packed

sys.stdin.readline()
sample = {"run": "a", "epoch": 0, "time_s": 20.0}
for header in ({"type": "results", "notes": [], "inaccuracy": None, **sample}, sample):
    data = packed(header, {})
    sys.stdout.buffer.write(struct.pack("<I", len(data)) + data)
sys.stdout.buffer.flush()
sys.stdin.read()
"""
"""A run that has come to its end, and whose process goes on."""


def test_a_stop_after_the_end_is_too_late(
    socket: WebSocketTestSession, instead: Callable[[str], None]
) -> None:
    instead(OVER)
    hello(socket)
    socket.send_json({"type": "start", "run": "a", "text": TEXT, "clock": "real_time"})
    while socket.receive().get("bytes") is None:
        pass
    socket.send_json({"type": "stop", "run": "a"})
    for _ in ("told", "over"):
        assert until(socket, "ended", "stopped").state["state"] == "ended"


BROKEN = """
import struct, sys
from skywave.lab.frames import packed

sys.stdin.readline()
data = {data}
sys.stdout.buffer.write(struct.pack("<I", len(data)) + data)
"""


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("packed({}, {})", "time_s"),
        ("b'no frame'", "the run failed"),
        ("struct.pack('<I', 2) + b'{}'", "tables"),
    ],
    ids=["header", "frame", "tables"],
)
def test_a_broken_frame_ends_the_run(
    socket: WebSocketTestSession, instead: Callable[[str], None], data: str, says: str
) -> None:
    instead(BROKEN.replace("{data}", data))
    hello(socket)
    socket.send_json({"type": "start", "run": "a", "text": TEXT, "clock": "real_time"})
    until(socket, "stopped")
    assert says in socket.receive_json()["message"]


FAILING = """
import sys
from skywave import realtime
from skywave.lab import real_time_process

def run(*_, **__):
    raise AttributeError("nobody expects this")

realtime.run = run
real_time_process.main(sys.argv[-1])
"""


def test_an_unexpected_failure_ends_the_run(
    socket: WebSocketTestSession, instead: Callable[[str], None]
) -> None:
    instead(FAILING)
    hello(socket)
    socket.send_json({"type": "start", "run": "a", "text": TEXT, "clock": "real_time"})
    until(socket, "stopped")
    assert "nobody expects this" in socket.receive_json()["message"]


def test_a_process_that_cannot_be_started_ends_the_run(
    socket: WebSocketTestSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skywave.lab.real_time.refusal", lambda: None)
    monkeypatch.setattr("skywave.lab.real_time.around", lambda: ["/nowhere/unshare"])
    hello(socket)
    socket.send_json({"type": "start", "run": "a", "text": TEXT, "clock": "real_time"})
    until(socket, "stopped")
    assert "/nowhere/unshare" in socket.receive_json()["message"]


LATE = """
import sys
from types import SimpleNamespace
from skywave import realtime
from skywave.lab import real_time_process
from skywave.realtime.accuracy import RunAccuracy

late = dict(packets=1000, median_s=1e-4, p99_s={p99_s}, max_s=0.01, beyond_1_ms=0.05)
counts = dict.fromkeys(("overflows", "undelivered", "unsent", "malformed"), 0)
results = SimpleNamespace(totals=dict(duration_s=20.0), tables={{}})
run = SimpleNamespace(accuracy=RunAccuracy(dict(lateness=late, **counts)), results=results)
realtime.run = lambda *_, **__: run
real_time_process.main(sys.argv[-1])
"""
"""A run that has been as late as it says."""


@needs_chromium
def test_a_run_that_was_too_late_is_marked_as_inaccurate(
    lab_opened: Page, instead: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skywave.lab.server.refusal", lambda: None)
    lab_opened.reload()
    expect(lab_opened.get_by_role("slider", name="Rate")).to_be_visible()
    lab_opened.get_by_label("Clock").select_option("real_time")
    warning = lab_opened.locator(".inaccuracy")
    for p99_s, says in (("0.0016", True), ("0.0009", False)):
        instead(LATE.format(p99_s=p99_s))
        lab_opened.get_by_role("button", name="Run", exact=True).click()
        notes = lab_opened.locator(".notes")
        expect(notes).to_contain_text(f"{1.6 if says else 900}")
        expect(warning).to_be_visible(visible=says)
        if says:
            expect(warning).to_have_text(
                "Timing was too inaccurate: packets left late by 1.6 ms (99th percentile), and "
                "1 ms is allowed. Stop other programs, or use lower rates and fewer flows, and run "
                "it again."
            )


def last_time(page: Page, panel: str) -> float:
    """The time of the last sample in a chart of run A."""
    script = "panel => skywaveLab.runs.get('a').charts.series(panel).times.at(-1) ?? 0"
    return float(page.evaluate(script, panel))


@needs_chromium
@needs_namespaces
def test_a_real_time_run_moves_beside_a_simulated_one_and_is_stopped(lab_opened: Page) -> None:
    before = network_namespaces(os.getpid())
    lab_opened.get_by_role("button", name="Two runs").click()
    real_time, simulated = (lab_opened.locator("section.run").nth(index) for index in range(2))
    simulated.get_by_label("Pace").select_option("")
    simulated.get_by_role("button", name="Run", exact=True).click()
    real_time.get_by_label("Clock").select_option("real_time")
    expect(real_time.locator(".note")).to_contain_text("takes as long as it says")
    expect(real_time.get_by_label("Pace")).to_be_disabled()
    real_time.get_by_role("button", name="Run", exact=True).click()
    expect(real_time.locator(".state")).to_contain_text("Running in real time")
    moves = "least => skywaveLab.runs.get('a').charts.series('goodput').times.at(-1) > least"
    lab_opened.wait_for_function(moves, arg=0)
    picture = drawn(lab_opened, "goodput")
    lab_opened.wait_for_function(moves, arg=last_time(lab_opened, "goodput"))
    lab_opened.wait_for_function(
        "before => document.querySelector('[data-panel=goodput] canvas').toDataURL() != before",
        arg=picture,
    )
    begun = network_namespaces(os.getpid()) - before
    assert begun
    for name in ("Pause", "Step"):
        expect(real_time.get_by_role("button", name=name)).to_be_disabled()
    expect(real_time.get_by_role("slider", name="Rate")).to_be_disabled()
    real_time.get_by_role("button", name="Stop").click()
    expect(real_time.locator(".notes")).to_contain_text("packets left late by")
    expect(real_time.locator(".state")).to_contain_text("Stopped in real time")
    expect(real_time.get_by_role("slider", name="Rate")).to_be_enabled()
    expect(simulated.locator(".state")).to_contain_text("Ended")
    assert_gone(begun)


@needs_chromium
def test_where_there_is_no_real_clock_the_page_says_why(
    lab_opened: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skywave.lab.server.refusal", lambda: "no namespaces here")
    lab_opened.reload()
    expect(lab_opened.get_by_role("slider", name="Rate")).to_be_visible()
    lab_opened.get_by_label("Clock").select_option("real_time")
    expect(lab_opened.locator(".note")).to_have_text("no namespaces here")
    expect(lab_opened.get_by_role("button", name="Run", exact=True)).to_be_disabled()
