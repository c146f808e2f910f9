"""Readings of a paper's open points, each judged by all of the paper's values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from skywave.papers.measures import over_seeds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers.ledger import Ledger
    from skywave.papers.measures import Value


@dataclass(frozen=True)
class Tried:
    """The outcome of a reading.

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
        """Return the outcome of a reading that gives these values."""
        return cls(reading, len(met), None, None, " ".join(met))

    @classmethod
    def by_seed(cls, reading: str, ledger: Ledger, by_seed: Sequence[Mapping[str, Value]]) -> Tried:
        """Return the outcome of a reading whose values are means over seeds.

        ``by_seed`` has the values of every seed. A value that a seed does not give is not met.
        """
        counts = [len(ledger.met(seed)) for seed in by_seed]
        met = ledger.met(over_seeds(by_seed))
        return replace(cls.of(reading, met), fewest=min(counts), most=max(counts))

    @property
    def met(self) -> set[str]:
        """The ids of the values that it meets."""
        return set(self.cells.split())

    def gained(self, other: Tried) -> list[str]:
        """Return the values that it meets and another reading does not."""
        return sorted(self.met - other.met)
