"""The paper's contribution to the matrix: a link with many flows."""

from __future__ import annotations

from skywave.papers.lent import Network
from skywave_papers.chen2010.setting import (
    DURATION_S,
    HOSTS,
    PACKET_B,
    SUBNETS,
    TCP_RED,
    UNPUBLISHED,
    scenario,
)

NETWORK = Network(
    dumbbell=scenario(TCP_RED, seed=1).dumbbell,
    label="Chen 2010",
    conditions="many flows: 45 Mbps, RTT 60 to 220 ms, RED in a buffer of 200 packets, 200 "
    "flows and 50 web sources over TCP",
    packet_b=PACKET_B,
    flows=SUBNETS * HOSTS,
    hosts=SUBNETS,
    duration_s=DURATION_S,
    web_sources=UNPUBLISHED.web_sources,
)
