"""How the published values are judged, and what is counted for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave.averages import CONFIDENCE, welch
from skywave.papers.cells import Within, WithinUnits
from skywave.papers.li2009 import published, variants
from skywave.papers.li2009.setting import DPCP, LOSS_PERCENT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers.li2009.lossy import TransferTimes
    from skywave.papers.li2009.setting import Reading
    from skywave.papers.li2009.variants import Lot

POINTS = "percentage points"
NEAR = WithinUnits(10, POINTS)
"""For shares that are published as "near" or read off a figure."""
UNCHANGED = WithinUnits(5, POINTS)
"""For a share that does not change: by the published split of L0 it is 12.5 % at most."""
ABOUT = Within(25)
"""For ratios and times that are published as round numbers."""
EFFECT = 1.5
"""A transfer that takes so many times as long as without loss is affected significantly."""


def matching_seeds(lots: Sequence[Lot], reading: Reading) -> tuple[int, int]:
    """Return with how many seeds Long has its published share of L0 under DPCP, before and after.

    The verdicts are those of the first of ``variants.LOT_SEEDS``.
    """
    found = [variants.find(lots, DPCP, reading, seed=seed) for seed in variants.LOT_SEEDS]
    before, after = published.DPCP_L0_PERCENT
    return (
        sum(NEAR.holds(before, lot.l0_long_before) for lot in found),
        sum(NEAR.holds(after, lot.l0_long_after) for lot in found),
    )


APART = 1 - CONFIDENCE
"""Means that are so far apart by chance this seldom are taken to differ (Welch's t test)."""


def alike_from_percent(
    one: Mapping[int, TransferTimes], other: Mapping[int, TransferTimes]
) -> int | None:
    """Return the loss rate from which on runs do not tell the times of two carriers apart."""
    apart = [
        percent
        for percent in LOSS_PERCENT
        if welch(one[percent].seconds, other[percent].seconds) < APART
    ]
    return next((percent for percent in LOSS_PERCENT if percent > max(apart, default=-1)), None)


def knee_percent(times: Mapping[int, TransferTimes]) -> int:
    """Return up to which loss rate a transfer takes no more than ``EFFECT`` times as long."""
    affected = [p for p in LOSS_PERCENT if times[p].mean_s > EFFECT * times[0].mean_s]
    return min(affected, default=LOSS_PERCENT[-1] + 5) - 5
