"""The course of a flow, and its measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave.results.samples import Samples

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from skywave.results import Results

SAMPLE_S = 0.1
FROM_S = 15
"""From here on, slow start, and the growth in its place, are over."""
MEASURES = {
    "start": f"goodput until {FROM_S} s (Mbps)",
    "goodput": "goodput from then on (Mbps)",
    "cwnd": "mean cwnd (packets)",
    "least": "least cwnd",
    "most": "largest cwnd",
}
"""What is measured, with units: all but the first from ``FROM_S`` on."""


@dataclass(frozen=True)
class Curve:
    """The samples of a flow, ``SAMPLE_S`` apart."""

    cwnd_packets: NDArray[np.float64]
    """At the end of each interval, in packets of full size."""
    goodput_mbps: NDArray[np.float64]
    """The mean of each interval."""

    @property
    def times_s(self) -> NDArray[np.float64]:
        """The ends of the intervals."""
        return np.arange(1, self.cwnd_packets.size + 1, dtype=np.float64) * SAMPLE_S

    @classmethod
    def of(cls, results: Results) -> Curve:
        """Return that of the flow ``f0``."""
        samples = Samples(results.flows)
        cwnd = samples.series("flow", "cwnd_packets")["f0"].values
        delivered = samples.series("flow", "delivered_bytes")["f0"].values
        return cls(cwnd, 8e-6 * delivered / SAMPLE_S)

    def measures(self) -> Mapping[str, float]:
        """Return its measures."""
        before, later = self.times_s <= FROM_S, self.times_s > FROM_S
        cwnd = self.cwnd_packets[later]
        return {
            "start": float(self.goodput_mbps[before].mean()),
            "goodput": float(self.goodput_mbps[later].mean()),
            "cwnd": float(cwnd.mean()),
            "least": float(cwnd.min()),
            "most": float(cwnd.max()),
        }


def difference(ours: float, theirs: float) -> str:
    """Return by how much ours is larger, as text."""
    percent = round(100 * (ours / theirs - 1))
    return f"{percent:+d} %" if percent else "0 %"
