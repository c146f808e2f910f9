"""Numbers for the report's text and tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skywave.papers.measures import Measure
from skywave_papers.li2009 import further, judge, parking, setting, tried, variants
from skywave_papers.li2009.experiments import PUBLISHED_LOTS
from skywave_papers.li2009.ledger import LEDGER
from skywave_papers.li2009.setting import (
    AGGREGATES,
    CARRIERS,
    DPCP,
    DPCP_DCCP,
    FLOWS,
    LOSS_PERCENT,
    LOSS_SEEDS,
    LOT_SEEDS,
    PAPER_NETWORK,
    READINGS,
    VCP,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave_papers.li2009.experiments import Measured
    from skywave_papers.li2009.parking import LinkSeries, Split
    from skywave_papers.li2009.setting import Reading, Scheme

READ_IN_TWO_WAYS = tuple(
    test for test in LEDGER.values if test.startswith(("fig2", "fig4")) and test != "fig4/gap"
)
"""Values that can be read in two ways: an aggregate is one sender, or DPCP is over DCCP."""


def readings(measured: Measured) -> list[dict[str, Any]]:
    """Return the parking lot's rows for each reading of its traffic."""
    return [
        _lot_row(scheme, reading, link, measured.series[scheme, reading])
        for reading in READINGS
        for scheme in PUBLISHED_LOTS
        for link in setting.SHOWN_LINKS
    ]


def sections(measured: Measured) -> dict[str, Any]:
    """Return the values of this report's own sections."""
    lots, dumbbells = measured.lots, measured.dumbbells
    other = judge.published(measured.ours, AGGREGATES, DPCP_DCCP)
    return {
        "warm_s": parking.WARM_S,
        "looked_at_s": setting.LOOKED_AT_S,
        "looked_at_from_s": setting.LOOKED_AT_FROM_S,
        "loads": measured.loads,
        "seeds": len(LOSS_SEEDS),
        "file_kb": setting.FILE_B // 1000,
        "carriers": CARRIERS,
        "transfers": [
            {
                "percent": percent,
                "times": [measured.ours.transfers[carrier][percent] for carrier in CARRIERS],
                "vcp_share": measured.vcp_shares[percent],
            }
            for percent in LOSS_PERCENT
        ],
        "lots": lots,
        "dumbbells": dumbbells,
        "said": _of_lots(lots),
        "said_of_dumbbells": _of_dumbbells(dumbbells),
        "said_of_seeds": _of_seeds(lots),
        "said_of_vcp_split": of_vcp_split(lots),
        "tried": tried.TABLE.read(),
        "tried_rules": tried.RULES,
        "lot_seeds": len(LOT_SEEDS),
        "law": [
            {
                "reading": reading,
                "percent": [
                    parking.law_percent(reading, joined=joined) for joined in (False, True)
                ],
                "found": [lot_means(lots, scheme, reading) for scheme in setting.SCHEMES],
            }
            for reading in READINGS
        ],
        "schemes": setting.SCHEMES,
        "swept": measured.further.swept,
        "sweep_seeds": len(further.SWEEP_SEEDS),
        "labels": {reading.name: reading.label for reading in READINGS},
        "unjudged": {test: Measure.of(other[test]) for test in READ_IN_TWO_WAYS},
        "would_match": LEDGER.met(other),
    }


def _of_lots(lots: Sequence[variants.Lot]) -> dict[str, variants.Lot]:
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
    tried = [lot for lot in lots if (lot.scheme, lot.reading) == (VCP.name, AGGREGATES.name)]
    return {
        "mean": variants.mean(lots, VCP, AGGREGATES, lambda lot: lot.l0_local_over_long),
        "highest": max(lot.l0_local_over_long for lot in tried),
    }


def _of_seeds(lots: Sequence[variants.Lot]) -> dict[str, Any]:
    """Return the numbers on DPCP's parking lots with 30 and 10 senders and different seeds."""
    found = variants.find_seeds(lots, DPCP, FLOWS)
    before, after = (
        [getattr(lot, f"l0_long_{one}") for lot in found] for one in ("before", "after")
    )
    return {
        "seeds": [lot.seed for lot in found],
        "after_percent": after,
        "matching_before": judge.matching("fig2c-before", before),
        "matching_after": judge.matching("fig2c-after", after),
    }


FEW_FLOWS = 2


def _of_dumbbells(dumbbells: Sequence[variants.Dumbbell]) -> dict[str, Any]:
    """Return the numbers on the stored dumbbells."""

    def find(scheme: Scheme, **network: int) -> variants.Dumbbell:
        return variants.find_dumbbell(dumbbells, scheme, replace(PAPER_NETWORK, **network))

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
        "usual": find(DPCP),
        "far": find(DPCP, rtt_ms=1000),
        "ten": {scheme.name: find(scheme, flows=10) for scheme in (VCP, DPCP)},
    }


def lot_means(
    lots: Sequence[variants.Lot], scheme: Scheme, reading: Reading
) -> tuple[float, float, float, float]:
    """Return Long's parts of L0's traffic and of L2's rate, before and after: means over seeds."""

    def mean(measure: Callable[[variants.Lot], float]) -> float:
        return variants.mean(lots, scheme, reading, measure)

    return (
        mean(lambda lot: lot.l0_long_before),
        mean(lambda lot: lot.l0_long_after),
        mean(lambda lot: lot.l2_long_of_link_before),
        mean(lambda lot: lot.l2_long_of_link_after),
    )


def _lot_row(
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
