"""Shared code of the processes of a soak: orders, lines of JSON both ways, and tasks.

A process ends when its standard input does, so none outlives the one that started it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

AGAIN_S = 0.5

_writing = threading.Lock()


def order() -> dict[str, Any]:
    """Return what this process was told at its start."""
    given: dict[str, Any] = json.loads(sys.argv[1])
    return given


def say(document: dict[str, Any]) -> None:
    """Write a line. Threads may."""
    line = json.dumps(document)
    with _writing:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


async def until_told() -> AsyncIterator[dict[str, Any]]:
    """Yield what the process is told, until its standard input ends."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    async for line in reader:
        yield json.loads(line)


class Crew:
    """Tasks that nobody waits for. An error that none of them expects is said as a complaint."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)
        return task

    async def stop(self, patience_s: float = 0.0) -> None:
        """Wait for all tasks for so long, and cancel what still runs."""
        tasks = list(self._tasks)
        if tasks and patience_s > 0:
            await asyncio.wait(tasks, timeout=patience_s)
        await asyncio.gather(*map(cancel, tasks))

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            complain(error)


async def cancel(task: asyncio.Task[None]) -> None:
    """Cancel a task until it ends: before Python 3.12, ``asyncio.wait_for`` may lose a request."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=AGAIN_S)


def complain(error: BaseException) -> None:
    """Say that something went wrong that must not."""
    say({"complaint": "".join(traceback.format_exception(error))[-2000:]})
