"""How many seeds are enough: run until a confidence interval is narrow."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

from skywave.results.columns import Column, find, in_units
from skywave.stats.intervals import CONFIDENCE, average

LEAST_SEEDS = 10
"""The fewest seeds before an interval counts.

With fewer, an interval that happens to be narrow ends the runs too early (docs/statistics.md).
"""

_FORM = re.compile(
    r"ci\(\s*(?P<measure>[^,()]+?)\s*(?:,\s*(?P<confidence>[0-9.]+)\s*%\s*)?\)"
    r"\s*<\s*(?P<bound>[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(?P<unit>[A-Za-zµ/%]*)\s*"
)


@dataclass(frozen=True)
class Target:
    """How precise a mean over seeds must be: ``ci(goodput) < 2 %``.

    The bound is for the interval's margin, half of its width (Student's t): relative to the mean
    (``< 2 %``) or absolute, in the measure's own unit (``< 0.05``) or another (``< 100 kbps``). The
    confidence is 95 %, or that after the measure: ``ci(goodput, 99 %) < 2 %``.

    More seeds are run until :meth:`is_met`, at least ten: the sequential procedure of Law (2015,
    section 9.4.1). The final interval contains the true mean slightly less often than its
    confidence says, since the procedure stops when the margin happens to be small;
    docs/statistics.md says how often.
    """

    measure: str
    """A measure by its name, with or without its unit."""
    bound: float
    """The bound of the margin: a fraction of the mean if ``relative``, else in ``unit``."""
    relative: bool
    unit: str = ""
    """``bps``, ``s``, ``bytes`` or ``packets`` if the bound had a unit, else the measure's own."""
    confidence: float = CONFIDENCE

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a target such as ``ci(goodput) < 2 %`` or ``ci(delay_mean) < 5 ms``.

        Raises:
            ValueError: If the text has another form, or a number makes no sense.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise ValueError(f'"{text}" is not a target: write it as "ci(goodput) < 2 %"')
        confidence = CONFIDENCE
        if match["confidence"]:
            confidence = _number(match["confidence"], text) / 100
            if not 0 < confidence < 1:
                raise ValueError(f'"{text}": give a confidence between 0 and 100 %')
        bound, unit, relative = _number(match["bound"], text), "", match["unit"] == "%"
        if relative:
            bound /= 100
        elif match["unit"]:
            bound, unit = in_units(f"{match['bound']} {match['unit']}")
        if bound <= 0:
            raise ValueError(f'"{text}": the bound must be above 0')
        return cls(match["measure"], bound, relative, unit, confidence)

    @property
    def text(self) -> str:
        """The target as text, from which :meth:`parse` returns the same."""
        bound = f"{100 * self.bound:.12g} %" if self.relative else f"{self.bound:.12g} {self.unit}"
        return f"ci({self.measure}, {100 * self.confidence:.12g} %) < {bound.strip()}"

    def column(self, measures: Collection[str]) -> str:
        """Return the one of ``measures``, columns of a table, that the target names.

        Raises:
            ValueError: If there is none, or if its unit differs from the bound's.
        """
        name = find(self.measure, measures)
        own = Column.of_name(name).unit
        if own and not self.unit and not self.relative:
            units = f"{self.bound:g} {own} or {self.bound:g} %"
            raise ValueError(f"{name} is in {own}: give the bound a unit, such as {units}")
        if self.unit and self.unit != own:
            raise ValueError(f"{name} is in {own or 'no unit'}: its bound cannot be in {self.unit}")
        return name

    def is_met(self, values: Sequence[float]) -> bool:
        """Return whether these runs are enough.

        They are not if there are fewer than ten, or if any value is NaN. They are if all are equal,
        since more seeds change nothing then (:func:`skywave.stats.unchanged_by_seeds`).
        """
        if len(values) < LEAST_SEEDS:
            return False
        found = average(values, self.confidence)
        return found.margin == 0 or found.margin < self._allowed(found.value)

    def seeds_needed(self, values: Sequence[float]) -> int | None:
        """Return an estimate of the total number of seeds, for a display of progress.

        Assumes that mean and standard deviation stay the same, so that the margin falls with the
        square root of the number. None if they are unknown (fewer than two runs, or NaN) or if no
        number suffices (a relative bound and a mean of 0).
        """
        if len(values) < 2:
            return None
        found = average(values, self.confidence)
        if found.margin == 0:
            return max(LEAST_SEEDS, len(values))
        allowed = self._allowed(found.value)
        if math.isnan(found.margin) or allowed == 0:
            return None
        needed = len(values) * (found.margin / allowed) ** 2
        least = len(values) if self.is_met(values) else len(values) + 1
        return max(LEAST_SEEDS, least if needed < least else math.ceil(needed))

    def _allowed(self, mean: float) -> float:
        return self.bound * abs(mean) if self.relative else self.bound


def _number(text: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'"{whole}": {text} is not a number') from None
