"""The page of a socket, which plots its connections live."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import pyarrow as pa
from starlette.websockets import WebSocket

from skywave.lab import messages
from skywave.lab.guard import Guard
from skywave.lab.messages import Phase, State, packed
from skywave.lab.reading import PageError
from skywave.lab.site import served, site
from skywave.net import ConnectionSnapshot, Endpoint, Stats
from skywave.net.protocol import address

RUN = "a"
"""The name of what is shown, in messages."""
INTERVAL_S = 0.1
KEPT_S = 120.0
"""How much of the past a page shows. A server that runs for days needs no more memory for it."""
MOST_SHOWN = 20
"""The most connections that are sampled: a page cannot distinguish more."""
READ_ONLY = "this page shows what a socket does, and changes nothing"

STATE = {
    "cwnd": "cwnd_packets",
    "ssthresh": "ssthresh_packets",
    "pipe": "pipe_packets",
    "srtt_s": "srtt_s",
    "rate_bps": "allowed_rate_bps",
    "receive_rate_bps": "receive_rate_bps",
    "loss_event_rate": "loss_event_rate",
}
"""Columns that have the present value of a statistic."""
SINCE = {"lost": "lost_packets", "marked": "marked_packets"}
"""Columns that have what a statistic has counted since the last sample."""
RATES = {"bytes_received": "goodput_bps", "bytes_sent": "sent_bps"}
"""Columns that have the rate, in bit/s, of what a statistic has counted since the last sample."""
NUMBERS = (*STATE.values(), *SINCE.values(), *RATES.values())
SCHEMA = pa.schema(
    [
        ("time_s", pa.float64()),
        ("connection", pa.string()),
        *((column, pa.float64()) for column in NUMBERS),
    ]
)


class Samples:
    """Recent samples of an endpoint's oldest connections. Times are since its creation."""

    def __init__(self, endpoint: Endpoint, now: Callable[[], float] = time.monotonic) -> None:
        """Create it, without samples."""
        self.open = 0
        """How many connections the endpoint has."""
        self.time_s = 0.0
        """When the last sample was taken."""
        self.failure: str | None = None
        """Why no more samples are taken."""
        self._endpoint = endpoint
        self._now = now
        self._began = now()
        self._rows: deque[pa.RecordBatch] = deque(maxlen=round(KEPT_S / INTERVAL_S))
        self._taken = 0
        self._before: dict[int, Stats] = {}

    def take(self) -> None:
        """Take a sample."""
        time_s = self._now() - self._began
        took_s, self.time_s = time_s - self.time_s, time_s
        snapshot = self._endpoint.snapshot(MOST_SHOWN)
        self.open = sum(snapshot.states.values())
        rows = [self._row(connection, took_s) for connection in snapshot.connections]
        self._before = {one.id: one.stats for one in snapshot.connections}
        self._rows.append(pa.RecordBatch.from_pylist(rows, SCHEMA))
        self._taken += 1

    def _row(self, connection: ConnectionSnapshot, took_s: float) -> dict[str, Any]:
        stats = connection.stats
        before = self._before.get(connection.id)
        # One that was not shown is new if all were; otherwise nobody knows what it did before.
        is_known = before is not None or len(self._before) < MOST_SHOWN

        def since(name: str) -> float | None:
            value: float | None = getattr(stats, name)
            return (
                value - (getattr(before, name, 0) or 0) if value is not None and is_known else None
            )

        def rate(name: str) -> float | None:
            count = since(name)
            return None if count is None else 8 * count / took_s

        return {
            "time_s": self.time_s,
            "connection": f"{connection.id}: {address(connection.peer_ip, connection.peer_port)}",
            **{column: getattr(stats, name) for name, column in STATE.items()},
            **{column: since(name) for name, column in SINCE.items()},
            **{column: rate(name) for name, column in RATES.items()},
        }

    def after(self, seen: int) -> tuple[int, pa.Table]:
        """Return how many samples there have been, and those that are kept of the ones after."""
        new = min(self._taken - seen, len(self._rows))
        batches = list(self._rows)[len(self._rows) - new :]
        return self._taken, pa.Table.from_batches(batches, SCHEMA)

    async def keep(self) -> None:
        """Take a sample now and then, until that fails."""
        while self.failure is None:
            await asyncio.sleep(INTERVAL_S)
            try:
                self.take()
            except Exception as error:  # noqa: BLE001  (whatever it is, the pages say it)
                self.failure = f"The socket cannot be sampled any more: {error!r}"


class Watcher:
    """One open page."""

    def __init__(self, socket: WebSocket, samples: Samples) -> None:
        """Create it for an accepted socket."""
        self._socket = socket
        self._samples = samples

    async def receive(self, _: str) -> None:
        """Refuse every message."""
        await self._send(messages.error(RUN, PageError("", READ_ONLY)))

    async def show(self) -> None:
        """Send samples as they are taken, until that fails."""
        seen, shown = 0, None
        while True:
            failure = self._samples.failure
            notes = (failure,) if failure else _notes(self._samples.open)
            if notes != shown:
                phase: Phase = "ended" if failure else "running"
                time_s = self._samples.time_s
                state = State(RUN, "real_time", phase, time_s, None, kept_s=KEPT_S, notes=notes)
                await self._send(state.message())
                shown = notes
            seen, table = self._samples.after(seen)
            header = {"run": RUN, "epoch": 0, "time_s": self._samples.time_s}
            await self._socket.send_bytes(packed(header, {"connections": table}))
            if failure:
                return
            await asyncio.sleep(INTERVAL_S)

    async def _send(self, message: Mapping[str, Any]) -> None:
        await self._socket.send_text(json.dumps(message))


def _notes(connections: int) -> tuple[str, ...]:
    are = "1 connection is" if connections == 1 else f"{connections:,} connections are"
    more = connections > MOST_SHOWN
    return (f"{are} open{f'; the {MOST_SHOWN} oldest are shown' if more else ''}.",)


def application(samples: Samples, *, token: str, port: int, title: str) -> Guard:
    """Return the application of a page that shows samples."""

    @asynccontextmanager
    async def opened(connection: WebSocket) -> AsyncIterator[Watcher]:
        watcher = Watcher(connection, samples)
        await connection.send_json(messages.hello("connections", title))
        showing = asyncio.create_task(watcher.show())
        try:
            yield watcher
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)

    return site(token=token, port=port, opened=opened)


@contextmanager
def watched(endpoint: Endpoint) -> Iterator[str]:
    """Serve the page of an endpoint until the block ends; gives its address."""
    samples = Samples(endpoint)
    title = f"Skywave: the socket at {address(*endpoint.local_address)}"
    with served(partial(application, samples, title=title), beside=samples.keep) as page:
        yield page.address
