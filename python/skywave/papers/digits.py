"""The denominators of printed numbers.

A share of n packets is k / n for some whole k, so few numbers with two decimals are shares of the
same n. A table of shares, or of means of whole numbers, gives n away if it has enough digits,
whatever the text around it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 100_000
"""The largest denominator that is tried."""
DIGITS = 12
"""The most digits of a printed value, or of the whole in units of its last decimal."""
SIGNIFICANCE = 0.01
"""The chance below which a common denominator is no accident."""


@dataclass(frozen=True)
class PrintedTable:
    """Numbers of one kind as a paper prints them, in a place such as "Table 3".

    ``values`` have all printed decimals: "16.50" is more than "16.5". ``whole`` is what is divided:
    100 for percentages, 1 for ratios and for means of whole numbers.
    """

    place: str
    what: str
    values: tuple[str, ...]
    whole: int

    def __post_init__(self) -> None:
        """Check that the values are numbers, and neither they nor ``whole`` too large to count."""
        wrong = [one for one in self.values if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", one)]
        if wrong or not self.values:
            given = f"{wrong[0]!r} is not a number" if wrong else "there are none"
            raise ValueError(f"{given}: write values as they are printed, such as '16.50'")
        if self.whole < 1:
            raise ValueError(f"whole is {self.whole}: give 100 for percentages, 1 for other ratios")
        for value, scaled in zip(self.values, self._scaled, strict=True):
            if max(scaled) >= 10**DIGITS:
                raise ValueError(f"{value:.20} has too many digits: give at most {DIGITS}")

    @property
    def _scaled(self) -> Iterator[tuple[int, int]]:
        """Each value, and the whole, in units of the value's last decimal."""
        for value in self.values:
            whole, _, decimals = value.partition(".")
            yield int(whole + decimals), self.whole * 10 ** len(decimals)

    def numerators(self, denominator: int) -> list[int]:
        """Return the whole number for each value that comes nearest to it over ``denominator``."""
        return [(2 * units * denominator + whole) // (2 * whole) for units, whole in self._scaled]

    def fitting(self, denominators: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many values are a whole number over each denominator, rounded.

        A half may be rounded up or down.
        """
        count = np.zeros_like(denominators)
        for units, whole in self._scaled:
            nearest = (2 * units * denominators + whole) // (2 * whole)
            count += 2 * np.abs(nearest * whole - units * denominators) <= denominators
        return count

    def chances(self, denominators: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return for each denominator the chance that it fits as many random values."""
        chance = np.ones(denominators.shape)
        for _, whole in self._scaled:
            # Of the 0 to whole that can be printed, denominator + 1 are fractions.
            chance *= np.minimum((denominators + 1) / (whole + 1), 1)
        return chance


@dataclass(frozen=True)
class Denominator:
    """The smallest denominator that fits all values of a table; None up to ``limit``.

    ``chance`` is an upper limit for the chance that as many random values have one as small.
    ``next_fitting`` is the most values that fit any other denominator up to three times as large,
    multiples aside.
    """

    limit = LARGEST

    printed: PrintedTable
    value: int | None
    chance: float
    next_fitting: int

    @property
    def is_found(self) -> bool:
        """Whether the denominator is no accident."""
        return self.value is not None and self.chance < SIGNIFICANCE

    def to_dict(self) -> dict[str, Any]:
        """Return the result as ``--json`` prints it, with the counts that the values stand for."""
        found = self.is_found and self.value
        return {
            "place": self.printed.place,
            "what": self.printed.what,
            "values": list(self.printed.values),
            "denominator": self.value,
            "numerators": self.printed.numerators(found) if found else None,
            "chance": self.chance,
            "found": self.is_found,
            "next_fitting": self.next_fitting,
        }


def denominator(printed: PrintedTable) -> Denominator:
    """Find the smallest denominator that fits all values of a table."""
    tried = np.arange(1, LARGEST + 1)
    fitting = printed.fitting(tried)
    whole = np.flatnonzero(fitting == len(printed.values))
    value = int(tried[whole[0]]) if whole.size else None
    last = value or LARGEST
    chance = min(1.0, float(printed.chances(tried[:last]).sum()))
    others = tried[: 3 * last]
    apart = others % (value or LARGEST + 1) != 0
    return Denominator(printed, value, chance, int(fitting[: others.size][apart].max(initial=0)))
