"""The controls, the network on which each runs, and what it is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skywave import DropTail, Ftp, KernelTcp, Probes, Step2, Tcp
from validation.controls.curves import SAMPLE_S
from validation.virtual_time.controls import SEGMENT
from validation.virtual_time.networks import Network

if TYPE_CHECKING:
    from skywave import Scenario
    from skywave.scenario import Transport

DURATION_S = 40
MBPS = 10
RTT_MS = 100
QUEUE = 83
"""The bandwidth-delay product, in packets of 1500 B."""
THRESHOLD = 20
"""Packets: RFC 8257 section 3.1 wants more than a seventh of the bandwidth-delay product."""
DROPS = Network("drops", f"{QUEUE} packets", RTT_MS, DropTail(packets=QUEUE), mbps=MBPS)
MARKS = Network(
    "marks",
    f"{QUEUE} packets, marks above {THRESHOLD}",
    RTT_MS,
    Step2(packets=QUEUE, threshold=THRESHOLD),
    mbps=MBPS,
)

LINUX = "Linux"
PICOQUIC = "picoquic"
UDP_PRAGUE = "udp_prague"


@dataclass(frozen=True)
class Case:
    """A control, alone on a network."""

    control: str
    reference: str
    """Whose control ours is compared with."""
    transport: Transport
    """Ours. Linux's, which the simulator replaces with ours, where that is the reference."""
    network: Network = DROPS

    def scenario(self) -> Scenario:
        """Return the run. Its flow is ``f0``."""
        described = self.network.scenario(self.control, 1, self.transport, Ftp())
        return described.replace(
            duration=f"{DURATION_S} s", probes=Probes(interval=f"{SAMPLE_S} s")
        )


def _linux(control: str, network: Network = DROPS) -> Case:
    return Case(control, LINUX, KernelTcp(control=control, segment=SEGMENT), network)


def _plain(control: str, segment: str) -> Tcp:
    """Return our TCP without timestamps, which the references' packets have no room for."""
    return Tcp(control=control, profile="linux", segment=segment, timestamps=False)


CASES = {
    case.control: case
    for case in (
        _linux("reno"),
        _linux("cubic"),
        _linux("westwood"),
        _linux("htcp"),
        _linux("illinois"),
        _linux("hybla"),
        _linux("vegas"),
        # 1440 B on the wire with 1400 B of data, as picoquic's.
        Case("bbr", PICOQUIC, _plain("bbr", "1400 B")),
        Case("c4", PICOQUIC, _plain("c4", "1400 B")),
        _linux("dctcp", MARKS),
        # 1428 B on the wire, as udp_prague's.
        Case("prague", UDP_PRAGUE, _plain("prague", "1388 B"), MARKS),
    )
}
"""The cases by control, in the order of tables and figures."""
