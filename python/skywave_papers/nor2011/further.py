"""Runs for claims that neither experiment tests. ns-2 does not repeat them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from skywave.scenario import Dccp, Ftp, Step, TraceSteps, Udp
from skywave_papers.nor2011.measures import FULL_BPS, ZIGZAG_FROM_S
from skywave_papers.nor2011.setting import (
    BOTTLENECK,
    CBR,
    DCCP_START_S,
    TCP_START,
    Conditions,
    dccp,
    network,
    tcp,
)

if TYPE_CHECKING:
    from skywave.results import Results
    from skywave.scenario import Scenario, Transport

SSTHRESH = (20, 200)
"""The normal and the proposed initial ssthresh, in packets."""
SHORT_DELAY_MS, LONG_DELAY_MS = 10, 300
LONG_RUN_S, SHORT_RUN_S, RECONNECTED_RUN_S = 1000, 200, 300

CLOSED_S = 100.0
"""When the first connection ends, before an idle time."""
AGAIN_S = 130.0
"""When the second connection starts, after the idle time."""
OUTAGE_S = (100.0, 102.0)
"""When the bottleneck is down, for longer than the RTO."""
AFTER_TIMEOUT_S = 105.0
"""When ssthresh is read after the outage."""


def scenarios() -> dict[str, Scenario]:
    """Return all scenarios, by name."""
    plans = {
        "udp": _beside_tcp("udp", LONG_RUN_S, Udp()),
        "tfrc": _beside_tcp("tfrc", LONG_RUN_S, Dccp(ccid=3, profile="ns2")),
        "outage": _outage(),
    }
    for ssthresh in SSTHRESH:
        for delay_ms in (SHORT_DELAY_MS, LONG_DELAY_MS):
            name = _alone(ssthresh, delay_ms)
            plans[name] = network(name, SHORT_RUN_S, delay_ms=delay_ms)
            plans[name].add_flow(
                "dccp", "s1", "d1", dccp(Conditions(ssthresh)), CBR, start=f"{DCCP_START_S:g} s"
            )
        plans[_reconnected(ssthresh)] = _two_connections(ssthresh)
    return plans


def _alone(ssthresh: int, delay_ms: int) -> str:
    return f"alone-ssthresh{ssthresh}-delay{delay_ms}"


def _reconnected(ssthresh: int) -> str:
    return f"reconnected-ssthresh{ssthresh}"


def _beside_tcp(
    name: str, duration_s: int, transport: Transport, trace: TraceSteps | None = None
) -> Scenario:
    """Return the paper's experiment with another transport in DCCP's place, or another link."""
    described = network(name, duration_s, trace=trace)
    described.add_flow("cbr", "s1", "d1", transport, CBR, start=f"{DCCP_START_S:g} s")
    described.add_flow("tcp", "s2", "d2", tcp(), Ftp(), start=TCP_START)
    return described


def _outage() -> Scenario:
    """Return the run with the proposed ssthresh, with a timeout of DCCP."""
    down_s, up_s = OUTAGE_S
    steps = (Step(at=f"{down_s:g} s", rate="0 bps"), Step(at=f"{up_s:g} s", rate="2 Mbps"))
    transport = dccp(Conditions(max(SSTHRESH)))
    return _beside_tcp("outage", SHORT_RUN_S, transport, TraceSteps(steps=steps))


def _two_connections(ssthresh: int) -> Scenario:
    """Return a run in which DCCP ends its connection, is idle, and connects again."""
    transport = dccp(Conditions(ssthresh))
    described = network(_reconnected(ssthresh), RECONNECTED_RUN_S)
    described.add_flow(
        "first", "s1", "d1", transport, CBR, start=f"{DCCP_START_S:g} s", stop=f"{CLOSED_S:g} s"
    )
    described.add_flow("again", "s1", "d1", transport, CBR, start=f"{AGAIN_S:g} s")
    described.add_flow("tcp", "s2", "d2", tcp(), Ftp(), start=TCP_START)
    return described


@dataclass(frozen=True)
class Further:
    """The measurements of these runs: throughput in bit/s, times in s after the flow's start.

    A link that is not full until the end of a run counts as full at its end. Times after a start
    are by initial ssthresh, those of a DCCP flow alone also by the link's delay in ms.
    """

    udp_bps: float
    tcp_beside_udp_bps: float
    tfrc_full_s: float
    alone_full_s: dict[tuple[int, int], float]
    again_full_s: dict[int, float]
    ssthresh_after_timeout: float


def measure(runs: dict[str, Results]) -> Further:
    """Measure the runs of all scenarios."""
    outage = runs["outage"].flows
    read = pc.and_(pc.equal(outage["flow"], "cbr"), pc.equal(outage["time_s"], AFTER_TIMEOUT_S))
    return Further(
        udp_bps=_mean_bps(runs["udp"], "cbr"),
        tcp_beside_udp_bps=_mean_bps(runs["udp"], "tcp"),
        tfrc_full_s=_full_s(runs["tfrc"], DCCP_START_S),
        alone_full_s={
            (ssthresh, delay_ms): _full_s(runs[_alone(ssthresh, delay_ms)], DCCP_START_S)
            for ssthresh in SSTHRESH
            for delay_ms in (SHORT_DELAY_MS, LONG_DELAY_MS)
        },
        again_full_s={
            ssthresh: _full_s(runs[_reconnected(ssthresh)], AGAIN_S) for ssthresh in SSTHRESH
        },
        ssthresh_after_timeout=float(outage.filter(read)["ssthresh_packets"][0].as_py()),
    )


def _mean_bps(results: Results, flow: str) -> float:
    """Return the mean throughput of a flow in the period of the paper's Figure 2."""
    rows = results.flows_at(BOTTLENECK, flow)
    later = rows.filter(pc.greater(rows["time_s"], ZIGZAG_FROM_S))
    return float(pc.mean(later["throughput_bps"]).as_py())


def _full_s(results: Results, start_s: float) -> float:
    """Return how long after a start the bottleneck is first full, or the run ends."""
    rows = results.flows_at(BOTTLENECK)
    sums = rows.group_by("time_s").aggregate([("throughput_bps", "sum")])
    after = sums.filter(pc.greater(sums["time_s"], start_s))
    full = after.filter(pc.greater_equal(after["throughput_bps_sum"], FULL_BPS))
    end_s = pc.max(after["time_s"]) if full.num_rows == 0 else pc.min(full["time_s"])
    return float(end_s.as_py()) - start_s
