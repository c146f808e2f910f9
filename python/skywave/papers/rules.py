"""Expected values with the rules that judge ours: ``"160 s, within 10 %"``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from skywave.papers.measures import Measure, Value

_SIZE = r"([0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)"
_VALUE = re.compile(rf"(?P<relation><=|[<>=])?\s*(?P<value>-?{_SIZE})\s*(?P<unit>.*)")
_LIMITS = {
    "<=": "at most that",
    "<": "less than that",
    ">": "more than that",
    "=": "exact to 0 decimals",
}
# The arguments are the numbers of the form, the published value, ours, and our standard deviation.
_HOLDS: Mapping[str, Callable[..., bool]] = {
    "at most that": lambda published, ours, _: ours <= published,
    "less than that": lambda published, ours, _: ours < published,
    "more than that": lambda published, ours, _: ours > published,
    rf"within {_SIZE} sd of our ([0-9]+) runs or {_SIZE} .+, whichever is wider": (
        lambda deviations, _, least, published, ours, sd: (
            abs(published - ours) <= max(deviations * sd, least)
        )
    ),
    rf"within {_SIZE} %": lambda percent, published, ours, _: (
        abs(ours - published) <= percent / 100 * abs(published)
    ),
    rf"within {_SIZE} .+": lambda units, published, ours, _: abs(ours - published) <= units,
    "exact to ([0-9]|1[0-5]) decimals": lambda decimals, published, ours, _: (
        round(ours, int(decimals)) == round(published, int(decimals))
    ),
    rf"same order, by more than {_SIZE} .+": lambda resolution, published, ours, _: (
        (published > resolution) == (ours > resolution)
    ),
    rf"same sign, at least {_SIZE} in magnitude": lambda least, published, ours, _: (
        published * ours > 0 and abs(ours) >= least
    ),
}


@dataclass(frozen=True)
class Rule:
    """Decides whether our value agrees with a published one.

    ``form`` is one of these, with any numbers and units: ``within 10 %``; ``within 5 points``;
    ``exact to 2 decimals``; ``same order, by more than 1 s``, of an advantage of one condition over
    another; ``same sign, at least 0.2 in magnitude``, of correlations without published
    coefficients; ``at most that``, ``less than that`` or ``more than that``; and ``within 2 sd of
    our 40 runs or 5 points, whichever is wider``: the published value, which is from a single run,
    could be from one of ours, whose standard deviation is ``sd``.
    """

    form: str
    sd: float | None = None

    def __post_init__(self) -> None:
        """Check that the form is known."""
        self._judge()

    @property
    def needs_sd(self) -> bool:
        """Whether it allows for the spread of our runs."""
        return " sd of our " in self.form

    @property
    def text(self) -> str:
        """The rule as printed beside the verdict."""
        if self.sd is None:
            return self.form
        spread = rf" (sd {round(self.sd, 6):.3g} \2)\1"
        return re.sub(r"( or [^ ]+ (.+), whichever)", spread, self.form)

    def holds(self, published: float, ours: float) -> bool:
        """Return whether the values agree."""
        if self.needs_sd and self.sd is None:
            raise ValueError("its rule needs the standard deviation of our runs")
        return self._judge()(published, ours, self.sd)

    def _judge(self) -> Callable[[float, float, float | None], bool]:
        for form, holds in _HOLDS.items():
            if found := re.fullmatch(form, self.form):
                return partial(holds, *map(float, found.groups()))
        raise ValueError(
            f"{self.form!r} is not a rule: use within 10 %, within 5 s, exact to 2 decimals, same "
            "order, by more than 1 s, same sign, at least 0.2 in magnitude, or within 2 sd of our "
            "40 runs or 5 s, whichever is wider"
        )


@dataclass(frozen=True)
class Expectation:
    """A published value with its unit, and the rule that judges ours."""

    published: float
    unit: str
    rule: Rule

    @classmethod
    def parse(cls, text: str) -> Expectation:
        """Read a value, its unit, a comma and a :class:`Rule`.

        A limit has its relation in front instead, and so has a whole number that ours must equal:
        ``"> 0 s"``, ``"<= 1 %"``, ``"= 4 levels"``. Any other text raises a :class:`ValueError`.
        """
        value, _, rule = text.partition(", ")
        found = _VALUE.fullmatch(value)
        if found is None or bool(found["relation"]) == bool(rule):
            raise ValueError(
                f"{text!r} is not an expectation: write it as '160 s, within 10 %' or '> 0 s'"
            )
        if not all(math.isfinite(float(number)) for number in re.findall(_SIZE, text)):
            raise ValueError(f"{text[:40]!r} has a number that is too large")
        is_whole = found["value"].lstrip("-").isdigit()
        if found["relation"] == "=" and not is_whole:
            raise ValueError(f"{text!r} is not an expectation: only whole numbers follow =")
        # Reports show a number as the ledger does.
        published = int(found["value"]) if is_whole else float(found["value"])
        return cls(published, found["unit"], Rule(rule or _LIMITS[found["relation"]]))

    def rule_for(self, ours: Measure) -> Rule:
        """Return the rule for a measurement. One that allows for our spread has that of ours."""
        return replace(self.rule, sd=ours.sd) if self.rule.needs_sd else self.rule

    def is_met_by(self, ours: Value) -> bool:
        """Return whether our value agrees; one that did not occur does not."""
        one = Measure.of(ours)
        return one.value is not None and self.rule_for(one).holds(self.published, one.value)
