"""Readings of what a paper leaves open, each judged by all of the paper's values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skywave.papers.cells import Cell


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

    @property
    def met(self) -> set[str]:
        """The ids of the values that it meets."""
        return set(self.cells.split())

    def gained(self, other: Tried) -> list[str]:
        """Return the values that it meets and another reading does not."""
        return sorted(self.met - other.met)


def tried(reading: str, cells: Iterable[Cell]) -> Tried:
    """Return what a reading comes to, from its judged values."""
    return Tried.of(reading, [cell.id for cell in cells if cell.verdict == "match"])


def tried_by_seed(reading: str, by_seed: Sequence[Sequence[Cell]]) -> Tried:
    """Return what a reading comes to if each value is a mean over seeds.

    ``by_seed`` has the values of every seed, in the same order. A value that a seed does not give
    is not met.
    """
    met = [
        same[0].id
        for same in zip(*by_seed, strict=True)
        if all(cell.ours is not None for cell in same)
        and same[0].rule.holds(same[0].published, float(np.mean([cell.ours for cell in same])))
    ]
    counts = [sum(cell.verdict == "match" for cell in one) for one in by_seed]
    return Tried(reading, len(met), min(counts), max(counts), " ".join(met))
