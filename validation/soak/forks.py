"""Forks of a process with endpoints: the actions of the child, and their outcome."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import warnings
from itertools import cycle
from typing import TYPE_CHECKING, Literal, NoReturn

from skywave.net import ForkedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skywave.net import Endpoint
    from skywave.net.aio import Connection

Kind = Literal["exit", "call", "drop", "execute"]

PATIENCE_S = 60
DONE, WRONG = 0, 1


def kinds() -> Iterator[Kind]:
    """Yield what children do, one after the other, for ever."""
    kinds: tuple[Kind, ...] = ("exit", "call", "drop", "execute")
    return cycle(kinds)


async def run(kind: Kind, endpoint: Endpoint, connections: list[Connection]) -> int:
    """Fork, and return the child's exit status: 0 if it found what it should."""
    with warnings.catch_warnings():
        # That there are threads is the point.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _be_child(kind, endpoint, connections)
    _, status = await asyncio.to_thread(os.waitpid, child, 0)
    return os.waitstatus_to_exitcode(status)


def _be_child(kind: Kind, endpoint: Endpoint, connections: list[Connection]) -> NoReturn:
    """Do what a child does, and end. An alarm ends it if it hangs."""
    status = WRONG
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE_S)
        if kind == "execute":
            # What it inherits besides standard input must be no socket.
            search = "! ls -l /proc/self/fd </dev/null | grep -q socket:"
            os.execv("/bin/sh", ["sh", "-c", search])  # noqa: S606 - a fork that becomes a program
        if kind == "call":
            _call(endpoint, connections)
        if kind == "drop":
            connections.clear()
            del endpoint
            gc.collect()
        status = DONE
    finally:
        os._exit(status)


def _call(endpoint: Endpoint, connections: list[Connection]) -> None:
    """Call what is the parent's.

    Raises:
        AssertionError: If a call does not raise ``ForkedError``.

    """
    calls: list[Callable[[], object]] = [
        lambda: endpoint.connect("127.0.0.1", 5002),
        lambda: endpoint.close(timeout_s=1),
        endpoint.abort,
    ]
    for each in connections:
        calls += [each.stats, each.abort]
    for call in calls:
        try:
            call()
        except ForkedError:
            continue
        raise AssertionError
