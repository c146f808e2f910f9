"""The denominators of printed numbers.

A share of n packets is k / n for some whole k, so few numbers with two decimals are shares of the
same n. A table of shares, or of means of whole numbers, gives n away if it has enough digits,
whatever the text around it says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

LARGEST = 100_000
"""The largest denominator that is tried."""
DIGITS = 12
"""The most digits of a printed value, or of the whole in units of its last decimal."""
SIGNIFICANCE = 0.01
"""The chance below which a common denominator is no accident."""
_OTHERS = 3
"""A second denominator is sought up to this many times the first."""


@dataclass(frozen=True)
class PrintedTable:
    """Numbers of one kind as a paper prints them.

    Attributes:
        place: Where they are, such as "Table 3".
        what: What they measure, with the unit.
        values: The digits, with all printed decimals: "16.50" is more than "16.5".
        whole: What is divided: 100 for percentages, 1 for ratios and for means of whole numbers.

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
        if most := next((one for one in self.values if self._is_too_large(one)), None):
            raise ValueError(f"{most:.20} has too many digits: give at most {DIGITS}")

    def _is_too_large(self, value: str) -> bool:
        _, _, decimals = value.partition(".")
        return max(len(value), len(f"{self.whole}") + len(decimals)) > DIGITS

    def numerators(self, denominator: int) -> list[int]:
        """Return the whole number for each value that comes nearest to it over ``denominator``."""
        return [
            _nearest(units, denominator, self.whole * scale)
            for units, scale in map(_units, self.values)
        ]

    def fitting(self, denominator: int) -> int:
        """Return how many values are a whole number over ``denominator``, rounded."""
        return int(self._fitting(np.array([denominator]))[0])

    def _fitting(self, denominators: NDArray[np.int64]) -> NDArray[np.int64]:
        count = np.zeros_like(denominators)
        for units, scale in map(_units, self.values):
            count += _fits(units, denominators, self.whole * scale)
        return count

    def _chances(self, denominators: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return for each denominator the chance that it fits as many random values."""
        chance = np.ones(denominators.shape)
        for _, scale in map(_units, self.values):
            # Of the 0 to whole x scale that can be printed, denominator + 1 are fractions.
            chance *= np.minimum((denominators + 1) / (self.whole * scale + 1), 1)
        return chance


@dataclass(frozen=True)
class Denominator:
    """The smallest denominator that fits all values of a table.

    Attributes:
        printed: The table.
        value: The denominator; None if there is none up to ``LARGEST``.
        chance: The chance that as many random values have one as small, at most.
        next_fitting: The most values that fit any other denominator up to three times as large,
            multiples aside.

    """

    printed: PrintedTable
    value: int | None
    chance: float
    next_fitting: int

    @property
    def limit(self) -> int:
        """The largest denominator that was tried."""
        return LARGEST

    @property
    def is_found(self) -> bool:
        """Whether the denominator is no accident."""
        return self.value is not None and self.chance < SIGNIFICANCE

    @property
    def numerators(self) -> list[int] | None:
        """The counts that the values stand for; None if the denominator may be an accident."""
        if self.value is None or not self.is_found:
            return None
        return self.printed.numerators(self.value)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as ``--json`` prints it."""
        return {
            "place": self.printed.place,
            "what": self.printed.what,
            "values": list(self.printed.values),
            "denominator": self.value,
            "numerators": self.numerators,
            "chance": self.chance,
            "found": self.is_found,
            "next_fitting": self.next_fitting,
        }


def denominator(printed: PrintedTable) -> Denominator:
    """Find the smallest denominator that fits all values of a table."""
    tried = np.arange(1, LARGEST + 1)
    fitting = printed._fitting(tried)  # noqa: SLF001
    whole = np.flatnonzero(fitting == len(printed.values))
    last = int(whole[0]) if whole.size else LARGEST - 1
    chance = min(1.0, float(printed._chances(tried[: last + 1]).sum()))  # noqa: SLF001
    value = int(tried[last]) if whole.size else None
    others = tried[: _OTHERS * (last + 1)] if value is None else tried[: _OTHERS * value]
    apart = others % (value or LARGEST + 1) != 0
    return Denominator(printed, value, chance, int(fitting[: others.size][apart].max(initial=0)))


def denominators(tables: Iterable[PrintedTable]) -> list[Denominator]:
    """Find the denominator of each table."""
    return [denominator(printed) for printed in tables]


def _units(text: str) -> tuple[int, int]:
    """Return a number as a count of its last decimal's units, and how many of them make one."""
    whole, _, decimals = text.partition(".")
    return int(whole + decimals), 10 ** len(decimals)


def _nearest(units: int, denominator: int, scale: int) -> int:
    return (2 * units * denominator + scale) // (2 * scale)


def _fits(units: int, denominators: NDArray[np.int64], scale: int) -> NDArray[np.bool_]:
    """Return whether a whole number over each denominator is printed as ``units``.

    A half may be rounded up or down.
    """
    nearest = (2 * units * denominators + scale) // (2 * scale)
    fits: NDArray[np.bool_] = 2 * np.abs(nearest * scale - units * denominators) <= denominators
    return fits
