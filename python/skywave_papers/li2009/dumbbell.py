"""Figures 3 and 5: transition time, utilisation and queue of the bottleneck."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave_papers.li2009.setting import PAPER_NETWORK, QUEUE_SAMPLE_S, STEADY_FROM_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skywave.results import Results
    from skywave_papers.li2009.setting import Network

    Floats = NDArray[np.float64]

MEAN_S = 1.0
"""Utilisation is averaged over this time, which is ten samples."""
USED = 0.9
"""The transition ends when a second's utilisation reaches this share of the steady state's."""


@dataclass(frozen=True)
class Course:
    """The bottleneck of one run, sample by sample."""

    time_s: Floats
    bps: Floats
    queue_packets: Floats
    rate_bps: float

    @property
    def utilisation(self) -> Floats:
        """Mean utilisation of the second before each sample, 0 to 1."""
        window = round(MEAN_S / QUEUE_SAMPLE_S)
        sums = np.cumsum(np.concatenate([np.zeros(window), self.bps]))
        means: Floats = (sums[window:] - sums[:-window]) / window / self.rate_bps
        return means

    @property
    def transition_s(self) -> float | None:
        """When a second's utilisation first reaches 90 % of the steady state's, in seconds."""
        return self._reaches(USED * self.steady_utilisation_percent / 100)

    @property
    def full_s(self) -> float | None:
        """When it first reaches 90 % of the bottleneck's rate, in seconds; None if never."""
        return self._reaches(USED)

    def _reaches(self, utilisation: float) -> float | None:
        reached = self.time_s[self.utilisation >= utilisation]
        return float(reached[0]) if reached.size else None

    @property
    def steady_utilisation_percent(self) -> float:
        """Mean utilisation in the steady state, in percent."""
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
        """Mean absolute change of the queue between samples, in packets: its roughness."""
        return float(np.abs(np.diff(self.queue_packets[self._steady])).mean())

    @property
    def _steady(self) -> NDArray[np.bool_]:
        return self.time_s > STEADY_FROM_S


def course(results: Results, network: Network = PAPER_NETWORK) -> Course:
    """Return the bottleneck's course in one of our runs."""
    links = results.links
    return Course(
        links["time_s"].to_numpy(),
        links["throughput_bps"].to_numpy().astype(np.float64),
        links["queue_packets"].to_numpy().astype(np.float64),
        network.mbps * 1e6,
    )
