"""The application of ``skywave lab``: scenarios to begin with, sessions, and downloads."""

from __future__ import annotations

import asyncio
import io
import secrets
import tempfile
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pyarrow.parquet as pq
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.websockets import WebSocket

from skywave._errors import ScenarioError
from skywave.lab import choices, messages, reading
from skywave.lab.choices import Choice
from skywave.lab.guard import Guard
from skywave.lab.messages import meanings
from skywave.lab.session import Run, Session
from skywave.lab.site import site
from skywave.realtime.privileges import refusal


def application(*, token: str, port: int, first: Choice | None = None) -> Guard:
    """Return the application. ``first`` is the scenario with which the page opens."""
    sessions: dict[str, Session] = {}

    async def beginning(_: Request) -> Response:
        return PlainTextResponse((first or choices.example()).text)

    async def offered(_: Request) -> Response:
        listed = await asyncio.to_thread(choices.offered, first)
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

    @asynccontextmanager
    async def opened(connection: WebSocket) -> AsyncIterator[Session]:
        key, session = secrets.token_urlsafe(8), Session(connection)
        sessions[key] = session
        try:
            no_real_time = await asyncio.to_thread(refusal)
            greeting = messages.hello(
                "scenarios",
                "Skywave laboratory",
                session=key,
                no_real_time=no_real_time,
                meanings=meanings(),
            )
            await connection.send_json(greeting)
            yield session
        finally:
            del sessions[key]
            await session.close()

    def download(make: Callable[[Run, Request], Response]) -> Callable[..., object]:
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
        Route("/first", beginning),
        Route("/scenarios", offered),
        Route("/scenarios/{key:path}", scenario),
        Route("/schema", schema),
        Route(f"{runs}/tables.zip", download(_tables)),
        Route(f"{runs}/run.svg", download(_figure)),
        Route(f"{runs}/packets.pcapng", download(_packets)),
    ]
    return site(token=token, port=port, opened=opened, routes=routes)


def _tables(run: Run, _: Request) -> Response:
    """Return the tables as Parquet, and the scenario."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("scenario.toml", run.text)
        for name, table in run.results().items():
            file = io.BytesIO()
            pq.write_table(table, file)
            archive.writestr(f"{name}.parquet", file.getvalue())
    return _file(packed.getvalue(), "application/zip", "run.zip")


def _figure(run: Run, _: Request) -> Response:
    from skywave.plots import files, of_run  # noqa: PLC0415  (loads matplotlib)

    content = files.render(of_run(dict(run.results())), "svg", has_text=True)
    return _file(content, "image/svg+xml", "run.svg")


def _packets(run: Run, request: Request) -> Response:
    link = request.query_params.get("link", "")
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "packets.pcapng"
        run.capture(link, str(file))
        return _file(file.read_bytes(), "application/octet-stream", "packets.pcapng")


def _file(content: bytes, kind: str, name: str) -> Response:
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=disposition)
