"""The page of a socket."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import time
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

import counted
from conftest import assert_bad_input, run_cli, serving
from lab import (
    ADDRESS,
    PORT,
    SCREENS,
    SESSION,
    TOKEN,
    assert_fits_and_is_named,
    drawn,
    needs_chromium,
    on_screen,
    refusal,
)
from looks import HEIGHT, assert_looks_as_before
from patience import PATIENCE_S
from skywave.lab import connections
from skywave.lab.connections import Samples
from skywave.lab.messages import unpacked
from skywave.lab.site import served
from skywave.net import Endpoint
from test_net_command import free_udp_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from skywave.net import Connection, ConnectionSnapshot


@contextmanager
def connected() -> Iterator[tuple[Endpoint, Connection]]:
    """An endpoint that has a connection, and the other end."""
    with (
        Endpoint.udp("127.0.0.1", 0) as server,
        Endpoint.udp("127.0.0.1", 0) as client,
    ):
        listener = server.listen(5001)
        udp_port = server.local_address[1]
        with client.connect("127.0.0.1", 5001, udp_port=udp_port) as connection:
            yield server, connection
        del listener


def test_a_socket_is_sampled() -> None:
    now = 0.0
    with connected() as (endpoint, connection):
        samples = Samples(endpoint, lambda: now)
        connection.send(bytes(1000))
        while not endpoint.snapshot().totals.bytes_received:
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


class Counting:
    """An endpoint that shows these connections, all of which have received so many bytes."""

    def __init__(self) -> None:
        self.shown: list[int] = []
        self.bytes = 0

    def snapshot(self, most: int) -> SimpleNamespace:
        stats = counted.stats(bytes_received=self.bytes)
        shown = [counted.connection(one, stats) for one in self.shown[:most]]
        return SimpleNamespace(states={"OPEN": len(self.shown)}, connections=shown)


def test_an_old_connection_that_is_shown_only_now_has_no_rate_yet() -> None:
    now = 0.0
    endpoint: Any = Counting()
    samples = Samples(endpoint, lambda: now)

    def last_rate(shown: list[int]) -> float | None:
        nonlocal now
        now += 1.0
        endpoint.shown, endpoint.bytes = shown, endpoint.bytes + 1000
        seen, _ = samples.after(0)
        samples.take()
        _, table = samples.after(seen)
        last = table.to_pylist()[-1]
        assert last["lost_packets"] == (None if last["goodput_bps"] is None else 0)
        rate: float | None = last["goodput_bps"]
        return rate

    twenty = list(range(20))
    assert last_rate(twenty[:19]) == 8000
    assert last_rate(twenty) == 16_000, "it is new: all that it received came since the last sample"
    assert last_rate([*twenty, 20, 21]) == 8000
    assert last_rate([*twenty[1:], 20, 21]) is None
    assert last_rate([*twenty[1:], 20, 21]) == 8000


def test_a_socket_that_cannot_be_sampled_says_so() -> None:
    class Broken:
        def snapshot(self, _: int) -> dict[str, Any]:
            raise KeyError("states")

    endpoint: Any = Broken()
    samples = Samples(endpoint)
    asyncio.run(samples.keep())
    app = connections.application(samples, token=TOKEN, port=PORT, title="A socket")
    with TestClient(app, base_url=ADDRESS, follow_redirects=False) as client:
        client.get("/", params={"token": TOKEN})
        with client.websocket_connect(SESSION, headers={"Origin": ADDRESS}) as socket:
            assert socket.receive_json()["type"] == "hello"
            state = socket.receive_json()
    assert state["state"] == "ended"
    assert "KeyError('states')" in state["notes"][0]


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


@pytest.mark.parametrize("option", ["--browser", "--no-browser"])
def test_without_a_page_the_browser_is_refused(option: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("what was received before")
    listen = ("listen", "5001", "--udp-port", "0", "--once", "--output", kept)
    for command in (listen, ("send", "127.0.0.1:5001")):
        assert_bad_input(run_cli(*command, option), option, "--watch")
    assert kept.read_text() == "what was received before"


class Sawtooth:
    """An endpoint with two connections, whose windows go as those of Reno do."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def snapshot(self, _: int) -> SimpleNamespace:
        shown = [self.connection(one, 4.0 + 3 * one) for one in range(2)]
        return SimpleNamespace(states={"OPEN": 2}, connections=shown)

    def connection(self, number: int, period_s: float) -> ConnectionSnapshot:
        cwnd = 20 + 20 * (self.now_s % period_s) / period_s
        absent = ("marked", "rate_bps", "receive_rate_bps", "loss_event_rate")
        stats = counted.stats(
            **dict.fromkeys(absent),
            cwnd=cwnd,
            ssthresh=20.0,
            pipe=round(cwnd),
            srtt_s=cwnd / 1000,
            lost=self.now_s // period_s,
            bytes_received=125_000 * self.now_s / (1 + number),
            bytes_sent=250_000 * self.now_s / (1 + number),
        )
        return counted.connection(number, stats, 5001 + number)


@needs_chromium
@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_a_socket_looks_as_before(lab_browser: Browser, width: int, scheme: str) -> None:
    endpoint: Any = Sawtooth()
    samples = Samples(endpoint, lambda: endpoint.now_s)
    for index in range(1, 300):
        endpoint.now_s = index / 10
        samples.take()

    app = partial(connections.application, samples, title="A socket")

    with (
        served(app) as site,
        on_screen(lab_browser, site.address, (width, HEIGHT[width]), scheme) as page,
    ):
        expect(page.locator("[data-panel=ssthresh] [role=img]")).to_have_attribute(
            "aria-label", re.compile("20.0")
        )
        assert_fits_and_is_named(page, width)
        assert_looks_as_before(page, f"socket-{width}-{scheme}")


@needs_chromium
def test_connections_of_a_server_come_and_go(lab_browser: Browser) -> None:
    udp_port = str(free_udp_port())
    watched = ("--watch", "--no-browser", "--json")
    with serving("listen", "127.0.0.1:5001", "--udp-port", udp_port, *watched) as (listener, said):
        page = lab_browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(re.findall(r"http://\S+", said)[0])
        expect(page.get_by_role("heading")).to_contain_text(f"127.0.0.1:{udp_port}")
        expect(page.locator(".state")).to_have_text("0 connections are open.")
        expect(page.get_by_role("button")).to_have_count(0)
        with Endpoint.udp("127.0.0.1", 0) as client:
            names = "skywaveLab.charts.series('goodput').names.length"
            alive = []
            for count in (1, 2):
                alive.append(client.connect("127.0.0.1", 5001, udp_port=int(udp_port)))
                while page.evaluate(names) < count:
                    alive[-1].send(bytes(1000))
                    page.wait_for_timeout(20)
            expect(page.locator(".state")).to_have_text("2 connections are open.")
            values = "skywaveLab.charts.series('goodput').values"
            while not page.evaluate(f"{values}.every(one => one.some(Boolean))"):
                for connection in alive:
                    connection.send(bytes(1000))
                page.wait_for_timeout(20)
            chart = page.locator("[data-panel=goodput] [role=img]")
            expect(chart).to_have_attribute("aria-label", re.compile(r"1: 127.0.0.1:\d+: "))
            assert drawn(page, "cwnd")
        expect(page.locator(".state")).to_have_text("0 connections are open.")
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        assert wrong == []
        listener.send_signal(signal.SIGINT)
        assert listener.wait(timeout=PATIENCE_S) == 130
        assert listener.stderr is not None
        assert listener.stderr.read() == "interrupted\n"
        expect(page.locator("#connection")).to_contain_text("The server is gone")
        page.context.close()


class Crowd:
    """An endpoint whose connections, as many as a chart shows, are others each day."""

    day = 0

    def snapshot(self, _: int) -> SimpleNamespace:
        ids = range(20 * self.day, 20 * (self.day + 1))
        shown = [counted.connection(one, counted.stats(cwnd=1.0)) for one in ids]
        return SimpleNamespace(states={"OPEN": len(ids)}, connections=shown)


@needs_chromium
def test_a_server_that_runs_for_days_shows_who_is_there_now(lab_browser: Browser) -> None:
    """What has left the page's window makes room for others, and takes no memory."""
    crowd: Any = Crowd()
    samples = Samples(crowd, lambda: 86_400.0 * crowd.day)
    page = lab_browser.new_context().new_page()
    app = partial(connections.application, samples, title="A socket")

    with served(app) as site:
        page.goto(site.address)
        expect(page.locator(".state")).to_be_visible()
        series = "skywaveLab.charts.series('goodput')"
        for crowd.day in (1, 2, 3):
            samples.take()
            page.wait_for_function(f"() => {series}.times.at(-1) === {86_400 * crowd.day}")
            assert page.evaluate(f"[{series}.times.length, {series}.names.length]") == [1, 20]
            assert page.evaluate(f"{series}.names[0]") == f"{20 * crowd.day}: 192.0.2.1:5001"
    page.context.close()
