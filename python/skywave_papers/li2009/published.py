"""Values published in sections 4 and 5 of Li and Yousefi'zadeh."""

from __future__ import annotations

VCP_SPLIT = 15.0
"""Local over Long on L0 under VCP (Figure 2a): "a ratio of 15 to 1"."""
VCP_L0_PERCENT = 100 / (1 + VCP_SPLIT)
"""The same as Long's share of L0."""
VCP_CHANGE_POINTS = 0.0
"""Change of Long's share of L2 when L2's Local starts, under VCP (Figure 2b): "does not change".

This must be the share of L2's bandwidth. Before the start, Long is all of L2's traffic under any
protocol.
"""
DPCP_L0_PERCENT = (50.0, 25.0)
"""Long's share of L0 before and after, under DPCP (Figure 2c): the paper expects and meets it."""
DPCP_L2_PERCENT = (100.0, 50.0)
"""Long's share of L2 (Figure 2d): nearly all of the link before, half of the traffic after."""

VCP_TRANSITION_S, DPCP_TRANSITION_S = 20.0, 4.0
"""Transition times (Figure 3). DPCP's is "less than" 4 s."""

KNEE_PERCENT = 30.0
"""Loss rate below which loss does not significantly affect DPCP (Figure 4)."""
STEEP_PERCENT = 35.0
"""Loss rate above which it does."""

QUEUE_RATIO = 3.0
"""Queues of DPCP and TPCP over that of VCP (Figure 5): "three times as much"."""

DECREASES = ((1.00, 1.05, 0.875), (1.05, 1.40, 0.6), (1.40, 2.00, 0.43))
"""Table 1's levels of overload: the bounds of the load factor, and what cwnd is multiplied by."""
HIGH_LOAD = (0.80, 1.00)
"""Table 1's bounds of the high-load zone."""
UNO_PACKETS = 24
"""The number of packets that UNO needs on average, which the paper gives as 8 ln 8."""
