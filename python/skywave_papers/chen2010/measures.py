"""The measures of a run, with the same definitions for our runs and ns-2's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from skywave.results.fairness import jain
from skywave_papers.chen2010.setting import (
    BOTTLENECK,
    DURATION_S,
    HOSTS,
    PACKET_B,
    SAMPLE_S,
    SHOWN,
    SUBNETS,
    WARM_S,
    flow_name,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skywave.results import Results

    Floats = NDArray[np.float64]

LATE_S = 10.0
"""The time from which on DCCP/VCP drops nothing, as published."""
PEAK_UNTIL_S = 5.0
"""End of the time in which the highest initial drop rate is searched, in seconds."""


@dataclass(frozen=True)
class Series:
    """The bottleneck in one run, and the flow of Figure 5 at it.

    A sample at ``time_s`` has the queue at that instant and the packets of the interval before it.
    ``shown_arrivals`` counts the packets that the shown flow sends, including dropped ones.
    """

    time_s: Floats
    queue_packets: Floats
    arrivals: Floats
    drops: Floats
    shown_arrivals: Floats

    @property
    def queue_mean(self) -> float:
        """Mean queue over the whole run, in packets."""
        return float(self.queue_packets.mean())

    @property
    def drop_percent(self) -> float:
        """Share of the run's packets that are dropped, in percent."""
        return 100 * float(self.drops.sum() / self.arrivals.sum())

    @property
    def late_drop_percent(self) -> float:
        """Share of the packets after ``LATE_S`` that are dropped, in percent."""
        late = self.time_s > LATE_S
        return 100 * float(self.drops[late].sum() / self.arrivals[late].sum())

    @property
    def queue_sd(self) -> float:
        """Standard deviation of the queue over the whole run, in packets."""
        return float(self.queue_packets.std())

    @property
    def interval_drop_percent(self) -> float:
        """Mean over intervals of drops over arrivals, in percent: the rate as the paper defines it.

        It is below the share of packets, since intervals with many drops have many arrivals.
        """
        some = self.arrivals > 0
        return 100 * float((self.drops[some] / self.arrivals[some]).mean())

    @property
    def peak_percent(self) -> float:
        """The highest drop rate of an interval at the start, in percent."""
        early = (self.time_s <= PEAK_UNTIL_S) & (self.arrivals > 0)
        return 100 * float((self.drops[early] / self.arrivals[early]).max())

    @property
    def quiet_from_s(self) -> float:
        """The time from which on nothing is dropped, in seconds."""
        lossy = self.time_s[self.drops > 0]
        return float(lossy[-1]) if lossy.size else 0.0

    @property
    def shown_kbps(self) -> Floats:
        """Sending rate of the shown flow, by second."""
        return _per_second(self.shown_arrivals) * PACKET_B * 8 / 1e3

    @property
    def shown_mean_kbps(self) -> float:
        """Sending rate of the shown flow in the steady state."""
        return float(self.shown_kbps[int(WARM_S) :].mean())

    @property
    def shown_variation(self) -> float:
        """Standard deviation over mean of the shown flow's sending rate by second."""
        steady = self.shown_kbps[int(WARM_S) :]
        return float(steady.std() / steady.mean())


@dataclass(frozen=True)
class Run:
    """One of our runs, with the goodput of each long-lived flow by subnet, in kbps."""

    series: Series
    goodput_kbps: NDArray[np.float64]
    utilisation: float
    web_kbps: float

    @property
    def utilisation_percent(self) -> float:
        """Utilisation of the bottleneck, in percent."""
        return 100 * self.utilisation

    @property
    def kbps_by_subnet(self) -> Floats:
        """Mean goodput of the flows with the same round-trip time, by subnet."""
        means: Floats = self.goodput_kbps.mean(axis=1)
        return means

    @property
    def jain_by_subnet(self) -> Floats:
        """Jain's index over the flows with the same round-trip time, by subnet."""
        return np.array([jain(rates) for rates in self.goodput_kbps])

    @property
    def jain_of_subnets(self) -> float:
        """Jain's index over the subnets; 1 if the round-trip time does not matter."""
        return jain(self.kbps_by_subnet)


def from_results(results: Results) -> Run:
    """Return the measures of one of our runs."""
    link = results.at_link(BOTTLENECK)
    shown = results.flows_at(BOTTLENECK, SHOWN)
    delivered = {flow["name"]: flow["delivered_bytes"] for flow in results.totals["flows"]}
    goodput = [
        [delivered[flow_name(subnet, host)] * 8e-3 / DURATION_S for host in range(1, HOSTS + 1)]
        for subnet in range(SUBNETS)
    ]
    (bottleneck,) = (row for row in results.totals["links"] if row["name"] == BOTTLENECK)
    return Run(
        series=Series(
            time_s=link["time_s"].to_numpy(),
            queue_packets=link["queue_packets"].to_numpy().astype(np.float64),
            arrivals=link["arrivals"].to_numpy().astype(np.float64),
            drops=link["drops"].to_numpy().astype(np.float64),
            shown_arrivals=shown["arrivals"].to_numpy().astype(np.float64),
        ),
        goodput_kbps=np.array(goodput),
        utilisation=bottleneck["utilisation"],
        web_kbps=sum(
            size * 8e-3 / DURATION_S for name, size in delivered.items() if name.startswith("web")
        ),
    )


def over_the_run_bps(results: Results, prefixes: tuple[str, ...] = ("",)) -> list[float]:
    """Return the goodput of the flows with these names, from time zero, whenever they started."""
    seconds = results.totals["duration_s"]
    return [
        8 * flow["delivered_bytes"] / seconds
        for flow in results.totals["flows"]
        if flow["name"].startswith(prefixes)
    ]


def sum_of_windows(results: Results) -> tuple[Floats, Floats]:
    """Return sampling times and the sum of the long-lived flows' windows, in packets."""
    flows = results.flows
    long_lived = flows.filter(pc.starts_with(flows["flow"].cast("string"), "subnet"))
    time_s = long_lived["time_s"].to_numpy().reshape(-1, SUBNETS * HOSTS)[:, 0]
    windows = long_lived["cwnd_packets"].to_numpy().reshape(-1, SUBNETS * HOSTS)
    return time_s, windows.sum(axis=1)


def _per_second(samples: Floats) -> Floats:
    per_second = round(1 / SAMPLE_S)
    whole = samples[: samples.size // per_second * per_second]
    sums: Floats = whole.reshape(-1, per_second).sum(axis=1)
    return sums
