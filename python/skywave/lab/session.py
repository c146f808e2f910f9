"""A session: one open page, its runs, and the messages between them.

Messages are JSON objects with a ``type``, frames are bytes (:mod:`skywave.lab.messages`). The page
sends:

- ``check`` (``run``, ``text``): is answered by ``checked`` or ``error``;
- ``turn`` (``run``, ``text``, ``field``, ``value``): turns a knob, is answered by ``text``;
- ``start`` (``run``, ``text``, ``clock``, ``pace``, ``paused``): begins a run, in place of its
  last; pace and pauses are for the clock ``simulated``, and ``real`` has neither;
- ``change`` (``run``, ``text``): goes on with another scenario;
- ``pace`` (``run``, ``pace``), ``play``, ``pause``, ``step``, ``stop`` (``run``).

It receives ``checked`` (``knobs``, ``warnings``), ``text`` (``text``), and what
:mod:`skywave.lab.messages` has: ``hello``, ``error``, and ``state`` of its runs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from skywave.lab import knobs, messages
from skywave.lab.reading import PageError, inspect
from skywave.lab.real_time import ProcessRun
from skywave.lab.simulation import PreparedScenario, SimulatedRun

Run = SimulatedRun | ProcessRun
"""A run on the page."""
RUNS = ("a", "b")
"""The names of runs: two fit side by side."""


class Session:
    """One open page."""

    def __init__(self, socket: WebSocket) -> None:
        """Create it for an accepted socket."""
        self.runs: dict[str, Run] = {}
        self._socket = socket
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._sending = asyncio.Lock()

    async def receive(self, text: str) -> None:
        """Handle a message. Errors in it are answered, not raised."""
        run = ""
        try:
            message = json.loads(text)
            if not isinstance(message, dict) or message.get("run") not in RUNS:
                raise PageError("", "a message is an object with a run, a or b")
            run = message["run"]
            await self._do(run, message)
        except json.JSONDecodeError as error:
            await self._refuse(run, PageError("", f"a message is JSON: {error}"))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            # ScenarioError is a ValueError. What is nested too deeply ends in a RecursionError.
            await self._refuse(run, PageError("", f"this message is not understood: {error!r}"))
        except PageError as error:
            await self._refuse(run, error)

    async def _do(self, run: str, message: Mapping[str, Any]) -> None:
        match message["type"]:
            case "check":
                await self._check(run, _text(message))
            case "turn":
                field, value = message["field"], message["value"]
                text = await asyncio.to_thread(knobs.turned, _text(message), field, value)
                await self._send({"type": "text", "run": run, "text": text})
            case "start":
                await self._start(run, message)
            case "change" if run in self.runs:
                changed = self.runs[run]
                await changed.change(_text(message))
                # A task that is not done drives it on: it looks whether the run is over last.
                if self._tasks[run].done():
                    self._drive(run, changed)
            case "pace" if run in self.runs:
                self.runs[run].set_pace(_pace(message))
            case "play" | "pause" | "step" | "stop" as name if run in self.runs:
                getattr(self.runs[run], name)()
                await self.runs[run].tell()
            case _:
                raise PageError("", "there is no such message, or no such run")

    async def _check(self, run: str, text: str) -> None:
        inspection = await asyncio.to_thread(inspect, text)
        found = [asdict(knob) for knob in knobs.of_scenario(inspection.scenario)]
        warnings = list(inspection.warnings)
        await self._send({"type": "checked", "run": run, "knobs": found, "warnings": warnings})

    async def _start(self, run: str, message: Mapping[str, Any]) -> None:
        text, pace, paused = _text(message), _pace(message), bool(message.get("paused"))
        begun: Run
        match message.get("clock", "simulated"):
            case "simulated":
                prepared = await asyncio.to_thread(PreparedScenario.of, text)
                begun = SimulatedRun(run, prepared, pace, self._send, paused=paused)
            case "real_time":
                begun = await ProcessRun.prepared(run, text, self._send)
            case clock:
                raise PageError("", f"{clock} is not a clock: it is simulated or real")
        await self._end(run)
        self.runs[run] = begun
        self._drive(run, begun)

    def _drive(self, name: str, run: Run) -> None:
        self._tasks[name] = asyncio.create_task(self._driven(name, run))

    async def _driven(self, name: str, run: Run) -> None:
        while True:
            try:
                await run.drive()
            except WebSocketDisconnect:
                run.stop()
            except Exception as error:  # noqa: BLE001  (whatever it is, the page waits for an end)
                run.stop()
                if self.runs.get(name) is not run:  # nobody waits for it, or another took its place
                    return
                with suppress(RuntimeError, WebSocketDisconnect):  # the page is gone
                    await run.tell()
                    await self._refuse(name, _failure(error))
            if run.is_over:  # it may have changed while the message was sent
                return

    async def _end(self, run: str) -> None:
        if run in self.runs:
            self.runs.pop(run).stop()
            # Cancelled, this leaves the task alone: gather would cancel it.
            await asyncio.wait([self._tasks.pop(run)])

    async def close(self) -> None:
        """Stop all runs."""
        for run in list(self.runs):
            await self._end(run)

    async def _refuse(self, run: str, error: PageError) -> None:
        await self._send(messages.error(run, error))

    async def _send(self, message: bytes | dict[str, object]) -> None:
        async with self._sending:
            if isinstance(message, bytes):
                await self._socket.send_bytes(message)
            else:
                await self._socket.send_text(json.dumps(message))


def _failure(error: Exception) -> PageError:
    if isinstance(error, PageError):
        return error
    # Those of the system and of the core say what they are; others have a name for that.
    says = error if isinstance(error, OSError | RuntimeError) else repr(error)
    return PageError("", f"the run failed: {says}")


def _text(message: Mapping[str, Any]) -> str:
    text = message["text"]
    if not isinstance(text, str):
        raise PageError("", "the text of a scenario is text")
    return text


def _pace(message: Mapping[str, Any]) -> float | None:
    pace = message.get("pace")
    if pace is None:
        return None
    if isinstance(pace, bool) or not isinstance(pace, int | float) or not 0 < pace < 1e9:
        raise PageError("", f"{pace} is not a pace: give seconds per second, or null")
    return float(pace)
