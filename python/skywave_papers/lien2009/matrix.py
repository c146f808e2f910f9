"""The paper's contribution to the matrix: its slow link, and its call."""

from __future__ import annotations

from skywave.papers.lent import Call, Network
from skywave.scenario import Dumbbell
from skywave_papers.lien2009.setting import DURATION_S, GAP_S, STREAMS, Conditions, scenario

bottleneck, access, *_ = scenario(Conditions("NewReno"), seed=1).links
NETWORK = Network(
    label="Lien 2009",
    conditions="a slow link: 0.25 Mbps, RTT 140 ms, drop-tail of 20 packets (960 ms), 6 flows "
    "(as many as the paper's five and its call); also a call, see below",
    dumbbell=Dumbbell(
        pairs=STREAMS + 1,
        rate=bottleneck.rate,
        delay=bottleneck.delay,
        queue=bottleneck.queue,
        access_rate=access.rate,
        access_delays=(access.delay,),
    ),
    packet_b=1500,
    flows=STREAMS + 1,
    hosts=STREAMS + 1,
    duration_s=300,
    call=Call(flows=STREAMS, gap_s=GAP_S, duration_s=DURATION_S[1]),
)
