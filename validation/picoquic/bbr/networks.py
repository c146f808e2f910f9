"""The networks of the runs with picoquic and in the simulator."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Network:
    """A bottleneck of one direction; the way back has the same rate and no limit."""

    mbps: int
    rtt_ms: int
    queue_ms: int
    """The longest queueing delay that a packet may find."""
    loss: float = 0.0
    """The share of packets that it loses at random."""

    def packet_ms(self, size: int) -> float:
        """Return how long the transmission of a packet takes."""
        return size * 8e-3 / self.mbps


NETWORKS = {
    "a": Network(10, 40, 40),
    "b": Network(10, 40, 200),
    "c": Network(50, 20, 20),
    "d": Network(5, 600, 600),
    "e": Network(10, 40, 40, 0.01),
}

PAIRED = ("a", "b", "c")
"""Those on which BBR runs beside another control."""

CASES = ("together", "other_first", "bbr_first")
"""Which flow begins first; the other one follows within 100 ms (``together``) or after 10 s."""

SEEDS = range(1, 6)
