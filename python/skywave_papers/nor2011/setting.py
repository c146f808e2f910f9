"""The experiments of Nor et al. as scenarios: one parameter set for the whole paper.

S. A. Nor, S. Hassan, O. Ghazali, M. H. Omar, "The Performance of DCCP TCP-like with Initial
Slow-start Threshold Manipulation", 2011.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skywave.scenario import (
    Cbr,
    Dccp,
    DropTail,
    Flow,
    Ftp,
    Probes,
    Scenario,
    Tcp,
    TraceSteps,
    dumbbell,
)

if TYPE_CHECKING:
    from skywave.scenario import Transport
    from skywave.scenario.parts import Growth

PUBLISHED_SSTHRESH = (20, 50, 100, 200)
"""Initial slow-start thresholds of experiment 2, in packets."""
BEYOND_SSTHRESH = (400, 65535)
"""Thresholds for the claim that more than 200 packets do not help."""
PAPER_SEND_QUEUE = 1000
"""ns-2's default send buffer, in packets, which the paper's values are reproduced with."""
SHORT_SEND_QUEUE = 15
"""A send buffer without a backlog that could burst, in packets, for the sensitivity section."""
PAPER_TCP_WINDOW = 20
"""ns-2's default window, in segments, which gives the paper's 300 kbps."""
WIDE_TCP_WINDOW = 1000
"""A TCP window that never limits, in segments, for the section on fair sharing."""
CBR = Cbr(rate="2 Mbps", datagram="500 B")
"""The application of the DCCP flow."""
PAPER_QUEUE = 19
"""The bottleneck's queue in packets. ns-2's 20 include the one on the wire."""
DCCP_START_S = 10.0
BOTTLENECK = "r1->r2"
HOPS = ("s1->r1", "r1->r2", "r2->d1")
"""The links on the path of the DCCP flow."""


@dataclass(frozen=True)
class Conditions:
    """The conditions of a run: the paper's variable, and the two of our own sections."""

    ssthresh: int
    duration_s: int = 200
    send_queue: int = PAPER_SEND_QUEUE
    tcp_window: int = PAPER_TCP_WINDOW

    @property
    def name(self) -> str:
        """The name for files, which lists what differs from the paper's experiment 2."""
        name = "experiment1" if self.duration_s == 1000 else f"experiment2-ssthresh{self.ssthresh}"
        if self.send_queue != PAPER_SEND_QUEUE:
            name += f"-queue{self.send_queue}"
        if self.tcp_window != PAPER_TCP_WINDOW:
            name += f"-window{self.tcp_window}"
        return name


EXPERIMENT_1 = Conditions(ssthresh=20, duration_s=1000)
EXPERIMENT_2 = tuple(Conditions(ssthresh) for ssthresh in PUBLISHED_SSTHRESH + BEYOND_SSTHRESH)
SHORT_QUEUE = tuple(
    Conditions(ssthresh, send_queue=SHORT_SEND_QUEUE) for ssthresh in PUBLISHED_SSTHRESH
)
WIDE_WINDOW = Conditions(ssthresh=20, duration_s=1000, tcp_window=WIDE_TCP_WINDOW)
ALL_CONDITIONS = (EXPERIMENT_1, *EXPERIMENT_2, *SHORT_QUEUE, WIDE_WINDOW)


def scenario(
    conditions: Conditions, *, queue_packets: int = PAPER_QUEUE, growth: Growth = "ns2-tcplike"
) -> Scenario:
    """Return the scenario of one run, with ns-2's defaults where the paper is silent."""
    flows = cbr("dccp", dccp(conditions, growth)), tcp(conditions.tcp_window)
    return network(conditions.name, conditions.duration_s, *flows, queue_packets=queue_packets)


def network(
    name: str,
    duration_s: int,
    *flows: Flow,
    delay_ms: int = 300,
    queue_packets: int = PAPER_QUEUE,
    trace: TraceSteps | None = None,
) -> Scenario:
    """Return flows over the paper's network."""
    described = dumbbell(
        f"nor2011-{name}",
        duration=f"{duration_s} s",
        pairs=2,
        rate="2 Mbps",
        delay=f"{delay_ms} ms",
        queue=DropTail(packets=queue_packets),
        trace=trace,
        access_rate="100 Mbps",
        access_delays=("1 ms",),
        probes=Probes(interval="1 s", links=HOPS),
    )
    return described.replace(flows=list(flows))


def cbr(name: str, transport: Transport, start_s: float = DCCP_START_S) -> Flow:
    """Return a flow of the application over a transport."""
    start = f"{start_s:g} s"
    return Flow(name=name, from_="s1", to="d1", transport=transport, source=CBR, start=start)


def tcp(window: int = PAPER_TCP_WINDOW) -> Flow:
    """Return the flow of TCP NewReno as in ns-2, with a window in segments."""
    newreno = Tcp(
        profile="ns2",
        segment="1000 B",
        initial_cwnd=2,
        initial_ssthresh=window,
        receive_window=window,
        tick="10 ms",
        min_rto="200 ms",
        initial_rto="3 s",
        limited_transmit=True,
    )
    return Flow(name="tcp", from_="s2", to="d2", transport=newreno, source=Ftp(), start="500 ms")


def dccp(conditions: Conditions, growth: Growth = "ns2-tcplike") -> Dccp:
    """Return DCCP with CCID 2 as in ns-2."""
    return Dccp(
        ccid=2,
        profile="ns2",
        initial_cwnd=3,
        initial_ssthresh=conditions.ssthresh,
        growth=growth,
        send_queue=conditions.send_queue,
        short_seqnos=True,
        ack_ratio=2,
        immediate_acks=False,
        delayed_ack="200 ms",
        min_rto="1 s",
        initial_rto="3 s",
    )
