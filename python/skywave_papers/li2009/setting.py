"""The experiments of Li and Yousefi'zadeh as scenarios: one parameter set for the whole paper.

X. Li, H. Yousefi'zadeh, "MPCP: Multi Packet Congestion-control Protocol", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skywave.scenario import (
    Bernoulli,
    Dccp,
    DropTail,
    Dumbbell,
    Ftp,
    Probes,
    Queue,
    Scenario,
    Tcp,
    Vcp,
    VcpRouter,
)
from skywave.scenario.topologies import Aggregate, Hop, parking_lot
from skywave_papers.vcp_scripts import IP_B, START_JITTER, TCP, WIRE_B, buffer_packets

T_RHO_MS = 200
"""t_rho of VCP by Xia et al. 2005, in ms. The paper gives no other value."""
TARGET_UTILISATION, QUEUE_SHARE = 0.98, 0.5
"""gamma and kappa_q, with the core's values."""
DCCP_B = 16
"""Header with long sequence numbers; only these identify every place in a chain."""
DCCP_DATA_B = WIRE_B - IP_B - DCCP_B
"""Data of a datagram, so that packets have the same size over either transport, in bytes."""


@dataclass(frozen=True)
class Scheme:
    """A protocol; ``packets`` is the number of packets that encode its load factor."""

    name: str
    packets: int

    @property
    def label(self) -> str:
        """The name in the paper."""
        return self.name.upper()


VCP, DPCP, TPCP = Scheme("vcp", 1), Scheme("dpcp", 2), Scheme("tpcp", 3)
SCHEMES = (VCP, DPCP, TPCP)


@dataclass(frozen=True)
class Choices:
    """What the paper leaves open about its protocol. All verdicts use the defaults.

    ``interval_ms`` is t_rho of routers, and of senders unless they have their own. ``limits``,
    ``acts`` and ``on_loss`` concern only chains: VCP has its limits and halves on a loss. The
    sentences behind the last three are in ``paper.toml``, with the other rules as readings.
    """

    interval_ms: int = T_RHO_MS
    senders_interval_ms: int | None = None
    limits: bool = False
    acts: Literal["at-once", "when-complete"] = "at-once"
    after_decrease: Literal["holds", "ignores-overload", "freezes"] = "holds"
    on_loss: Literal["ignores", "halves"] = "ignores"
    average: Literal["means", "samples"] = "means"

    @property
    def label(self) -> str:
        """The differences from the default, in words."""
        routers, senders = f"t_rho {self.interval_ms} ms", self.senders_interval_ms
        after = self.after_decrease.replace("-", " ")
        words = {
            routers: self.interval_ms != T_RHO_MS and senders is None,
            f"{routers} at routers, {senders} ms at senders": senders is not None,
            "VCP's limits": self.limits,
            "waits for whole chains": self.acts == "when-complete",
            f"{after} after a decrease": self.after_decrease != "holds",
            "chains halve on losses": self.on_loss == "halves",
            "routers average samples": self.average == "samples",
        }
        return (
            ", ".join(word for word, differs in words.items() if differs) or "as for the verdicts"
        )


DEFAULT = Choices()


def vcp_of(scheme: Scheme, choices: Choices, chain: int | None = None) -> Vcp:
    """Return the sender's rules. Over DCCP, the CCID determines the chain."""
    interval = f"{choices.senders_interval_ms or choices.interval_ms} ms"
    rules = Vcp(interval=interval, after_decrease=choices.after_decrease, on_loss="halves")
    if scheme == VCP:
        return rules
    limits, acts, on_loss = choices.limits, choices.acts, choices.on_loss
    return rules.replace(chain=chain, limits=limits, acts=acts, on_loss=on_loss)


def tcp_of(scheme: Scheme, choices: Choices = DEFAULT) -> Tcp:
    """Return the scheme over TCP: ns-2's window and timers, SACK as in Linux."""
    vcp = vcp_of(scheme, choices, chain=scheme.packets)
    return TCP.replace(profile="ns2", control="vcp", vcp=vcp)


def dccp_of(scheme: Scheme, choices: Choices = DEFAULT) -> Dccp:
    """Return the scheme over DCCP, where the sequence number is the place in a chain."""
    return Dccp(ccid=247 + scheme.packets, vcp=vcp_of(scheme, choices))


def router_of(
    scheme: Scheme, choices: Choices, rate_mbps: float, rtt_ms: float, flows: int
) -> VcpRouter:
    """Return a link's queue: a bandwidth-delay product, and at least two packets per flow."""
    return VcpRouter(
        packets=buffer_packets(rate_mbps, rtt_ms, flows),
        interval=f"{choices.interval_ms} ms",
        average=choices.average,
        chain=scheme.packets,
    )


def plain(queue: Queue) -> Queue:
    """Return a drop-tail queue as long as a router's, and any other queue as it is."""
    return DropTail(packets=queue.packets) if isinstance(queue, VcpRouter) else queue


# Figure 2: the parking lot.

LINKS_MBPS = (4.0, 4.0, 2.0, 4.0)
"""L0 to L3."""
HOP_MS = 250
JOINING = 2
"""The link whose Local starts late, L2."""
JOINS_S, LOT_S = 1000, 3000
LOT_SEEDS = tuple(range(1, 9))
"""Seeds of the parking lots. A value of Figure 2 is judged by its mean over them."""
LOT_SEED = min(LOT_SEEDS)
"""The seed of figures and series, and of variants of the choices."""
SAMPLE_S = 10
SHOWN_LINKS = {"L0": "r1->r2", "L2": "r3->r4"}
PUBLISHED_LOTS = (VCP, DPCP)
"""The protocols of Figure 2. TPCP's parking lots are stored with the variants."""


@dataclass(frozen=True)
class Reading:
    """What an aggregate is: as many senders as the paper counts, or a single one."""

    name: str
    label: str
    long: int
    local: int


AGGREGATES = Reading("aggregates", "one sender for each aggregate", long=1, local=1)
FLOWS = Reading("flows", "30 and 10 senders", long=30, local=10)
READINGS = (AGGREGATES, FLOWS)


def lot(
    scheme: Scheme,
    reading: Reading,
    choices: Choices = DEFAULT,
    seed: int = LOT_SEED,
    *,
    hop_ms: int = HOP_MS,
    scale: float = 1,
) -> Scenario:
    """Return the parking lot of Figure 2. ``scale`` shortens the run for tests."""
    tcp = tcp_of(scheme, choices)
    return parking_lot(
        f"li2009-lot-{scheme.name}-{reading.name}",
        duration=f"{LOT_S * scale:g} s",
        seed=seed,
        hops=[
            Hop(
                rate=f"{mbps:g} Mbps",
                delay=f"{hop_ms} ms",
                queue=router_of(scheme, choices, mbps, 2 * hop_ms, reading.long + reading.local),
                local=Aggregate(
                    name=f"local{number}-",
                    flows=reading.local,
                    transport=tcp,
                    start=f"{JOINS_S * scale:g} s" if number == JOINING else "0 s",
                    start_jitter=START_JITTER,
                ),
            )
            for number, mbps in enumerate(LINKS_MBPS)
        ],
        long=Aggregate(name="long-", flows=reading.long, transport=tcp, start_jitter=START_JITTER),
        probes=Probes(interval=f"{SAMPLE_S * scale:g} s", links=tuple(SHOWN_LINKS.values())),
    )


LOOKED_AT_S, LOOKED_AT_FROM_S = 300, 100
BUSY_LINKS = ("r1->r2", "r2->r3", "r4->r5")
"""L0, L1 and L3, which are equal until L2's Local starts."""


def lot_by_intervals(scheme: Scheme, reading: Reading) -> Scenario:
    """Return the beginning of a parking lot's run, sampled every t_rho, as its routers do."""
    whole = lot(scheme, reading)
    shown = tuple(flow.name for flow in whole.flows if flow.name.startswith(("long-", "local0-")))
    return whole.replace(
        name=f"li2009-loads-{scheme.name}-{reading.name}",
        duration=f"{LOOKED_AT_S} s",
        probes=Probes(interval=f"{T_RHO_MS} ms", links=BUSY_LINKS, flows=shown),
    )


# Figures 3 to 5: the dumbbell.

BOTTLENECK = "r1->r2"
ACCESS_MS = 1
DUMBBELL_S, STEADY_FROM_S = 100, 40
QUEUE_SAMPLE_S = 0.1
DUMBBELL_SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Network:
    """A dumbbell within the paper's range."""

    mbps: float = 4.0
    rtt_ms: int = 500
    flows: int = 1


PAPER_NETWORK = Network()


def dumbbell(
    scheme: Scheme, network: Network = PAPER_NETWORK, choices: Choices = DEFAULT, seed: int = 1
) -> Scenario:
    """Return the dumbbell of Figures 3 and 5."""
    scenario = Scenario(
        name=f"li2009-dumbbell-{scheme.name}-{seed}",
        duration=f"{DUMBBELL_S} s",
        seed=seed,
        dumbbell=Dumbbell(
            pairs=1,
            rate=f"{network.mbps:g} Mbps",
            delay=f"{network.rtt_ms / 2 - 2 * ACCESS_MS:g} ms",
            queue=router_of(scheme, choices, network.mbps, network.rtt_ms, network.flows),
            access_rate="100 Mbps",
            access_delays=(f"{ACCESS_MS} ms",),
        ),
        probes=Probes(interval=f"{QUEUE_SAMPLE_S * 1e3:g} ms", links=(BOTTLENECK,)),
    )
    tcp = tcp_of(scheme, choices)
    for number in range(1, network.flows + 1):
        scenario.add_flow(f"ftp{number}", "s1", "d1", tcp, start_jitter=START_JITTER)
    return scenario


def network_of(scenario: Scenario) -> Dumbbell:
    """Return the network of a scenario that ``dumbbell`` has returned."""
    assert scenario.dumbbell is not None  # noqa: S101  (it is a dumbbell)
    return scenario.dumbbell


# Figure 4: transfers over a lossy bottleneck.

LOSS_PERCENT = tuple(range(0, 50, 5))
FILE_B = 500_000
LOSS_SEEDS = tuple(range(1, 6))
LIMITS_S = {"tcp": (600, 3000, 12_000), "dccp": (30, 100, 400)}
"""Time limits of a transfer at loss rates below 25 %, below 40 %, and above.

With TCP, whose timeouts double repeatedly, simulated time costs nothing; DCCP keeps sending.
"""


@dataclass(frozen=True)
class Carrier:
    """A scheme over a transport."""

    scheme: Scheme
    transport: Literal["tcp", "dccp"]

    @property
    def name(self) -> str:
        """The name for files."""
        return f"{self.scheme.name}-{self.transport}"

    @property
    def label(self) -> str:
        """The carrier in words."""
        return f"{self.scheme.label} over {self.transport.upper()}"


VCP_TCP, DPCP_TCP, DPCP_DCCP = Carrier(VCP, "tcp"), Carrier(DPCP, "tcp"), Carrier(DPCP, "dccp")
CARRIERS = (VCP_TCP, DPCP_TCP, DPCP_DCCP)


def transfer(
    carrier: Carrier, percent: int, seed: int, choices: Choices = DEFAULT, *, packets: bool = False
) -> Scenario:
    """Return a transfer of ``FILE_B`` over a bottleneck that loses ``percent`` of packets forward.

    DCCP does not retransmit, so an endless source sends until that many bytes have arrived.
    """
    scenario = dumbbell(carrier.scheme, choices=choices, seed=seed)
    (flow,) = scenario.flows
    if carrier.transport == "tcp":
        flow = flow.replace(source=Ftp(size=f"{FILE_B} B"))
    else:
        source = Ftp(datagram=f"{DCCP_DATA_B} B")
        flow = flow.replace(transport=dccp_of(carrier.scheme, choices), source=source)
    loss = Bernoulli(probability=percent / 100) if percent else None
    return scenario.replace(
        name=f"li2009-loss{percent}-{carrier.name}-{seed}",
        duration=f"{LIMITS_S[carrier.transport][(percent >= 25) + (percent >= 40)]} s",
        dumbbell=network_of(scenario).replace(loss=loss),
        probes=Probes(interval="500 ms", links=(), packets=packets),
        flows=[flow.replace(name="file")],
    )
