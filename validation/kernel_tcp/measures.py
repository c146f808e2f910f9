"""What is compared of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave.samples import Samples

if TYPE_CHECKING:
    from skywave.results import Results

CUT = 0.93
"""A sample of cwnd that is below this share of the one before is a reduction."""
SETTLED_S = 5.0
"""The shape of cwnd is that after this time: slow start is a matter of its own."""


@dataclass(frozen=True)
class Run:
    """The measures of a run."""

    goodput_mbps: float
    resent_percent: float
    """Of the data packets sent."""
    cwnd_mean: float
    cwnd_peak: float
    """In packets, over the whole run."""
    reductions: float
    """Of cwnd, after the start."""
    depth: float
    """The mean of cwnd after a reduction over cwnd before; NaN without any."""
    queue_mean: float
    """In packets."""


def measured(results: Results) -> Run:
    """Return the measures of a run."""
    (flow,) = results.summary["flows"]
    samples = Samples(results.flows)
    cwnd, times_s = samples["cwnd_packets"], samples["time_s"]
    settled = cwnd[times_s > SETTLED_S]
    before, after = settled[:-1], settled[1:]
    cut = after < CUT * before
    # A reduction may spread over several samples; it is one, from its first value to its last.
    first = cut & ~np.concatenate([[False], cut[:-1]])
    depths = []
    for start in np.flatnonzero(first):
        end = start
        while end + 1 < cut.size and cut[end + 1]:
            end += 1
        depths.append(after[end] / before[start])
    return Run(
        goodput_mbps=flow["goodput_bps"] / 1e6,
        resent_percent=100 * flow["retransmissions"] / max(flow["packets_sent"], 1),
        cwnd_mean=float(np.nanmean(cwnd)),
        cwnd_peak=float(np.nanmax(cwnd)),
        reductions=float(first.sum()),
        depth=float(np.mean(depths)) if depths else float("nan"),
        queue_mean=float(Samples(results.links)["queue_packets"].mean()),
    )
