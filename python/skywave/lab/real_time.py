"""A run in real time: a process of its own, whose frames pass through to the page."""

from __future__ import annotations

import asyncio
import json
import struct
import sys
from asyncio import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, NoReturn, Self

import pyarrow as pa
import pyarrow.compute as pc

from skywave.lab import real_time_process
from skywave.lab.messages import Clock, Phase, Send, State, frame, unpacked
from skywave.lab.reading import PageError, inspect, located
from skywave.realtime.privileges import around, refusal
from skywave.scenario.quantities import Duration

PATIENCE_S = 10.0
"""How long a run may take to report what it has measured once it is to stop."""


class ProcessRun:
    """A run on the page in real time, in its own process.

    Its process has the namespaces, so the server stays in its own and needs no privileges. They end
    with the process, and the process ends with the server: it reads a pipe that the server holds.
    """

    clock: Clock = "real_time"

    def __init__(self, name: str, text: str, scenario: Mapping[str, Any], send: Send) -> None:
        """Create the run. ``scenario`` is that of ``text``, with all defaults."""
        self.name = name
        self.text = text
        self.state: Phase = "running"
        self._scenario = scenario
        self._send = send
        self._end_s = Duration(scenario["duration"]).seconds
        self._now_s = 0.0
        self._notes: tuple[str, ...] = ()
        self._inaccuracy: str | None = None
        self._process: subprocess.Process | None = None
        self._pieces: dict[str, list[pa.Table]] = {}
        self._tables: Mapping[str, pa.Table] | None = None

    @classmethod
    async def prepared(cls, name: str, text: str, send: Send) -> Self:
        """Return a run that may begin."""
        inspection = await asyncio.to_thread(inspect, text)
        if reason := await asyncio.to_thread(refusal):
            raise PageError("", reason)
        return cls(name, text, inspection.scenario, send)

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state in ("ended", "stopped")

    def stop(self) -> None:
        """End the run now. It keeps its measurements."""
        if not self.is_over:
            self.state = "stopped"
        process = self._process
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            process.stdin.close()
            asyncio.get_running_loop().call_later(PATIENCE_S, _kill, process)

    def _refuse(self, *_: object) -> NoReturn:
        raise PageError(
            "", "a run in real time may be stopped, but not paused, stepped, paced or changed"
        )

    play = pause = step = set_pace = _refuse

    async def change(self, _: str) -> None:
        """Refuse another scenario."""
        self._refuse()

    async def drive(self) -> None:
        """Run it, until it is over and its process has ended."""
        await self.tell()
        process = await subprocess.create_subprocess_exec(
            *(*around(), sys.executable, "-m", real_time_process.__name__, self.name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the server
        )
        self._process = process
        assert process.stdin is not None  # noqa: S101  (they are pipes)
        assert process.stdout is not None  # noqa: S101
        assert process.stderr is not None  # noqa: S101
        errors = asyncio.create_task(process.stderr.read())
        try:
            if not self.is_over:
                process.stdin.write(json.dumps(self._scenario).encode() + b"\n")
                await self._read(process.stdout)
        finally:
            # Nothing if it has said all: then it is about to end.
            _kill(process)
            await process.wait()
            said = (await errors).decode(errors="replace").strip().splitlines()
        if self._tables is None and not self.is_over:
            self.stop()
            raise PageError("", f"the run failed: {said[-1] if said else 'its process was killed'}")
        await self.tell()

    async def _read(self, stream: asyncio.StreamReader) -> None:
        async for message in _messages(stream):
            header, tables = unpacked(message)
            match header.get("type"):
                case real_time_process.RESULTS:
                    self._now_s = header["time_s"]
                    self._tables = tables
                    if not self.is_over:  # whoever stops it from now on is too late
                        self.state = "ended"
                    self._notes = tuple(header["notes"])
                    self._inaccuracy = header["inaccuracy"]
                    await self._show_rest(tables)
                case real_time_process.ERROR:
                    if not self.is_over:  # whoever stops it while it starts knows why it ends
                        raise located(self.text, header["message"])
                    return
                case _:
                    self._now_s = header["time_s"]
                    for name, table in tables.items():
                        self._pieces.setdefault(name, []).append(table)
                    await self._send(message)

    async def _show_rest(self, tables: Mapping[str, pa.Table]) -> None:
        """Send the part of an interval that had passed when the run was stopped."""
        rest = {
            name: tables[name].filter(pc.field("time_s") > pieces[-1]["time_s"][-1].as_py())
            for name, pieces in self._pieces.items()
            if name in tables
        }
        if any(table.num_rows for table in rest.values()):
            await self._send(frame(self.name, 0, self._now_s, rest))

    def results(self) -> Mapping[str, pa.Table]:
        """Return all tables if the run is over, otherwise the samples so far."""
        if self._tables is not None:
            return self._tables
        return {
            name: pa.concat_tables(pieces).unify_dictionaries()
            for name, pieces in self._pieces.items()
        }

    def capture(self, link: str, file: str) -> NoReturn:
        """Refuse: it cannot be run again."""
        raise ValueError(
            "a run in real time cannot be repeated: skywave realtime run --capture "
            f"{link}={file} writes packets while it runs"
        )

    async def tell(self) -> None:
        """Send the state."""
        state = State(
            self.name,
            self.clock,
            self.state,
            self._now_s,
            self._end_s,
            notes=self._notes,
            inaccuracy=self._inaccuracy,
        )
        await self._send(state.message())


async def _messages(stream: asyncio.StreamReader) -> AsyncIterator[bytes]:
    with suppress(asyncio.IncompleteReadError):
        while True:
            (length,) = struct.unpack("<I", await stream.readexactly(4))
            yield await stream.readexactly(length)


def _kill(process: subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
