"""Linux's queues beside ours, on the same arrivals: flows without congestion control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave import (
    Cbr,
    CoDel,
    DropTail,
    Exponential,
    FqCoDel,
    KernelQueue,
    OnOff,
    Pie,
    Poisson,
    Probes,
    Red,
    Scenario,
    Udp,
    dumbbell,
)
from skywave.results.samples import Samples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.results import Results
    from skywave.scenario import Source

DURATION_S = 10
MBPS = 10
BOTTLENECK = "r1->r2"
DATAGRAM = "972 B"
"""With the headers of UDP and IP, 1000 B on the wire."""
SHARE = 0.972
"""Of a rate on the wire, what is data."""

MEASURES = {
    "delivered": "delivered (packets)",
    "drops": "dropped (packets)",
    "least": "share of the flow with the least",
    "delay": "mean delay in queue and link (ms)",
    "delay_p99": "99th percentile of its means over 20 ms (ms)",
}
"""What is measured, with units. Delays are those of the first flow."""

QUEUES = (
    KernelQueue(qdisc="pfifo limit 50", simulated=DropTail(packets=50)),
    KernelQueue(qdisc="bfifo limit 50000", simulated=DropTail(bytes="50 kB")),
    KernelQueue(qdisc="codel limit 1000", simulated=CoDel(packets=1000)),
    KernelQueue(qdisc="fq_codel limit 1000", simulated=FqCoDel(packets=1000)),
    # Linux's always has the two options of RFC 8033 sections 5.4 and 5.5.
    KernelQueue(qdisc="pie limit 1000", simulated=Pie(packets=1000, derandomise=True, cap=True)),
    # From the burst, tc chooses a weight of 1/16.
    KernelQueue(
        qdisc="red limit 200000 min 15000 max 45000 avpkt 1000 burst 25 bandwidth 10mbit "
        "probability 0.1",
        simulated=Red(
            bytes="200 kB",
            min_threshold=15,
            max_threshold=45,
            max_p=0.1,
            weight=0.0625,
            mean_packet="1 kB",
            gentle=False,
            wait=False,
            queue_in_bytes=True,
        ),
    ),
)


@dataclass(frozen=True)
class Arrivals:
    """What arrives at a queue."""

    words: str
    sources: Sequence[Source]


def _cbr(mbps: float) -> Source:
    return Cbr(rate=f"{mbps * SHARE:g} Mbps", datagram=DATAGRAM)


ARRIVALS = (
    Arrivals("12 Mbps", [_cbr(12)]),
    Arrivals("9 Mbps and 3 Mbps", [_cbr(9), _cbr(3)]),
    Arrivals("Poisson, 9.5 Mbps", [Poisson(rate=f"{9.5 * SHARE:g} Mbps", datagram=DATAGRAM)]),
    Arrivals(
        "bursts of 20 Mbps, half of the time",
        [
            OnOff(
                rate=f"{20 * SHARE:g} Mbps",
                datagram=DATAGRAM,
                on=Exponential(mean="100 ms"),
                off=Exponential(mean="100 ms"),
            )
        ],
    ),
)


@dataclass(frozen=True)
class Case:
    """A queue with its arrivals: a row of the table."""

    queue: KernelQueue
    arrivals: Arrivals

    @property
    def draws(self) -> bool:
        """Whether runs with other seeds differ."""
        return True

    @property
    def name(self) -> tuple[str, str]:
        """The queue and the arrivals."""
        return self.queue.qdisc, self.arrivals.words

    def scenario(self, seed: int) -> Scenario:
        """Return a run. In the simulator, our queue runs in the place of the kernel's."""
        count = len(self.arrivals.sources)
        described = dumbbell(
            f"{self.queue.qdisc.split()[0]}-{seed}",
            duration=f"{DURATION_S} s",
            seed=seed,
            pairs=count,
            rate=f"{MBPS} Mbps",
            delay="1 ms",
            queue=self.queue,
            access_rate="1 Gbps",
            access_delays=("1 ms",) * count,
            probes=Probes(interval="20 ms", links=(BOTTLENECK,)),
        )
        for index, source in enumerate(self.arrivals.sources):
            described.add_flow(f"f{index}", f"s{index + 1}", f"d{index + 1}", Udp(), source)
        return described


def cases() -> list[Case]:
    """Return each queue with each kind of arrivals."""
    return [Case(queue, arrivals) for queue in QUEUES for arrivals in ARRIVALS]


def find(results: Results) -> Mapping[str, float]:
    """Return the measures of a run."""
    delivered = [flow["delivered_packets"] for flow in results.totals["flows"]]
    flows = Samples(results.flows)
    [link] = [link for link in results.totals["links"] if link["name"] == BOTTLENECK]
    # The access links and the bottleneck's propagation.
    base_ms = 3.0
    means = flows.groups("flow").means(flows["delay_mean_s"], flows.shares())
    delays = flows.series("flow", "delay_mean_s")["f0"].values
    return {
        "delivered": float(sum(delivered)),
        "drops": float(link["drops"]),
        "least": min(delivered) / sum(delivered),
        "delay": 1e3 * means["f0"] - base_ms,
        "delay_p99": 1e3 * float(np.nanpercentile(delays, 99)) - base_ms,
    }
