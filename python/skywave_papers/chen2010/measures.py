"""The measures of a run, with the same definitions for our runs and ns-2's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from skywave.results.fairness import jain
from skywave.results.samples import Samples
from skywave_papers.chen2010 import setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skywave.results import Results

    Floats = NDArray[np.float64]

LATE_S = 10.0
"""The time from which on DCCP/VCP drops nothing, as published."""
PEAK_UNTIL_S = 5.0
"""End of the time in which the highest initial drop rate is searched, in seconds."""


@dataclass(frozen=True)
class Run:
    """The bottleneck in one run, the flow of Figure 5 at it, and what the flows deliver.

    A sample at ``time_s`` has the queue at that instant and the packets of the interval before it.
    ``shown_arrivals`` counts the packets that the shown flow sends, including dropped ones.
    ``goodput_kbps`` is of the long-lived flows, by subnet and host.
    """

    time_s: Floats
    queue_packets: Floats
    arrivals: Floats
    drops: Floats
    shown_arrivals: Floats
    goodput_kbps: Floats
    web_kbps: float
    utilisation: float

    @property
    def queue_mean(self) -> float:
        """Mean queue over the whole run, in packets."""
        return float(self.queue_packets.mean())

    @property
    def queue_sd(self) -> float:
        """Standard deviation of the queue over the whole run, in packets."""
        return float(self.queue_packets.std())

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
    def interval_drop_percent(self) -> float:
        """Mean over intervals of drops over arrivals, in percent: the rate as the paper defines it.

        It is below the share of packets, since intervals with many drops have many arrivals.
        """
        return 100 * float(self._drop_rates().mean())

    @property
    def peak_percent(self) -> float:
        """The highest drop rate of an interval at the start, in percent."""
        return 100 * float(self._drop_rates(to_s=PEAK_UNTIL_S).max())

    @property
    def later_peak_points(self) -> float:
        """The highest drop rate of an interval after the start, minus that at the start."""
        return 100 * float(self._drop_rates(PEAK_UNTIL_S).max()) - self.peak_percent

    def _drop_rates(self, from_s: float = 0.0, to_s: float = setting.DURATION_S) -> Floats:
        """Return drops over arrivals of the intervals with arrivals."""
        some = (self.arrivals > 0) & (self.time_s > from_s) & (self.time_s <= to_s)
        return self.drops[some] / self.arrivals[some]

    @property
    def quiet_from_s(self) -> float:
        """The time from which on nothing is dropped, in seconds."""
        return float(self.time_s[self.drops > 0].max(initial=0.0))

    @property
    def lossy_percent(self) -> float:
        """Share of seconds of the steady state in which a packet is dropped, in percent."""
        lossy = self.time_s[(self.drops > 0) & (self.time_s > setting.WARM_S)]
        return 100 * np.unique(np.ceil(lossy)).size / (setting.DURATION_S - setting.WARM_S)

    @property
    def shown_kbps(self) -> Floats:
        """Sending rate of the shown flow, by second."""
        by_second = self.shown_arrivals.reshape(-1, round(1 / setting.SAMPLE_S)).sum(axis=1)
        return np.asarray(by_second * setting.PACKET_B * 8 / 1e3)

    @property
    def shown_mean_kbps(self) -> float:
        """Sending rate of the shown flow in the steady state."""
        return float(self.shown_kbps[int(setting.WARM_S) :].mean())

    @property
    def shown_variation(self) -> float:
        """Standard deviation over mean of the shown flow's sending rate by second."""
        return float(self.shown_kbps[int(setting.WARM_S) :].std() / self.shown_mean_kbps)

    @property
    def shown_lowest_percent(self) -> float:
        """The lowest rate by second within ``LATE_S``, relative to the steady rate.

        The first second, in which senders connect, is left out.
        """
        return float(100 * self.shown_kbps[1 : int(LATE_S)].min() / self.shown_mean_kbps)

    @property
    def utilisation_percent(self) -> float:
        """Utilisation of the bottleneck, in percent."""
        return 100 * self.utilisation

    @property
    def kbps_by_subnet(self) -> Floats:
        """Mean goodput of the flows with the same round-trip time, by subnet."""
        return np.asarray(self.goodput_kbps.mean(axis=1))

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
    link = Samples(results.at_link(setting.BOTTLENECK))
    (bottleneck,) = (row for row in results.totals["links"] if row["name"] == setting.BOTTLENECK)
    return Run(
        time_s=link["time_s"],
        queue_packets=link["queue_packets"],
        arrivals=link["arrivals"],
        drops=link["drops"],
        shown_arrivals=Samples(results.flows_at(setting.BOTTLENECK, setting.SHOWN))["arrivals"],
        goodput_kbps=np.reshape(goodput_kbps(results, "subnet"), (setting.SUBNETS, setting.HOSTS)),
        web_kbps=sum(goodput_kbps(results, "web")),
        utilisation=bottleneck["utilisation"],
    )


def goodput_kbps(results: Results, *names: str) -> list[float]:
    """Return the goodput of the flows whose names begin so, from time zero, whenever they start."""
    seconds = results.totals["duration_s"]
    return [
        flow["delivered_bytes"] * 8e-3 / seconds
        for flow in results.totals["flows"]
        if flow["name"].startswith(names)
    ]


def sum_of_windows(results: Results) -> tuple[Floats, Floats]:
    """Return sampling times and the sum of the long-lived flows' windows, in packets."""
    flows, shape = results.flows, (-1, setting.SUBNETS * setting.HOSTS)
    samples = Samples(flows.filter(pc.starts_with(flows["flow"].cast("string"), "subnet")))
    times_s, windows = (samples[name].reshape(shape) for name in ("time_s", "cwnd_packets"))
    return times_s[:, 0], windows.sum(axis=1)
