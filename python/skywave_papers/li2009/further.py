"""The runs behind the paper's further claims, other than those of its figures.

- Dumbbells as in Xia et al. 2005, the paper's reference [18], and over the paper's target range.
- VCP's parking lot with short delays.
- One flow of each kind: when it first responds, what it is told, and how it recovers.

Settings and seeds are fixed here. The outcomes of the first two are stored; ``python -m
skywave.papers stored li2009`` runs and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc
from attrs import evolve

from skywave import run
from skywave.papers.measures import mean
from skywave.papers.stages import run_each
from skywave.report.tables import Table
from skywave.scenario import Ftp, PacketLoss, Probes, Step, TraceSteps
from skywave.scenario.quantities import Duration
from skywave_papers.li2009 import dumbbell, lossy, parking, setting
from skywave_papers.li2009.setting import (
    BOTTLENECK,
    DEFAULT,
    DPCP,
    DUMBBELL_S,
    LOT_S,
    LOT_SEEDS,
    PAPER_NETWORK,
    READINGS,
    SCHEMES,
    STEADY_FROM_S,
    VCP,
    Network,
    Reading,
    Scheme,
)
from skywave_papers.vcp_scripts import START_JITTER, TCP, buffer_packets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.results import Results
    from skywave.scenario import Scenario

SWEEP_SEEDS = (1, 2, 3)

LIKE_XIA = Network(mbps=45, rtt_ms=80, flows=50)
"""The base of the networks like those of Xia et al., from which one value at a time is varied."""
GROUPS: dict[str, tuple[Network, ...]] = {
    "as in [18]": (
        LIKE_XIA,
        *(replace(LIKE_XIA, mbps=mbps) for mbps in (5.0, 10.0, 20.0)),
        *(replace(LIKE_XIA, rtt_ms=rtt_ms) for rtt_ms in (20, 200, 500, 1000)),
        *(replace(LIKE_XIA, flows=flows) for flows in (1, 10, 200)),
    ),
    "target range": (
        PAPER_NETWORK,
        *(replace(PAPER_NETWORK, mbps=mbps) for mbps in (2.0, 10.0)),
        *(replace(PAPER_NETWORK, rtt_ms=rtt_ms) for rtt_ms in (200, 1000)),
        *(replace(PAPER_NETWORK, flows=flows) for flows in (2, 5, 10)),
    ),
}
"""Networks by their origin: [18], or the paper's target of 2 to 10 Mbps and 200 to 1000 ms."""
SweepKey = tuple[str, Network, Scheme]
SWEEP_KEYS: tuple[SweepKey, ...] = tuple(
    (group, network, scheme)
    for group, networks in GROUPS.items()
    for network in networks
    for scheme in SCHEMES
)


@dataclass(frozen=True)
class NetworkResult:
    """A dumbbell's outcome: means over seeds.

    ``transition_s`` is that of Figure 3. ``queue_percent`` is relative to the buffer, and
    ``loss_percent`` counts drops among arrivals. Both are measured in the steady state, as is the
    utilisation.
    """

    group: str
    mbps: float
    rtt_ms: int
    flows: int
    scheme: str
    transition_s: float
    utilisation_percent: float
    queue_percent: float
    loss_percent: float


def sweep(key: SweepKey) -> NetworkResult:
    """Run a dumbbell with all seeds and return its outcome."""
    group, network, scheme = key
    runs = run_each({seed: setting.dumbbell(scheme, network, seed=seed) for seed in SWEEP_SEEDS})
    courses = [dumbbell.course(results, network) for results in runs.values()]
    buffer = buffer_packets(network.mbps, network.rtt_ms, network.flows)

    return NetworkResult(
        group,
        network.mbps,
        network.rtt_ms,
        network.flows,
        scheme.name,
        mean(courses, lambda course: course.transition_s or float(DUMBBELL_S)),
        mean(courses, "steady_utilisation_percent"),
        mean(courses, lambda course: 100 * course.queue_mean / buffer),
        mean(runs.values(), _loss_percent),
    )


def _loss_percent(results: Results) -> float:
    steady = results.links.filter(pc.field("time_s") > STEADY_FROM_S)
    drops, arrivals = (pc.sum(steady[name]).as_py() for name in ("drops", "arrivals"))
    return float(100 * drops / max(arrivals, 1))


SHORT_HOP_MS = 25
"""One-way delay of the parking lot's links, a tenth of the paper's."""
ShortKey = tuple[Reading, int]


@dataclass(frozen=True)
class ShortLot:
    """VCP's parking lot with short delays: Local over Long on L0, as in Figure 2a."""

    reading: str
    seed: int
    l0_local_over_long: float


def short_lot(key: ShortKey) -> ShortLot:
    """Run VCP's parking lot with short delays."""
    reading, seed = key
    results = run(setting.lot(VCP, reading, seed=seed, hop_ms=SHORT_HOP_MS))
    split = parking.series(results, "L0").split((parking.WARM_S, LOT_S))
    ratio = split.local_over_long
    return ShortLot(reading.name, seed, float("nan") if ratio is None else ratio)


_STORED = Path(__file__).parent

SWEEP = Table(_STORED / "sweep.csv", NetworkResult, SWEEP_KEYS, sweep)
"""The stored dumbbells."""
SHORT = Table(
    _STORED / "short.csv",
    ShortLot,
    tuple((reading, seed) for reading in READINGS for seed in LOT_SEEDS),
    short_lot,
)
"""The stored parking lots with short delays."""


# One flow each.

RESPONSE_SAMPLE_S = 0.01
ONE_RTT_S = PAPER_NETWORK.rtt_ms / 1e3
LOST = PacketLoss(packets=tuple(range(1000, 1020, 2)))
"""Every other one of twenty packets in a row, so that equal places arrive one after the other."""
RESUMED_FROM_S = 60.0
"""When a sender should have resumed its chains: dozens of round-trip times after the losses."""
RESPONSES = {
    "at once": (DEFAULT, 2),
    "when complete": (replace(DEFAULT, acts="when-complete"), 2),
    "when complete, one packet": (replace(DEFAULT, acts="when-complete"), 1),
}
"""Choices and initial windows of the flows whose first response is timed."""


PATHS_MS = (250, 200)
"""One-way delays of the two paths between which transmission switches."""
SWITCH_EVERY_S = 10


def _two_paths() -> Scenario:
    """Return the dumbbell with a bottleneck that switches between two paths."""
    scenario = _with_packets(setting.dumbbell(DPCP))
    bottleneck = scenario.dumbbell
    assert bottleneck is not None  # noqa: S101  (it is a dumbbell)
    steps = tuple(
        Step(
            at=f"{number * SWITCH_EVERY_S} s",
            delay=f"{PATHS_MS[number % 2] - PATHS_MS[0] + bottleneck.delay.seconds * 1e3:g} ms",
        )
        for number in range(1, DUMBBELL_S // SWITCH_EVERY_S)
    )
    scenario.dumbbell = evolve(bottleneck, trace=TraceSteps(steps=steps), overtaking=True)
    return scenario


def scenarios() -> dict[str, Scenario]:
    """Return the runs of one flow each, by name."""
    plans = {}
    for name, (choices, initial_cwnd) in RESPONSES.items():
        plans[name] = evolve(
            setting.dumbbell(DPCP, choices=choices),
            name=f"li2009-response-{name}".replace(" ", "-").replace(",", ""),
            duration="5 s",
            probes=Probes(interval=f"{RESPONSE_SAMPLE_S * 1e3:g} ms", links=(), packets=True),
        )
        (flow,) = plans[name].flows
        tcp = evolve(setting.tcp_of(DPCP, choices), initial_cwnd=initial_cwnd)
        plans[name].flows = [evolve(flow, transport=tcp)]
    for scheme in SCHEMES:
        plans[scheme.name] = _with_packets(setting.dumbbell(scheme))
    plans["ten"] = _with_packets(setting.dumbbell(DPCP, replace(PAPER_NETWORK, flows=10)))
    plans["losses"] = _with_packets(setting.dumbbell(DPCP))
    plans["paths"] = _two_paths()
    network = plans["losses"].dumbbell
    assert network is not None  # noqa: S101  (it is a dumbbell)
    plans["losses"].dumbbell = evolve(network, loss=LOST)
    plain = setting.dumbbell(DPCP)
    plain.flows = []
    plain.add_flow("ftp1", "s1", "d1", TCP, Ftp(), start_jitter=START_JITTER)
    plain.duration = Duration("5 s")
    plans["plain"] = _with_packets(plain)
    return plans


def _with_packets(scenario: Scenario) -> Scenario:
    return evolve(scenario, probes=Probes(interval="1 s", links=(BOTTLENECK,), packets=True))


@dataclass(frozen=True)
class Single:
    """What is measured of one flow each.

    ``response_rtts`` is the time from the first segment to the first growth of cwnd, in round-trip
    times. ``levels`` counts the different levels that arrive, ``levels_of_ten`` those that the
    first of ten flows of DPCP has. ``vcp_shares`` are the shares of segments in VCP's mode: over
    the whole run with losses, and after its recovery. ``paths_delivered`` is what arrives while
    transmission switches paths, over what arrives on one path, and ``paths_vcp_share`` the share of
    its segments in VCP's mode. ``added_bytes`` is what DPCP's largest packet has more than plain
    TCP's.
    """

    response_rtts: Mapping[str, float]
    levels: Mapping[Scheme, int]
    levels_of_ten: int
    vcp_shares: tuple[float, float]
    paths_delivered: float
    paths_vcp_share: float
    added_bytes: int


def measure(runs: Mapping[str, Results]) -> Single:
    """Measure the runs of one flow each."""
    lossy_packets = runs["losses"].tables["packets"]
    recovered = lossy_packets.filter(pc.field("time_s") > RESUMED_FROM_S)
    return Single(
        response_rtts={name: _response_rtts(runs[name]) for name in RESPONSES},
        levels={scheme: len(levels(runs[scheme.name], scheme)) for scheme in SCHEMES},
        levels_of_ten=len(levels(runs["ten"], DPCP)),
        vcp_shares=(lossy.vcp_share(lossy_packets), lossy.vcp_share(recovered)),
        paths_delivered=_delivered(runs["paths"]) / _delivered(runs[DPCP.name]),
        paths_vcp_share=lossy.vcp_share(runs["paths"].tables["packets"]),
        added_bytes=_largest(runs[DPCP.name]) - _largest(runs["plain"]),
    )


def _delivered(results: Results) -> int:
    (flow,) = results.totals["flows"]
    return int(flow["delivered_bytes"])


def _response_rtts(results: Results) -> float:
    packets = results.tables["packets"]
    data = packets.filter((pc.field("event") == "send") & (pc.field("kind") == "TCP data"))
    first_s = float(pc.min(data["time_s"]).as_py())
    flows = results.flows.filter(pc.field("time_s") >= first_s)
    cwnd = flows["cwnd_packets"].to_numpy()
    grown = flows["time_s"].to_numpy()[cwnd > cwnd[0]]
    return float((grown[0] - first_s) / ONE_RTT_S)


def levels(results: Results, scheme: Scheme) -> set[tuple[int, ...]]:
    """Return the levels that arrive in a run without losses: the codes of whole chains."""
    packets = results.tables["packets"]
    data = packets.filter(
        (pc.field("event") == "receive")
        & (pc.field("kind") == "TCP data")
        & (pc.field("flow") == "ftp1")
    )
    codes = data["ecn"].to_pylist()
    return set(
        zip(*(codes[place :: scheme.packets] for place in range(scheme.packets)), strict=False)
    )


def _largest(results: Results) -> int:
    return int(pc.max(results.tables["packets"]["bytes"]).as_py())


def short_ratio(reading: Reading) -> float:
    """Return Local over Long with short delays: the mean over seeds."""
    return mean(SHORT.rows(reading=reading.name), "l0_local_over_long")
