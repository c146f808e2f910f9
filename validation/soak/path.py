"""The path between client and server: a relay that does to UDP packets what bad networks do.

``python -m validation.soak.path ORDER`` runs it as a process, with garbage for both ends. It says
its UDP port and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from validation.soak import garbage
from validation.soak.plan import HOST, Faults
from validation.soak.process import order, say, until_told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LONGEST = 65_536
TURN = 64
"""How many packets one socket takes before others get their turn."""
FORGET_S = 600.0
"""How long a binding lasts without a packet from the client, as in a NAT."""

Address = tuple[str, int]


class Socket:
    """A UDP socket that hands what arrives to a function."""

    def __init__(self, take: Callable[[bytes, Address], None]) -> None:
        self._take = take
        self._socket = socket.socket(type=socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind((HOST, 0))
        self.port: int = self._socket.getsockname()[1]
        asyncio.get_running_loop().add_reader(self._socket, self._read)

    def send(self, packet: bytes, to: Address) -> None:
        """Send a packet."""
        # A full socket, or an address that is gone, loses a packet as any path may.
        with suppress(OSError):
            self._socket.sendto(packet, to)

    def close(self) -> None:
        """Close it."""
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()

    def _read(self) -> None:
        for _ in range(TURN):
            try:
                packet, sender = self._socket.recvfrom(LONGEST)
            except BlockingIOError:
                return
            except OSError:  # an earlier packet met a closed port
                continue
            self._take(packet, sender)


class Relay:
    """Passes packets between any number of clients and one server.

    Each client has a socket of its own towards the server, as behind a NAT. ``fate`` says of each
    packet with what delays its copies arrive, in seconds: of a lost one there are none. It is told
    the packet and whether it goes to the server.
    """

    def __init__(self, server: Address, fate: Callable[[bytes, bool], list[float]]) -> None:
        self._server = server
        self._fate = fate
        self._near = Socket(self._from_client)
        self._far: dict[Address, Socket] = {}
        self._heard_s: dict[Address, float] = {}

    @property
    def port(self) -> int:
        """The UDP port for clients."""
        return self._near.port

    def close(self) -> None:
        """Close all sockets."""
        for each in (self._near, *self._far.values()):
            each.close()

    async def forget(self) -> None:
        """Now and then drop the bindings of clients that have sent nothing for ``FORGET_S``."""
        while True:
            await asyncio.sleep(FORGET_S / 10)
            now_s = asyncio.get_running_loop().time()
            for client, heard_s in list(self._heard_s.items()):
                if now_s - heard_s > FORGET_S:
                    del self._heard_s[client]
                    self._far.pop(client).close()

    def _from_client(self, packet: bytes, client: Address) -> None:
        self._heard_s[client] = asyncio.get_running_loop().time()
        if client not in self._far:

            def from_server(packet: bytes, server: Address) -> None:
                if server == self._server:
                    self._pass(packet, self._near, client, to_server=False)

            self._far[client] = Socket(from_server)
        self._pass(packet, self._far[client], self._server, to_server=True)

    def _pass(self, packet: bytes, by: Socket, to: Address, *, to_server: bool) -> None:
        for delay_s in self._fate(packet, to_server):
            if delay_s > 0:
                asyncio.get_running_loop().call_later(delay_s, by.send, packet, to)
            else:
                by.send(packet, to)


async def _spoil(
    targets: Sequence[Address], ports: Sequence[int], rate: float, rng: np.random.Generator
) -> None:
    """Send garbage to each target in turn, ``rate`` packets a second in all; none if it is 0."""
    source = Socket(lambda *_: None)
    for target in cycle(targets if rate > 0 else ()):
        source.send(garbage.packet(rng, ports), target)
        await asyncio.sleep(rng.exponential(1 / rate))


async def _run() -> None:
    given = order()
    rng = np.random.default_rng(given["seed"])
    server = (HOST, given["server"])
    faults, loop = Faults(**given["faults"]), asyncio.get_running_loop()
    relay = Relay(server, lambda *_: faults.copies(rng, loop.time()))
    say({"port": relay.port})
    tasks = [asyncio.create_task(relay.forget())]
    async for word in until_told():
        if "client" in word:
            targets = (server, (HOST, word["client"]))
            spoil = _spoil(targets, given["ports"], given["garbage"], rng)
            tasks.append(asyncio.create_task(spoil))
        else:
            tasks.pop().cancel()


if __name__ == "__main__":
    asyncio.run(_run())
