"""CCIDs 2 and 3 of Linux's DCCP on ten networks, and ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave import Ftp, KernelDccp, Scenario
from skywave.results.samples import Samples
from validation.virtual_time.networks import (
    BOTTLENECK,
    DURATION_S,
    SAMPLE_MS,
    SECOND_STARTS_S,
    TEN,
    Network,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.results import Results

DATAGRAM = "1440 B"
"""About 1500 B on the wire. Linux's header has more options than ours."""

MEASURES = {
    "goodput": "goodput of all flows (Mbps)",
    "least": "share of the flow with the least",
    "begins": "goodput in the first 5 s (Mbps)",
    "varies": "coefficient of variation of the goodput per second, after 10 s",
    "delay": "mean delay (ms)",
    "lost": "lost (%)",
}
"""What is measured, with units. The variation and the delay are those of the first flow."""


@dataclass(frozen=True)
class Case:
    """A CCID on a network: a row of the table."""

    network: Network
    ccid: int

    @property
    def draws(self) -> bool:
        """Whether runs with other seeds differ."""
        return True

    @property
    def name(self) -> tuple[str, str]:
        """The network and the CCID."""
        return self.network.name, f"CCID {self.ccid}"

    def scenario(self, seed: int) -> Scenario:
        """Return a run. In the simulator, our ``dccp`` runs in the place of the kernel's."""
        transport = KernelDccp(ccid=self.ccid)
        return self.network.scenario(f"ccid{self.ccid}", seed, transport, Ftp(datagram=DATAGRAM))


def cases() -> list[Case]:
    """Return each network with each CCID."""
    return [Case(network, ccid) for network in TEN for ccid in (2, 3)]


def find(results: Results) -> Mapping[str, float]:
    """Return the measures of a run."""
    flows = results.totals["flows"]
    delivered = [flow["delivered_bytes"] for flow in flows]
    samples = Samples(results.flows)
    goodput = samples.series("flow", "goodput_bps")["f0"].values
    per_second = goodput.reshape(-1, 1000 // SAMPLE_MS).mean(axis=1)
    settled = per_second[2 * SECOND_STARTS_S :]
    [link] = [link for link in results.totals["links"] if link["name"] == BOTTLENECK]
    sent = sum(flow["packets_sent"] for flow in flows)
    means = samples.groups("flow").means(samples["delay_mean_s"], samples.shares())
    return {
        "goodput": 8e-6 * sum(delivered) / DURATION_S,
        "least": min(delivered) / sum(delivered),
        "begins": 1e-6 * float(per_second[:SECOND_STARTS_S].mean()),
        "varies": float(np.std(settled) / np.mean(settled)),
        "delay": 1e3 * means["f0"],
        "lost": 100 * link["drops"] / max(sent, 1),
    }
