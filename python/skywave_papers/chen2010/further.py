"""The runs behind the paper's further claims, other than those of its figures.

- DCCP/VCP under the assumptions of equation 9, with one of its parameters varied: equal round-trip
  times, a buffer that never overflows, no web traffic. Without losses a slow start would never end,
  so the load factor controls cwnd from the start, as in the equation.
- TCP/VCP and DCCP/VCP with equal round-trip times of several lengths, in a buffer that may be full:
  whether the queue settles.
- The network of section 4 without web traffic, or with web traffic that does not use VCP or begins
  in slow start.
- The network of section 4 with half of the flows over TCP/RED, half over DCCP/VCP (section 4.4).

Settings and seeds are fixed here; the outcomes are stored. ``python -m skywave.papers stored
chen2010`` runs and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from attrs import evolve

from skywave import run
from skywave.report.tables import Table
from skywave.results.fairness import jain
from skywave.scenario import Dumbbell, Ftp, Probes, Scenario, SubQueue, VcpRouter, Weighted
from skywave_papers.chen2010 import measures, setting
from skywave_papers.chen2010.analysis import Model
from skywave_papers.chen2010.setting import (
    BOTTLENECK,
    DCCP_B,
    DCCP_VCP,
    HOSTS,
    IP_B,
    STAGGER,
    TCP_RED,
    TCP_VCP,
    UNPUBLISHED,
    WORDS,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from skywave.results import Results
    from skywave.scenario import Dccp, Tcp
    from skywave.scenario.parts import VcpGrowth, VcpStart
    from skywave_papers.chen2010.measures import Run
    from skywave_papers.chen2010.setting import Scheme, Senders

SEEDS = setting.SEEDS[:5]
"""Seeds of all these runs."""

EQUAL_S, SETTLED_S = 60, 20
"""Duration of a run with equal round-trip times, and the time from which on it is measured."""
ENDLESS = 100_000
"""A buffer in packets that never overflows."""
VARIED: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "N": ("flows", (100, 200, 400)),
    "R": ("propagation_s", (0.06, 0.12, 0.24)),
    "C": ("capacity_bps", (22.5e6, 45e6, 90e6)),
    "zeta": ("ack_ratio", (2.0, 4.0, 8.0)),
    "s": ("packet_bits", (512.0 * 8, 1024.0 * 8, 1400.0 * 8)),
    "gamma": ("target", (0.8, 0.9, 0.98)),
}
"""By symbol: the parameter of the model and its values, in ascending order. Each includes that of
section 4."""


def model_with(symbol: str, value: float) -> Model:
    """Return the model of section 4 with one parameter changed."""
    change: dict[str, Any] = {VARIED[symbol][0]: value}
    return replace(Model(), **change)


@dataclass(frozen=True)
class SteadyState:
    """DCCP/VCP under the assumptions of equation 9, in the steady state of one run."""

    symbol: str
    value: float
    seed: int
    rate_kbps: float
    """Mean rate of a flow on the bottleneck, with headers."""
    jain: float
    """Of all flows, over the whole run."""
    utilisation: float


FROM_THE_START = replace(WORDS, start="by-load-factor")
"""Senders that the load factor controls from the start, as the model does."""


def equal(
    model: Model,
    seed: int,
    transport: Tcp | Dccp | None = None,
    buffer: int = ENDLESS,
) -> Scenario:
    """Return a run of the model's flows with equal round-trip times; default: over DCCP/VCP."""
    packet_b = round(model.packet_bits / 8)
    router = VcpRouter(packets=buffer, target_utilisation=model.target)
    description = Scenario(
        name=f"chen2010-equal-{seed}",
        duration=f"{EQUAL_S} s",
        seed=seed,
        dumbbell=Dumbbell(
            pairs=1,
            rate=f"{round(model.capacity_bps)} bps",
            delay="10 ms",
            queue=router,
            access_rate=f"{round(10 * model.capacity_bps)} bps",
            access_delays=(f"{round((model.propagation_s / 2 - 0.01) / 2 * 1e9)} ns",),
        ),
        probes=Probes(interval="1 s", links=(BOTTLENECK,)),
    )
    if transport is None:
        transport = setting.transport_of(
            DCCP_VCP, UNPUBLISHED, FROM_THE_START, ack_ratio=round(model.ack_ratio)
        )
    source = Ftp(datagram=f"{packet_b - IP_B - DCCP_B} B")
    for number in range(1, model.flows + 1):
        description.add_flow(f"flow{number}", "s1", "d1", transport, source, start_jitter=STAGGER)
    return description


def _late(results: Results) -> tuple[pa.Table, float]:
    """Return the samples of the bottleneck from ``SETTLED_S`` on, and its throughput in them."""
    late = results.at_link(BOTTLENECK).filter(pc.field("time_s") > SETTLED_S)
    return late, 8 * pc.sum(late["delivered_bytes"]).as_py() / (EQUAL_S - SETTLED_S)


def settled(given: tuple[str, float, int]) -> SteadyState:
    """Run one value of one parameter with one seed."""
    symbol, value, seed = given
    model = model_with(symbol, value)
    results = run(equal(model, seed))
    _, bps = _late(results)
    return SteadyState(
        symbol,
        value,
        seed,
        rate_kbps=bps / model.flows / 1e3,
        jain=jain(measures.over_the_run_bps(results)),
        utilisation=bps / model.capacity_bps,
    )


BALANCE_BUFFER = 1500
"""A buffer in packets that holds more than all windows while the queue settles."""
BALANCE_RTTS_MS = (60, 100, 140, 180, 220)
DELAYED_ACK = "200 ms"
"""The delay of acknowledgements of TCP, long enough for a second packet."""
GROWTHS: Mapping[VcpGrowth, Senders] = {
    "per-packet": FROM_THE_START,
    "per-ack": replace(FROM_THE_START, vcp_growth="per-ack", delayed_ack=DELAYED_ACK),
}
"""Senders whose additive increase is for each packet, or for two: TCP delays acknowledgements, and
DCCP has an Ack Ratio of 2."""


@dataclass(frozen=True)
class Balance:
    """One run of 200 flows with equal round-trip times, from ``SETTLED_S`` on."""

    scheme: str
    growth: str
    rtt_ms: int
    """Of propagation."""
    seed: int
    queue_packets: float
    drops: int
    utilisation: float


def balance(given: tuple[Scheme, VcpGrowth, int, int]) -> Balance:
    """Run one scheme with one growth, one round-trip time and one seed."""
    scheme, growth, rtt_ms, seed = given
    transport = setting.transport_of(scheme, UNPUBLISHED, GROWTHS[growth])
    model = replace(Model(), propagation_s=rtt_ms / 1e3)
    results = run(equal(model, seed, transport, BALANCE_BUFFER))
    late, bps = _late(results)
    return Balance(
        scheme.name,
        growth,
        rtt_ms,
        seed,
        queue_packets=pc.mean(late["queue_packets"]).as_py(),
        drops=pc.sum(late["drops"]).as_py(),
        utilisation=bps / model.capacity_bps,
    )


WITHOUT_WEB = "without web traffic"
WEB_OVER_TCP = "web traffic over TCP without VCP"
WEB_IN_SLOW_START = "web traffic over TCP/VCP that begins in slow start"
IN_VCPS_QUEUE = "half TCP/RED, half DCCP/VCP, in VCP's queue"
TWO_QUEUES = "half TCP/RED, half DCCP/VCP, in two sub-queues"
MIXED = (IN_VCPS_QUEUE, TWO_QUEUES)


@dataclass(frozen=True)
class ChangedNetwork:
    """One run of the network of section 4 with a change."""

    change: str
    scheme: str
    seed: int
    queue_packets: float
    queue_sd: float
    variation: float
    """Of the rate of Figure 5's flow, as in its averages."""
    late_drop_percent: float
    """Share of the packets after ``LATE_S`` that are dropped."""
    utilisation: float
    of_tcp_percent: float | None
    """Goodput of the flows over DCCP/VCP relative to that of the flows over TCP/RED."""


def changed_scenario(change: str, scheme: Scheme, seed: int) -> Scenario:
    """Return a run of the network of section 4 with a change.

    Where half of the flows are over TCP/RED, web traffic is over TCP without VCP as well.
    """
    if change == WITHOUT_WEB:
        return setting.scenario(scheme, seed, replace(UNPUBLISHED, web_sources=0))
    web: VcpStart | None = "by-slow-start" if change == WEB_IN_SLOW_START else None
    description = setting.scenario(scheme, seed, senders=replace(WORDS, web=web))
    if change in (WEB_OVER_TCP, WEB_IN_SLOW_START):
        return description
    tcp = setting.transport_of(TCP_RED, UNPUBLISHED)
    first = {
        setting.flow_name(subnet, host)
        for subnet in range(setting.SUBNETS)
        for host in range(1, HOSTS // 2 + 1)
    }
    description.flows = [
        evolve(flow, class_=1)
        if flow.name in first
        else flow
        if flow.name.startswith("web")
        else evolve(flow, transport=tcp)
        for flow in description.flows
    ]
    red, vcp = (setting.queue_of(one, UNPUBLISHED) for one in (TCP_RED, DCCP_VCP))
    queue = {
        IN_VCPS_QUEUE: vcp,
        TWO_QUEUES: Weighted(queues=(SubQueue(weight=1, queue=red), SubQueue(weight=1, queue=vcp))),
    }[change]
    if description.dumbbell is None:
        raise ValueError(f"{description.name} has no bottleneck")
    description.dumbbell = evolve(description.dumbbell, queue=queue)
    return description


def of_run(change: str, scheme: Scheme, seed: int, found: Run) -> ChangedNetwork:
    """Return the outcome of a run."""
    series = found.series
    halves = (slice(None, HOSTS // 2), slice(HOSTS // 2, None))
    vcp, tcp = (found.goodput_kbps[:, half].mean() for half in halves)
    return ChangedNetwork(
        change,
        scheme.name,
        seed,
        queue_packets=series.queue_mean,
        queue_sd=series.queue_sd,
        variation=series.shown_variation,
        late_drop_percent=series.late_drop_percent,
        utilisation=found.utilisation,
        of_tcp_percent=float(100 * vcp / tcp) if change in MIXED else None,
    )


def changed(given: tuple[str, Scheme, int]) -> ChangedNetwork:
    """Run the network of section 4 with one change and one seed."""
    change, scheme, seed = given
    results = run(changed_scenario(change, scheme, seed))
    return of_run(change, scheme, seed, measures.from_results(results))


SETTLED = Table(
    Path(__file__).with_name("settled.csv"),
    SteadyState,
    tuple(
        (symbol, value, seed)
        for symbol, (_, values) in VARIED.items()
        for value in values
        for seed in SEEDS
    ),
    settled,
)
CHANGES = (
    *(
        (change, scheme)
        for change in (WITHOUT_WEB, WEB_OVER_TCP, WEB_IN_SLOW_START)
        for scheme in (TCP_VCP, DCCP_VCP)
    ),
    *((change, DCCP_VCP) for change in MIXED),
)
CHANGED = Table(
    Path(__file__).with_name("changed.csv"),
    ChangedNetwork,
    tuple((*change, seed) for change in CHANGES for seed in SEEDS),
    changed,
)

BALANCE = Table(
    Path(__file__).with_name("balance.csv"),
    Balance,
    tuple(
        (scheme, growth, rtt_ms, seed)
        for scheme in (TCP_VCP, DCCP_VCP)
        for growth in GROWTHS
        for rtt_ms in BALANCE_RTTS_MS
        for seed in SEEDS
    ),
    balance,
)
