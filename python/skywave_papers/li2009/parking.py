"""Figure 2: shares of L0 and L2 before and after L2's Local starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave.results.fairness import jain
from skywave_papers.li2009.setting import JOINING, JOINS_S, LINKS_MBPS, LOT_S, SHOWN_LINKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skywave.results import Results
    from skywave_papers.li2009.setting import Reading

    Floats = NDArray[np.float64]

WARM_S = 200.0
"""Time after a start that is not measured, in seconds."""
PERIODS = ((WARM_S, float(JOINS_S)), (JOINS_S + WARM_S, float(LOT_S)))
"""The measured periods, before and after L2's Local starts, in seconds."""


BISECTIONS = 60
"""Halvings of an interval of Mbps, down to the precision of floats."""


@dataclass(frozen=True)
class LinkSeries:
    """Throughput of each flow at one link, in bit/s. A sample covers the time before it."""

    time_s: Floats
    long_bps: Floats
    """One row per sample, one column per flow."""
    local_bps: Floats
    rate_bps: float

    def split(self, period: tuple[float, float]) -> Split:
        """Return the shares over a period."""
        covered = (self.time_s > period[0]) & (self.time_s <= period[1])
        long, local = (part[covered].mean(axis=0) for part in (self.long_bps, self.local_bps))
        return Split(long, local, self.rate_bps)


@dataclass(frozen=True)
class Split:
    """Mean rate of each flow over a period, in bit/s."""

    long_bps: Floats
    local_bps: Floats
    rate_bps: float

    @property
    def long_percent(self) -> float:
        """Long's share of the link's traffic."""
        long, local = self.long_bps.sum(), self.local_bps.sum()
        return float(100 * long / (long + local)) if long + local else 0.0

    @property
    def local_over_long(self) -> float | None:
        """Rate of Local over that of Long; None if Long has none."""
        long = float(self.long_bps.sum())
        return float(self.local_bps.sum()) / long if long else None

    @property
    def long_of_link_percent(self) -> float:
        """Long's share of the link's rate."""
        return float(100 * self.long_bps.sum() / self.rate_bps)

    @property
    def largest_of_long_percent(self) -> float:
        """Share of Long's rate that its largest sender has; 100 % for a single sender."""
        long = float(self.long_bps.sum())
        return float(100 * self.long_bps.max()) / long if long else 0.0

    @property
    def utilisation_percent(self) -> float:
        """Utilisation of the link."""
        return float(100 * (self.long_bps.sum() + self.local_bps.sum()) / self.rate_bps)

    @property
    def jain_of_aggregates(self) -> float:
        """Jain's index over the two aggregates."""
        return jain([self.long_bps.sum(), self.local_bps.sum()])

    @property
    def jain_of_flows(self) -> float:
        """Jain's index over all flows on the link."""
        return jain(np.concatenate([self.long_bps, self.local_bps]))


def series(results: Results, link: str) -> LinkSeries:
    """Return the flows' rates at L0 or L2 in one of our runs."""
    number = int(link[1:])
    table = results.flows_at(SHOWN_LINKS[link])
    names = table["flow"].to_numpy().astype(str)
    bps = table["throughput_bps"].to_numpy().astype(np.float64)
    times = table["time_s"].to_numpy()
    time_s = np.unique(times)

    def columns(prefix: str) -> Floats:
        chosen = np.char.startswith(names, prefix)
        flows = np.unique(names[chosen])
        found = np.zeros((time_s.size, max(flows.size, 1)))
        rows = np.searchsorted(time_s, times[chosen])
        found[rows, np.searchsorted(flows, names[chosen])] = bps[chosen]
        return found

    return LinkSeries(
        time_s, columns("long-"), columns(f"local{number}-"), LINKS_MBPS[number] * 1e6
    )


def proportional_mbps(long: int, local: int, *, joined: bool) -> float:
    """Return the rate of all of Long's flows under proportional fairness, in Mbps.

    Proportional fairness maximises the sum of the logarithms of the flows' rates. With ``long``
    flows that cross all links and ``local`` flows on each link, Long's rate L solves
    long / L = sum of local / (C - L), over the links that have Local. L2 limits L to its rate in
    any case. ``joined`` says whether L2 has its Local.
    """
    shared = [mbps for hop, mbps in enumerate(LINKS_MBPS) if joined or hop != JOINING]
    below, above = 0.0, min(LINKS_MBPS)
    # The left side falls and the right side rises with L. Each step halves the interval.
    for _ in range(BISECTIONS):
        middle = (below + above) / 2
        if long / middle > sum(local / (mbps - middle) for mbps in shared):
            below = middle
        else:
            above = middle
    return above


def law_percent(reading: Reading, *, joined: bool) -> tuple[float, float]:
    """Return Long's part of the rates of L0 and L2 under proportional fairness of flows."""
    mbps = proportional_mbps(reading.long, reading.local, joined=joined)
    return 100 * mbps / LINKS_MBPS[0], 100 * mbps / LINKS_MBPS[JOINING]


def ideal(long: int, local: int, link: str, *, joined: bool) -> float:
    """Return Long's share of the traffic of L0 or L2 under max-min fairness of flows, in percent.

    ``long`` and ``local`` are numbers of flows as in the reading: one each, or 30 and 10.
    """
    on_joining = long + (local if joined else 0)
    long_mbps = long * min(
        LINKS_MBPS[JOINING] / on_joining,
        *(mbps / (long + local) for hop, mbps in enumerate(LINKS_MBPS) if hop != JOINING),
    )
    if link == "L2" and not joined:
        return 100.0
    return 100 * long_mbps / LINKS_MBPS[int(link[1:])]
