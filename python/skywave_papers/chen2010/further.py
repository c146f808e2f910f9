"""The runs behind the paper's further claims, other than those of its figures.

- ``EQUAL``, of flows with equal round-trip times, without web traffic: DCCP/VCP under the
  assumptions of equation 9, with one of its parameters varied, in a buffer that never overflows;
  and whether the queue settles with TCP/VCP and DCCP/VCP over round-trip times of several lengths,
  in a buffer that may be full. Without losses a slow start would never end, so the load factor
  controls cwnd from the start, as in the equation.
- ``CHANGED``: the network of section 4 without web traffic, with web traffic that does not use VCP
  or begins in slow start, or with half of the flows over TCP/RED, half over DCCP/VCP (section 4.4).

Settings and seeds are fixed here; the outcomes are stored. ``python -m skywave.papers stored
chen2010`` runs and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skywave import run
from skywave.report.tables import Table
from skywave.results.fairness import jain
from skywave.results.samples import Samples
from skywave.scenario import Ftp, Probes, Scenario, SubQueue, VcpRouter, Weighted
from skywave.scenario.topologies import dumbbell
from skywave_papers.chen2010 import measures, setting
from skywave_papers.chen2010.analysis import Model
from skywave_papers.chen2010.setting import BOTTLENECK, DCCP_VCP, HOSTS, TCP_RED, TCP_VCP, WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave_papers.chen2010.setting import Scheme, Senders

SEEDS = setting.SEEDS[:5]
"""Seeds of all these runs."""

EQUAL_S, SETTLED_S = 60, 20
"""Duration of a run with equal round-trip times, and the time from which on it is measured."""
ENDLESS = 100_000
"""A buffer in packets that never overflows."""
BALANCE_BUFFER = 1500
"""A buffer in packets that holds more than all windows while the queue settles."""
BALANCE_RTTS_S = (0.06, 0.1, 0.14, 0.18, 0.22)
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


FROM_THE_START = replace(WORDS, start="by-load-factor")
GROWTHS: Mapping[str, Senders] = {
    "per-packet": FROM_THE_START,
    "per-ack": replace(FROM_THE_START, vcp_growth="per-ack", delayed_ack="200 ms"),
}
"""Senders that the load factor controls from the start, as in the model, and whose additive
increase is for each packet, or for two: TCP delays acknowledgements, long enough for a second
packet, and DCCP has an Ack Ratio of 2."""


def equal(
    scheme: Scheme, growth: str, buffer: int, symbol: str, value: float, seed: int
) -> Scenario:
    """Return a run of the flows of ``model_with(symbol, value)``, with equal round-trip times."""
    model = model_with(symbol, value)
    description = dumbbell(
        f"chen2010-equal-{seed}",
        duration=f"{EQUAL_S} s",
        seed=seed,
        rate=f"{round(model.capacity_bps)} bps",
        delay=f"{setting.BOTTLENECK_DELAY_MS:g} ms",
        queue=VcpRouter(packets=buffer, target_utilisation=model.target),
        access_rate=f"{round(10 * model.capacity_bps)} bps",
        access_delays=[setting.access_delay(1e3 * model.propagation_s)],
        probes=Probes(interval="1 s", links=(BOTTLENECK,)),
    )
    ack_ratio = round(model.ack_ratio)
    transport = setting.transport_of(scheme, senders=GROWTHS[growth], ack_ratio=ack_ratio)
    source = Ftp(datagram=f"{round(model.packet_bits / 8) - setting.IP_B - setting.DCCP_B} B")
    for number in range(1, model.flows + 1):
        name = f"flow{number}"
        description.add_flow(name, "s1", "d1", transport, source, start_jitter=setting.STAGGER)
    return description


@dataclass(frozen=True)
class Equal:
    """One run of flows with equal round-trip times, from ``SETTLED_S`` on."""

    scheme: str
    growth: str
    buffer: int
    symbol: str
    value: float
    seed: int
    queue_packets: float
    drops: int
    rate_kbps: float
    """Mean rate of a flow on the bottleneck, with headers."""
    jain: float
    """Of all flows, over the whole run."""
    utilisation: float


def run_equal(given: tuple[Scheme, str, int, str, float, int]) -> Equal:
    """Run one such scenario."""
    scheme, _, _, symbol, value, _ = given
    model = model_with(symbol, value)
    results = run(equal(*given))
    late = Samples(results.at_link(BOTTLENECK)).after(SETTLED_S)
    bps = float(8 * late["delivered_bytes"].sum() / (EQUAL_S - SETTLED_S))
    return Equal(
        scheme.name,
        *given[1:],
        queue_packets=float(late["queue_packets"].mean()),
        drops=int(late["drops"].sum()),
        rate_kbps=bps / model.flows / 1e3,
        jain=jain(measures.goodput_kbps(results, "flow")),
        utilisation=bps / model.capacity_bps,
    )


VCP = (TCP_VCP, DCCP_VCP)
EQUAL = Table(
    Path(__file__).with_name("equal.csv"),
    Equal,
    [
        *(
            (DCCP_VCP, "per-packet", ENDLESS, symbol, value, seed)
            for symbol, (_, values) in VARIED.items()
            for value, seed in product(values, SEEDS)
        ),
        *product(VCP, GROWTHS, (BALANCE_BUFFER,), ("R",), BALANCE_RTTS_S, SEEDS),
    ],
    run_equal,
)


def settled(symbol: str, value: float) -> list[Equal]:
    """Return the runs under the assumptions of equation 9 with one value of one parameter."""
    return EQUAL.rows(buffer=ENDLESS, symbol=symbol, value=value)


WITHOUT_WEB = "without web traffic"
WEB_OVER_TCP = "web traffic over TCP without VCP"
WEB_IN_SLOW_START = "web traffic over TCP/VCP that begins in slow start"
IN_VCPS_QUEUE = "half TCP/RED, half DCCP/VCP, in VCP's queue"
TWO_QUEUES = "half TCP/RED, half DCCP/VCP, in two sub-queues"
MIXED = (IN_VCPS_QUEUE, TWO_QUEUES)
CHANGES = (
    *product((WITHOUT_WEB, WEB_OVER_TCP, WEB_IN_SLOW_START), VCP),
    *product(MIXED, (DCCP_VCP,)),
)


@dataclass(frozen=True)
class ChangedNetwork:
    """One run of the network of section 4 with a change; measures are those of ``Run``."""

    change: str
    scheme: str
    seed: int
    queue_mean: float
    queue_sd: float
    shown_variation: float
    late_drop_percent: float
    utilisation: float
    of_tcp_percent: float | None
    """Goodput of the flows over DCCP/VCP relative to that of the flows over TCP/RED."""


def changed_scenario(change: str, scheme: Scheme, seed: int) -> Scenario:
    """Return a run of the network of section 4 with a change.

    Where half of the flows are over TCP/RED, web traffic is over TCP without VCP as well.
    """
    unpublished = setting.UNPUBLISHED
    if change == WITHOUT_WEB:
        unpublished = replace(unpublished, web_sources=0)
    senders = replace(WORDS, web="by-slow-start" if change == WEB_IN_SLOW_START else None)
    red, vcp = (SubQueue(weight=1, queue=setting.queue_of(one)) for one in (TCP_RED, scheme))
    queue = Weighted(queues=(red, vcp)) if change == TWO_QUEUES else None
    description = setting.scenario(scheme, seed, unpublished, senders=senders, queue=queue)
    if change in MIXED:
        tcp = setting.transport_of(TCP_RED)
        for number, flow in enumerate(description.flows[: setting.SUBNETS * HOSTS]):
            of_vcp = number % HOSTS < HOSTS // 2
            half = flow.replace(class_=1) if of_vcp else flow.replace(transport=tcp)
            description.flows[number] = half
    return description


def changed(given: tuple[str, Scheme, int]) -> ChangedNetwork:
    """Run the network of section 4 with one change and one seed."""
    change, scheme, seed = given
    found = measures.from_results(run(changed_scenario(*given)))
    vcp, tcp = (half.mean() for half in np.hsplit(found.goodput_kbps, 2))
    return ChangedNetwork(
        change,
        scheme.name,
        seed,
        queue_mean=found.queue_mean,
        queue_sd=found.queue_sd,
        shown_variation=found.shown_variation,
        late_drop_percent=found.late_drop_percent,
        utilisation=found.utilisation,
        of_tcp_percent=float(100 * vcp / tcp) if change in MIXED else None,
    )


CHANGED = Table(
    Path(__file__).with_name("changed.csv"),
    ChangedNetwork,
    [(*change, seed) for change, seed in product(CHANGES, SEEDS)],
    changed,
)
