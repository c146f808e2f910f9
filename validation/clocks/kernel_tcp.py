"""Linux's Reno and CUBIC beside our ``tcp``, simulated: ten networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave import Bernoulli, CoDel, DropTail, Ftp, KernelTcp, Probes, Scenario, dumbbell
from skywave.results.samples import Samples
from validation.testbed.experiment import Experiment, Measure, Measurement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skywave.results import Results
    from skywave.scenario import LossModel, Queue

SEGMENT = "1448 B"
"""1500 B on the wire, with the timestamps that the kernel sends and our segments do not have."""
CONTROLS = ("reno", "cubic")
DURATION_S = 40
SAMPLE_MS = 100
BOTTLENECK = "r1->r2"
SEEDS = (1, 2, 3)

CUT = 0.93
"""A sample of cwnd that is below this share of the one before is a reduction."""
SETTLED_S = 5.0
"""The shape of cwnd is that after this time: slow start is a matter of its own."""

MEASURES = {
    "goodput": Measure("goodput", "Mbps"),
    "resent": Measure("data packets sent again", "%"),
    "cwnd_mean": Measure("mean cwnd", "packets"),
    "cwnd_peak": Measure("largest cwnd", "packets"),
    "reductions": Measure("reductions of cwnd after 5 s", ""),
    "depth": Measure("cwnd after a reduction over before", ""),
    "queue": Measure("mean queue", "packets"),
}


@dataclass(frozen=True)
class Network:
    """A bottleneck."""

    name: str
    mbps: float
    rtt_ms: int
    queue: Queue
    loss: LossModel | None = None

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
    """Return a run. A simulation runs our ``tcp`` in the place of the kernel's."""
    access_ms = 1
    described = dumbbell(
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
    described.add_flow("flow", "s1", "d1", transport, Ftp())
    return described


def experiments() -> Iterator[Experiment]:
    """Yield each network with each control."""
    for network in NETWORKS:
        for control in CONTROLS:
            yield Experiment(
                paper="kernel",
                section=control,
                label=f"{network.name}: {network.conditions}",
                scenarios=[scenario(network, control, seed) for seed in SEEDS],
                find=measured,
                measures=MEASURES,
            )


def measured(results: Results) -> Measurement:
    """Return the measures of a run."""
    (flow,) = results.totals["flows"]
    samples = Samples(results.flows)
    cwnd, times_s = samples["cwnd_packets"], samples["time_s"]
    settled = cwnd[times_s > SETTLED_S]
    before, after = settled[:-1], settled[1:]
    cut = after < CUT * before
    # A reduction may spread over several samples; it is one, from its first value to its last.
    first = cut & ~np.concatenate([[False], cut[:-1]])
    depths = []
    for start in np.flatnonzero(first):
        end = int(start)
        while end + 1 < cut.size and cut[end + 1]:
            end += 1
        depths.append(after[end] / before[start])
    return Measurement(
        values={
            "goodput": flow["goodput_bps"] / 1e6,
            "resent": 100 * flow["retransmissions"] / max(flow["packets_sent"], 1),
            "cwnd_mean": float(np.nanmean(cwnd)),
            "cwnd_peak": float(np.nanmax(cwnd)),
            "reductions": float(first.sum()),
            "depth": float(np.mean(depths)) if depths else float("nan"),
            "queue": float(Samples(results.links)["queue_packets"].mean()),
        },
        series={},
    )
