"""Figures 3 and 5: how soon the bottleneck is used, how much of it, and its queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.li2009.setting import PAPER_NETWORK, QUEUE_SAMPLE_S, STEADY_FROM_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skywave.papers.li2009.setting import Network
    from skywave.results import Results

    Floats = NDArray[np.float64]

MEAN_S = 1.0
"""Utilisation is that of a second: the last ten samples."""
USED = 0.9
"""The transition is over when a second's utilisation is this share of the steady one."""


@dataclass(frozen=True)
class Course:
    """The bottleneck of one run, sample by sample."""

    time_s: Floats
    bps: Floats
    queue_packets: Floats
    rate_bps: float

    @property
    def utilisation(self) -> Floats:
        """Mean utilisation of the second before each sample."""
        window = round(MEAN_S / QUEUE_SAMPLE_S)
        sums = np.cumsum(np.concatenate([np.zeros(window), self.bps]))
        means: Floats = (sums[window:] - sums[:-window]) / window / self.rate_bps
        return means

    @property
    def transition_s(self) -> float | None:
        """When a second's utilisation first is 90 % of what it is in the steady state."""
        return self._reaches(USED * self.steady_utilisation_percent / 100)

    @property
    def full_s(self) -> float | None:
        """When a second's utilisation first is 90 % of the bottleneck's rate; None: never."""
        return self._reaches(USED)

    def _reaches(self, utilisation: float) -> float | None:
        reached = self.time_s[self.utilisation >= utilisation]
        return float(reached[0]) if reached.size else None

    @property
    def steady_utilisation_percent(self) -> float:
        """Mean utilisation in the steady state."""
        return float(100 * self.bps[self._steady].mean() / self.rate_bps)

    @property
    def queue_mean(self) -> float:
        """Mean queue in the steady state, in packets."""
        return float(self.queue_packets[self._steady].mean())

    @property
    def queue_deviation(self) -> float:
        """Standard deviation of the queue in the steady state, in packets."""
        return float(self.queue_packets[self._steady].std())

    @property
    def queue_change(self) -> float:
        """Mean absolute change of the queue from sample to sample, in packets: how rough it is."""
        return float(np.abs(np.diff(self.queue_packets[self._steady])).mean())

    @property
    def _steady(self) -> NDArray[np.bool_]:
        return self.time_s > STEADY_FROM_S


def course(results: Results, network: Network = PAPER_NETWORK) -> Course:
    """Read one of our runs."""
    links = results.links
    return Course(
        links["time_s"].to_numpy(),
        links["throughput_bps"].to_numpy().astype(np.float64),
        links["queue_packets"].to_numpy().astype(np.float64),
        network.mbps * 1e6,
    )
