"""Networks with a bottleneck between hosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skywave import Bernoulli, CoDel, DropTail, FqCoDel, Pie, Probes, Red, Scenario, dumbbell

if TYPE_CHECKING:
    from skywave.scenario import LossModel, Queue, Source, Transport

DURATION_S = 30
SAMPLE_MS = 20
SECOND_STARTS_S = 5
ACCESS_MS = 1
BOTTLENECK = "r1->r2"


@dataclass(frozen=True)
class Network:
    """A bottleneck between hosts."""

    key: str
    conditions: str
    rtt_ms: int
    queue: Queue
    mbps: int = 10
    loss: LossModel | None = None
    flows: int = 1
    apart_s: int = SECOND_STARTS_S
    """Between the starts of flows."""

    @property
    def name(self) -> str:
        """The network in words."""
        return f"{self.key}: {self.mbps} Mbps, {self.rtt_ms} ms, {self.conditions}"

    @property
    def draws(self) -> bool:
        """Whether runs with other seeds differ."""
        return self.loss is not None or isinstance(self.queue, (Pie, Red))

    def scenario(self, of: str, seed: int, transport: Transport, source: Source) -> Scenario:
        """Return a run of the network's flows, from ``f0`` on, with this transport."""
        described = dumbbell(
            f"{self.key}-{of}-{seed}",
            duration=f"{DURATION_S} s",
            seed=seed,
            pairs=self.flows,
            rate=f"{self.mbps} Mbps",
            delay=f"{self.rtt_ms / 2 - 2 * ACCESS_MS:g} ms",
            queue=self.queue,
            loss=self.loss,
            access_rate="1 Gbps",
            access_delays=tuple(f"{ACCESS_MS} ms" for _ in range(self.flows)),
            probes=Probes(interval=f"{SAMPLE_MS} ms", links=(BOTTLENECK,)),
        )
        for index in range(self.flows):
            described.add_flow(
                f"f{index}",
                f"s{index + 1}",
                f"d{index + 1}",
                transport,
                source,
                start=f"{index * self.apart_s} s",
            )
        return described


LOST = Bernoulli(probability=0.005)
FEW_LOST = Bernoulli(probability=0.0005)
MANY_LOST = Bernoulli(probability=0.02)

TEN = (
    Network("access", "50 packets", 40, DropTail(packets=50)),
    Network("bloated", "400 packets", 40, DropTail(packets=400)),
    Network("codel", "CoDel", 40, CoDel(packets=1000)),
    Network("fq-codel", "two flows, FQ-CoDel", 40, FqCoDel(packets=1000), flows=2),
    Network("pie", "PIE", 40, Pie(packets=1000)),
    Network("red", "RED with ECN", 40, Red(packets=200, ecn=True)),
    Network("lossy", "50 packets, 0.5 % lost", 40, DropTail(packets=50), loss=LOST),
    Network("two", "two flows, 50 packets", 40, DropTail(packets=50), flows=2),
    Network("satellite", "250 packets", 600, DropTail(packets=250), mbps=5),
    Network("short", "30 packets", 6, DropTail(packets=30)),
)
"""Those of all tables."""

MORE = (
    Network("shallow", "15 packets", 40, DropTail(packets=15)),
    Network("two-codel", "two flows, CoDel", 40, CoDel(packets=1000), flows=2),
    Network("ten-fq-codel", "ten flows, FQ-CoDel", 40, FqCoDel(packets=1000), flows=10, apart_s=1),
    Network("two-pie", "two flows, PIE", 40, Pie(packets=1000), flows=2),
    Network("two-red", "two flows, RED", 40, Red(packets=200), flows=2),
    Network("ten", "ten flows, 100 packets", 40, DropTail(packets=100), flows=10, apart_s=1),
    Network("few-lost", "50 packets, 0.05 % lost", 40, DropTail(packets=50), loss=FEW_LOST),
    Network("many-lost", "50 packets, 2 % lost", 40, DropTail(packets=50), loss=MANY_LOST),
    Network("fast", "85 packets", 20, DropTail(packets=85), mbps=50),
    Network("far", "330 packets", 200, DropTail(packets=330), mbps=20),
)
"""Those of the table of TCP's controls only."""

NETWORKS = TEN + MORE
