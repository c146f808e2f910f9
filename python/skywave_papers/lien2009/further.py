"""The runs behind the paper's further claims, other than those of its tables and figures.

- Scenario 1 with other latencies of the bottleneck, and with the rates of Table 1.
- Scenario 2 with all TCPs.
- Two TCP flows without a call.

Settings and seeds are fixed here; the outcomes are stored. ``python -m skywave.papers stored
lien2009`` runs and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from skywave.papers.stages import measure_each
from skywave.report.tables import Table
from skywave.scenario import Link
from skywave.scenario.quantities import Duration, Rate
from skywave_papers.lien2009 import measures, setting
from skywave_papers.lien2009.measures import over_runs
from skywave_papers.lien2009.setting import (
    ACCESS,
    FLAVOURS,
    GAP_S,
    LATENCIES,
    PAPER_RATE,
    RATES,
    SEEDS,
    VOICE_S,
    Conditions,
    Transport,
    scenario,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave.results import Results
    from skywave.scenario import Scenario
    from skywave_papers.lien2009.measures import Floats, Run


@dataclass(frozen=True)
class VariedResult:
    """Scenario 1 under one setting: means over runs, and deviations of single runs.

    Ratio and queuing are means from 10 to 60 s. Queuing is the delay beyond that of the first
    period. Loss is that beside all five flows, from 50 s on.
    """

    tcp: str
    rate: str
    latency: str
    idle_delay_ms: float
    ratio_percent: float
    ratio_sd: float
    queuing_ms: float
    queuing_sd: float
    loss_percent: float
    loss_sd: float


@dataclass(frozen=True)
class TcpFirstResult:
    """The call in scenario 2, over DCCP or UDP: means over runs.

    ``least_percent`` is the share of the generated packets that arrive in the worst period,
    ``arrived_percent`` that over the whole call. ``of_tcp_percent`` is the call's throughput
    relative to that of the first TCP flow.
    """

    tcp: str
    transport: Transport
    arrived_percent: float
    least_percent: float
    of_tcp_percent: float


@dataclass(frozen=True)
class Rivals:
    """Two TCP flows that share the bottleneck: the goodput of the first relative to the second's.

    It is the mean over runs, in percent, with the deviation of single runs.
    """

    pair: str
    goodput_percent: float
    goodput_sd: float


def _runs(conditions: Conditions) -> list[Run]:
    measured = measure_each(
        {seed: scenario(conditions, seed) for seed in SEEDS},
        lambda _, results: measures.from_results(conditions, results),
    )
    return list(measured.values())


def _mean_and_sd(values: Floats) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1))


def varied(conditions: Conditions, runs: Sequence[Run]) -> VariedResult:
    """Return the outcome of scenario 1 under one setting."""
    idle_ms = np.array([run.delay_ms[0] for run in runs])
    delay_ms = np.array([np.nanmean(run.delay_ms[1:]) for run in runs])
    ratio = np.array([run.ratio_percent[1:].mean() for run in runs])
    loss = np.array([run.loss_percent[-1] for run in runs])
    return VariedResult(
        conditions.tcp,
        conditions.rate,
        conditions.latency,
        float(idle_ms.mean()),
        *_mean_and_sd(ratio),
        *_mean_and_sd(delay_ms - idle_ms),
        *_mean_and_sd(loss),
    )


def tcp_first(conditions: Conditions, runs: Sequence[Run]) -> TcpFirstResult:
    """Return the outcome of scenario 2."""
    arrived = 100 * over_runs(runs, "received").mean / runs[0].generated
    return TcpFirstResult(
        conditions.tcp,
        conditions.transport,
        float(arrived.mean()),
        float(arrived.min()),
        of_tcp_percent(runs, slice(*VOICE_S[2])),
    )


def shares_percent(runs: Sequence[Run]) -> list[float]:
    """Return the call's throughput relative to the first TCP flow's, beside one and beside five."""
    return [
        of_tcp_percent(runs, slice(begin_s, begin_s + GAP_S))
        for begin_s in (GAP_S, setting.STREAMS * GAP_S)
    ]


def of_tcp_percent(runs: Sequence[Run], seconds: slice) -> float:
    """Return the call's throughput relative to that of the first TCP flow."""
    voice, tcp = (over_runs(runs, name).mean[seconds] for name in ("voice_kbps", "tcp_kbps"))
    return float(100 * voice.sum() / tcp.sum())


VEGAS_AND_NEWRENO = "Vegas, NewReno"
NEAR_AND_FAR = "NewReno at 140 ms, NewReno at 440 ms"
"""Two flows that differ in their round-trip times without a queue."""
PAIRS = (VEGAS_AND_NEWRENO, NEAR_AND_FAR)


def pair(name: str, seed: int) -> Scenario:
    """Return a run of two TCP flows that start together, without a call."""
    description = scenario(Conditions("NewReno"), seed)
    description.name = f"lien2009-pair-{PAIRS.index(name)}-{seed}"
    newreno = evolve(description.flows[1], start="0 s")
    vegas = evolve(scenario(Conditions("Vegas"), seed).flows[1], start="0 s")
    if name == VEGAS_AND_NEWRENO:
        flows = [vegas, newreno]
    else:
        description.nodes = [*description.nodes, "far"]
        description.links = [
            *description.links,
            Link(from_="far", to="r1", **{**ACCESS, "delay": "160 ms"}),
        ]
        flows = [newreno, evolve(newreno, from_="far")]
    description.flows = [
        evolve(flow, name=f"tcp{number}") for number, flow in enumerate(flows, start=1)
    ]
    return description


def rivals(name: str) -> Rivals:
    """Run a pair of flows with all seeds."""

    def relative(_: int, results: Results) -> float:
        first, second = (flow["delivered_bytes"] for flow in results.totals["flows"])
        return float(100 * first / second)

    found = measure_each({seed: pair(name, seed) for seed in SEEDS}, relative)
    return Rivals(name, *_mean_and_sd(np.array(list(found.values()))))


_STORED = Path(__file__).parent

VARIED = Table(
    _STORED / "varied.csv",
    VariedResult,
    tuple(
        conditions
        for tcp in FLAVOURS
        for conditions in (
            *(Conditions(tcp, latency=latency) for latency in LATENCIES),
            *(Conditions(tcp, rate=rate) for rate in RATES),
        )
    ),
    lambda conditions: varied(conditions, _runs(conditions)),
)
"""Latencies and rates that are not those of the paper's tables."""
TCP_FIRST = Table(
    _STORED / "tcp_first.csv",
    TcpFirstResult,
    tuple(
        Conditions(tcp, transport, scenario=2)
        for tcp in FLAVOURS
        for transport in setting.TRANSPORTS
    ),
    lambda conditions: tcp_first(conditions, _runs(conditions)),
)
RIVALS = Table(_STORED / "rivals.csv", Rivals, PAIRS, rivals)


def of_latency(tcp: str) -> list[VariedResult]:
    """Return the rows beside ``tcp`` with other latencies than the paper's."""
    return VARIED.rows(tcp=tcp, rate=PAPER_RATE)


def with_usual(tcp: str, usual: Sequence[Run]) -> list[VariedResult]:
    """Return all rows beside ``tcp`` and that of the paper's rate and latency, in their order."""
    rows = [varied(Conditions(tcp), usual), *VARIED.rows(tcp=tcp)]
    return sorted(rows, key=lambda row: (Rate(row.rate).bps, Duration(row.latency).seconds))
