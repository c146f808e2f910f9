"""Counts matches: with published values, with further claims, and with ns-2."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave.papers.cells import Cell, Comparison
    from skywave.papers.reasons import Cause


@dataclass(frozen=True)
class Score:
    """Numbers of a paper, or of several: scores can be added.

    Attributes:
        values: Published values.
        matches: Those that match.
        causes: How many of the others there are, by the kind of reason.
        asked_of_ns2: How many of the others ns-2 has as well.
        missed_by_ns2: How many of these do not match in ns-2 either.
        claims: Further claims.
        claims_met: Those that hold.
        compared: Quantities compared with ns-2 under the same settings.
        close: Those within their limit.

    """

    values: int = 0
    matches: int = 0
    causes: Counter[Cause] = field(default_factory=Counter)
    asked_of_ns2: int = 0
    missed_by_ns2: int = 0
    claims: int = 0
    claims_met: int = 0
    compared: int = 0
    close: int = 0

    @classmethod
    def of(
        cls, cells: Sequence[Cell], claims: Sequence[Cell] = (), compared: Sequence[Comparison] = ()
    ) -> Score:
        """Count the verdicts of values, claims and comparisons with ns-2."""
        others = [cell for cell in cells if cell.verdict == "mismatch"]
        return cls(
            values=len(cells),
            matches=len(cells) - len(others),
            causes=Counter(cell.cause for cell in others if cell.cause is not None),
            asked_of_ns2=sum(cell.ns2_verdict is not None for cell in others),
            missed_by_ns2=sum(cell.ns2_verdict == "mismatch" for cell in others),
            claims=len(claims),
            claims_met=sum(claim.verdict == "match" for claim in claims),
            compared=len(compared),
            close=sum(comparison.verdict == "match" for comparison in compared),
        )

    def __add__(self, other: Score) -> Score:
        """Return the numbers of both."""
        return Score(
            **{name: value + getattr(other, name) for name, value in vars(self).items()},
        )
