"""The ledger of a paper, ``paper.toml``: its values and sentences, and the tests that confirm them.

The ledger holds what is written down before the first run: the citation, the parameters with their
sources, the published values and the sentences with the rules that judge them, and later the
reasons of mismatches. It names no code. The paper's ``judge.py`` measures, and names each
measurement by the id of its test.
"""

# ruff: noqa: TC001 (annotations are read when a ledger is)

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from posixpath import commonpath
from typing import TYPE_CHECKING

from skywave.papers.cells import Cell, WithinSpread
from skywave.papers.entries import Contents, Test
from skywave.papers.errors import LedgerError
from skywave.papers.faults import faults
from skywave.papers.ledger_text import LedgerText, is_finite
from skywave.papers.measures import Measure, Measures, Value
from skywave.papers.placeholders import fill, names
from skywave.papers.reasons import Reason
from skywave.papers.reproduction import Finding
from skywave.papers.sentences import Sentence

if TYPE_CHECKING:
    from skywave.papers.expectation import Expectation

__all__ = ["Ledger", "LedgerError"]


@dataclass(frozen=True)
class Ledger(Contents):
    """A paper's ledger."""

    origin: LedgerText = field(default=LedgerText(""), compare=False, repr=False)

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Read and check a ledger.

        Raises:
            LedgerError: If it is wrong. The message has the lines.
            OSError: If it cannot be read.

        """
        return cls._checked(LedgerText.read(path))

    @classmethod
    def parse(cls, text: str, source: str = "paper.toml") -> Ledger:
        """Read and check a ledger's text; ``source`` is its name in errors."""
        return cls._checked(LedgerText(text, source))

    @classmethod
    def _checked(cls, origin: LedgerText) -> Ledger:
        contents = origin.structured(Contents)
        if found := list(faults(contents)):
            raise origin.error(found)
        return cls(**vars(contents), origin=origin)

    @cached_property
    def values(self) -> Mapping[str, Test]:
        """The tests of published values, by id."""
        return {test.id: test for each in self.value for test in each.each()}

    @cached_property
    def claims(self) -> Mapping[str, tuple[Test, str]]:
        """The tests of sentences, by id, with their sentence."""
        return {
            test.id: (test, quotation.says)
            for quotation in self.sentence
            for each in quotation.claim
            for test in each.each()
        }

    def expected(self, test: str) -> Expectation:
        """Return the published value of a test with its rule.

        Raises:
            LedgerError: If there is no such test.

        """
        found = self.values.get(test) or self.claims.get(test, (None,))[0]
        if found is None:
            raise LedgerError(f"{self.origin.source}: no test has the id {test!r}")
        return found.expectation

    def published(self, test: str) -> float:
        """Return the published value of a test."""
        return self.expected(test).published

    def met(self, values: Mapping[str, Value]) -> list[str]:
        """Return the ids of the published values that these values match, by their ids.

        They may be those of one table alone.
        """
        return [
            test.id
            for test in self.values.values()
            if test.id in values and test.expectation.is_met_by(values[test.id])
        ]

    def judge(self, measures: Measures) -> tuple[list[Cell], list[Cell]]:
        """Return the published values and the claims, judged, in the order of the ledger.

        Raises:
            LedgerError: If a test has no measurement, or one that is not a number; if a measurement
                has no test, or a placeholder no word.

        """
        values, claims = self.values, self.claims
        for have, lack, what in (
            ({*values, *claims}, measures.ours, "is not measured"),
            ({*measures.ours, *measures.ns2}, {*values, *claims}, "is measured but not in it"),
        ):
            if missing := sorted(map(str, set(have) - set(lack))):
                raise self._error("", f"{', '.join(missing)} {what}")
        words = _Words(self, measures.words)
        return (
            [self._cell(test, None, measures, words) for test in values.values()],
            [self._cell(test, says, measures, words) for test, says in claims.values()],
        )

    def sentences(self, measures: Measures) -> list[Sentence]:
        """Return the sentences in the order of the ledger, each with its tests."""
        words = _Words(self, measures.words)
        known = {*self.values, *self.claims}
        return [
            Sentence(
                one.section,
                one.says,
                (*(begin for each in one.claim for begin in _begins(each, known)), *one.tested_by),
                words.fill(one.remark, f"sentence[{index}].remark"),
            )
            for index, one in enumerate(self.sentence)
        ]

    def found(self, measures: Measures) -> Finding | None:
        """Return the finding with its numbers."""
        if self.finding is None:
            return None
        words, headline = _Words(self, measures.words), self.finding.headline
        return replace(
            self.finding,
            sentence=words.fill(self.finding.sentence, "finding.sentence"),
            headline=headline and words.fill(headline, "finding.headline"),
        )

    def check_figures(self, drawn: Iterable[str]) -> None:
        """Check that the figure of the finding is among those that are drawn.

        Raises:
            LedgerError: If it is not.

        """
        known = sorted(drawn)
        if self.finding is not None and self.finding.figure not in known:
            why = f"no figure is named {self.finding.figure!r}: use one of {', '.join(known)}"
            raise self._error("finding.figure", why)

    def _error(self, place: str, why: str) -> LedgerError:
        """Return an error of the measurements for this ledger."""
        return self.origin.error([(place, f"{self.paper.key}: {why}")])

    def _field(self, test: str) -> str:
        """Return the field that has a test."""
        return next(
            place for place, each in self.entries() if test in {one.id for one in each.each()}
        )

    def _cell(self, test: Test, quote: str | None, measures: Measures, words: _Words) -> Cell:
        expected, ours = test.expectation, Measure.of(measures.ours[test.id])
        ns2 = measures.ns2.get(test.id)
        for value in (ours.value, ours.sd, ns2):
            if value is not None and not is_finite(value):
                why = f"the measurement of {test.id} is {value!r}: give a number or None"
                raise self._error(self._field(test.id), why)
        rule = expected.rule_for(ours)
        if isinstance(rule, WithinSpread) and rule.sd is None:
            raise self._error(self._field(test.id), f"{test.id} is measured without its spread")
        return Cell(
            id=test.id,
            what=test.what,
            conditions={**test.conditions, **ours.conditions},
            unit=expected.unit,
            published=expected.published,
            ours=ours.value,
            ns2=ns2,
            rule=rule,
            known_reason=words.reason(test.reason) if test.reason else None,
            quote=quote,
        )


class _Words(dict[str, object]):
    """The values of placeholders: numbers from the runs, and the texts of reasons."""

    def __init__(self, ledger: Ledger, words: Mapping[str, object]) -> None:
        super().__init__(words)
        self._ledger = ledger

    def fill(self, text: str, place: str) -> str:
        """Return the text of a field with its placeholders filled."""
        # Reasons may name each other to any depth, so the stack is not Python's.
        waiting = [(text, place, "")]
        while True:
            text, place, name = waiting[-1]
            if lacking := [one for one in names(text) if one not in self]:
                waiting += [(*self._reason(one, place), one) for one in lacking]
                continue
            filled = fill(text, self)
            waiting.pop()
            if not waiting:
                return filled
            self[name] = filled

    def reason(self, name: str) -> Reason:
        text, place = self._reason(name, "")
        return replace(self._ledger.reason[name], text=self.fill(text, place))

    def _reason(self, name: str, place: str) -> tuple[str, str]:
        """Return a reason's text and its field; ``place`` is the field that names it."""
        if name not in self._ledger.reason:
            why = f"{{{name}}} is neither a number of the judge nor a reason"
            raise self._ledger._error(place, why)  # noqa: SLF001
        return self._ledger.reason[name].text, f"reason.{name}.text"


def _begins(test: Test, known: Iterable[str]) -> list[str]:
    """Return the common beginning of the ids of a test's rows; the ids, if others share it."""
    own = [one.id for one in test.each()]
    begin = commonpath(own)
    same = [one for one in known if begin and f"{one}/".startswith(f"{begin}/")]
    return [begin] if len(same) == len(own) else own
