"""What the tests of the laboratory share: a scenario, a client of its server, and a browser."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect, sync_playwright
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from patience import PATIENCE_S
from skywave.lab import choices
from skywave.lab.messages import unpacked
from skywave.lab.server import application
from skywave.lab.site import served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page
    from starlette.testclient import WebSocketTestSession

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)
expect.set_options(timeout=1e3 * PATIENCE_S)  # playwright's own 5 s are over on a busy machine
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
SCREENS = [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]
"""Widths in pixels, and colour schemes."""
SERIES = "skywaveLab.runs.get('a').charts.series('goodput')"
"""What the page has of the goodput of run A."""


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


def refusal(client: TestClient, headers: dict[str, str]) -> str:
    """Why a socket is refused."""
    with (
        pytest.raises(WebSocketDisconnect) as raised,
        client.websocket_connect(SESSION, headers=headers),
    ):
        pass
    return raised.value.reason


def network_namespaces(of: int | None = None) -> set[str]:
    """Those in which any thread of a process's descendants is; of any process without ``of``."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        if of is not None and not descends(int(process.name), of):
            continue
        for thread in process.glob("task/[0-9]*/ns/net"):
            with suppress(OSError):  # it has ended meanwhile
                found.add(str(thread.readlink()))
    return found


def descends(process: int, of: int) -> bool:
    """Whether a process is another one's descendant, or that one itself."""
    while process not in (0, of):
        try:
            # The parent comes after the name, which may have spaces, and the state.
            stat = Path(f"/proc/{process}/stat").read_text()
        except OSError:  # it has ended meanwhile
            return False
        process = int(stat.rpartition(")")[2].split()[1])
    return process == of


def assert_gone(namespaces: set[str]) -> None:
    """The system takes namespaces away in the background, once their processes have ended."""
    while namespaces & network_namespaces():
        time.sleep(0.01)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    first = choices.Choice("first", "File", "short", TEXT)
    with served(partial(application, first=first)) as page:
        yield page.address


@pytest.fixture(scope="module")
def lab_browser() -> Iterator[Browser]:
    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        yield started
        started.close()


@pytest.fixture
def lab_opened(lab_browser: Browser, address: str) -> Iterator[Page]:
    context = lab_browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda one: wrong.append(one.text) if one.type == "error" else None)
    page.goto(address)
    expect(page.get_by_role("slider", name="Rate")).to_be_visible()
    yield page
    context.close()
    assert wrong == []


def plot(panel: str, run: str = "a") -> str:
    """The plot of a chart, in the page's script."""
    return f"skywaveLab.runs.get('{run}').charts.charts.get('{panel}').chart.plot"


def run_to_the_end(page: Page, text: str | None = None, run: str = "a") -> None:
    """Run a scenario as fast as it can; without ``text`` the one that is there."""
    section = page.get_by_role("region", name=f"Run {run.upper()}")
    if text is not None:
        page.evaluate(f"text => {{ skywaveLab.runs.get('{run}').text = text }}", text)
    section.get_by_label("Pace").select_option("")
    section.get_by_role("button", name="Run", exact=True).click()
    expect(section.locator(".state")).to_contain_text("Ended")
    # The last values are drawn in the next picture.
    page.evaluate(
        "new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))"
    )


def drawn(page: Page, panel: str) -> str:
    """What a chart shows, as its picture."""
    picture = page.evaluate(
        "panel => document.querySelector(`[data-panel=${panel}] canvas`)?.toDataURL() ?? ''", panel
    )
    assert isinstance(picture, str)
    return picture


@contextmanager
def on_screen(
    browser: Browser, address: str, screen: tuple[int, int], scheme: Any
) -> Iterator[Page]:
    """Show a page on a screen of some width and height."""
    width, height = screen
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
