"""Published values beside ours, with verdicts and reasons, and quantities beside ns-2's."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

from skywave.papers.rules import Rule

Verdict = Literal["match", "mismatch"]

CLOSE = Rule("within 10 %")
"""The rule for values published as "around", "about" or "nearly", and for those of a live link."""
NS2_LIMIT_PERCENT = 10.0
"""Our limit for the difference from ns-2 under ns-2's settings, if a paper has none of its own."""


def relative_distance(*pairs: tuple[float, float]) -> float:
    """Return the root-mean-square relative distance of pairs of our and published values."""
    return math.sqrt(sum((ours / published - 1) ** 2 for ours, published in pairs) / len(pairs))


class Cause(Enum):
    """The kind of reason of a mismatch, in words that follow a number of values."""

    UNSTATED = "the paper does not publish settings that decide the value"
    TWO_READINGS = "the paper can be read in two ways, and the other one gives the value"
    CONFLICT = "the paper's values exclude each other: no setting that was tried gives all"
    RULES = "the rules that the paper prescribes lead to another value"
    OURS = "the paper's simulator has a detail that ours lacks"
    SHARED = "not known, but ns-2 with the same settings misses the value too"
    NO_READING = "not known; no reading of the paper that was tried gives the value"
    UNKNOWN = "not known"
    OTHER = "particular to the value: see the full report"


@dataclass(frozen=True)
class Reason:
    """Why a value does not match, as the report prints it; the front page counts by ``cause``."""

    text: str
    cause: Cause = Cause.OTHER


@dataclass(frozen=True)
class Cell:
    """A published value, the conditions of its measurement, and the rule that judges it.

    ``ours`` and ``ns2`` are None if the quantity did not occur or was not measured.
    ``id`` begins with the table or figure that has the value ("table1/..", "fig7-peak"), or with
    another name for its place. ``known_reason`` says why a mismatch is expected; it is written
    before the run. ``quote`` is the paper's sentence, for claims that are more than a number.
    """

    id: str
    what: str
    conditions: Mapping[str, str | float]
    unit: str
    published: float
    ours: float | None
    rule: Rule
    ns2: float | None = None
    known_reason: Reason | None = None
    quote: str | None = None

    def _judged(self, value: float | None) -> Verdict:
        agrees = value is not None and self.rule.holds(self.published, value)
        return "match" if agrees else "mismatch"

    @property
    def verdict(self) -> Verdict:
        """The rule's verdict; a missing value is a mismatch."""
        return self._judged(self.ours)

    @property
    def ns2_verdict(self) -> Verdict | None:
        """The rule's verdict on ns-2's value; None if there is none."""
        return None if self.ns2 is None else self._judged(self.ns2)

    @property
    def place(self) -> str:
        """Where the paper has the value, by its id: "Table 1", "Figure 7", or its first part."""
        name = self.id.partition("/")[0]
        numbered = re.match(r"(fig|table)(\d+)", name)
        if numbered is None:
            return name
        return f"{'Figure' if numbered[1] == 'fig' else 'Table'} {numbered[2]}"

    @property
    def reason(self) -> Reason | None:
        """Why the value does not match; None if it does."""
        if self.verdict == "match":
            return None
        return self.known_reason or Reason("not explained yet", Cause.UNKNOWN)

    @property
    def why(self) -> str | None:
        """The text of the reason."""
        return None if self.reason is None else self.reason.text

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as ``--json`` prints it."""
        document = {
            **vars(self),
            "conditions": dict(self.conditions),
            "rule": self.rule.text,
            "verdict": self.verdict,
            "cause": self.reason and self.reason.cause.value,
            "why": self.why,
        }
        del document["known_reason"]
        return document


def by_reason(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Return the values that do not match, by why that is so."""
    reasons: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.why:
            reasons.setdefault(cell.why, []).append(cell)
    return reasons


@dataclass(frozen=True)
class Comparison:
    """A quantity measured by us and by ns-2 under the same settings.

    A value is None if the quantity did not occur. ns-2's value agrees if ours differs by at most
    ``limit_percent`` of it, or by at most ``interval95`` if ours is a mean over runs: half of its
    95 % confidence interval. ``conditions`` are the settings, with units in their names.
    """

    quantity: str
    conditions: Mapping[str, str | float]
    unit: str
    ours: float | None
    ns2: float | None
    limit_percent: float
    interval95: float | None = None

    @property
    def difference_percent(self) -> float | None:
        """Our difference from ns-2, in percent of ns-2's value; None if that is undefined."""
        if self.ours is None or self.ns2 is None:
            return None
        if self.ours == self.ns2:
            return 0.0
        return 100 * (self.ours - self.ns2) / self.ns2 if self.ns2 else None

    @property
    def verdict(self) -> Verdict:
        """Whether the difference is within the limit or the interval."""
        if self.ours is None or self.ns2 is None:
            return "match" if self.ours == self.ns2 else "mismatch"
        percent, interval = self.difference_percent, self.interval95
        agrees = (percent is not None and abs(percent) <= self.limit_percent) or (
            interval is not None and abs(self.ours - self.ns2) <= interval
        )
        return "match" if agrees else "mismatch"

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as ``--json`` prints it."""
        return {
            **vars(self),
            "conditions": dict(self.conditions),
            "difference_percent": self.difference_percent,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Score:
    """The numbers of published values, further claims, and quantities compared with ns-2.

    ``matches``, ``claims_met`` and ``close`` are those of them that agree. ``causes`` counts the
    other values by the kind of reason. ns-2 has ``asked_of_ns2`` of these as well, and misses
    ``missed_by_ns2`` too.
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
        reasons = [cell.reason for cell in cells]
        others = [cell for cell in cells if cell.verdict == "mismatch"]
        return cls(
            values=len(cells),
            matches=reasons.count(None),
            causes=Counter(reason.cause for reason in reasons if reason),
            asked_of_ns2=sum(cell.ns2_verdict is not None for cell in others),
            missed_by_ns2=sum(cell.ns2_verdict == "mismatch" for cell in others),
            claims=len(claims),
            claims_met=sum(claim.verdict == "match" for claim in claims),
            compared=len(compared),
            close=sum(comparison.verdict == "match" for comparison in compared),
        )

    def __add__(self, other: Score) -> Score:
        """Return the numbers of both."""
        return Score(**{name: value + getattr(other, name) for name, value in vars(self).items()})
