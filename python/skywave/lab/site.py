"""The parts of every page: files, WebSocket, and a server on the loopback interface."""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from skywave.lab.guard import Guard

LOOPBACK = "127.0.0.1"
STATIC = Path(__file__).parent / "static"
MOST_TEXT_B = 1 << 20
"""The longest message that a page may send. A scenario of a thousand flows has 200 kB."""
UNSUPPORTED_DATA = 1003


class PageSession(Protocol):
    """One open page."""

    async def receive(self, text: str) -> None:
        """Handle a message. Errors in it are answered, not raised."""


def site(
    *,
    token: str,
    port: int,
    opened: Callable[[WebSocket], AbstractAsyncContextManager[PageSession]],
    routes: Sequence[BaseRoute] = (),
) -> Guard:
    """Return an application. ``opened`` says hello to a page, and talks with it from then on."""

    async def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def talk(connection: WebSocket) -> None:
        await connection.accept()
        try:
            async with opened(connection) as session:
                while (text := await _text(connection)) is not None:
                    await session.receive(text)
        except WebSocketDisconnect:
            return
        await connection.close(UNSUPPORTED_DATA, "a message is text")

    every = [
        Route("/", page),
        *routes,
        WebSocketRoute("/session", talk),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Guard(Starlette(routes=every), token=token, port=port)


async def _text(connection: WebSocket) -> str | None:
    """Return the next message; None if it is not text."""
    message = await connection.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message["code"], message.get("reason"))
    text: str | None = message.get("text")
    return text


def listening(port: int) -> socket.socket:
    """Return a socket that listens on the loopback interface; port 0 takes a free one."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((LOOPBACK, port))
        bound.listen()
    except OSError as error:
        bound.close()
        raise OSError(
            error.errno, f"{error.strerror}: --port 0 takes a free one", str(port)
        ) from None
    return bound


@dataclass(frozen=True)
class PageServer:
    """The server of a page."""

    address: str
    """The URL that opens the page: it contains the token."""
    _ended: threading.Event

    def wait(self) -> None:
        """Wait until the server ends, which it does not do by itself."""
        self._ended.wait()


@contextmanager
def served(
    make: Callable[..., Guard],
    *,
    port: int = 0,
    beside: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> Iterator[PageServer]:
    """Serve an application, in a thread, until the block ends.

    ``make`` returns the application for a ``token`` and a ``port``; port 0 takes a free one.
    ``beside`` runs in the server's loop, as long as that does.
    """
    token = secrets.token_urlsafe(24)
    is_ready, ended = threading.Event(), threading.Event()
    tasks: list[asyncio.Task[None]] = []

    def ready() -> None:
        if beside is not None:
            tasks.append(asyncio.create_task(beside()))
        is_ready.set()

    with listening(port) as bound:
        port = bound.getsockname()[1]
        server = _server(make(token=token, port=port), ready)

        def serve() -> None:
            try:
                server.run(sockets=[bound])
            finally:
                ended.set()
                is_ready.set()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            is_ready.wait()
            if ended.is_set():
                raise RuntimeError("the server of the page has failed")
            yield PageServer(f"http://{LOOPBACK}:{port}/?token={token}", ended)
        finally:
            server.should_exit = True
            thread.join()


def _server(app: Guard, ready: Callable[[], None]) -> uvicorn.Server:
    """Return a server of an application. ``ready`` is called in its loop when it begins."""

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            ready()

    config = uvicorn.Config(
        app,
        log_level="warning",
        ws="websockets-sansio",
        ws_max_size=MOST_TEXT_B,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    return Server(config)
