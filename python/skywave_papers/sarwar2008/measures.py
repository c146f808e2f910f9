"""The measures at the satellite link, with the same definitions for our runs and ns-2's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave_papers.sarwar2008.setting import LINK_BPS, RETURN, SATELLITE, START_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skywave.results import Results

RECOVERED_BPS = 0.8 * LINK_BPS
"""Throughput from which on a flow has recovered."""
SEARCH_S = 60.0
"""Time after slow start in which the lowest throughput is searched."""


@dataclass(frozen=True)
class Series:
    """One run. A sample at ``time_s`` covers the second before it; a rate is that at its end.

    Throughput counts bytes on the wire, including headers. Reports are all packets of the reverse
    path.
    """

    time_s: NDArray[np.float64]
    rate_bps: NDArray[np.float64]
    throughput_bps: NDArray[np.float64]
    arrivals: NDArray[np.int64]
    drops: NDArray[np.int64]
    reports: NDArray[np.int64]
    report_bytes: NDArray[np.int64] | None

    @property
    def exit_s(self) -> float | None:
        """Duration of slow start: until the end of the second with the first loss, in seconds."""
        lossy = self.time_s[self.drops > 0]
        return float(lossy[0]) - START_S if lossy.size else None

    @property
    def recovery_s(self) -> float | None:
        """Time from slow start until throughput is back at 80 % of the link after its minimum."""
        exit_s = self.exit_s
        if exit_s is None:
            return None
        end = exit_s + START_S
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
    def return_bps(self) -> float | None:
        """Mean rate of the reverse path; None if not measured."""
        if self.report_bytes is None:
            return None
        return 8 * float(self.report_bytes.sum()) / float(self.time_s[-1])


def from_results(results: Results) -> Series:
    """Return the series of one of our runs."""
    there, back = map(results.flows_at, (SATELLITE, RETURN))
    time_s = there["time_s"].to_numpy()
    changes = results.rates
    latest = np.searchsorted(changes["time_s"].to_numpy(), time_s, side="right") - 1
    # The last element, NaN, is for samples before the first change, and for flows without rates.
    rates = np.append(changes["allowed_rate_bps"].to_numpy().astype(np.float64), np.nan)
    return Series(
        time_s=time_s,
        rate_bps=rates[latest],
        throughput_bps=there["throughput_bps"].to_numpy().astype(np.float64),
        arrivals=there["arrivals"].to_numpy().astype(np.int64),
        drops=there["drops"].to_numpy().astype(np.int64),
        reports=back["arrivals"].to_numpy().astype(np.int64),
        report_bytes=back["delivered_bytes"].to_numpy().astype(np.int64),
    )
