"""Whom the page's server refuses, and how it answers what no page sends."""

from __future__ import annotations

import re
import tracemalloc
from contextlib import suppress
from typing import TYPE_CHECKING

import httpx2
import pytest
from starlette.websockets import WebSocketDisconnect

from lab import (
    ADDRESS,
    PORT,
    TOKEN,
    hello,
    refusal,
)
from skywave.lab import reading
from skywave.lab.server import application
from skywave.lab.site import STATIC, listening, served

if TYPE_CHECKING:
    from starlette.testclient import TestClient, WebSocketTestSession


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


def test_a_page_is_served_until_its_block_ends_even_by_an_error() -> None:
    with suppress(KeyError), served(application) as page:
        assert httpx2.get(page.address).status_code == 303
        raise KeyError
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(page.address)
    page.wait()


def test_a_server_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)
    with (
        pytest.raises(RuntimeError, match="the server of the page has failed"),
        served(application),
    ):
        pass


def test_it_listens_on_this_machine_only() -> None:
    with listening(0) as bound:
        address, port = bound.getsockname()
        assert address == "127.0.0.1"
        with pytest.raises(OSError, match="--port 0"):
            listening(port)


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
        with pytest.raises(reading.PageError, match="not TOML"):
            reading.inspect(text)
        assert tracemalloc.get_traced_memory()[1] < 10 * len(text)
    finally:
        tracemalloc.stop()
