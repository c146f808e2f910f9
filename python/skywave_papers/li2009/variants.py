"""Parking lots and dumbbells, also with variants of what the paper leaves open, one at a time.

They take minutes, so they are stored.

``python -m skywave.papers stored li2009`` runs and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skywave import run
from skywave.papers.measures import mean
from skywave.report.tables import Table
from skywave_papers.li2009 import dumbbell, parking, setting
from skywave_papers.li2009.setting import (
    DEFAULT,
    DPCP,
    FLOWS,
    LOT_S,
    LOT_SEED,
    LOT_SEEDS,
    PAPER_NETWORK,
    READINGS,
    SCHEMES,
    TPCP,
    VCP,
    Choices,
    Network,
    Reading,
    Scheme,
)

if TYPE_CHECKING:
    from skywave.results import Results

INTERVALS_MS = (500, 1000, 2000)
"""Values of t_rho other than VCP's 200 ms, up to the round-trip time of Long."""
LIMITS = replace(DEFAULT, limits=True)
WAITS = replace(DEFAULT, acts="when-complete")
SLOW = replace(DEFAULT, interval_ms=500)
SLOW_ROUTERS = replace(DEFAULT, interval_ms=500, senders_interval_ms=DEFAULT.interval_ms)
SLOW_SENDERS = replace(DEFAULT, senders_interval_ms=500)
AT_ONCE = replace(DEFAULT, after_decrease="ignores-overload")
"""Senders that wait for t_rho after a decrease, and not for a round-trip time."""
HALVES = replace(DEFAULT, on_loss="halves")
SAMPLES = replace(DEFAULT, average="samples")

CHOICES: dict[Scheme, tuple[Choices, ...]] = {
    VCP: (
        DEFAULT,
        AT_ONCE,
        SAMPLES,
        *(replace(DEFAULT, interval_ms=ms) for ms in INTERVALS_MS),
    ),
    DPCP: (
        DEFAULT,
        AT_ONCE,
        HALVES,
        SAMPLES,
        LIMITS,
        WAITS,
        SLOW_ROUTERS,
        SLOW_SENDERS,
        *(replace(DEFAULT, interval_ms=ms) for ms in INTERVALS_MS),
    ),
    TPCP: (DEFAULT, *(replace(DEFAULT, interval_ms=ms) for ms in INTERVALS_MS)),
}
"""The variants of each protocol."""
NETWORKS = (
    PAPER_NETWORK,
    *(replace(PAPER_NETWORK, mbps=mbps) for mbps in (2.0, 10.0)),
    *(replace(PAPER_NETWORK, rtt_ms=ms) for ms in (200, 1000)),
    *(replace(PAPER_NETWORK, flows=flows) for flows in (2, 5, 10)),
)
"""Dumbbells, each of them run with the default choices."""

LotKey = tuple[Scheme, Reading, Choices, int]
LOT_KEYS: tuple[LotKey, ...] = (
    *(
        (scheme, reading, choices, LOT_SEED)
        for reading in READINGS
        for scheme in SCHEMES
        for choices in CHOICES[scheme]
    ),
    *(
        (scheme, reading, DEFAULT, seed)
        for reading in READINGS
        for scheme in SCHEMES
        for seed in LOT_SEEDS
        if seed != LOT_SEED
    ),
)
DumbbellKey = tuple[Scheme, Network, Choices]
DUMBBELL_KEYS: tuple[DumbbellKey, ...] = (
    *((scheme, network, DEFAULT) for network in NETWORKS for scheme in SCHEMES),
    *(
        (scheme, PAPER_NETWORK, choices)
        for scheme in SCHEMES
        for choices in CHOICES[scheme]
        if choices != DEFAULT
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


@dataclass(frozen=True)
class Dumbbell:
    """The outcome of a dumbbell: times in s (nan: never), utilisation in %, queues in packets."""

    scheme: str
    mbps: float
    rtt_ms: int
    flows: int
    choices: str
    transition_s: float
    full_s: float
    utilisation: float
    queue: float
    queue_deviation: float
    queue_change: float


def run_lot(key: LotKey) -> Lot:
    """Run a parking lot and return its outcome."""
    return lot_outcome(key, run(setting.lot(*key)))


def lot_outcome(key: LotKey, results: Results) -> Lot:
    """Return the outcome of a parking lot's run."""
    scheme, reading, choices, seed = key
    links = {link: parking.series(results, link) for link in ("L0", "L2")}
    before, after = (
        {link: series.split(period) for link, series in links.items()} for period in parking.PERIODS
    )
    return Lot(
        scheme.name,
        reading.name,
        choices.label,
        seed,
        _or_nan(links["L0"].split((parking.WARM_S, LOT_S)).local_over_long),
        before["L0"].long_percent,
        after["L0"].long_percent,
        before["L2"].long_of_link_percent,
        after["L2"].long_of_link_percent,
        after["L2"].long_percent,
        after["L0"].utilisation_percent,
        after["L2"].utilisation_percent,
    )


def run_dumbbell(key: DumbbellKey) -> Dumbbell:
    """Run a dumbbell and return its outcome."""
    scheme, network, choices = key
    course = dumbbell.course(run(setting.dumbbell(*key)), network)
    return Dumbbell(
        scheme.name,
        network.mbps,
        network.rtt_ms,
        network.flows,
        choices.label,
        _or_nan(course.transition_s),
        _or_nan(course.full_s),
        course.steady_utilisation_percent,
        course.queue_mean,
        course.queue_deviation,
        course.queue_change,
    )


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


LOTS = Table(Path(__file__).with_name("lots.csv"), Lot, LOT_KEYS, run_lot)
"""The stored outcomes of parking lots."""
DUMBBELLS = Table(Path(__file__).with_name("dumbbells.csv"), Dumbbell, DUMBBELL_KEYS, run_dumbbell)
"""The stored outcomes of dumbbells."""


def lot(
    scheme: Scheme, reading: Reading = FLOWS, choices: Choices = DEFAULT, seed: int = LOT_SEED
) -> Lot:
    """Return the stored row of one parking lot."""
    return LOTS.row(scheme=scheme.name, reading=reading.name, choices=choices.label, seed=seed)


def lots(scheme: Scheme, reading: Reading) -> list[Lot]:
    """Return the rows of one parking lot with the default choices, in the order of the seeds."""
    return LOTS.rows(scheme=scheme.name, reading=reading.name, choices=DEFAULT.label)


def long_percent(scheme: Scheme, reading: Reading) -> list[tuple[float, float]]:
    """Return Long's part of L0's traffic and of L2's rate, before and after: means over seeds."""
    parts = (
        ("l0_long_before", "l0_long_after"),
        ("l2_long_of_link_before", "l2_long_of_link_after"),
    )
    found = lots(scheme, reading)
    return [(mean(found, before), mean(found, after)) for before, after in parts]


def dumbbell_of(
    scheme: Scheme, network: Network = PAPER_NETWORK, choices: Choices = DEFAULT
) -> Dumbbell:
    """Return the stored row of one dumbbell."""
    return DUMBBELLS.row(scheme=scheme.name, choices=choices.label, **vars(network))


def ratios(scheme: Scheme, other: Scheme, measure: str) -> dict[Network, float]:
    """Return what is measured of a protocol over that of another, by network."""
    return {
        network: getattr(dumbbell_of(scheme, network), measure)
        / getattr(dumbbell_of(other, network), measure)
        for network in NETWORKS
    }
