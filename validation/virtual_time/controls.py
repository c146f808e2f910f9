"""Linux's TCP controls on ten networks, and ours where we have the control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave import (
    Bernoulli,
    CoDel,
    DropTail,
    FqCoDel,
    Ftp,
    KernelTcp,
    Pie,
    Probes,
    Red,
    Scenario,
    dumbbell,
)
from skywave.results.samples import Samples

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.results import Results
    from skywave.scenario import LossModel, Queue

CONTROLS = (
    "reno",
    "cubic",
    "bbr",
    "dctcp",
    "vegas",
    "westwood",
    "hybla",
    "htcp",
    "illinois",
)
DURATION_S = 30
SAMPLE_MS = 20
SECOND_STARTS_S = 5
SEGMENT = "1448 B"
"""1500 B on the wire, with the timestamps that the kernel sends and our segments do not have."""
ACCESS_MS = 1
BOTTLENECK = "r1->r2"
CUT = 0.93
"""A sample of cwnd that is below this share of the one before is a reduction."""

MEASURES = {
    "goodput": "goodput of all flows (Mbps)",
    "least": "share of the flow with the least",
    "rtt_mean": "mean srtt (ms)",
    "rtt_p99": "99th percentile of srtt (ms)",
    "cwnd": "mean cwnd (packets)",
    "reductions": "reductions of cwnd",
    "resent": "sent again (%)",
    "drops": "dropped at the bottleneck (packets)",
    "marks": "marked there (packets)",
}
"""What is measured, with units. The srtt and cwnd are those of the first flow."""


@dataclass(frozen=True)
class Network:
    """A bottleneck between hosts."""

    name: str
    conditions: str
    rtt_ms: int
    queue: Queue
    mbps: int = 10
    loss: LossModel | None = None
    flows: int = 1


LOST = Bernoulli(probability=0.005)

NETWORKS = (
    Network("access", "50 packets", 40, DropTail(packets=50)),
    Network("bloated", "400 packets", 40, DropTail(packets=400)),
    Network("codel", "CoDel", 40, CoDel(packets=1000)),
    Network("fq-codel", "two flows, FQ-CoDel", 40, FqCoDel(packets=1000), flows=2),
    Network("pie", "PIE", 40, Pie(packets=1000)),
    Network("red", "RED with ECN", 40, Red(packets=200, ecn=True)),
    Network(
        "lossy",
        "50 packets, 0.5 % lost",
        40,
        DropTail(packets=50),
        loss=LOST,
    ),
    Network("two", "two flows, 50 packets", 40, DropTail(packets=50), flows=2),
    Network("satellite", "250 packets", 600, DropTail(packets=250), mbps=5),
    Network("short", "30 packets", 6, DropTail(packets=30)),
)


@dataclass(frozen=True)
class Case:
    """A control on a network: a row of the table."""

    network: Network
    control: str

    @property
    def name(self) -> tuple[str, str]:
        """The network and the control."""
        network = self.network
        words = f"{network.name}: {network.mbps} Mbps, {network.rtt_ms} ms, {network.conditions}"
        return words, self.control

    def scenario(self, seed: int) -> Scenario:
        """Return a run. In the simulator, our ``tcp`` runs in the place of the kernel's."""
        network = self.network
        described = dumbbell(
            f"{network.name}-{self.control}-{seed}",
            duration=f"{DURATION_S} s",
            seed=seed,
            pairs=network.flows,
            rate=f"{network.mbps} Mbps",
            delay=f"{network.rtt_ms / 2 - 2 * ACCESS_MS:g} ms",
            queue=network.queue,
            loss=network.loss,
            access_rate="1 Gbps",
            access_delays=tuple(f"{ACCESS_MS} ms" for _ in range(network.flows)),
            probes=Probes(interval=f"{SAMPLE_MS} ms", links=(BOTTLENECK,)),
        )
        transport = KernelTcp(control=self.control, segment=SEGMENT)
        for index in range(network.flows):
            described.add_flow(
                f"f{index}",
                f"s{index + 1}",
                f"d{index + 1}",
                transport,
                Ftp(),
                start=f"{index * SECOND_STARTS_S} s",
            )
        return described


def cases() -> list[Case]:
    """Return each network with each control."""
    return [Case(network, control) for network in NETWORKS for control in CONTROLS]


def find(results: Results) -> Mapping[str, float]:
    """Return the measures of a run."""
    flows = results.totals["flows"]
    delivered = [flow["delivered_bytes"] for flow in flows]
    samples = Samples(results.flows)
    srtt_s = samples.series("flow", "srtt_s", while_active=True)["f0"].values
    cwnd = samples.series("flow", "cwnd_packets", while_active=True)["f0"].values
    cut = cwnd[1:] < CUT * cwnd[:-1]
    # A reduction may spread over several samples; it is one.
    begins = cut & ~np.concatenate([[False], cut[:-1]])
    [link] = [link for link in results.totals["links"] if link["name"] == BOTTLENECK]
    sent = sum(flow["packets_sent"] for flow in flows)
    return {
        "goodput": 8e-6 * sum(delivered) / DURATION_S,
        "least": min(delivered) / sum(delivered),
        "rtt_mean": 1e3 * float(np.nanmean(srtt_s)),
        "rtt_p99": 1e3 * float(np.nanpercentile(srtt_s, 99)),
        "cwnd": float(np.nanmean(cwnd)),
        "reductions": float(begins.sum()),
        "resent": 100 * sum(flow["retransmissions"] for flow in flows) / max(sent, 1),
        "drops": float(link["drops"]),
        "marks": float(link["marks"]),
    }
