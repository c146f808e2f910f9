"""Published values beside ours, and the rules that judge them."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from skywave.papers.reasons import Cause, Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Verdict = Literal["match", "mismatch"]


class Rule(Protocol):
    """Decides whether our value agrees with a published one."""

    @property
    def text(self) -> str:
        """The rule in words, as printed beside the verdict."""

    def holds(self, published: float, ours: float) -> bool:
        """Return whether the values agree."""


@dataclass(frozen=True)
class Exact:
    """The values are equal when rounded to ``decimals`` decimals."""

    decimals: int

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"exact to {self.decimals} decimals"

    def holds(self, published: float, ours: float) -> bool:
        """Return whether the values agree."""
        return round(ours, self.decimals) == round(published, self.decimals)


@dataclass(frozen=True)
class Within:
    """Our value differs from the published one by at most ``percent`` % of the latter."""

    percent: float

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"within {self.percent:g} %"

    def holds(self, published: float, ours: float) -> bool:
        """Return whether the values agree."""
        return abs(ours - published) <= self.percent / 100 * abs(published)


CLOSE = Within(10)
"""The rule for values published as "around", "about" or "nearly", and for those of a live link."""
NS2_LIMIT_PERCENT = 10.0
"""Our limit for the difference from ns-2 under ns-2's settings, if a paper has none of its own."""


def relative_distance(*pairs: tuple[float, float]) -> float:
    """Return the root-mean-square relative distance of pairs of our and published values."""
    return math.sqrt(sum((ours / published - 1) ** 2 for ours, published in pairs) / len(pairs))


@dataclass(frozen=True)
class WithinUnits:
    """Our value differs from the published one by at most ``units`` of its unit."""

    units: float
    unit: str

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"within {self.units:g} {self.unit}"

    def holds(self, published: float, ours: float) -> bool:
        """Return whether the values agree."""
        return abs(ours - published) <= self.units


@dataclass(frozen=True)
class Limit:
    """The published value is a limit, and our value keeps it."""

    relation: Literal["<=", "<", ">"]
    """How our value must relate to the published one."""

    @property
    def text(self) -> str:
        """The rule in words."""
        return {"<=": "at most that", "<": "less than that", ">": "more than that"}[self.relation]

    def holds(self, published: float, ours: float) -> bool:
        """Return whether the values agree."""
        compare = {"<=": operator.le, "<": operator.lt, ">": operator.gt}[self.relation]
        return bool(compare(ours, published))


@dataclass(frozen=True)
class SameOrder:
    """Both values rank two conditions in the same way.

    A value is the advantage of one condition over the other. It counts only if it exceeds
    ``resolution``.
    """

    resolution: float
    unit: str

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"same order, by more than {self.resolution:g} {self.unit}"

    def holds(self, published: float, ours: float) -> bool:
        """Return whether the values agree."""
        return (published > self.resolution) == (ours > self.resolution)


@dataclass(frozen=True)
class WithinSpread:
    """The published value, which is from a single run, could be from one of ours.

    It differs from our mean by at most ``deviations`` standard deviations of single runs, or by
    ``least`` units if that is more. Only the runs tell ``sd``.
    """

    deviations: float
    runs: int
    least: float
    unit: str
    sd: float | None = None

    @property
    def text(self) -> str:
        """The rule in words."""
        sd = "" if self.sd is None else f" (sd {round(self.sd, 6):.3g} {self.unit})"
        return (
            f"within {self.deviations:g} sd of our {self.runs} runs{sd} "
            f"or {self.least:g} {self.unit}, whichever is wider"
        )

    def holds(self, published: float, ours: float) -> bool:
        """Return whether the values agree.

        Raises:
            ValueError: If ``sd`` is unknown.

        """
        if self.sd is None:
            raise ValueError("its rule needs the standard deviation of our runs")
        return abs(published - ours) <= max(self.deviations * self.sd, self.least)


@dataclass(frozen=True)
class SameSign:
    """Our value has the published sign, and a magnitude of at least ``least``.

    For correlations whose coefficients are not published.
    """

    least: float

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"same sign, at least {self.least:g} in magnitude"

    def holds(self, published: float, ours: float) -> bool:
        """Return whether the values agree."""
        return published * ours > 0 and abs(ours) >= self.least


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

    @property
    def verdict(self) -> Verdict:
        """The rule's verdict; a missing value is a mismatch."""
        agrees = self.ours is not None and self.rule.holds(self.published, self.ours)
        return "match" if agrees else "mismatch"

    @property
    def ns2_verdict(self) -> Verdict | None:
        """The rule's verdict on ns-2's value; None if there is none."""
        if self.ns2 is None:
            return None
        return "match" if self.rule.holds(self.published, self.ns2) else "mismatch"

    @property
    def place(self) -> str:
        """Where the paper has the value, by its id: "Table 1", "Figure 7", or its first part."""
        name = self.id.partition("/")[0]
        numbered = re.match(r"(fig|table)(\d+)", name)
        if numbered is None:
            return name
        return f"{'Figure' if numbered[1] == 'fig' else 'Table'} {numbered[2]}"

    @property
    def anchor(self) -> str:
        """The id of the value's row in the report."""
        return f"value/{self.id}"

    @property
    def why(self) -> str | None:
        """Why the value does not match; None if it does."""
        if self.verdict == "match":
            return None
        return "not explained yet" if self.known_reason is None else self.known_reason.text

    @property
    def cause(self) -> Cause | None:
        """The kind of reason why the value does not match; None if it does."""
        if self.verdict == "match":
            return None
        return Cause.UNKNOWN if self.known_reason is None else self.known_reason.cause

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as ``--json`` prints it."""
        return {
            "id": self.id,
            "what": self.what,
            "quote": self.quote,
            "conditions": dict(self.conditions),
            "unit": self.unit,
            "published": self.published,
            "ours": self.ours,
            "ns2": self.ns2,
            "rule": self.rule.text,
            "verdict": self.verdict,
            "cause": None if self.cause is None else self.cause.value,
            "why": self.why,
        }


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

    ns-2's value agrees if it is within the limit or within the interval.

    Attributes:
        quantity: What was measured.
        conditions: The settings, with units in their names.
        unit: The unit of both values.
        ours: Our value; None if the quantity did not occur.
        ns2: ns-2's value; None if the quantity did not occur.
        limit_percent: The largest difference that counts as agreement, in percent of ns-2's value.
        interval95: If ours is a mean over runs, half of its 95 % confidence interval.

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
        if self.ns2 == 0:
            return None
        return 100 * (self.ours - self.ns2) / self.ns2

    @property
    def verdict(self) -> Verdict:
        """Whether the difference is within the limit or the interval."""
        if self.ours is None and self.ns2 is None:
            return "match"
        difference = self.difference_percent
        within = difference is not None and abs(difference) <= self.limit_percent
        return "match" if within or self.is_within_interval else "mismatch"

    @property
    def is_within_interval(self) -> bool:
        """Whether ns-2's value is within our confidence interval."""
        if self.ours is None or self.ns2 is None or self.interval95 is None:
            return False
        return abs(self.ours - self.ns2) <= self.interval95

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as ``--json`` prints it."""
        return {
            "quantity": self.quantity,
            "conditions": dict(self.conditions),
            "unit": self.unit,
            "ours": self.ours,
            "ns2": self.ns2,
            "difference_percent": self.difference_percent,
            "limit_percent": self.limit_percent,
            "interval95": self.interval95,
            "verdict": self.verdict,
        }
