"""The client of a soak, which is judged: short connections of every kind, and forks of itself.

``python -m validation.soak.client ORDER`` says its UDP port, a report of each connection that is
over, and samples of its endpoint. Told to be quiet, it opens no more connections. It ends when its
standard input does.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, Literal

import numpy as np

from skywave import net
from skywave.net import Config, NetError, aio
from validation.soak import forks
from validation.soak.blocking import Blocking
from validation.soak.ends import Reader, Report, name_of
from validation.soak.plan import CCIDS, CLOSE_S, HOST, LOOK_S, SIZE, ports
from validation.soak.process import Crew, cancel, complain, order, say, until_told
from validation.soak.samples import keep_sampling
from validation.soak.talk import Patience, Sender, close, drain

MOST_AT_A_TIME = 1000
"""Connections that the client works on at a time. Beyond it, it waits with the next."""
AWAIT_S = 10.0
"""How long the client waits for the server to end a connection before it does so itself."""
LARGE = 65_536
"""A size that the path's largest datagram limits."""


@dataclass(frozen=True)
class Life:
    """What becomes of a connection, drawn at random."""

    port: int
    ccid: int
    has_own_endpoint: bool
    connect_s: float | None
    """After how long ``connect`` is cancelled, if it is."""
    sends: int
    size: int
    pause_s: float
    flushes: bool
    reads: bool
    lingers_s: float
    """Between the last datagram and the end."""
    ending: Literal["close", "cancel", "await", "abort", "drop"]
    """``cancel``: a close that is cancelled, and goes on in the background."""
    patience: Patience

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Life:
        """Draw one."""
        endings = ["close", "cancel", "await", "abort", "drop"]
        return cls(
            port=int(rng.choice(ports("reads" if rng.random() < 0.85 else "deaf"))),
            ccid=int(rng.choice(CCIDS)),
            has_own_endpoint=rng.random() < 0.03,
            connect_s=rng.exponential(0.02) if rng.random() < 0.1 else None,
            sends=min(150, int(rng.exponential(15))),
            size=LARGE if rng.random() < 0.02 else SIZE,
            pause_s=float(rng.choice([0.0, 0.001, 0.02])),
            flushes=rng.random() < 0.2,
            reads=rng.random() < 0.8,
            lingers_s=rng.exponential(0.5),
            ending=rng.choice(endings, p=[0.4, 0.1, 0.15, 0.15, 0.2]),
            patience=Patience.draw(rng),
        )


class Client:
    """An endpoint, and a task for each connection."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = given
        self._rng = np.random.default_rng(given["seed"])
        self._numbers = count(given["seed"] << 32)
        self._crew = Crew()
        self._open: dict[int, tuple[aio.Connection, Life]] = {}
        self._blocking = net.Endpoint.udp(HOST, 0)
        self.endpoint = aio.Endpoint(self._blocking)
        self._is_quiet = threading.Event()
        self._counts = Counter[str]()

    def counters(self) -> dict[str, int]:
        """Return what the samples say besides the endpoint's counters."""
        return {"tasks": len(self._open), **self._counts}

    def start(self) -> None:
        """Open connections from now on."""
        given = self._given
        self._crew.start(self._churn(given["rate"]))
        if given["forks_s"]:
            self._crew.start(self._fork(given["forks_s"]))
        for number in range(given["threads"]):
            blocking = Blocking(
                self._blocking,
                given["relay"],
                given["limits"],
                self._numbers,
                np.random.default_rng([given["seed"], number]),
                self._is_quiet,
            )
            threading.Thread(target=blocking.run, daemon=True).start()

    def be_quiet(self) -> None:
        """Open no more connections; those that are open go on to their ends."""
        self._is_quiet.set()

    async def close(self) -> None:
        """End everything; say what has not ended by itself."""
        self.be_quiet()
        for connection, life in self._open.values():
            complain(TimeoutError(f"not over: {connection}, {life}, {connection.stats()}"))
        with suppress(TimeoutError):
            await close(self.endpoint)
        await self._crew.stop(CLOSE_S)

    async def _churn(self, rate: float) -> None:
        while not self._is_quiet.is_set():
            if len(self._open) < MOST_AT_A_TIME:
                self._crew.start(self._live(Life.draw(self._rng)))
            await asyncio.sleep(self._rng.exponential(1 / rate))

    async def _fork(self, every_s: float) -> None:
        """Fork now and then. The children must neither hang nor use or end what is not theirs."""
        for kind in forks.kinds():
            await asyncio.sleep(self._rng.exponential(every_s))
            if self._is_quiet.is_set():
                return
            some = [connection for connection, _ in islice(self._open.values(), 3)]
            self._counts["forks"] += 1
            status = await forks.run(kind, self._blocking, some)
            if status:
                complain(ChildProcessError(f"a fork that was to {kind} ended with status {status}"))

    async def _live(self, life: Life) -> None:
        endpoint = aio.Endpoint.udp(HOST, 0) if life.has_own_endpoint else self.endpoint
        connection = await self._connect(endpoint, life)
        if connection is not None:
            number = next(self._numbers)
            self._open[number] = connection, life
            try:
                report = await self._talk(connection, number, life)
            finally:
                del self._open[number], connection
            say({"report": report.document()})
        if life.has_own_endpoint:
            try:
                await close(endpoint)
            except TimeoutError:
                self._counts["endpoints aborted"] += 1

    async def _connect(self, endpoint: aio.Endpoint, life: Life) -> aio.Connection | None:
        config = Config(ccid=life.ccid, **self._given["limits"])
        connecting = endpoint.connect(HOST, life.port, udp_port=self._given["relay"], config=config)
        try:
            return await asyncio.wait_for(connecting, life.connect_s)
        except TimeoutError:
            self._counts["connects cancelled"] += 1
        except NetError as error:
            self._counts[f"connects failed: {type(error).__name__}"] += 1
        return None

    async def _talk(self, connection: aio.Connection, number: int, life: Life) -> Report:
        """Lead a connection to its end; return what is to be said of it."""
        reader = Reader(number)
        sender = Sender(connection, life.patience)
        reading = asyncio.create_task(
            drain(connection, reader, life.patience) if life.reads else asyncio.sleep(0)
        )
        await sender.send(number, life.sends, life.size, life.pause_s)
        if life.flushes:
            await _flush(connection, sender, life)
        await asyncio.sleep(life.lingers_s)
        await _end(connection, life)
        if life.ending == "drop":
            await cancel(reading)
        else:
            await reading
        return Report.of(
            "client",
            reader,
            connection.stats(),
            ended="dropped" if life.ending == "drop" else name_of(connection.closed),
            ccids=connection.ccids,
            offered=sender.offered,
            has_reader=life.port in ports("reads"),
            read_all=life.reads and life.ending != "drop",
        )


async def _flush(connection: aio.Connection, sender: Sender, life: Life) -> None:
    """Flush, after which everything has left, unless the server has ended the connection."""
    try:
        await connection.flush()
    except NetError:
        return
    stats = connection.stats()
    left = stats.datagrams_sent + stats.datagrams_discarded
    if life.port in ports("deaf") and left < sender.offered - sender.cancelled:
        complain(AssertionError(f"flushed, and {left} have left of {sender.offered}: {stats}"))


async def _end(connection: aio.Connection, life: Life) -> None:
    if life.ending == "drop":
        return
    if life.ending == "abort":
        connection.abort()
        return
    if life.ending == "cancel":
        with suppress(TimeoutError, NetError):
            await asyncio.wait_for(connection.close(), life.patience.rng.exponential(0.02))
    elif life.ending == "await":
        await _ended(connection, AWAIT_S)
    with suppress(TimeoutError, NetError):
        if connection.closed is None and life.ending != "cancel":
            await close(connection)
    await _ended(connection, CLOSE_S)


async def _ended(connection: aio.Connection, limit_s: float) -> None:
    """Wait until a connection has ended, but not for longer than this."""
    for _ in range(int(limit_s / LOOK_S)):
        if connection.closed is not None:
            return
        await asyncio.sleep(LOOK_S)


async def _run() -> None:
    given = order()
    client = Client(given)
    say({"port": client.endpoint.local_address[1]})
    client.start()
    sampling = asyncio.create_task(
        keep_sampling(client.endpoint, given["sample_s"], client.counters)
    )
    async for _ in until_told():
        client.be_quiet()
    sampling.cancel()
    await client.close()


if __name__ == "__main__":
    asyncio.run(_run())
