"""Linux's TCP controls on twenty networks, and ours with the profile of Linux."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave import Ftp, KernelTcp, Scenario
from skywave.results.samples import Samples
from validation.virtual_time.networks import BOTTLENECK, DURATION_S, NETWORKS, TEN, Network

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.results import Results

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
SEGMENT = "1448 B"
"""1500 B on the wire, with timestamps."""
JITTER = "200 ms"
"""How much later than planned each of several flows may start. Who loses a packet depends on
microseconds, so a single run of several flows says little."""
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
class Case:
    """A control on a network: a row of the table."""

    network: Network
    control: str

    @property
    def draws(self) -> bool:
        """Whether runs with other seeds differ."""
        return self.network.draws or self.network.flows > 1

    @property
    def name(self) -> tuple[str, str]:
        """The network and the control."""
        return self.network.name, self.control

    def scenario(self, seed: int) -> Scenario:
        """Return a run. In the simulator, our ``tcp`` runs in the place of the kernel's."""
        transport = KernelTcp(control=self.control, segment=SEGMENT)
        scenario = self.network.scenario(self.control, seed, transport, Ftp())
        if self.network.flows > 1:
            flows = [flow.replace(start_jitter=JITTER) for flow in scenario.flows]
            scenario = scenario.replace(flows=flows)
        return scenario


def cases() -> list[Case]:
    """Return each network with each control; Linux's BBR, which is version 1, only with ten."""
    return [
        Case(network, control)
        for network in NETWORKS
        for control in CONTROLS
        if network in TEN or control != "bbr"
    ]


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
