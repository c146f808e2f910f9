"""What sections 4 and 5 of Li and Yousefi'zadeh say, in numbers."""

from __future__ import annotations

VCP_SPLIT = 15.0
"""Local over Long on L0 under VCP (Figure 2a): "a ratio of 15 to 1"."""
VCP_CHANGE_POINTS = 0.0
"""How Long's share of L2 changes when L2's Local starts (Figure 2b): "does not change".

Of L2's bandwidth, that is: of what is carried there it has all before, whatever the protocol.
"""
DPCP_L0_PERCENT = (50.0, 25.0)
"""Long's share of L0 before and after that under DPCP (Figure 2c): what is expected, and met."""
DPCP_L2_PERCENT = (100.0, 50.0)
"""Long's share of L2, likewise (Figure 2d): nearly all of the link, and half of what is sent."""

VCP_TRANSITION_S, DPCP_TRANSITION_S = 20.0, 4.0
"""Transition times (Figure 3); DPCP's is "less than"."""

KNEE_PERCENT = 30.0
"""DPCP is not significantly affected by loss below this (Figure 4)."""
STEEP_PERCENT = 35.0
"""By more loss than this it is."""

QUEUE_RATIO = 3.0
"""Queues of DPCP and TPCP over that of VCP (Figure 5): "three times as much"."""
