"""Readings of what a paper leaves open, each judged by all of the paper's values.

The ledger has the readings (``[[reading]]``), fixed before they are run; a table has their results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skywave.papers.entries import Reading
from skywave.papers.ledger import Ledger
from skywave.papers.measures import Value, over_seeds
from skywave.report.tables import Table

Values = Mapping[str, Value]
"""Measured values by the ids of their tests."""


@dataclass(frozen=True)
class ReadingResult:
    """The published values that a reading meets.

    ``matches`` counts them, and ``cells`` has their ids, separated by spaces. ``fewest`` and
    ``most`` are the counts with a single seed where values are means over several.
    """

    reading: str
    matches: int
    fewest: int | None
    most: int | None
    cells: str

    @classmethod
    def of(cls, label: str, met: Sequence[str], singly: Sequence[int] = ()) -> ReadingResult:
        """Return the result of a reading that meets these values; ``singly`` has counts by seed."""
        fewest, most = (min(singly), max(singly)) if singly else (None, None)
        return cls(label, len(met), fewest, most, " ".join(met))

    @classmethod
    def judge(cls, label: str, ledger: Ledger, values: Values | Sequence[Values]) -> ReadingResult:
        """Judge a reading by its values, or by their means if there are some for every seed.

        A mean is not met if a seed does not give the value.
        """
        if isinstance(values, Mapping):
            return cls.of(label, ledger.met(values))
        singly = [len(ledger.met(seed)) for seed in values]
        return cls.of(label, ledger.met(over_seeds(values)), singly)

    @property
    def met(self) -> set[str]:
        """The ids of the values that it meets."""
        return set(self.cells.split())

    def gained(self, other: ReadingResult) -> list[str]:
        """Return the values that it meets and another reading does not."""
        return sorted(self.met - other.met)


def table(
    ledger: Ledger, path: Path, measure: Callable[[Reading], Values | Sequence[Values]]
) -> Table[Reading, ReadingResult]:
    """Return the stored results of the readings in a ledger.

    ``measure`` runs everything that has published values under a reading, and returns the values,
    or those of every seed.
    """

    def make(reading: Reading) -> ReadingResult:
        return ReadingResult.judge(reading.label, ledger, measure(reading))

    return Table(path, ReadingResult, ledger.reading, make)
