"""Numbers for the report's text and tables on parking lots and stored variants."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from skywave_papers.li2009 import parking, variants
from skywave_papers.li2009.rules import matching_seeds
from skywave_papers.li2009.setting import (
    AGGREGATES,
    DEFAULT,
    DPCP,
    DUMBBELL_S,
    FLOWS,
    PAPER_NETWORK,
    VCP,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave_papers.li2009.dumbbell import Course
    from skywave_papers.li2009.parking import LinkSeries, Split
    from skywave_papers.li2009.setting import Choices, Reading, Scheme


def of_lots(lots: Sequence[variants.Lot]) -> dict[str, variants.Lot]:
    """Return the stored parking lots that the text mentions."""
    return {
        "default": variants.find(lots, DPCP, FLOWS),
        "at_once": variants.find(lots, DPCP, FLOWS, variants.AT_ONCE),
        "at_once_alone": variants.find(lots, DPCP, AGGREGATES, variants.AT_ONCE),
        "halves": variants.find(lots, DPCP, FLOWS, variants.HALVES),
        "samples": variants.find(lots, DPCP, FLOWS, variants.SAMPLES),
        "limits": variants.find(lots, DPCP, FLOWS, variants.LIMITS),
        "limits_alone": variants.find(lots, DPCP, AGGREGATES, variants.LIMITS),
        "waits": variants.find(lots, DPCP, FLOWS, variants.WAITS),
        "waits_alone": variants.find(lots, DPCP, AGGREGATES, variants.WAITS),
        "slow": variants.find(lots, DPCP, FLOWS, variants.SLOW),
        "slow_senders": variants.find(lots, DPCP, FLOWS, variants.SLOW_SENDERS),
        "slow_routers": variants.find(lots, DPCP, FLOWS, variants.SLOW_ROUTERS),
        "slow_vcp": variants.find(lots, VCP, FLOWS, variants.SLOW),
    }


def of_vcp_split(lots: Sequence[variants.Lot]) -> dict[str, float]:
    """Return Local over Long on L0 with one sender of VCP for each aggregate.

    It is the mean over seeds, and the highest of all variants.
    """
    found = variants.find_seeds(lots, VCP, AGGREGATES)
    tried = [lot for lot in lots if (lot.scheme, lot.reading) == (VCP.name, AGGREGATES.name)]
    return {
        "mean": float(np.mean([lot.l0_local_over_long for lot in found])),
        "highest": max(lot.l0_local_over_long for lot in tried),
    }


def of_seeds(lots: Sequence[variants.Lot]) -> dict[str, Any]:
    """Return the numbers on DPCP's parking lots with 30 and 10 senders and different seeds."""
    found = variants.find_seeds(lots, DPCP, FLOWS)
    before, after = matching_seeds(lots, FLOWS)
    return {
        "seeds": [lot.seed for lot in found],
        "after_percent": [lot.l0_long_after for lot in found],
        "matching_before": before,
        "matching_after": after,
    }


FEW_FLOWS = 2


def of_dumbbells(dumbbells: Sequence[variants.Dumbbell]) -> dict[str, Any]:
    """Return the numbers on the stored dumbbells."""

    def find(scheme: Scheme, choices: Choices = DEFAULT, **network: Any) -> variants.Dumbbell:
        return variants.find_dumbbell(dumbbells, scheme, replace(PAPER_NETWORK, **network), choices)

    quicker = {
        network: variants.find_dumbbell(dumbbells, VCP, network).transition_s
        / variants.find_dumbbell(dumbbells, DPCP, network).transition_s
        for network in variants.NETWORKS
    }
    queues = [
        variants.find_dumbbell(dumbbells, DPCP, network).queue
        / variants.find_dumbbell(dumbbells, VCP, network).queue
        for network in variants.NETWORKS
    ]
    few = [ratio for network, ratio in quicker.items() if network.flows <= FEW_FLOWS]
    many = [ratio for network, ratio in quicker.items() if network.flows > FEW_FLOWS]
    return {
        "quicker_few": (min(few), max(few)),
        "quicker_many": (min(many), max(many)),
        "queues": (min(queues), max(queues)),
        "near": {scheme.name: find(scheme, rtt_ms=200) for scheme in (VCP, DPCP)},
        "usual": {scheme.name: find(scheme) for scheme in (VCP, DPCP)},
        "far": find(DPCP, rtt_ms=1000),
        "ten": {scheme.name: find(scheme, flows=10) for scheme in (VCP, DPCP)},
        "slow": find(DPCP, variants.SLOW),
    }


def transition_s(courses: Sequence[Course]) -> float:
    """Return the mean transition time; one that does not end counts as the whole run."""
    return float(np.mean([course.transition_s or float(DUMBBELL_S) for course in courses]))


def lot_means(
    lots: Sequence[variants.Lot], scheme: Scheme, reading: Reading
) -> tuple[float, float, float, float]:
    """Return Long's parts of L0's traffic and of L2's rate, before and after: means over seeds."""
    found = variants.find_seeds(lots, scheme, reading)

    def mean(name: str) -> float:
        return float(np.mean([getattr(lot, name) for lot in found]))

    return (
        mean("l0_long_before"),
        mean("l0_long_after"),
        mean("l2_long_of_link_before"),
        mean("l2_long_of_link_after"),
    )


def lot_row(
    scheme: Scheme, reading: Reading, link: str, series: Mapping[str, LinkSeries]
) -> dict[str, Any]:
    """Return the shares of a link before and after L2's Local starts, and those by max-min."""
    splits: list[Split] = [series[link].split(period) for period in parking.PERIODS]
    return {
        "scheme": scheme,
        "reading": reading,
        "link": link,
        "splits": splits,
        "ideal": [
            parking.ideal(reading.long, reading.local, link, joined=joined)
            for joined in (False, True)
        ],
    }
