"""The runs behind Figures 2 to 5, and what is measured in them, for any choices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skywave_papers.li2009 import dumbbell, lossy, parking, setting
from skywave_papers.li2009.setting import (
    CARRIERS,
    DPCP,
    DPCP_TCP,
    DUMBBELL_SEEDS,
    LOSS_PERCENT,
    LOSS_SEEDS,
    SCHEMES,
    VCP,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.results import Results
    from skywave.scenario import Scenario
    from skywave.stats import Estimate
    from skywave_papers.li2009.dumbbell import Course
    from skywave_papers.li2009.further import Single
    from skywave_papers.li2009.loads import Loads
    from skywave_papers.li2009.lossy import TransferTimes
    from skywave_papers.li2009.parking import LinkSeries
    from skywave_papers.li2009.setting import Carrier, Choices, Reading, Scheme
    from skywave_papers.li2009.variants import Lot

    Transfers = Mapping[Carrier, Mapping[int, TransferTimes]]
    """Times of each carrier by loss rate in percent."""

PUBLISHED_LOTS = (VCP, DPCP)
"""The protocols of Figure 2. TPCP's parking lots are stored with the variants."""


@dataclass(frozen=True)
class Ours:
    """What Figures 2 to 5 are measured in: of the parking lots one outcome for each seed."""

    lots: Mapping[tuple[Scheme, Reading], Sequence[Lot]]
    dumbbells: Mapping[Scheme, Sequence[Course]]
    transfers: Transfers


@dataclass(frozen=True)
class Measurements:
    """Figures 2 to 5, additional measurements of their runs, and flows of one kind each.

    ``series`` has the parking lots of one seed, which the figures show.
    """

    ours: Ours
    series: Mapping[tuple[Scheme, Reading], Mapping[str, LinkSeries]]
    vcp_shares: Mapping[int, Estimate]
    loads: Mapping[tuple[Scheme, Reading], Loads]
    single: Single


def shown_links(results: Results) -> dict[str, LinkSeries]:
    """Return the series of a parking lot's links that Figure 2 shows."""
    return {link: parking.series(results, link) for link in setting.SHOWN_LINKS}


def dumbbells(choices: Choices) -> dict[tuple[Scheme, int], Scenario]:
    """Return the runs of Figures 3 and 5."""
    return {
        (scheme, seed): setting.dumbbell(scheme, choices=choices, seed=seed)
        for scheme in SCHEMES
        for seed in DUMBBELL_SEEDS
    }


def courses(results: Mapping[tuple[Scheme, int], Results]) -> dict[Scheme, list[Course]]:
    """Return what is measured in the runs of Figures 3 and 5."""
    return {
        scheme: [dumbbell.course(results[scheme, seed]) for seed in DUMBBELL_SEEDS]
        for scheme in SCHEMES
    }


def transfers(choices: Choices) -> dict[tuple[Carrier, int, int], Scenario]:
    """Return the runs of Figure 4."""
    return {
        (carrier, percent, seed): setting.transfer(
            carrier,
            percent,
            seed,
            choices,
            # Its headers show when it falls back to VCP.
            packets=carrier == DPCP_TCP,
        )
        for carrier in CARRIERS
        for percent in LOSS_PERCENT
        for seed in LOSS_SEEDS
    }


def times(results: Mapping[tuple[Carrier, int, int], Results]) -> Transfers:
    """Return what is measured in the runs of Figure 4."""
    return {
        carrier: {
            percent: lossy.times(
                [
                    lossy.transfer(results[carrier, percent, seed], carrier, percent)
                    for seed in LOSS_SEEDS
                ]
            )
            for percent in LOSS_PERCENT
        }
        for carrier in CARRIERS
    }
