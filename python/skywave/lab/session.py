"""A session: one open page, its runs, and the messages between them.

Messages are JSON objects with a ``type``, frames are bytes (:mod:`skywave.lab.frames`). The page
sends:

- ``check`` (``run``, ``text``): is answered by ``checked`` or ``error``;
- ``turn`` (``run``, ``text``, ``field``, ``value``): turns a knob, is answered by ``text``;
- ``start`` (``run``, ``text``, ``pace``, ``paused``): begins a run, in place of its last;
- ``change`` (``run``, ``text``): goes on with another scenario;
- ``pace`` (``run``, ``pace``), ``play``, ``pause``, ``step``, ``stop`` (``run``).

It receives ``checked`` (``knobs``, ``warnings``), ``text`` (``text``), ``error`` (``field``,
``message``, ``line``, ``column``), and ``state`` of its runs.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from skywave.lab import knobs
from skywave.lab.reading import Wrong, inspect
from skywave.lab.watched import WatchedRun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.websockets import WebSocket

RUNS = ("a", "b")
"""The names of runs: two fit side by side."""


class Session:
    """One open page."""

    def __init__(self, socket: WebSocket) -> None:
        """Create it for an accepted socket."""
        self.runs: dict[str, WatchedRun] = {}
        self._socket = socket
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._sending = asyncio.Lock()

    async def receive(self, text: str) -> None:
        """Do what a message asks for. What is wrong with it is answered, not raised."""
        run = ""
        try:
            message = json.loads(text)
            if not isinstance(message, dict) or message.get("run") not in RUNS:
                raise Wrong("", "a message is an object with a run, a or b")
            run = message["run"]
            await self._do(run, message)
        except json.JSONDecodeError as error:
            await self._refuse(run, Wrong("", f"a message is JSON: {error}"))
        except (KeyError, TypeError, ValueError) as error:
            # ScenarioError is a ValueError.
            await self._refuse(run, Wrong("", f"this message is not understood: {error!r}"))
        except Wrong as wrong:
            await self._refuse(run, wrong)

    async def _do(self, run: str, message: Mapping[str, Any]) -> None:
        match message["type"]:
            case "check":
                await self._check(run, _text(message))
            case "turn":
                text = knobs.turned(_text(message), message["field"], message["value"])
                await self._send({"type": "text", "run": run, "text": text})
            case "start":
                await self._start(run, message)
            case "change" if run in self.runs:
                watched = self.runs[run]
                await watched.change(_text(message))
                if self._tasks[run].done():
                    self._drive(run, watched)
            case "pace" if run in self.runs:
                self.runs[run].set_pace(_pace(message))
            case "play" | "pause" | "step" | "stop" as name if run in self.runs:
                getattr(self.runs[run], name)()
                await self.runs[run].tell()
            case _:
                raise Wrong("", "there is no such message, or no such run")

    async def _check(self, run: str, text: str) -> None:
        inspection = await asyncio.to_thread(inspect, text)
        found = knobs.to_json(knobs.of_scenario(inspection.scenario))
        warnings = list(inspection.warnings)
        await self._send({"type": "checked", "run": run, "knobs": found, "warnings": warnings})

    async def _start(self, run: str, message: Mapping[str, Any]) -> None:
        paused = bool(message.get("paused"))
        begun = WatchedRun(run, _text(message), _pace(message), self._send, paused=paused)
        await self._end(run)
        self.runs[run] = begun
        self._drive(run, begun)

    def _drive(self, run: str, watched: WatchedRun) -> None:
        self._tasks[run] = asyncio.create_task(self._driven(run, watched))

    async def _driven(self, run: str, watched: WatchedRun) -> None:
        try:
            await watched.drive()
        except RuntimeError as error:  # a control failed, or the page is gone
            watched.stop()
            await watched.tell()
            await self._refuse(run, Wrong("", str(error)))

    async def _end(self, run: str) -> None:
        if run in self.runs:
            self.runs.pop(run).stop()
            await asyncio.gather(self._tasks.pop(run), return_exceptions=True)

    async def close(self) -> None:
        """Stop all runs."""
        for run in list(self.runs):
            await self._end(run)

    async def _refuse(self, run: str, wrong: Wrong) -> None:
        await self._send(
            {
                "type": "error",
                "run": run,
                "field": wrong.field,
                "message": wrong.message,
                "line": wrong.line,
                "column": wrong.column,
            }
        )

    async def _send(self, message: bytes | dict[str, Any]) -> None:
        async with self._sending:
            if isinstance(message, bytes):
                await self._socket.send_bytes(message)
            else:
                await self._socket.send_text(json.dumps(message))


def _text(message: Mapping[str, Any]) -> str:
    text = message["text"]
    if not isinstance(text, str):
        raise Wrong("", "the text of a scenario is text")
    return text


def _pace(message: Mapping[str, Any]) -> float | None:
    pace = message.get("pace")
    if pace is None:
        return None
    if isinstance(pace, bool) or not isinstance(pace, int | float) or not 0 < pace < 1e9:
        raise Wrong("", f"{pace} is not a pace: give seconds per second, or null")
    return float(pace)
