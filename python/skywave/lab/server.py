"""The server of the page: the page itself, scenarios to begin with, sessions, and downloads."""

from __future__ import annotations

import asyncio
import io
import secrets
import socket
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import uvicorn
from starlette.applications import Starlette
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from skywave import ScenarioError
from skywave.lab import choices, reading
from skywave.lab.guard import Guard
from skywave.lab.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from skywave.lab.choices import Choice
    from skywave.lab.watched import WatchedRun

LOOPBACK = "127.0.0.1"
STATIC = Path(__file__).parent / "static"
MOST_TEXT_B = 4 << 20
"""The longest message that the page may send."""


def application(*, token: str, port: int, first: Choice | None = None) -> Guard:
    """Return the application. ``first`` is the scenario with which the page opens."""
    sessions: dict[str, Session] = {}

    async def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def beginning(_: Request) -> Response:
        return PlainTextResponse((first or choices.example()).text)

    async def offered(_: Request) -> Response:
        every = await asyncio.to_thread(choices.every)
        listed = [*([first] if first else []), *every.values()]
        return JSONResponse(
            [{"key": one.key, "group": one.group, "title": one.title} for one in listed]
        )

    async def scenario(request: Request) -> Response:
        key = request.path_params["key"]
        if first is not None and key == first.key:
            return PlainTextResponse(first.text)
        found = (await asyncio.to_thread(choices.every)).get(key)
        if found is None:
            return PlainTextResponse("there is no such scenario", 404)
        return PlainTextResponse(found.text)

    async def schema(_: Request) -> Response:
        return JSONResponse(reading.schema())

    async def talk(connection: WebSocket) -> None:
        await connection.accept()
        key, session = secrets.token_urlsafe(8), Session(connection)
        sessions[key] = session
        try:
            await connection.send_json({"type": "hello", "session": key})
            while True:
                await session.receive(await connection.receive_text())
        except WebSocketDisconnect:
            pass
        finally:
            del sessions[key]
            await session.close()

    def download(make: Callable[[WatchedRun, Request], Response]) -> Callable[..., object]:
        async def downloaded(request: Request) -> Response:
            session = sessions.get(request.path_params["session"])
            run = session and session.runs.get(request.path_params["run"])
            if not run:
                return PlainTextResponse("there is no such run", 404)
            try:
                return await asyncio.to_thread(make, run, request)
            except (ScenarioError, ValueError) as error:
                return PlainTextResponse(str(error), 409)

        return downloaded

    runs = "/runs/{session}/{run}"
    routes = [
        Route("/", page),
        Route("/first", beginning),
        Route("/scenarios", offered),
        Route("/scenarios/{key:path}", scenario),
        Route("/schema", schema),
        Route(f"{runs}/tables.zip", download(_tables)),
        Route(f"{runs}/run.svg", download(_figure)),
        Route(f"{runs}/packets.pcapng", download(_packets)),
        WebSocketRoute("/session", talk),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Guard(Starlette(routes=routes), token=token, port=port)


def _tables(run: WatchedRun, _: Request) -> Response:
    """Return the tables as Parquet, and the scenario."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("scenario.toml", run.text)
        for name, table in run.results().items():
            file = io.BytesIO()
            pq.write_table(table, file)
            archive.writestr(f"{name}.parquet", file.getvalue())
    return _file(packed.getvalue(), "application/zip", "run.zip")


def _figure(run: WatchedRun, _: Request) -> Response:
    from skywave import plots  # noqa: PLC0415  (loads matplotlib)

    figure = plots.of_run(dict(run.results()))
    with tempfile.TemporaryDirectory() as directory:
        (file,) = plots.write(figure, [Path(directory) / "run.svg"])
        return _file(file.read_bytes(), "image/svg+xml", "run.svg")


def _packets(run: WatchedRun, request: Request) -> Response:
    link = request.query_params.get("link", "")
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "packets.pcapng"
        run.capture(link, str(file))
        return _file(file.read_bytes(), "application/octet-stream", "packets.pcapng")


def _file(content: bytes, kind: str, name: str) -> Response:
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=disposition)


def listening(port: int) -> socket.socket:
    """Return a socket that listens on the loopback interface; port 0 takes a free one.

    Raises:
        OSError: If the port is taken.

    """
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


def serve(app: Guard, bound: socket.socket, *, ready: Callable[[], None] = lambda: None) -> None:
    """Serve the page until the process is interrupted. ``ready`` is called when it begins."""

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
    Server(config).run(sockets=[bound])
