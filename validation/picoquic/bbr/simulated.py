"""The flows of ``flows.c`` in the simulator, with our BBR, Reno and CUBIC, and their measures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from skywave import Bernoulli, DropTail, Ftp, Link, Probes, Scenario, Tcp, run
from skywave.results.samples import Samples
from validation.picoquic.bbr.networks import NETWORKS, SEEDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from skywave.results import Results

FORWARD = "s->d"
SAMPLE_S = 0.005
BIN_S = 0.1
PACKET = 1440
"""A full packet on the wire: 1400 B of data, as picoquic's."""
OURS = {
    "bbr": Tcp(control="bbr", segment="1400 B", initial_cwnd=10),
    "cubic": Tcp(control="cubic", recovery="rack", segment="1400 B", initial_cwnd=10),
    "newreno": Tcp(control="reno", recovery="rack", segment="1400 B", initial_cwnd=10),
}
"""Ours in the place of picoquic's, with QUIC's initial window.

RACK is the recovery that is nearest to RFC 9002's: it too finds lost retransmissions.
"""


@dataclass(frozen=True)
class Flow:
    """A flow of picoquic that ours takes the place of."""

    cc: str
    """The control, by picoquic's name."""
    start_s: float = 0.0


@dataclass(frozen=True)
class Case:
    """A run of one or two flows on a network."""

    network: str
    flows: Sequence[Flow]
    seed: int
    duration_s: int = 60
    steady_s: int = 10
    """When the steady state begins."""
    group: Mapping[str, str] = field(default_factory=dict)
    """Cells that its rows begin with, besides the network."""

    def scenario(self) -> Scenario:
        """Return the run."""
        network = NETWORKS[self.network]
        # picoquic limits the queueing delay that a packet finds, with the one in transmission.
        room = math.ceil(network.queue_ms / network.packet_ms(PACKET))
        described = Scenario(
            name=f"picoquic-{self.network}-{self.seed}",
            duration=f"{self.duration_s} s",
            seed=self.seed,
            nodes=["s", "d"],
            links=[
                Link(
                    from_="s",
                    to="d",
                    rate=f"{network.mbps} Mbps",
                    delay=f"{network.rtt_ms / 2:g} ms",
                    queue=DropTail(packets=room),
                    loss=Bernoulli(probability=network.loss) if network.loss else None,
                )
            ],
            probes=Probes(interval=f"{SAMPLE_S} s", links=(FORWARD,), packets=True),
        )
        for index, flow in enumerate(self.flows):
            start = f"{flow.start_s} s"
            described.add_flow(f"f{index}", "s", "d", OURS[flow.cc], Ftp(), start=start)
        return described

    def measures(self) -> list[Mapping[str, object]]:
        """Run it, and return the measures of each flow: those of ``flows.c``, by its names."""
        results = run(self.scenario())
        return [self._of(results, index) for index in range(len(self.flows))]

    def _of(self, results: Results, index: int) -> Mapping[str, object]:
        name, flow, network = f"f{index}", self.flows[index], NETWORKS[self.network]
        delivered = Samples(results.flows).series("flow", "delivered_bytes")[name]
        links = Samples(results.link_flows)
        steady = delivered.times_s > self.steady_s
        total = np.cumsum(delivered.values)
        # As in flows.c: 100 ms, or a round-trip time, rounded up.
        bins = max(1, math.ceil(network.rtt_ms / 1e3 / BIN_S)) * round(BIN_S / SAMPLE_S)
        arrived = np.cumsum(links.series("flow", "delivered_bytes")[name].values)
        ends = np.arange(bins, arrived.size + 1, round(BIN_S / SAMPLE_S))
        before = np.concatenate([[0.0], arrived])
        rates = 8e-6 * (before[ends] - before[ends - bins]) / (bins * SAMPLE_S)
        full = ends[(rates >= 0.8 * network.mbps) & (ends * SAMPLE_S > flow.start_s)]
        rtt_ms = self._rtt_ms(results, name)
        lost = results.drops.filter(pc.equal(results.drops["flow"], name))
        lost = lost.filter(pc.equal(lost["link"], FORWARD))
        late = lost.filter(pc.greater(lost["time_s"], self.steady_s))
        return {
            "cc": flow.cc,
            "seed": self.seed,
            "start_s": f"{flow.start_s:.4f}",
            "goodput_mbps": _text(
                8e-6 * delivered.values[steady].sum() / (self.duration_s - self.steady_s)
            ),
            "rtt_mean_ms": _text(float(rtt_ms.mean())),
            "rtt_p95_ms": _text(float(np.percentile(rtt_ms, 95))),
            "sent_packets": int(links.series("flow", "arrivals")[name].values[steady].sum()),
            "queue_drops": late["reason"].to_pylist().count("full"),
            "random_drops": late["reason"].to_pylist().count("loss"),
            "all_queue_drops": lost["reason"].to_pylist().count("full"),
            "time_1mb_s": _text(_when(delivered.times_s, total >= 1e6) - flow.start_s),
            "time_80pct_s": _text(
                float(full[0]) * SAMPLE_S - flow.start_s if full.size else math.nan
            ),
        }

    def _rtt_ms(self, results: Results, name: str) -> NDArray[np.float64]:
        """Return propagation, queue and transmission of each packet in the steady state."""
        packets = results.packets.filter(pc.equal(results.packets["flow"], name))
        packets = packets.filter(pc.equal(packets["place"], FORWARD))
        packets = packets.filter(pc.greater(packets["time_s"], self.steady_s))
        numbers = packets["packet"].to_numpy().astype(np.int64)
        times_s = packets["time_s"].to_numpy()
        arrives = pc.equal(packets["event"], "arrive").to_numpy(zero_copy_only=False)
        enters = pc.equal(packets["event"], "enqueue").to_numpy(zero_copy_only=False)
        entered_s = np.full(numbers.max() + 1, np.nan)
        entered_s[numbers[enters]] = times_s[enters]
        delays_s = times_s[arrives] - entered_s[numbers[arrives]]
        known: NDArray[np.float64] = delays_s[~np.isnan(delays_s)]
        return 1e3 * known + NETWORKS[self.network].rtt_ms / 2


def single() -> list[Case]:
    """Return the runs of one flow: one of each where no packets are lost at random."""
    return [
        Case(name, [Flow(cc)], seed)
        for name, network in NETWORKS.items()
        for cc in OURS
        for seed in (SEEDS if network.loss else SEEDS[:1])
    ]


def pairs(stored: Sequence[Mapping[str, str]]) -> list[Case]:
    """Return the runs of two flows: those of picoquic's stored rows without options.

    Only the start of the second flow differs between seeds, and only where they begin together.
    """
    cases = []
    for first, second in zip(stored[::2], stored[1::2], strict=True):
        repeats = first["case"] != "together" and int(first["seed"]) != SEEDS[0]
        if first["options"] or second["options"] or repeats:
            continue
        flows = [Flow(row["cc"], float(row["start_s"])) for row in (first, second)]
        group = {"beside": first["beside"], "case": first["case"]}
        times = (60, 10) if first["case"] == "together" else (70, 20)
        cases.append(Case(first["network"], flows, int(first["seed"]), *times, group))
    return cases


def rows(case: Case) -> list[Mapping[str, object]]:
    """Return the rows of a run."""
    flows = case.measures()
    total = sum(float(str(flow["goodput_mbps"])) for flow in flows)
    found: list[Mapping[str, object]] = []
    for flow in flows:
        share = {"share": _text(float(str(flow["goodput_mbps"])) / total)} if case.group else {}
        found.append({"network": case.network, **case.group, **share, **flow})
    return found


def _when(times_s: NDArray[np.float64], reached: NDArray[np.bool_]) -> float:
    return float(times_s[reached.argmax()]) if reached.any() else math.nan


def _text(value: float) -> str:
    return f"{value:.4f}"
