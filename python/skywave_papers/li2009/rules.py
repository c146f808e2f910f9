"""The rules that judge published values, and what they count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave.papers.cells import Within, WithinUnits
from skywave.stats import CONFIDENCE, welch
from skywave_papers.li2009 import published, variants
from skywave_papers.li2009.setting import DPCP, LOSS_PERCENT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave_papers.li2009.lossy import TransferTimes
    from skywave_papers.li2009.setting import Reading
    from skywave_papers.li2009.variants import Lot

POINTS = "percentage points"
NEAR = WithinUnits(10, POINTS)
"""For shares that are published as "near" or are read off a figure."""
UNCHANGED = WithinUnits(5, POINTS)
"""For a share that does not change. By the published split of L0 it is at most 12.5 %."""
ABOUT = Within(25)
"""For ratios and times published as round numbers."""
EFFECT = 1.5
"""The ratio to the time without loss above which a transfer is significantly affected."""


def matching_seeds(lots: Sequence[Lot], reading: Reading) -> tuple[int, int]:
    """Return for how many seeds Long has its published share of L0 under DPCP, before and after."""
    found = variants.find_seeds(lots, DPCP, reading)
    before, after = published.DPCP_L0_PERCENT
    return (
        sum(NEAR.holds(before, lot.l0_long_before) for lot in found),
        sum(NEAR.holds(after, lot.l0_long_after) for lot in found),
    )


APART = 1 - CONFIDENCE
"""The p-value of Welch's t-test below which two means count as different."""


def alike_from_percent(
    one: Mapping[int, TransferTimes], other: Mapping[int, TransferTimes]
) -> int | None:
    """Return the loss rate from which on the times of two carriers do not differ significantly."""
    apart = [
        percent
        for percent in LOSS_PERCENT
        if welch(one[percent].seconds, other[percent].seconds) < APART
    ]
    return next((percent for percent in LOSS_PERCENT if percent > max(apart, default=-1)), None)


def knee_percent(times: Mapping[int, TransferTimes]) -> int:
    """Return the loss rate up to which a transfer takes at most ``EFFECT`` times as long."""
    affected = [p for p in LOSS_PERCENT if times[p].mean_s > EFFECT * times[0].mean_s]
    return min(affected, default=LOSS_PERCENT[-1] + 5) - 5
