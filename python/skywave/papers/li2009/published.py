"""Values published in sections 4 and 5 of Li and Yousefi'zadeh."""

from __future__ import annotations

VCP_SPLIT = 15.0
"""Local over Long on L0 under VCP (Figure 2a): "a ratio of 15 to 1"."""
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
