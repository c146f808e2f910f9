"""Simulated runs of the page, and downloads."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pyarrow.parquet as pq
import pytest

from lab import (
    ADDRESS,
    SESSION,
    TEXT,
    hello,
    runs_have_ended,
    until,
)
from skywave import Results, Scenario, run
from skywave.lab.messages import unpacked
from skywave.lab.session import Session
from skywave.lab.simulation import PreparedScenario, SimulatedRun

if TYPE_CHECKING:
    from starlette.testclient import TestClient, WebSocketTestSession
    from starlette.websockets import WebSocket


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


@pytest.mark.parametrize("is_stopped", [True, False])
def test_the_part_of_an_interval_at_the_end_is_shown(
    socket: WebSocketTestSession, page_of: TestClient, *, is_stopped: bool
) -> None:
    session = hello(socket)
    text = TEXT.replace("20 s", "90000 s" if is_stopped else "2.05 s")
    rows: list[dict[str, Any]] = []
    socket.send_json({"type": "start", "run": "a", "text": text, "pace": 1})
    state: dict[str, Any] = {"state": "running"}
    while state["state"] not in {"ended", "stopped"} or rows[-1]["time_s"] < state["time_s"]:
        message = socket.receive()
        if (data := message.get("bytes")) is not None:
            rows += unpacked(data)[1]["flows"].to_pylist()
            if is_stopped and len(rows) == 2:
                socket.send_json({"type": "stop", "run": "a"})
        else:
            state = json.loads(message["text"])
    answer = page_of.get(f"/runs/{session}/a/tables.zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        table = pq.read_table(io.BytesIO(archive.read("flows.parquet")))
    assert table.select(list(rows[0])).to_pylist() == rows
    assert is_stopped or rows[-1]["time_s"] == 2.05


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


def test_a_run_tells_its_end_once(socket: WebSocketTestSession, page_of: TestClient) -> None:
    """A page that has asked for a change meanwhile would take the second for the changed run's."""
    hello(socket)
    socket.send_json({"type": "start", "run": "a", "text": TEXT, "pace": None})
    until(socket, "ended")
    assert page_of.portal is not None
    page_of.portal.call(runs_have_ended)
    socket.send_json({"type": "change", "run": "a", "text": TEXT})
    assert socket.receive_json()["state"] == "again"
    assert until(socket, "ended").epochs == {1}


def test_a_change_while_the_page_is_told_of_the_end_is_run() -> None:
    ends: list[int] = []

    class Page:
        async def send_text(self, text: str) -> None:
            message = json.loads(text)
            if message["state"] != "ended":
                return
            ends.append(message["epoch"])
            if len(ends) == 1:
                is_telling.set()
                await is_changed.wait()

        async def send_bytes(self, _: bytes) -> None:
            pass

    async def change_at_the_end() -> None:
        session = Session(cast("WebSocket", Page()))
        await session.receive(json.dumps({"type": "start", "run": "a", "text": TEXT}))
        await is_telling.wait()
        change = {"type": "change", "run": "a", "text": TEXT}
        changing = asyncio.create_task(session.receive(json.dumps(change)))
        while cast("SimulatedRun", session.runs["a"]).epoch == 0:
            await asyncio.sleep(0)
        is_changed.set()
        await changing
        await runs_have_ended()

    is_telling, is_changed = asyncio.Event(), asyncio.Event()
    asyncio.run(change_at_the_end())
    assert ends == [0, 1]


def test_results_of_the_past_are_not_those_of_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A download is on a thread of its own, and a change may come while it is made."""

    async def send(_: bytes | dict[str, object]) -> None:
        pass

    async def change_meanwhile() -> None:
        changed = SimulatedRun("a", PreparedScenario.of(TEXT), None, send)
        await changed.drive()
        is_reading, may_read = threading.Event(), threading.Event()

        def read(raw: Any) -> Results:
            is_reading.set()
            assert may_read.wait(60)
            return of_core(raw)

        of_core = Results.of_core
        monkeypatch.setattr(Results, "of_core", read)
        before = asyncio.create_task(asyncio.to_thread(changed.results))
        await asyncio.to_thread(is_reading.wait)
        await changed.change(TEXT.replace("2 Mbps", "1 Mbps"))
        may_read.set()
        await before
        await changed.drive()
        assert changed.results()["links"] != (await before)["links"]

    asyncio.run(change_meanwhile())


class Delayed:
    """A core that other processes keep from the processor: it takes time, but none of that."""

    def __init__(self, core: Any) -> None:
        self.advances = 0
        self._core = core

    def advance(self, to_s: float, stop: object) -> float:
        self.advances += 1
        assert self.advances <= 20, "pieces double from 0.1 s, until they have taken 20 s"
        time.sleep(0.05)
        return float(self._core.advance(to_s, stop))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)


def test_a_busy_machine_does_not_shrink_the_pieces_of_a_run() -> None:
    async def send(_: bytes | dict[str, object]) -> None:
        pass

    prepared = PreparedScenario.of(TEXT)
    delayed = replace(prepared, core=cast("Any", Delayed(prepared.core)))
    asyncio.run(SimulatedRun("a", delayed, None, send).drive())


def test_a_wrong_change_leaves_the_run_alone(socket: WebSocketTestSession) -> None:
    hello(socket)
    socket.send_json({"type": "start", "run": "a", "text": TEXT, "pace": 1, "paused": True})
    until(socket, "paused")
    socket.send_json({"type": "change", "run": "a", "text": TEXT.replace("2 Mbps", "fast")})
    assert socket.receive_json()["type"] == "error"
    socket.send_json({"type": "pace", "run": "a", "pace": None})
    socket.send_json({"type": "play", "run": "a"})
    assert until(socket, "ended").epochs == {0}


def test_a_scenario_that_takes_long_to_build_keeps_no_other_page_waiting(
    page_of: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_is_answered = threading.Event()
    build = PreparedScenario.of

    def slowly(text: str) -> PreparedScenario:
        assert other_is_answered.wait(60)
        return build(text)

    monkeypatch.setattr(PreparedScenario, "of", slowly)
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
