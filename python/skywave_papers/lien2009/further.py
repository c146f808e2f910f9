"""Runs whose outcomes are stored: ``python -m skywave.papers stored lien2009`` makes them.

- Scenario 1 with other latencies of the bottleneck, and with the rates of Table 1.
- Scenario 2 with all TCPs.
- Two TCP flows without a call.
- The call alone, with several send queues.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from skywave import run, run_many
from skywave.report.tables import Table
from skywave.results.samples import Samples
from skywave.scenario import Link
from skywave.scenario.quantities import Duration, Rate
from skywave_papers.lien2009 import setting
from skywave_papers.lien2009.measures import Floats, Run, from_results, over_runs
from skywave_papers.lien2009.setting import FLAVOURS, GAP_S, SEEDS, Conditions, scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave.scenario import Scenario

_STORED = Path(__file__).parent


def runs(conditions: Conditions, seeds: Sequence[int] = SEEDS) -> list[Run]:
    """Run one setting with each of the seeds."""
    results = run_many([scenario(conditions, seed) for seed in seeds])
    return [from_results(conditions, one) for one in results]


def _mean_and_sd(values: Sequence[float] | Floats) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1))


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


def varied(conditions: Conditions, runs: Sequence[Run]) -> VariedResult:
    """Return the outcome of scenario 1 under one setting."""
    idle_ms = np.array([run.delay_ms[0] for run in runs])
    delay_ms = np.array([np.nanmean(run.delay_ms[1:]) for run in runs])
    return VariedResult(
        conditions.tcp,
        conditions.rate,
        conditions.latency,
        float(idle_ms.mean()),
        *_mean_and_sd([run.ratio_percent[1:].mean() for run in runs]),
        *_mean_and_sd(delay_ms - idle_ms),
        *_mean_and_sd([run.loss_percent[-1] for run in runs]),
    )


VARIED = Table(
    _STORED / "varied.csv",
    VariedResult,
    [
        conditions
        for tcp in FLAVOURS
        for conditions in (
            *(Conditions(tcp, latency=one) for one in ("10 ms", "25 ms", "100 ms", "200 ms")),
            *(Conditions(tcp, rate=one) for one in ("1.5 Mbps", "5 Mbps", "10 Mbps")),
        )
    ],
    lambda conditions: varied(conditions, runs(conditions)),
)
"""Latencies shorter and longer than the paper's, and rates from its Table 1's range."""


def of_latency(tcp: str) -> list[VariedResult]:
    """Return the rows beside ``tcp`` with other latencies than the paper's."""
    return VARIED.rows(tcp=tcp, rate=setting.PAPER_RATE)


def with_usual(tcp: str, usual: Sequence[Run]) -> list[VariedResult]:
    """Return all rows beside ``tcp`` and that of the paper's rate and latency, in their order."""
    rows = [varied(Conditions(tcp), usual), *VARIED.rows(tcp=tcp)]
    return sorted(rows, key=lambda row: (Rate(row.rate).bps, Duration(row.latency).seconds))


@dataclass(frozen=True)
class TcpFirstResult:
    """The call in scenario 2, over DCCP or UDP: means over runs.

    ``arrived_percent`` is the share of the generated packets that arrive, ``least_percent`` that
    in the worst period. ``of_tcp_percent`` is the call's throughput relative to that of the first
    TCP flow.
    """

    tcp: str
    transport: setting.Transport
    arrived_percent: float
    least_percent: float
    of_tcp_percent: float


def _tcp_first(conditions: Conditions) -> TcpFirstResult:
    found = runs(conditions)
    arrived = 100 * over_runs(found, "received").mean / found[0].generated
    return TcpFirstResult(
        conditions.tcp,
        conditions.transport,
        float(arrived.mean()),
        float(arrived.min()),
        of_tcp_percent(found, slice(*setting.VOICE_S[2])),
    )


TCP_FIRST = Table(
    _STORED / "tcp_first.csv",
    TcpFirstResult,
    [
        Conditions(tcp, transport, scenario=2)
        for tcp in FLAVOURS
        for transport in setting.TRANSPORTS
    ],
    _tcp_first,
)


def shares_percent(runs: Sequence[Run]) -> list[float]:
    """Return the call's throughput relative to the first TCP flow's, beside one and beside five."""
    return [
        of_tcp_percent(runs, slice(at_s, at_s + GAP_S)) for at_s in (GAP_S, setting.STREAMS * GAP_S)
    ]


def of_tcp_percent(runs: Sequence[Run], seconds: slice) -> float:
    """Return the call's throughput relative to that of the first TCP flow."""
    voice, tcp = (over_runs(runs, name).mean[seconds] for name in ("voice_kbps", "tcp_kbps"))
    return float(100 * voice.sum() / tcp.sum())


VEGAS_AND_NEWRENO = "Vegas, NewReno"
NEAR_AND_FAR = "NewReno at 140 ms, NewReno at 440 ms"
"""Two flows that differ in their round-trip times without a queue."""
PAIRS = (VEGAS_AND_NEWRENO, NEAR_AND_FAR)


@dataclass(frozen=True)
class Rivals:
    """Two TCP flows that share the bottleneck: the goodput of the first relative to the second's.

    It is the mean over runs, in percent.
    """

    pair: str
    goodput_percent: float


def pair(name: str, seed: int) -> Scenario:
    """Return a run of two TCP flows that start together, without a call."""
    first = scenario(Conditions("Vegas" if name == VEGAS_AND_NEWRENO else "NewReno"), seed)
    description = scenario(Conditions("NewReno"), seed)
    near, other = first.flows[1], description.flows[1]
    if name == NEAR_AND_FAR:
        description.nodes.append("far")
        description.links.append(
            Link(from_="far", to="r1", **{**setting.ACCESS, "delay": "160 ms"})
        )
        other = other.replace(from_="far")
    return description.replace(
        name=f"lien2009-pair-{PAIRS.index(name)}-{seed}",
        flows=[near.replace(start="0 s"), other.replace(name="tcp2", start="0 s")],
    )


def _rivals(name: str) -> Rivals:
    percent = []
    for results in run_many([pair(name, seed) for seed in SEEDS]):
        first, second = (flow["delivered_bytes"] for flow in results.totals["flows"])
        percent.append(100 * first / second)
    return Rivals(name, float(np.mean(percent)))


RIVALS = Table(_STORED / "rivals.csv", Rivals, PAIRS, _rivals)


@dataclass(frozen=True)
class Start:
    """The call's first 10 s with one send queue, in packets.

    Some of those ``sent`` leave after 10 s, from the send queue; ``received`` counts up to then.
    """

    send_queue: int
    sent: int
    received: int
    lost: int
    delay_ms: float


def start(send_queue: int) -> Start:
    """Run the call alone. Nothing of it is random."""
    description = scenario(Conditions("NewReno", send_queue=send_queue), min(SEEDS))
    # Frames are judged when they are due, some time after they were made.
    results = run(
        description.replace(
            flows=[description.flows[0].replace(stop=f"{GAP_S} s")], duration=f"{GAP_S + 2} s"
        )
    )
    of_call = pc.field("flow") == setting.VOICE
    frames = Samples(results.voice.filter(of_call))
    seconds = Samples(results.flows.filter(of_call & (pc.field("time_s") <= GAP_S)))
    received, delays_s = seconds["delivered_packets"], seconds["delay_mean_s"]
    some = received > 0
    return Start(
        send_queue,
        sent=int(frames["sent"].sum()),
        received=int(received.sum()),
        lost=int(frames["lost"].sum()),
        delay_ms=1e3 * float((delays_s[some] * received[some]).sum() / received.sum()),
    )


STARTS = Table(
    _STORED / "send_queue.csv",
    Start,
    (1, *range(10, 80, 10), *range(80, 101), 200, setting.NS2_SEND_QUEUE),
    start,
)
"""The search for the send queue of DCCP, which the paper does not give.

Its tables give the call's packets in the first period away (``ledger``), and say that none is lost.
The longest queue that loses none comes nearest to these counts. No value of a later period is
looked at.
"""
