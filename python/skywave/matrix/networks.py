"""The networks of the five papers, each described once, in the papers' own numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from skywave.papers import vcp_scripts
from skywave.papers.chen2010 import setting as chen2010
from skywave.papers.li2009 import setting as li2009
from skywave.papers.lien2009 import setting as lien2009
from skywave.papers.nor2011 import setting as nor2011
from skywave.papers.sarwar2008 import live as sarwar2008
from skywave.papers.sarwar2008.access import FITTED
from skywave.quantities import bits_per_second
from skywave.scenario import Back, DropTail, Dumbbell, Loss, Queue, Red, Trace, VcpRouter, Web

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, kw_only=True)
class Network:
    """A bottleneck, what flows reach it over, and how many they are.

    ``packet_b`` is the size of full packets on the wire, of TCP and of DCCP. Flow i is on host
    i modulo the number of ``hosts``, and ``access_delays`` go round the hosts. ``trace`` gives the
    course of the bottleneck's rate for a seed and a duration, ``web`` how many sources of short
    transfers over TCP there are besides. ``flows`` is even, so that half can be TCP.
    """

    key: str
    label: str
    conditions: str
    rate: str
    delay: str
    queue: DropTail | Red
    access_rate: str
    access_delays: tuple[str, ...]
    packet_b: int
    flows: int
    duration_s: float
    hosts: int
    web: int = 0
    loss: Loss | None = None
    trace: Callable[[int, float], Trace] | None = None
    back: Back | None = None
    voice: bool = False

    @property
    def rate_bps(self) -> int:
        """The rate of the bottleneck, where no trace says otherwise."""
        return bits_per_second(self.rate)

    @property
    def buffer_packets(self) -> int:
        """What the paper's queue holds: other disciplines are given as much."""
        packets = self.queue.packets
        assert packets is not None  # noqa: S101  (no paper counts bytes)
        return packets

    @property
    def packet_time_us(self) -> int:
        """How long the bottleneck takes for a full packet."""
        return round(self.packet_b * 8e6 / self.rate_bps)

    def capacity_bps(self, trace: Trace | None, from_s: float, to_s: float) -> float:
        """Return the mean rate of the bottleneck over a time."""
        rate, since, bits = self.rate_bps, from_s, 0.0
        for step in trace.steps if trace else ():
            at_s = min(max(float(step.at.removesuffix(" us")) / 1e6, from_s), to_s)
            bits += rate * (at_s - since)
            since = at_s
            rate = rate if step.rate is None else bits_per_second(step.rate)
        return (bits + rate * (to_s - since)) / (to_s - from_s)


def _of_dumbbell(dumbbell: Dumbbell | None, **given: object) -> Network:
    assert dumbbell is not None  # noqa: S101  (these papers' scenarios are dumbbells)
    return Network(
        rate=dumbbell.rate,
        delay=dumbbell.delay,
        queue=_single(dumbbell.queue),
        access_rate=dumbbell.access_rate,
        access_delays=dumbbell.access_delays,
        loss=dumbbell.loss,
        back=dumbbell.back,
        **given,  # type: ignore[arg-type]
    )


def _single(queue: Queue | None) -> DropTail | Red:
    assert isinstance(queue, DropTail | Red)  # noqa: S101  (the papers' own queues are these)
    return queue


def _nor2011() -> Network:
    return _of_dumbbell(
        nor2011.scenario(nor2011.EXPERIMENT_1).bottleneck,
        key="nor2011",
        label="Nor 2011",
        conditions="a long-delay link: 2 Mbps, RTT 604 ms, drop-tail of 20 packets (a seventh of "
        "the bandwidth-delay product), 2 flows as in the paper; windows are not limited to the "
        "paper's 20 segments",
        packet_b=1040,
        flows=2,
        hosts=2,
        duration_s=300,
    )


def _lien2009() -> Network:
    scenario = lien2009.scenario(lien2009.Conditions("NewReno"), seed=1)
    bottleneck, access, *_ = scenario.links
    return Network(
        key="lien2009",
        label="Lien 2009",
        conditions="a slow link: 0.25 Mbps, RTT 140 ms, drop-tail of 20 packets (960 ms), 6 flows "
        "(the paper's five and its call); and a call of its own, see below",
        rate=bottleneck.rate,
        delay=bottleneck.delay,
        queue=_single(bottleneck.queue),
        access_rate=access.rate,
        access_delays=(access.delay,),
        packet_b=1500,
        flows=lien2009.STREAMS + 1,
        hosts=lien2009.STREAMS + 1,
        duration_s=300,
        voice=True,
    )


def _sarwar2008() -> Network:
    live = sarwar2008.scenario(sarwar2008.STANDARD, seed=1)
    return replace(
        _of_dumbbell(
            live.bottleneck,
            key="sarwar2008",
            label="Sarwar 2008",
            conditions="a shared satellite access, emulated: 1 Mbps or, while others use it, "
            "250 kbps, RTT 1200 ms, errors in bursts in 0.33 % of packets, drop-tail of 50 "
            "packets, 2 flows (the paper has one, which shares with nobody)",
            packet_b=1032,
            flows=2,
            hosts=2,
            duration_s=300,
        ),
        trace=FITTED.load,
    )


def _chen2010() -> Network:
    return _of_dumbbell(
        chen2010.scenario(chen2010.TCP_RED, seed=1).bottleneck,
        key="chen2010",
        label="Chen 2010",
        conditions="many flows: 45 Mbps, RTT 60 to 220 ms, RED in a buffer of 200 packets, 200 "
        "flows and 50 web sources over TCP",
        packet_b=chen2010.PACKET_B,
        flows=chen2010.SUBNETS * chen2010.HOSTS,
        hosts=chen2010.SUBNETS,
        duration_s=chen2010.DURATION_S,
        web=chen2010.UNPUBLISHED.web_sources,
    )


def _li2009() -> Network:
    network = replace(li2009.PAPER_NETWORK, flows=10)
    dumbbell = li2009.dumbbell(li2009.VCP, network).bottleneck
    assert dumbbell is not None  # noqa: S101  (it is one)
    assert isinstance(dumbbell.queue, VcpRouter)  # noqa: S101
    # The paper's routers all tell a load; controls that need none meet a buffer of the same size.
    plain = replace(dumbbell, queue=DropTail(packets=dumbbell.queue.packets))
    return _of_dumbbell(
        plain,
        key="li2009",
        label="Li 2009",
        conditions="a fat long-delay link: 4 Mbps, RTT 500 ms, drop-tail of 240 packets (the "
        "bandwidth-delay product), 10 flows",
        packet_b=vcp_scripts.WIRE_B,
        flows=network.flows,
        hosts=network.flows,
        duration_s=300,
    )


NETWORKS = {
    network.key: network
    for network in (_nor2011(), _lien2009(), _sarwar2008(), _chen2010(), _li2009())
}
"""All networks by the key of their paper, in the order in which they are shown."""

WEB = Web()
"""Chen, Yang and Hong's web traffic."""
