"""Numbers for the report's text and tables on parking lots and stored variants."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skywave.papers.li2009 import parking, variants
from skywave.papers.li2009.rules import matching_seeds
from skywave.papers.li2009.setting import AGGREGATES, DEFAULT, DPCP, FLOWS, PAPER_NETWORK, VCP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave.papers.li2009.cells import Ours
    from skywave.papers.li2009.parking import Split
    from skywave.papers.li2009.setting import Choices, Reading, Scheme


def of_lots(lots: Sequence[variants.Lot]) -> dict[str, variants.Lot]:
    """Return the stored parking lots that the text mentions."""
    return {
        "default": variants.find(lots, DPCP, FLOWS),
        "limits": variants.find(lots, DPCP, FLOWS, variants.LIMITS),
        "limits_alone": variants.find(lots, DPCP, AGGREGATES, variants.LIMITS),
        "waits": variants.find(lots, DPCP, FLOWS, variants.WAITS),
        "waits_alone": variants.find(lots, DPCP, AGGREGATES, variants.WAITS),
        "slow": variants.find(lots, DPCP, FLOWS, variants.SLOW),
        "slow_senders": variants.find(lots, DPCP, FLOWS, variants.SLOW_SENDERS),
        "slow_routers": variants.find(lots, DPCP, FLOWS, variants.SLOW_ROUTERS),
        "slow_vcp": variants.find(lots, VCP, FLOWS, variants.SLOW),
    }


def of_seeds(lots: Sequence[variants.Lot]) -> dict[str, Any]:
    """Return the numbers on DPCP's parking lots with 30 and 10 senders and different seeds."""
    before, after = matching_seeds(lots, FLOWS)
    return {
        "seeds": variants.LOT_SEEDS,
        "after_percent": [
            variants.find(lots, DPCP, FLOWS, seed=seed).l0_long_after for seed in variants.LOT_SEEDS
        ],
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
    few = [ratio for network, ratio in quicker.items() if network.flows <= FEW_FLOWS]
    many = [ratio for network, ratio in quicker.items() if network.flows > FEW_FLOWS]
    return {
        "quicker_few": (min(few), max(few)),
        "quicker_many": (min(many), max(many)),
        "near": {scheme.name: find(scheme, rtt_ms=200) for scheme in (VCP, DPCP)},
        "usual": {scheme.name: find(scheme) for scheme in (VCP, DPCP)},
        "far": find(DPCP, rtt_ms=1000),
        "ten": {scheme.name: find(scheme, flows=10) for scheme in (VCP, DPCP)},
        "slow": find(DPCP, variants.SLOW),
    }


def lot_row(scheme: Scheme, reading: Reading, link: str, ours: Ours) -> dict[str, Any]:
    """Return the shares of a link before and after L2's Local starts, and those by max-min."""
    splits: list[Split] = [
        ours.lots[scheme, reading][link].split(period) for period in parking.PERIODS
    ]
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
