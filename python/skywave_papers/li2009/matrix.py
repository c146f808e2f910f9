"""The paper's contribution to the matrix: a long-delay link with a deep buffer."""

from __future__ import annotations

from dataclasses import replace

from skywave.papers.lent import Network
from skywave_papers.li2009.setting import PAPER_NETWORK, VCP, dumbbell, network_of, plain
from skywave_papers.vcp_scripts import WIRE_B


def _network() -> Network:
    network = replace(PAPER_NETWORK, flows=10)
    bottleneck = network_of(dumbbell(VCP, network))
    return Network(
        # All routers of the paper signal load. Other controls get a plain queue of the same size.
        dumbbell=bottleneck.replace(queue=plain(bottleneck.queue)),
        label="Li 2009",
        conditions="a long-delay link: 4 Mbps, RTT 500 ms, drop-tail of 240 packets (the "
        "bandwidth-delay product), 10 flows",
        packet_b=WIRE_B,
        flows=network.flows,
        hosts=network.flows,
        duration_s=300,
    )


NETWORK = _network()
