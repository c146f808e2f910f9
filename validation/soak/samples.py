"""Samples of the judged processes, from the system and from their endpoints."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from validation.soak.process import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skywave.net import aio


@dataclass(frozen=True)
class Sample:
    """A judged process at one time."""

    time_s: float
    """Since the soak began."""
    process: str
    rss_bytes: int
    anonymous_bytes: int
    """Of these, those that are no pages of files, as libraries are."""
    pss_bytes: int
    descriptors: int
    threads: int
    cpu_s: float
    connections: int
    """In handshake, open or closing."""
    time_waits: int
    closing: int
    half_open: int
    """In their handshake."""
    queued_bytes: int
    opened: int
    """Connections since the soak began."""
    tasks: int
    """Connections that the application still works on."""
    strays: int
    malformed: int
    cookies_sent: int
    too_busy: int

    @classmethod
    def said(cls) -> list[str]:
        """Return the names of what the process itself says; the rest the system says."""
        return [field.name for field in fields(cls)][8:]


def counters(endpoint: aio.Endpoint) -> dict[str, int]:
    """Return what an endpoint says, under the names of :class:`Sample`."""
    stats, snapshot = endpoint.stats(), endpoint.snapshot(0)
    states = snapshot.states
    return {
        "connections": stats.connections,
        "time_waits": stats.time_waits,
        "closing": stats.closing,
        "half_open": states.get("REQUEST", 0) + states.get("RESPOND", 0),
        "queued_bytes": stats.queued_bytes,
        "opened": snapshot.totals.connections,
        "strays": stats.strays,
        "malformed": stats.malformed,
        "cookies_sent": stats.cookies_sent,
        "too_busy": stats.too_busy,
    }


async def keep_sampling(
    endpoint: aio.Endpoint, every_s: float, more: Callable[[], dict[str, int]]
) -> None:
    """Say samples of an endpoint, and of ``more``, until cancelled."""
    while True:
        say({"sample": {**counters(endpoint), **more()}})
        await asyncio.sleep(every_s)


def of_process(pid: int) -> dict[str, float]:
    """Return what the system says of a process, under the names of :class:`Sample`.

    Raises:
        OSError: If it is gone.

    """
    proc = Path(f"/proc/{pid}")
    status = (proc / "status").read_text()
    # Fields 14 and 15, counted behind the name, which may have blanks (proc(5)).
    times = (proc / "stat").read_text().rpartition(")")[2].split()[11:13]
    return {
        "rss_bytes": 1024 * _number("VmRSS", status),
        "anonymous_bytes": 1024 * _number("RssAnon", status),
        "pss_bytes": 1024 * _number("Pss", (proc / "smaps_rollup").read_text()),
        "descriptors": len(list((proc / "fd").iterdir())),
        "threads": _number("Threads", status),
        "cpu_s": sum(map(int, times)) / os.sysconf("SC_CLK_TCK"),
    }


def table(samples: Iterable[Sample]) -> pa.Table:
    """Return samples as a table."""
    names = [field.name for field in fields(Sample)]
    return pa.Table.from_pylist([asdict(sample) for sample in samples]).select(names)


def _number(name: str, text: str) -> int:
    found = re.search(rf"^{name}:\s*(\d+)", text, re.MULTILINE)
    if found is None:
        raise OSError(f"/proc says nothing of {name}")
    return int(found[1])
