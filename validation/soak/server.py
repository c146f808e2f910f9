"""The server of a soak, which is judged: it accepts, reads, answers, closes, aborts and forgets.

``python -m validation.soak.server ORDER`` says its UDP port, a report of each connection that is
over, and samples of its endpoint. It ends when its standard input does.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np

from skywave import net
from skywave.net import Config, EndpointConfig, NetError, aio
from validation.soak.ends import Reader, Report, name_of
from validation.soak.plan import CLOSE_S, HOST, LOOK_S, PORTS, SIZE, Kind
from validation.soak.process import Crew, order, say, until_told
from validation.soak.samples import keep_sampling
from validation.soak.talk import Patience, Sender, close, drain

CANCEL_ACCEPT_S = 0.2
"""The mean time after which a call of ``accept`` is cancelled."""


@dataclass(frozen=True)
class Manner:
    """What the server does with a connection that it reads, drawn at random."""

    pause_s: float
    """Between two reads."""
    answers: int
    """Datagrams that it sends, once it has read the first."""
    ending: Literal["await", "close", "abort", "drop"]
    reads: int
    """After how many datagrams it ends the connection, if it does not await the client's end."""
    patience: Patience

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Manner:
        """Draw one."""
        return cls(
            pause_s=float(rng.choice([0.0, 0.01, 0.05], p=[0.7, 0.2, 0.1])),
            answers=min(100, int(rng.exponential(12))),
            ending=rng.choice(["await", "close", "abort", "drop"], p=[0.6, 0.2, 0.1, 0.1]),
            reads=1 + int(rng.exponential(6)),
            patience=Patience.draw(rng),
        )


class Server:
    """An endpoint with listeners, and a task for each connection."""

    def __init__(self, seed: int, limits: dict[str, str], shards: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._crew = Crew()
        self.endpoint = aio.Endpoint.udp(HOST, 0, config=EndpointConfig(shards=shards))
        for port, (kind, ccid) in PORTS.items():
            config = Config(ccid=ccid, **limits)  # type: ignore[arg-type]
            self._crew.start(self._accept(self.endpoint.listen(port, config=config), kind))

    def counters(self) -> dict[str, int]:
        """Return what the samples say besides the endpoint's counters."""
        return {"tasks": len(self._crew) - len(PORTS)}

    async def close(self) -> None:
        """End everything."""
        with suppress(TimeoutError):
            await close(self.endpoint)
        await self._crew.stop(CLOSE_S)

    async def _accept(self, listener: aio.Listener, kind: Kind) -> None:
        while True:
            try:
                # Cancelled often, which must lose no connection.
                connection = await asyncio.wait_for(
                    listener.accept(), self._rng.exponential(CANCEL_ACCEPT_S)
                )
            except TimeoutError:
                continue
            except net.EndpointClosedError:
                return
            if kind == "deaf":
                self._crew.start(_be_deaf(connection))
            else:
                self._crew.start(_attend(connection, kind, Manner.draw(self._rng)))
            # Not until the next one: it may be over, and have data that nobody reads.
            del connection


async def _be_deaf(connection: aio.Connection) -> None:
    while connection.closed is None:
        await asyncio.sleep(LOOK_S)


async def _attend(connection: aio.Connection, kind: Kind, manner: Manner) -> None:
    reader = Reader(is_numbered=kind == "reads")
    sender = Sender(connection, manner.patience)
    answers = Crew()
    is_over = False
    while manner.ending == "await" or reader.check.received < manner.reads:
        try:
            data = await manner.patience.insist(connection.recv)
        except NetError:
            data = None
        if data is None:
            is_over = True
            break
        reader.take(data)
        if reader.connection is not None and reader.check.received == 1:
            answers.start(sender.send(reader.connection, manner.answers, SIZE, 0.0))
        await asyncio.sleep(manner.pause_s)
    if not is_over:
        await _end(connection, manner, reader)
    await answers.stop()
    has_dropped = manner.ending == "drop" and not is_over
    report = Report.of(
        "server",
        reader,
        connection.stats(),
        ended="dropped" if has_dropped else name_of(connection.closed),
        ccids=connection.ccids,
        offered=sender.offered,
        read_all=not has_dropped,
    )
    say({"report": report.document()})


async def _end(connection: aio.Connection, manner: Manner, reader: Reader) -> None:
    if manner.ending == "drop":
        return
    if manner.ending == "abort":
        connection.abort()
    else:
        with suppress(TimeoutError, NetError):  # the report says how it ended
            await close(connection)
    await drain(connection, reader, manner.patience)


async def _run() -> None:
    given = order()
    server = Server(given["seed"], given["limits"], given["shards"])
    say({"port": server.endpoint.local_address[1]})
    sampling = asyncio.create_task(
        keep_sampling(server.endpoint, given["sample_s"], server.counters)
    )
    async for _ in until_told():
        pass
    sampling.cancel()
    await server.close()


if __name__ == "__main__":
    asyncio.run(_run())
