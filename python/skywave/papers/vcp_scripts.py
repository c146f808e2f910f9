"""What the scripts of VCP's authors (Xia et al. 2005) set, where a paper on VCP is silent."""

from __future__ import annotations

from skywave.scenario import Tcp

DATA_B = 1000
"""Of a segment, without its headers."""
IP_B, TCP_B = 20, 20
WIRE_B = DATA_B + TCP_B + IP_B
START_JITTER = "300 ms"
TCP = Tcp(segment=f"{DATA_B} B", recovery="sack", receive_window=100_000)
"""No receiver limits its window."""


def buffer_packets(mbps: float, rtt_ms: float, flows: int) -> int:
    """Return what a link's queue holds: a bandwidth-delay product, at least two for each flow."""
    return max(round(mbps * 1e6 * rtt_ms / 1e3 / 8 / WIRE_B), 2 * flows)
