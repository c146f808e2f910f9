"""Readings of what a paper leaves open, each judged by all of the paper's values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.measures import Measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers.ledger import Ledger


@dataclass(frozen=True)
class Tried:
    """What a reading comes to.

    ``matches`` counts the values that it meets; ``fewest`` and ``most`` are the counts with a
    single seed where values are means over several.
    """

    reading: str
    matches: int
    fewest: int | None
    most: int | None
    cells: str
    """The published values that it meets, separated by spaces."""

    @classmethod
    def of(cls, reading: str, met: Sequence[str]) -> Tried:
        """Return what a reading comes to that meets these values."""
        return cls(reading, len(met), None, None, " ".join(met))

    @classmethod
    def by_seed(
        cls,
        reading: str,
        ledger: Ledger,
        by_seed: Sequence[Mapping[str, Measure | float | None]],
    ) -> Tried:
        """Return what a reading comes to if each value is a mean over seeds.

        ``by_seed`` has the values of every seed. A value that a seed does not give is not met.
        """
        found = [{test: Measure.of(one).value for test, one in seed.items()} for seed in by_seed]
        means = {test: _mean([seed[test] for seed in found]) for test in found[0]}
        counts = [len(ledger.met(seed)) for seed in found]
        return replace(cls.of(reading, ledger.met(means)), fewest=min(counts), most=max(counts))

    @property
    def met(self) -> set[str]:
        """The ids of the values that it meets."""
        return set(self.cells.split())

    def gained(self, other: Tried) -> list[str]:
        """Return the values that it meets and another reading does not."""
        return sorted(self.met - other.met)


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean; None if a value is missing."""
    given = [value for value in values if value is not None]
    return float(np.mean(given)) if len(given) == len(values) else None
