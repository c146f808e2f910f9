"""Settings from the scripts of VCP's authors (Xia et al. 2005), used where a paper is silent."""

from __future__ import annotations

from skywave.scenario import Tcp

DATA_B = 1000
"""Data in a segment, without headers, in bytes."""
IP_B, TCP_B = 20, 20
WIRE_B = DATA_B + TCP_B + IP_B
START_JITTER = "300 ms"
TCP = Tcp(segment=f"{DATA_B} B", recovery="sack", receive_window=100_000)
"""TCP whose window no receiver limits."""


def buffer_packets(mbps: float, rtt_ms: float, flows: int) -> int:
    """Return the length of a link's queue: a bandwidth-delay product, at least two per flow."""
    return max(round(mbps * 1e6 * rtt_ms / 1e3 / 8 / WIRE_B), 2 * flows)
