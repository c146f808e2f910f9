"""Expected values and their rules, as a ledger writes them: ``"160 s, within 10 %"``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast

from skywave.papers.cells import (
    Exact,
    Limit,
    SameOrder,
    SameSign,
    Within,
    WithinSpread,
    WithinUnits,
)
from skywave.papers.measures import Measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from skywave.papers.cells import Rule
    from skywave.papers.measures import Value

_SIZE = r"[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?"
_NUMBER = rf"-?{_SIZE}"
_VALUE = re.compile(rf"(?P<relation><=|[<>=])?\s*(?P<value>{_NUMBER})\s*(?P<unit>.*)")
_RULES: tuple[tuple[str, Callable[..., Rule]], ...] = (
    (
        rf"within ({_SIZE}) sd of our ([0-9]+) runs or ({_SIZE}) (.+), whichever is wider",
        lambda deviations, runs, least, unit: WithinSpread(
            float(deviations), int(runs), float(least), unit
        ),
    ),
    (rf"within ({_SIZE}) %", lambda number: Within(float(number))),
    (rf"within ({_SIZE}) (.+)", lambda number, unit: WithinUnits(float(number), unit)),
    (r"exact to ([0-9]|1[0-5]) decimals", lambda decimals: Exact(int(decimals))),
    (
        rf"same order, by more than ({_SIZE}) (.+)",
        lambda number, unit: SameOrder(float(number), unit),
    ),
    (rf"same sign, at least ({_SIZE}) in magnitude", lambda least: SameSign(float(least))),
)


@dataclass(frozen=True)
class Expectation:
    """A published value with its unit, and the rule that judges ours."""

    published: float
    unit: str
    rule: Rule

    @classmethod
    def parse(cls, text: str) -> Expectation:
        """Read a value, its unit and a rule.

        A limit has its relation in front, and so has a whole number that ours must equal:
        ``"> 0 s"``, ``"<= 1 %"``, ``"= 4 levels"``. Other values are followed by a comma and one of
        these: ``within 10 %`` (of the value), ``within 5 points`` (of the unit), ``exact to 2
        decimals``, ``same order, by more than 1 s``, ``same sign, at least 0.2 in magnitude``, or
        ``within 2 sd of our 40 runs or 5 points, whichever is wider``, for a mean over so many.

        Raises:
            ValueError: If the text has another form.

        """
        value, _, rule = text.partition(", ")
        found = _VALUE.fullmatch(value)
        if found is None or bool(found["relation"]) == bool(rule):
            raise ValueError(
                f"{text!r} is not an expectation: write it as '160 s, within 10 %' or '> 0 s'"
            )
        if not all(math.isfinite(float(number)) for number in re.findall(_SIZE, text)):
            raise ValueError(f"{text[:40]!r} has a number that is too large")
        relation = found["relation"]
        if relation == "=" and not found["value"].lstrip("-").isdigit():
            raise ValueError(f"{text!r} is not an expectation: only whole numbers follow =")
        judges = _rule(rule) if rule else _limit(relation)
        return cls(_number(found["value"]), found["unit"], judges)

    def rule_for(self, ours: Measure) -> Rule:
        """Return the rule for a measurement. One that allows for our spread has that of ours."""
        return replace(self.rule, sd=ours.sd) if isinstance(self.rule, WithinSpread) else self.rule

    def is_met_by(self, ours: Value) -> bool:
        """Return whether our value agrees; one that did not occur does not.

        Raises:
            ValueError: If the rule allows for our spread, and the measurement has none.

        """
        one = Measure.of(ours)
        return one.value is not None and self.rule_for(one).holds(self.published, one.value)


def _number(text: str) -> float:
    """Return a number, whole if it is written so: reports show it as the ledger does."""
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _limit(relation: str) -> Rule:
    return Exact(0) if relation == "=" else Limit(cast("Literal['<=', '<', '>']", relation))


def _rule(text: str) -> Rule:
    for form, make in _RULES:
        if found := re.fullmatch(form, text):
            return make(*found.groups())
    forms = (
        "within 10 %, within 5 s, exact to 2 decimals, same order, by more than 1 s, "
        "same sign, at least 0.2 in magnitude, or within 2 sd of our 40 runs or 5 s, whichever is "
        "wider"
    )
    raise ValueError(f"{text!r} is not a rule: use {forms}")
