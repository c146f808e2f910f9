"""The experiment of Chen, Yang and Hong as scenarios: one parameter set for all schemes.

H. Chen, O. W. W. Yang, Y. Hong, "Performance Analysis of VCP Controller on DCCP Traffic", 2010.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve

from skywave.scenario import Dccp, Dumbbell, Ftp, Probes, Red, Scenario, Tcp, Vcp, VcpRouter, Web

if TYPE_CHECKING:
    from skywave.scenario.parts import AfterDecrease, Growth, Reductions, VcpGrowth, VcpStart

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
ALL_WINDOWS = Probes(interval="100 ms", links=(BOTTLENECK,))
"""Samples of all flows, for sums of windows."""
SHOWN = "subnet0-1"
"""The flow of Figure 5, one with the smallest round-trip time."""


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
"""The schemes that are run. To add one, add it here, and its case to ``queue_of`` and
``transport_of``."""
MODELLED = (DCCP_VCP,)
"""The schemes that section 3 models, DCCP/VCP. Their sums of windows are shown with equation 6."""


Flavour = Literal["reno", "newreno", "sack"]


@dataclass(frozen=True)
class Unpublished:
    """Values that the paper does not give, as found by ``fit``; the same for all schemes."""

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


def flow_name(subnet: int, host: int) -> str:
    """Return the name of a long-lived flow. Hosts are numbered from 1."""
    return f"subnet{subnet}-{host}"


def queue_of(scheme: Scheme, unpublished: Unpublished, **changes: Any) -> Red | VcpRouter:
    """Return the queue discipline of the bottleneck."""
    match scheme.router:
        case "red":
            given: dict[str, Any] = {
                "packets": unpublished.buffer,
                "min_threshold": 150.0,
                "max_threshold": 700.0,
                "max_p": 0.1,
                "weight": 0.002,
                "mean_packet": f"{PACKET_B} B",
                "gentle": False,
            }
            return Red(**{**given, **changes})
        case "vcp":
            return VcpRouter(packets=unpublished.buffer)


def transport_of(
    scheme: Scheme, unpublished: Unpublished, senders: Senders = WORDS, **changes: Any
) -> Tcp | Dccp:
    """Return the transport of the long-lived flows."""
    tcp = evolve(_tcp(unpublished, senders), initial_cwnd=senders.initial_cwnd)
    vcp = _vcp(senders, senders.start)
    match scheme.transport, scheme.router:
        case "tcp", "red":
            return tcp
        case "tcp", "vcp":
            return evolve(tcp, control="vcp", vcp=vcp)
        case "dccp", "red":
            given: dict[str, Any] = {
                "ccid": 2,
                "ecn": False,
                "reductions": senders.red_reductions,
                "min_ack_ratio": senders.red_least,
                "growth": senders.red_growth,
            }
        case "dccp", "vcp":
            given = {
                "ccid": 248,
                "ecn": True,
                "reductions": senders.vcp_reductions,
                "min_ack_ratio": senders.least,
                "vcp": evolve(vcp, least_cwnd=senders.least or 1),
            }
    return Dccp(
        **{"profile": "ns2", "initial_cwnd": senders.initial_cwnd, **given, **changes},
    )


def web_transport_of(
    scheme: Scheme, unpublished: Unpublished = UNPUBLISHED, senders: Senders = WORDS
) -> Tcp:
    """Return the transport of the short-lived sources."""
    tcp = _tcp(unpublished, senders)
    if scheme.router == "red" or senders.web is None:
        return tcp
    return evolve(tcp, control="vcp", vcp=_vcp(senders, senders.web))


def scenario(
    scheme: Scheme,
    seed: int,
    unpublished: Unpublished = UNPUBLISHED,
    *,
    probes: Probes | None = None,
    red: dict[str, Any] | None = None,
    dccp: dict[str, Any] | None = None,
    senders: Senders = WORDS,
) -> Scenario:
    """Return the scenario of one run. ``red`` and ``dccp`` override parameters for a reading.

    By default, probes sample the bottleneck and the flow of Figure 5.
    """
    interval = f"{SAMPLE_S * 1e3:g} ms"
    description = Scenario(
        name=f"chen2010-{scheme.name}-{seed}",
        duration=f"{DURATION_S} s",
        seed=seed,
        dumbbell=Dumbbell(
            pairs=SUBNETS,
            rate=f"{CAPACITY_BPS / 1e6:g} Mbps",
            delay=f"{BOTTLENECK_DELAY_MS:g} ms",
            queue=queue_of(scheme, unpublished, **(red or {})),
            access_rate="100 Mbps",
            access_delays=tuple(_access_delay(subnet) for subnet in range(SUBNETS)),
        ),
        probes=probes or Probes(interval=interval, links=(BOTTLENECK,), flows=(SHOWN,)),
    )
    transport = transport_of(scheme, unpublished, senders, **(dccp or {}))
    source = Ftp(datagram=f"{DATA_B['dccp']} B")
    for subnet in range(SUBNETS):
        for host in range(1, HOSTS + 1):
            description.add_flow(
                flow_name(subnet, host),
                f"s{subnet + 1}",
                f"d{subnet + 1}",
                transport,
                source,
                start_jitter=STAGGER,
            )
    web = web_transport_of(scheme, unpublished, senders)
    for number in range(unpublished.web_sources):
        pair = number % SUBNETS + 1
        description.add_flow(
            f"web{number + 1}", f"s{pair}", f"d{pair}", web, Web(), start_jitter="1 s"
        )
    return description


def _access_delay(subnet: int) -> str:
    """Return the delay of either access link of a subnet's flows."""
    one_way_ms = rtt_ms(subnet) / 2 - BOTTLENECK_DELAY_MS
    return f"{round(one_way_ms / 2 * 1e6)} ns"


def _vcp(senders: Senders, start: VcpStart) -> Vcp:
    return Vcp(start=start, after_decrease=senders.after_decrease, growth=senders.vcp_growth)


def _tcp(unpublished: Unpublished, senders: Senders) -> Tcp:
    return Tcp(
        profile="ns2",
        recovery=unpublished.flavour,
        segment=f"{DATA_B['tcp']} B",
        receive_window=1000,
        delayed_ack=senders.delayed_ack,
    )
