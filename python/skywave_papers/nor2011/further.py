"""Runs for claims that neither experiment tests. ns-2 does not repeat them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from skywave.scenario import Dccp, Step, TraceSteps, Udp
from skywave_papers.nor2011 import setting
from skywave_papers.nor2011.measures import FULL_BPS, LINK_BPS, ZIGZAG_FROM_S
from skywave_papers.nor2011.setting import DCCP_START_S, Conditions, cbr, dccp, network, tcp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.results import Results
    from skywave.scenario import Scenario
    from skywave_papers.nor2011.measures import Series

SSTHRESH = (20, 200)
"""The normal and the proposed initial ssthresh, in packets."""
DELAYS_MS = (10, 300)
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
    down_s, up_s = OUTAGE_S
    steps = (Step(at=f"{down_s:g} s", rate="0 bps"), Step(at=f"{up_s:g} s", rate="2 Mbps"))
    outage, proposed = TraceSteps(steps=steps), dccp(Conditions(SSTHRESH[1]))
    plans = {
        "udp": network("udp", 1000, cbr("cbr", Udp()), tcp()),
        "tfrc": network("tfrc", 1000, cbr("cbr", Dccp(ccid=3, profile="ns2")), tcp()),
        "outage": network("outage", 200, cbr("cbr", proposed), tcp(), trace=outage),
    }
    for ssthresh in SSTHRESH:
        transport = dccp(Conditions(ssthresh))
        for delay_ms in DELAYS_MS:
            name = f"alone-ssthresh{ssthresh}-delay{delay_ms}"
            plans[name] = network(name, 200, cbr("dccp", transport), delay_ms=delay_ms)
        name = f"reconnected-ssthresh{ssthresh}"
        first = cbr("first", transport).replace(stop=f"{CLOSED_S:g} s")
        plans[name] = network(name, 300, first, cbr("again", transport, AGAIN_S), tcp())
    return plans


def measure(runs: Mapping[str, Results], first: Series) -> dict[str, float]:
    """Return the measures of these runs, by test; ``first`` is experiment 1."""
    alone = {
        (ssthresh, delay_ms): full_after_s(runs[f"alone-ssthresh{ssthresh}-delay{delay_ms}"])
        for ssthresh in SSTHRESH
        for delay_ms in DELAYS_MS
    }
    again = [full_after_s(runs[f"reconnected-ssthresh{one}"], AGAIN_S) for one in SSTHRESH]
    short, long = (alone[20, delay_ms] - alone[200, delay_ms] for delay_ms in DELAYS_MS)
    rows = runs["outage"].flows
    after = (pc.field("flow") == "cbr") & (pc.field("time_s") == AFTER_TIMEOUT_S)
    return {
        "claim/udp-takes-all": 100 * _mean_bps(runs["udp"], "cbr") / LINK_BPS,
        "claim/no-monopoly": (first.sharing_bps()[1] - _mean_bps(runs["udp"], "tcp")) / 1e6,
        "claim/tfrc-later": full_after_s(runs["tfrc"]) - ((first.full_s() or 1000) - DCCP_START_S),
        "claim/long-delay-later": alone[20, DELAYS_MS[1]] - alone[20, DELAYS_MS[0]],
        "claim/long-delay-matters": long - short,
        "claim/new-connection": again[0] - again[1],
        "claim/after-timeout": rows.filter(after)["ssthresh_packets"][0].as_py(),
    }


def _mean_bps(results: Results, flow: str) -> float:
    """Return the mean throughput of a flow in the period of the paper's Figure 2."""
    later = results.flows_at(setting.BOTTLENECK, flow).filter(pc.field("time_s") > ZIGZAG_FROM_S)
    return float(pc.mean(later["throughput_bps"]).as_py())


def full_after_s(results: Results, start_s: float = DCCP_START_S) -> float:
    """Return how long after a start the bottleneck is first full, or the run ends."""
    rows = results.flows_at(setting.BOTTLENECK).filter(pc.field("time_s") > start_s)
    sums = rows.group_by("time_s").aggregate([("throughput_bps", "sum")])
    full = sums.filter(pc.field("throughput_bps_sum") >= FULL_BPS)
    end_s = pc.min(full["time_s"]) if full.num_rows else pc.max(sums["time_s"])
    return float(end_s.as_py()) - start_s
