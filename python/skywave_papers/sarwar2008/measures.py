"""The measures at the satellite link, with the same definitions for our runs and ns-2's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skywave.results.samples import Samples
from skywave_papers.sarwar2008.setting import LINK_BPS, RETURN, SATELLITE, START_S

if TYPE_CHECKING:
    from skywave.results import Results

Floats: TypeAlias = NDArray[np.float64]

RECOVERED_BPS = 0.8 * LINK_BPS
"""Throughput from which on a flow has recovered, or has the link."""
SEARCH_S = 60.0
"""Time after slow start in which the lowest throughput is searched."""


@dataclass(frozen=True)
class Series:
    """One run. A sample at ``time_s`` covers the second before it; a rate is that at its end.

    Throughput counts bytes on the wire, including headers. Reports are all packets of the reverse
    path. ns-2 does not tell their bytes: these are 0.
    """

    time_s: Floats
    rate_bps: Floats
    throughput_bps: Floats
    arrivals: Floats
    drops: Floats
    reports: Floats
    report_bytes: Floats

    @property
    def exit_s(self) -> float | None:
        """Duration of slow start: until the end of the second with the first loss, in seconds."""
        lossy = self.time_s[self.drops > 0]
        return float(lossy[0]) - START_S if lossy.size else None

    @property
    def recovery_s(self) -> float | None:
        """Time from slow start until throughput is back at 80 % of the link after its minimum."""
        if self.exit_s is None:
            return None
        end = self.exit_s + START_S
        searched = (self.time_s > end) & (self.time_s < end + SEARCH_S)
        lowest = int(np.argmin(np.where(searched, self.throughput_bps, np.inf)))
        later = self.time_s > self.time_s[lowest]
        back = self.time_s[later & (self.throughput_bps >= RECOVERED_BPS)]
        return float(back[0]) - end if back.size else None

    @property
    def mean_bps(self) -> float:
        """Mean throughput over the whole run."""
        return float(self.throughput_bps.mean())

    @property
    def loss_percent(self) -> float:
        """Share of the packets at the satellite link that it lost, in percent."""
        return 100 * float(self.drops.sum() / self.arrivals.sum())

    @property
    def return_bps(self) -> float:
        """Mean rate of the reverse path."""
        return 8 * float(self.report_bytes.sum()) / float(self.time_s[-1])


def at_end(results: Results, time_s: Floats, name: str) -> Floats:
    """Return what the sender knew at the end of each second; NaN before the first change."""
    changes = Samples(results.rates)
    latest = np.searchsorted(changes["time_s"], time_s, side="right") - 1
    # The last element is for samples before the first change, and for flows without rates.
    return np.append(changes[name], np.nan)[latest]


def from_results(results: Results) -> Series:
    """Return the series of one of our runs."""
    there, back = (Samples(results.flows_at(link)) for link in (SATELLITE, RETURN))
    return Series(
        time_s=there["time_s"],
        rate_bps=at_end(results, there["time_s"], "allowed_rate_bps"),
        throughput_bps=there["throughput_bps"],
        arrivals=there["arrivals"],
        drops=there["drops"],
        reports=back["arrivals"],
        report_bytes=back["delivered_bytes"],
    )
