"""Sending and reading at either end, with calls that are cancelled at random moments."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from skywave.net import NetError
from validation.soak.ends import datagram
from validation.soak.plan import CLOSE_S

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import numpy as np

    from skywave.net import aio
    from validation.soak.ends import Reader

T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """How often a call is cancelled, and how soon."""

    rng: np.random.Generator
    cancels: float
    """The share of calls that have a limit."""
    limit_s: float
    """The mean of these limits."""

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Patience:
        """Draw one: three of ten ends cancel half of their calls."""
        return cls(
            rng, 0.5 if rng.random() < 0.3 else 0.0, float(rng.choice([0.0005, 0.005, 0.05]))
        )

    async def once(self, call: Callable[[], Awaitable[T]]) -> T:
        """Call, perhaps with a limit.

        Raises:
            TimeoutError: If it was cancelled.

        """
        if self.rng.random() >= self.cancels:
            return await call()
        # Not `wait_for`, whose time may run out as the task is cancelled, which Python 3.11 then
        # forgets.
        async with asyncio.timeout(self.rng.exponential(self.limit_s)):
            return await call()

    async def insist(self, call: Callable[[], Awaitable[T]]) -> T:
        """Call until it is not cancelled."""
        while True:
            with suppress(TimeoutError):
                return await self.once(call)


class Sender:
    """Sends numbered datagrams on a connection."""

    def __init__(self, connection: aio.Connection, patience: Patience) -> None:
        self._connection = connection
        self._patience = patience
        self.offered = 0
        """Datagrams that it has tried to send."""
        self.cancelled = 0
        """Calls among them that were cancelled: their datagrams may have been sent or not."""

    async def send(self, number: int, count: int, size: int, pause_s: float) -> None:
        """Send ``count`` datagrams of the connection ``number``, until it ends.

        Sizes vary up to ``size``.
        """
        for _ in range(count):
            bytes_ = min(self._connection.max_datagram_size, int(self._patience.rng.integers(size)))
            data = datagram(number, self.offered, bytes_)
            self.offered += 1
            try:
                await self._patience.once(lambda data=data: self._connection.send(data))  # type: ignore[misc]
            except TimeoutError:
                self.cancelled += 1
            except NetError:
                return
            await asyncio.sleep(pause_s)


async def drain(connection: aio.Connection, reader: Reader, patience: Patience) -> None:
    """Read to the end of a connection, however it ends."""
    with suppress(NetError):
        while (data := await patience.insist(connection.recv)) is not None:
            reader.take(data)


async def close(end: aio.Connection | aio.Endpoint) -> None:
    """Close within the time that a close may take; abort what is left then.

    Raises:
        TimeoutError: If something was aborted.

    """
    try:
        async with asyncio.timeout(CLOSE_S):
            await end.close()
    except TimeoutError:
        end.abort()
        raise
