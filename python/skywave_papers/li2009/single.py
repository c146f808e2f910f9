"""One flow of each kind: when it first responds, which levels it receives, and how it recovers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from skywave.scenario import PacketLoss, Probes, Step, TraceSteps
from skywave_papers.li2009 import setting, stored
from skywave_papers.li2009.measures import vcp_share
from skywave_papers.li2009.setting import DEFAULT, DPCP, PAPER_NETWORK, SCHEMES, TPCP, VCP
from skywave_papers.vcp_scripts import TCP

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from skywave.results import Results
    from skywave.scenario import Scenario
    from skywave_papers.li2009.setting import Scheme

RESPONSES = {
    "3.3/one-round-trip": (DEFAULT, 2),
    "3.3/two-round-trips/2": (stored.WAITS, 2),
    "3.3/two-round-trips/1": (stored.WAITS, 1),
}
"""Choices and initial windows of the flows whose first response is timed, by test."""
LOST = PacketLoss(packets=tuple(range(1000, 1020, 2)))
"""Every other one of twenty packets in a row, so that equal places arrive one after the other."""
RESUMED_FROM_S = 60.0
"""When a sender should have resumed its chains: dozens of round-trip times after the losses."""
SHORTER_MS = 50
"""How much less the delay is each way on the second of two paths."""
SWITCH_EVERY_S = 10
"""The time after which transmission switches from one path to the other."""


def scenarios() -> dict[str, Scenario]:
    """Return the runs, by name."""
    plans = {scheme.name: setting.dumbbell(scheme) for scheme in SCHEMES}
    plans["ten"] = setting.dumbbell(DPCP, replace(PAPER_NETWORK, flows=10))
    one = plans[DPCP.name]
    (flow,), network = one.flows, setting.network_of(one)
    plans["losses"] = one.replace(dumbbell=network.replace(loss=LOST))
    steps = tuple(
        Step(
            at=f"{number * SWITCH_EVERY_S} s",
            delay=f"{network.delay.seconds * 1e3 - SHORTER_MS * (number % 2):g} ms",
        )
        for number in range(1, setting.DUMBBELL_S // SWITCH_EVERY_S)
    )
    switching = network.replace(trace=TraceSteps(steps=steps), overtaking=True)
    plans["paths"] = one.replace(dumbbell=switching)
    plans["plain"] = one.replace(duration="5 s", flows=[flow.replace(transport=TCP)])
    for test, (choices, initial_cwnd) in RESPONSES.items():
        tcp = setting.tcp_of(DPCP, choices).replace(initial_cwnd=initial_cwnd)
        plans[test] = one.replace(duration="5 s", flows=[flow.replace(transport=tcp)])
    probes = Probes(interval="10 ms", links=(setting.BOTTLENECK,), packets=True)
    return {name: plan.replace(probes=probes) for name, plan in plans.items()}


def measure(runs: Mapping[str, Results]) -> dict[str, float]:
    """Return the measures of the runs, by test."""
    levels = {scheme: len(levels_of(runs[scheme.name], scheme)) for scheme in SCHEMES}
    of_ten = len(levels_of(runs["ten"], DPCP))
    recovered = runs["losses"].packets.filter(pc.field("time_s") > RESUMED_FROM_S)
    switched, one_path = (
        runs[name].totals["flows"][0]["delivered_bytes"] for name in ("paths", DPCP.name)
    )
    chained, plain = (pc.max(runs[name].packets["bytes"]).as_py() for name in (DPCP.name, "plain"))
    return {
        "abstract/levels": of_ten,
        "3.1/levels": of_ten,
        **{test: _response_rtts(runs[test]) for test in RESPONSES},
        "3.4/resumes": 100 * vcp_share(recovered),
        "3.4/paths-delivered": switched / one_path,
        "3.4/paths-chains": 100 * vcp_share(runs["paths"].packets),
        "5/feedback": of_ten / levels[VCP],
        "5/finer": levels[TPCP] / levels[DPCP],
        "6/no-larger": chained - plain,
    }


def _segments(results: Results, event: str) -> pa.Table:
    """Return the data segments of the first flow that are sent or received."""
    return results.packets.filter(
        (pc.field("event") == event)
        & (pc.field("kind") == "TCP data")
        & (pc.field("flow") == "ftp1")
    )


def _response_rtts(results: Results) -> float:
    """Return the time from the first segment to the first growth of cwnd, in round-trip times."""
    first_s = pc.min(_segments(results, "send")["time_s"]).as_py()
    flows = results.flows.filter(pc.field("time_s") >= first_s)
    cwnd = flows["cwnd_packets"].to_numpy()
    grown_s = flows["time_s"].to_numpy()[cwnd > cwnd[0]][0]
    return float((grown_s - first_s) / (PAPER_NETWORK.rtt_ms / 1e3))


def levels_of(results: Results, scheme: Scheme) -> set[tuple[int, ...]]:
    """Return the levels that the first flow has in a run without losses: codes of whole chains."""
    codes = iter(_segments(results, "receive")["ecn"].to_pylist())
    return set(zip(*[codes] * scheme.packets, strict=False))
