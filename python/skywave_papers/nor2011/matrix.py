"""The paper's contribution to the matrix: a long-delay link, and a larger initial ssthresh."""

from __future__ import annotations

from skywave.papers.lent import Control, Network
from skywave.scenario import Dccp
from skywave_papers.nor2011.setting import EXPERIMENT_1, PUBLISHED_SSTHRESH, scenario

_PROPOSED_SSTHRESH = max(PUBLISHED_SSTHRESH)

CONTROLS = (
    Control(
        f"ccid2-ssthresh{_PROPOSED_SSTHRESH}",
        f"CCID 2, ssthresh {_PROPOSED_SSTHRESH}",
        # The routers of this control do not mark.
        Dccp(ccid=2, ecn=False, initial_ssthresh=_PROPOSED_SSTHRESH),
        "proposal of Nor et al.",
    ),
)

NETWORK = Network(
    dumbbell=scenario(EXPERIMENT_1).dumbbell,
    label="Nor 2011",
    conditions="a long-delay link: 2 Mbps, RTT 604 ms, drop-tail of 20 packets (a seventh of "
    "the bandwidth-delay product), 2 flows as in the paper; windows are not limited to the "
    "paper's 20 segments",
    packet_b=1040,
    flows=2,
    hosts=2,
    duration_s=300,
)
