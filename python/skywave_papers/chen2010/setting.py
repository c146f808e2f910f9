"""The experiment of Chen, Yang and Hong as scenarios: one parameter set for all schemes.

H. Chen, O. W. W. Yang, Y. Hong, "Performance Analysis of VCP Controller on DCCP Traffic", 2010.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skywave.papers.ledger import Ledger
from skywave.papers.lent import Network
from skywave.scenario import Dccp, Ftp, Probes, Red, Tcp, Vcp, VcpRouter, Web
from skywave.scenario.topologies import dumbbell

if TYPE_CHECKING:
    from skywave.scenario import Queue, Scenario
    from skywave.scenario.parts import AfterDecrease, Growth, Reductions, VcpGrowth, VcpStart

LEDGER = Ledger.read(Path(__file__).with_name("paper.toml"))
SEEDS = range(41, 61)
"""Seeds of each scheme's runs. No search used them."""
DURATION_S = 120
WARM_S = 20.0
"""Time after which values of the steady state are measured, in seconds."""
SUBNETS = 10
HOSTS = 20
"""Number of long-lived flows per subnet."""
LEAST_RTT_MS, MOST_RTT_MS = 60.0, 220.0
BOTTLENECK = "r1->r2"
BOTTLENECK_DELAY_MS = 10.0
CAPACITY_BPS = 45e6
PACKET_B = 1024
"""Size on the wire, including headers, in bytes."""
IP_B, TCP_B, DCCP_B = 20, 20, 12
DATA_B = {"tcp": PACKET_B - IP_B - TCP_B, "dccp": PACKET_B - IP_B - DCCP_B}
"""Data in a packet by transport, in bytes."""
STAGGER = "100 ms"
T_RHO_S = 0.2
"""VCP's measuring interval, in seconds."""
BETA = 0.875
"""What VCP's decrease leaves of a window."""
SAMPLE_S = 0.01
"""The interval of Figure 7, in seconds."""
SHOWN = "subnet0-1"
"""The flow of Figure 5, one with the smallest round-trip time."""
ONE_FLOW = Probes(interval=f"{SAMPLE_S * 1e3:g} ms", links=(BOTTLENECK,), flows=(SHOWN,))
ALL_WINDOWS = Probes(interval="100 ms", links=(BOTTLENECK,))
"""Samples of all flows, for sums of windows."""


@dataclass(frozen=True)
class Scheme:
    """A transport and the router's algorithm."""

    transport: Literal["tcp", "dccp"]
    router: Literal["red", "vcp"]
    panel: str
    """The panel in Figures 5 to 7."""

    @property
    def name(self) -> str:
        """The name for files."""
        return f"{self.transport}-{self.router}"

    @property
    def label(self) -> str:
        """The name in the paper."""
        return f"{self.transport}/{self.router}".upper()


TCP_RED = Scheme("tcp", "red", "a")
DCCP_RED = Scheme("dccp", "red", "b")
TCP_VCP = Scheme("tcp", "vcp", "c")
DCCP_VCP = Scheme("dccp", "vcp", "d")
SCHEMES = (TCP_RED, DCCP_RED, TCP_VCP, DCCP_VCP)
"""The schemes that are run."""

Flavour = Literal["reno", "newreno", "sack"]


@dataclass(frozen=True)
class Unpublished:
    """Values that the paper does not give, as found by ``searches.FIT``, for all schemes."""

    buffer: int
    web_sources: int
    flavour: Flavour


UNPUBLISHED = Unpublished(buffer=200, web_sources=50, flavour="newreno")


@dataclass(frozen=True)
class Senders:
    """How senders work where the paper's words differ from RFCs and from the codes of others.

    Attributes:
        start: How VCP's long-lived senders start.
        after_decrease: What VCP's senders do after a decrease.
        vcp_growth: What VCP's senders increase cwnd for.
        web: How short-lived sources in VCP's queue start under VCP; None: they do not use VCP.
        least: zeta and cwnd of DCCP/VCP are at least this; None: as in the RFCs.
        vcp_reductions: How often losses reduce the window of DCCP/VCP.
        red_reductions: The same for DCCP/RED.
        red_least: zeta of DCCP/RED is at least this; None: as in ns-2's module.
        red_growth: How the window of DCCP/RED grows; None: as in ns-2's module.
        delayed_ack: The delay of acknowledgements of TCP; None: there is none.
        initial_cwnd: The initial window of long-lived senders; None: as in ns-2.

    """

    start: VcpStart = "by-slow-start"
    after_decrease: AfterDecrease = "increases"
    vcp_growth: VcpGrowth = "per-packet"
    web: VcpStart | None = "by-load-factor"
    least: int | None = 2
    vcp_reductions: Reductions = "per-packet"
    red_reductions: Reductions = "per-packet"
    red_least: int | None = None
    red_growth: Growth | None = "per-ack"
    delayed_ack: str | None = None
    initial_cwnd: int | None = None


WORDS = Senders()
"""As the paper says, as far as a parameter can follow it; its sentences are in ``paper.toml``."""
FEWER_WORDS = replace(WORDS, after_decrease="ignores-overload", web=None, red_growth=None)
"""The same without three sentences, which are on web traffic, on decreases and on Ack Ratios."""
CODES = replace(
    FEWER_WORDS,
    start="by-load-factor",
    least=None,
    vcp_reductions="per-window",
    red_reductions="per-window",
)
"""As in the code of VCP's authors, in the RFCs and in ns-2's module."""


def rtt_ms(subnet: int) -> float:
    """Return the round-trip propagation time of a subnet's flows, in ms."""
    return LEAST_RTT_MS + (MOST_RTT_MS - LEAST_RTT_MS) * subnet / (SUBNETS - 1)


def access_delay(rtt_ms: float) -> str:
    """Return the delay of either access link of flows with this round-trip propagation time."""
    return f"{round((rtt_ms / 2 - BOTTLENECK_DELAY_MS) / 2 * 1e6)} ns"


def flow_name(subnet: int, host: int) -> str:
    """Return the name of a long-lived flow. Hosts are numbered from 1."""
    return f"subnet{subnet}-{host}"


def queue_of(scheme: Scheme, unpublished: Unpublished = UNPUBLISHED, **red: Any) -> Red | VcpRouter:
    """Return the queue discipline of the bottleneck. ``red`` changes parameters of RED."""
    if scheme.router == "vcp":
        return VcpRouter(packets=unpublished.buffer)
    original = Red(
        packets=unpublished.buffer,
        min_threshold=150.0,
        max_threshold=700.0,
        max_p=0.1,
        weight=0.002,
        mean_packet=f"{PACKET_B} B",
        gentle=False,
    )
    return original.replace(**red)


def transport_of(
    scheme: Scheme,
    unpublished: Unpublished = UNPUBLISHED,
    senders: Senders = WORDS,
    **dccp: Any,
) -> Tcp | Dccp:
    """Return the transport of the long-lived flows. ``dccp`` changes parameters of DCCP."""
    vcp = _vcp(scheme, senders, senders.start)
    if scheme.transport == "tcp":
        return _tcp(unpublished, senders, vcp).replace(initial_cwnd=senders.initial_cwnd)
    if vcp is None:
        by_router = Dccp(
            ccid=2,
            ecn=False,
            reductions=senders.red_reductions,
            min_ack_ratio=senders.red_least,
            growth=senders.red_growth,
        )
    else:
        by_router = Dccp(
            ccid=248,
            ecn=True,
            reductions=senders.vcp_reductions,
            min_ack_ratio=senders.least,
            vcp=vcp.replace(least_cwnd=senders.least or 1),
        )
    return by_router.replace(**{"profile": "ns2", "initial_cwnd": senders.initial_cwnd, **dccp})


def scenario(
    scheme: Scheme,
    seed: int,
    unpublished: Unpublished = UNPUBLISHED,
    *,
    senders: Senders = WORDS,
    probes: Probes = ONE_FLOW,
    queue: Queue | None = None,
    transport: Tcp | Dccp | None = None,
) -> Scenario:
    """Return the scenario of one run.

    ``queue`` and ``transport``, that of the long-lived flows, replace those of the scheme.
    """
    description = dumbbell(
        f"chen2010-{scheme.name}-{seed}",
        duration=f"{DURATION_S} s",
        seed=seed,
        pairs=SUBNETS,
        rate=f"{CAPACITY_BPS / 1e6:g} Mbps",
        delay=f"{BOTTLENECK_DELAY_MS:g} ms",
        queue=queue or queue_of(scheme, unpublished),
        access_rate="100 Mbps",
        access_delays=[access_delay(rtt_ms(subnet)) for subnet in range(SUBNETS)],
        probes=probes,
    )
    long_lived = transport or transport_of(scheme, unpublished, senders)
    source = Ftp(datagram=f"{DATA_B['dccp']} B")
    for subnet in range(SUBNETS):
        ends = f"s{subnet + 1}", f"d{subnet + 1}"
        for host in range(1, HOSTS + 1):
            name = flow_name(subnet, host)
            description.add_flow(name, *ends, long_lived, source, start_jitter=STAGGER)
    web = _tcp(unpublished, senders, _vcp(scheme, senders, senders.web))
    for number in range(unpublished.web_sources):
        ends = f"s{number % SUBNETS + 1}", f"d{number % SUBNETS + 1}"
        description.add_flow(f"web{number + 1}", *ends, web, Web(), start_jitter="1 s")
    return description


def _vcp(scheme: Scheme, senders: Senders, start: VcpStart | None) -> Vcp | None:
    """Return how senders use VCP; None if they do not."""
    if scheme.router == "red" or start is None:
        return None
    return Vcp(start=start, after_decrease=senders.after_decrease, growth=senders.vcp_growth)


def _tcp(unpublished: Unpublished, senders: Senders, vcp: Vcp | None) -> Tcp:
    tcp = Tcp(
        profile="ns2",
        recovery=unpublished.flavour,
        segment=f"{DATA_B['tcp']} B",
        receive_window=1000,
        delayed_ack=senders.delayed_ack,
    )
    return tcp if vcp is None else tcp.replace(control="vcp", vcp=vcp)


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
"""The paper's contribution to the matrix: a link with many flows."""
