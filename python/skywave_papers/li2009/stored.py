"""Runs that take minutes, and so are stored.

- Parking lots with more seeds, and parking lots and dumbbells with variants of what the paper
  leaves open, one at a time.
- Dumbbells as in Xia et al. 2005, the paper's reference [18], and over the paper's target range.
- VCP's parking lot with short delays.

``python -m skywave.papers stored li2009`` runs and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from skywave import run
from skywave.papers.measures import mean
from skywave.papers.stages import run_each
from skywave.report.tables import Table
from skywave_papers.li2009 import measures, setting
from skywave_papers.li2009.setting import DEFAULT, FLOWS, SCHEMES, Choices, Network, Reading, Scheme
from skywave_papers.vcp_scripts import buffer_packets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.results import Results

_STORED = Path(__file__).parent

LIMITS = replace(DEFAULT, limits=True)
WAITS = replace(DEFAULT, acts="when-complete")
SLOW_ROUTERS = replace(DEFAULT, interval_ms=500, senders_interval_ms=DEFAULT.interval_ms)
SLOW_SENDERS = replace(DEFAULT, senders_interval_ms=500)
AT_ONCE = replace(DEFAULT, after_decrease="ignores-overload")
"""Senders that wait for t_rho after a decrease, and not for a round-trip time."""
HALVES = replace(DEFAULT, on_loss="halves")
SAMPLES = replace(DEFAULT, average="samples")
INTERVALS = tuple(replace(DEFAULT, interval_ms=ms) for ms in (500, 1000, 2000))
"""Values of t_rho other than VCP's 200 ms, up to the round-trip time of Long."""
SLOW = INTERVALS[0]
CHOICES: dict[Scheme, tuple[Choices, ...]] = {
    setting.VCP: (DEFAULT, AT_ONCE, SAMPLES, *INTERVALS),
    setting.DPCP: (
        *(DEFAULT, AT_ONCE, HALVES, SAMPLES, LIMITS, WAITS),
        *(SLOW_ROUTERS, SLOW_SENDERS, *INTERVALS),
    ),
    setting.TPCP: (DEFAULT, *INTERVALS),
}
"""The variants of each protocol, after the default."""

LotKey = tuple[Scheme, Reading, Choices, int]
LOT_KEYS: tuple[LotKey, ...] = (
    *(
        (scheme, reading, choices, setting.LOT_SEED)
        for reading in setting.READINGS
        for scheme in SCHEMES
        for choices in CHOICES[scheme]
    ),
    *(
        (scheme, reading, DEFAULT, seed)
        for reading in setting.READINGS
        for scheme in SCHEMES
        for seed in setting.LOT_SEEDS[1:]
    ),
)


@dataclass(frozen=True)
class Lot:
    """The outcome of a parking lot, before and after L2's Local starts, in percent.

    ``l0_local_over_long`` is a ratio, of both periods and the time between them.
    """

    scheme: str
    reading: str
    choices: str
    seed: int
    l0_local_over_long: float
    l0_long_before: float
    l0_long_after: float
    l2_long_of_link_before: float
    l2_long_of_link_after: float
    l2_long_after: float
    l0_utilisation_after: float
    l2_utilisation_after: float


def lot_outcome(key: LotKey, links: Mapping[str, measures.LinkSeries]) -> Lot:
    """Return the outcome of a parking lot from the series of its links."""
    scheme, reading, choices, seed = key
    (l0_before, l0_after), (l2_before, l2_after) = (
        map(links[link].split, measures.PERIODS) for link in ("L0", "L2")
    )
    return Lot(
        scheme.name,
        reading.name,
        choices.label,
        seed,
        l0_local_over_long(links),
        l0_before.long_percent,
        l0_after.long_percent,
        l2_before.long_of_link_percent,
        l2_after.long_of_link_percent,
        l2_after.long_percent,
        l0_after.utilisation_percent,
        l2_after.utilisation_percent,
    )


def l0_local_over_long(links: Mapping[str, measures.LinkSeries]) -> float:
    """Return the ratio of Figure 2a, over the whole run but its start."""
    return links["L0"].split((measures.WARM_S, float(setting.LOT_S))).local_over_long


LOTS = Table(
    _STORED / "lots.csv",
    Lot,
    LOT_KEYS,
    lambda key: lot_outcome(key, measures.series(run(setting.lot(*key)))),
)


def lot(scheme: Scheme, reading: Reading = FLOWS, choices: Choices = DEFAULT) -> Lot:
    """Return the stored row of one parking lot with the first seed."""
    label = choices.label
    return LOTS.row(scheme=scheme.name, reading=reading.name, choices=label, seed=setting.LOT_SEED)


def lots(scheme: Scheme, reading: Reading) -> list[Lot]:
    """Return the rows of one parking lot with the default choices, in the order of the seeds."""
    return LOTS.rows(scheme=scheme.name, reading=reading.name, choices=DEFAULT.label)


def long_percent(scheme: Scheme, reading: Reading) -> list[tuple[float, float]]:
    """Return Long's part of L0's traffic and of L2's rate, before and after: means over seeds."""
    found = lots(scheme, reading)
    return [
        (mean(found, f"{part}_before"), mean(found, f"{part}_after"))
        for part in ("l0_long", "l2_long_of_link")
    ]


SHORT_HOP_MS = 25
"""One-way delay of the parking lot's links, a tenth of the paper's."""


@dataclass(frozen=True)
class ShortLot:
    """VCP's parking lot with short delays: Local over Long on L0, as in Figure 2a."""

    reading: str
    seed: int
    l0_local_over_long: float


def short_lot(key: tuple[Reading, int]) -> ShortLot:
    """Run VCP's parking lot with short delays."""
    reading, seed = key
    results = run(setting.lot(setting.VCP, reading, seed=seed, hop_ms=SHORT_HOP_MS))
    return ShortLot(reading.name, seed, l0_local_over_long(measures.series(results)))


SHORT = Table(
    _STORED / "short.csv",
    ShortLot,
    tuple((reading, seed) for reading in setting.READINGS for seed in setting.LOT_SEEDS),
    short_lot,
)

NETWORKS = (
    setting.PAPER_NETWORK,
    *(replace(setting.PAPER_NETWORK, mbps=mbps) for mbps in (2.0, 10.0)),
    *(replace(setting.PAPER_NETWORK, rtt_ms=ms) for ms in (200, 1000)),
    *(replace(setting.PAPER_NETWORK, flows=flows) for flows in (2, 5, 10)),
)
"""Dumbbells in the paper's target range: 2 to 10 Mbps, 200 to 1000 ms."""
DUMBBELL_KEYS = (
    *((scheme, network, DEFAULT) for network in NETWORKS for scheme in SCHEMES),
    *((scheme, setting.PAPER_NETWORK, one) for scheme in SCHEMES for one in CHOICES[scheme][1:]),
)


@dataclass(frozen=True)
class Dumbbell:
    """A dumbbell and its outcome."""

    scheme: str
    network: Network
    choices: str
    outcome: measures.Outcome


def run_dumbbell(key: tuple[Scheme, Network, Choices]) -> Dumbbell:
    """Run a dumbbell and return its outcome."""
    scheme, network, choices = key
    course = measures.course(run(setting.dumbbell(*key)).links, network)
    return Dumbbell(scheme.name, network, choices.label, course.outcome)


DUMBBELLS = Table(_STORED / "dumbbells.csv", Dumbbell, DUMBBELL_KEYS, run_dumbbell)


def outcome(
    scheme: Scheme, network: Network = setting.PAPER_NETWORK, choices: Choices = DEFAULT
) -> measures.Outcome:
    """Return the stored outcome of one dumbbell."""
    return DUMBBELLS.row(scheme=scheme.name, network=network, choices=choices.label).outcome


def ratios(scheme: Scheme, other: Scheme, measure: str) -> dict[Network, float]:
    """Return the ratios of a measure between two protocols, by network."""
    return {
        network: getattr(outcome(scheme, network), measure)
        / getattr(outcome(other, network), measure)
        for network in NETWORKS
    }


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
    "target range": NETWORKS,
}
"""Networks by their origin."""
SWEEP_KEYS = tuple(
    (group, network, scheme)
    for group, networks in GROUPS.items()
    for network in networks
    for scheme in SCHEMES
)


@dataclass(frozen=True)
class Swept:
    """A dumbbell's outcome: means over seeds.

    ``queue_percent`` is relative to the buffer, and ``loss_percent`` counts drops among arrivals.
    Both are measured in the steady state.
    """

    group: str
    network: Network
    scheme: str
    transition_s: float
    utilisation_percent: float
    queue_percent: float
    loss_percent: float


def sweep(key: tuple[str, Network, Scheme]) -> Swept:
    """Run a dumbbell with all seeds and return its outcome."""
    group, network, scheme = key
    runs = run_each({seed: setting.dumbbell(scheme, network, seed=seed) for seed in SWEEP_SEEDS})
    courses = [measures.course(results.links, network) for results in runs.values()]
    buffer = buffer_packets(network.mbps, network.rtt_ms, network.flows)
    return Swept(
        group,
        network,
        scheme.name,
        mean(courses, "outcome.transition_s"),
        mean(courses, "outcome.utilisation"),
        mean(courses, lambda course: 100 * course.outcome.queue / buffer),
        mean(runs.values(), _loss_percent),
    )


def _loss_percent(results: Results) -> float:
    steady = results.links.filter(pc.field("time_s") > setting.STEADY_FROM_S)
    drops, arrivals = (pc.sum(steady[name]).as_py() for name in ("drops", "arrivals"))
    return float(100 * drops / arrivals)


SWEEP = Table(_STORED / "sweep.csv", Swept, SWEEP_KEYS, sweep)
