"""The plan of a soak: its actions and their times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from numpy.random import Generator

HOST = "127.0.0.1"

Kind = Literal["reads", "deaf", "command"]
"""What a listener does with its connections: it reads datagrams of this soak, nothing at all, or
the load of ``skywave send``."""

CCIDS = (2, 3, 4)
PORTS: dict[int, tuple[Kind, int]] = {
    5002: ("reads", 2),
    5003: ("reads", 3),
    5004: ("reads", 4),
    5012: ("deaf", 2),
    5013: ("deaf", 3),
    5014: ("deaf", 4),
    5022: ("command", 2),
    5023: ("command", 3),
    5024: ("command", 4),
}
"""The server's DCCP ports, each with what its listener does and the CCID that it prefers."""

SIZE = 1200
"""The largest size of most datagrams, in bytes."""
LOOK_S = 0.5
"""How often the end of a connection is looked for that nobody reads."""
CLOSE_S = 60.0
"""The most that a close may take. The path is down for seconds at a time."""
TIMEWAIT_S = 240.0
"""How long the ports of a connection rest: 2 MSL (RFC 4340 section 3.4)."""
HALF_OPEN_S = 480.0
"""How long a server keeps a handshake that is never completed: 4 MSL (RFC 4340 section 8.1.3)."""


def ports(kind: Kind) -> tuple[int, ...]:
    """Return the ports whose listener does this."""
    return tuple(port for port, (what, _) in PORTS.items() if what == kind)


@dataclass(frozen=True)
class Faults:
    """What the path does to packets, in both directions."""

    loss: float = 0.02
    repetition: float = 0.01
    """The share of packets that arrive twice."""
    reordering: float = 0.03
    """The share of packets that are delayed by up to ``late_s``, behind others."""
    late_s: float = 0.04
    delay_s: float = 0.005
    outage_every_s: float = 60.0
    outage_s: float = 2.0
    """How long nothing arrives then."""

    def copies(self, rng: Generator, now_s: float) -> list[float]:
        """Return the delays with which the copies of a packet arrive; none if it is lost."""
        if now_s % self.outage_every_s > self.outage_every_s - self.outage_s:
            return []
        lost, again, late, lateness = rng.random(4)
        if lost < self.loss:
            return []
        delay_s = self.delay_s + (self.late_s * lateness if late < self.reordering else 0.0)
        return [delay_s] * (2 if again < self.repetition else 1)


@dataclass(frozen=True)
class Plan:
    """A soak."""

    duration_s: float = 3600.0
    """How long connections are opened."""
    tail_s: float = 540.0
    """How long it is quiet afterwards. By its end everything should be gone."""
    keepalive_s: float = 120.0
    silence_s: float = 30.0
    """Of every connection: see ``keepalive`` and ``silence_timeout`` of ``skywave.net.Config``."""
    rate: float = 20.0
    """Connections that the client opens in a second, on average."""
    threads: int = 2
    """Threads of the client that use the blocking API."""
    garbage: float = 300.0
    """Packets of garbage in a second."""
    forks_s: float = 5.0
    """The mean time between two forks of the client."""
    kills_s: float = 15.0
    """The mean time between the starts of two clients that are killed."""
    commands_s: float = 20.0
    """The mean time between two runs of ``skywave send``, of which half are killed."""
    sample_s: float = 5.0
    shards: int = 1
    """Sockets of the server's endpoint: see ``shards`` of ``skywave.net.EndpointConfig``."""
    seed: int = 1
    faults: Faults = field(default_factory=Faults)

    @property
    def warm_up_s(self) -> float:
        """After how long memory is judged: as many handshakes and ports are given up as come."""
        return min(max(HALF_OPEN_S, self.duration_s / 6), self.duration_s / 2)

    @property
    def limits(self) -> dict[str, str]:
        """The options of every connection."""
        return {"keepalive": f"{self.keepalive_s} s", "silence_timeout": f"{self.silence_s} s"}
