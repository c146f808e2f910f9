"""The paper's contribution to the matrix: its shared satellite access, and dynamic feedback."""

from __future__ import annotations

from skywave.papers.lent import Control, Network
from skywave.scenario import Dccp, DynamicFeedback, Tfrc
from skywave_papers.sarwar2008.live import FITTED, STANDARD, scenario

CONTROLS = (
    Control(
        "ccid3-dynamic",
        "CCID 3, dynamic feedback",
        # The routers of this control do not mark.
        Dccp(ccid=3, ecn=False, tfrc=Tfrc(feedback=DynamicFeedback(rtt_ref="100 ms"))),
        "proposal of Sarwar et al.: a report every 100 ms",
    ),
)

NETWORK = Network(
    dumbbell=scenario(STANDARD, seed=1).dumbbell,
    label="Sarwar 2008",
    conditions="a shared satellite access, emulated: 1 Mbps or, while others use it, "
    "250 kbps, RTT 1200 ms, errors in bursts in 0.33 % of packets, drop-tail of 50 "
    "packets, 2 flows (the paper has a single one)",
    packet_b=1032,
    flows=2,
    hosts=2,
    duration_s=300,
    trace=FITTED.load,
)
