"""The ten networks, each with one flow that always has data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skywave import Bernoulli, CoDel, DropTail, Ftp, KernelTcp, Probes, Scenario

if TYPE_CHECKING:
    from skywave.scenario import Loss, Queue

SEGMENT = "1448 B"
"""1500 B on the wire, with the timestamps that the kernel sends and our segments do not have."""
CONTROLS = ("reno", "cubic")
DURATION_S = 40
SAMPLE_MS = 100
BOTTLENECK = "r1->r2"


@dataclass(frozen=True)
class Network:
    """A bottleneck."""

    name: str
    mbps: float
    rtt_ms: int
    queue: Queue
    loss: Loss | None = None

    @property
    def conditions(self) -> str:
        """The network in words."""
        queue = "CoDel" if isinstance(self.queue, CoDel) else f"{self.queue.packets} packets"  # type: ignore[union-attr]
        words = f"{self.mbps:g} Mbps, {self.rtt_ms} ms, {queue}"
        if isinstance(self.loss, Bernoulli):
            words += f", {100 * self.loss.probability:g} % lost"
        return words


NETWORKS = (
    Network("access", 10, 40, DropTail(packets=50)),
    Network("shallow", 10, 40, DropTail(packets=10)),
    Network("bloated", 10, 40, DropTail(packets=400)),
    Network("slow", 1, 100, DropTail(packets=20)),
    Network("satellite", 5, 600, DropTail(packets=250)),
    Network("short", 20, 6, DropTail(packets=30)),
    Network("long-fat", 50, 100, DropTail(packets=400)),
    Network("lossy", 10, 40, DropTail(packets=50), Bernoulli(probability=0.005)),
    Network("very-lossy", 10, 100, DropTail(packets=100), Bernoulli(probability=0.02)),
    Network("codel", 10, 60, CoDel(packets=1000)),
)


def scenario(network: Network, control: str, seed: int) -> Scenario:
    """Return a run. On virtual time, our ``tcp`` runs in the place of the kernel's."""
    access_ms = 1
    described = Scenario.dumbbell(
        f"kernel-{network.name}-{control}-{seed}",
        duration=f"{DURATION_S} s",
        seed=seed,
        rate=f"{network.mbps:g} Mbps",
        delay=f"{network.rtt_ms / 2 - 2 * access_ms:g} ms",
        queue=network.queue,
        loss=network.loss,
        access_rate="1 Gbps",
        access_delays=(f"{access_ms} ms",),
        probes=Probes(interval=f"{SAMPLE_MS} ms", links=(BOTTLENECK,)),
    )
    transport = KernelTcp(control=control, segment=SEGMENT)
    return described.add_flow("flow", "s1", "d1", transport, Ftp())
