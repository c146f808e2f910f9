"""A client that sends on several connections until it is killed.

``python -m validation.soak.victim ORDER``; it says nothing.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import numpy as np

from skywave.net import Config, NetError, aio
from validation.soak.ends import Reader
from validation.soak.plan import CCIDS, HOST, SIZE, ports
from validation.soak.process import order
from validation.soak.talk import Patience, Sender, drain

CONNECTIONS = 5
DATAGRAMS = 100_000
PAUSE_S = 0.02


async def _live(endpoint: aio.Endpoint, given: dict[str, Any], index: int) -> None:
    number = (given["number"] << 32) + index
    rng = np.random.default_rng(number)
    port = int(rng.choice(ports("reads" if rng.random() < 0.8 else "deaf")))
    config = Config(ccid=int(rng.choice(CCIDS)), **given["limits"])
    patience = Patience(rng, cancels=0.0, limit_s=0.0)
    with suppress(NetError):
        connection = await endpoint.connect(HOST, port, udp_port=given["relay"], config=config)
        reading = asyncio.create_task(drain(connection, Reader(number), patience))
        # Some fall silent soon: only keepalive shows that they are gone.
        count = DATAGRAMS if rng.random() < 0.7 else 3
        await Sender(connection, patience).send(number, count, SIZE, PAUSE_S)
        await reading


async def _run() -> None:
    given = order()
    endpoint = aio.Endpoint.udp(HOST, 0)
    await asyncio.gather(*(_live(endpoint, given, index) for index in range(CONNECTIONS)))


if __name__ == "__main__":
    asyncio.run(_run())
