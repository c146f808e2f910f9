"""What a paper says, and what would confirm it: ``paper.toml``.

The ledger holds what is written down before the first run: the citation, the parameters with their
sources, the published values and the sentences with the rules that judge them, and later the
reasons of mismatches. It names no code. The paper's ``judge.py`` measures, and names each
measurement by the id of its test.
"""

# ruff: noqa: TC001, TC003 (annotations are read when a ledger is)

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from posixpath import commonpath

import cattrs

from skywave.papers.cells import Cell, WithinSpread
from skywave.papers.citation import Citation
from skywave.papers.digits import Printed
from skywave.papers.expectation import Expectation
from skywave.papers.measures import Measure, Measures
from skywave.papers.reasons import Cause, Reason
from skywave.papers.reproduction import Finding, Parameter
from skywave.papers.sentences import Sentence
from skywave.scenario.place import line_and_column

Scalar = str | int | float


class LedgerError(ValueError):
    """A ledger or the measurements for it are wrong. The message says where, and what to do."""


@dataclass(frozen=True)
class Test:
    """A published value or a claim: what is measured, and what the paper lets us expect.

    Attributes:
        id: A unique name that begins with the place in the paper: ``table1/ssthresh=20``.
        what: What is measured, as the report says it.
        expect: The value, its unit and the rule (:class:`Expectation`).
        conditions: The conditions that the report shows, with units in their names.
        reason: The name of the reason why the value may not match.
        rows: Several tests in one: each row has the values of ``{placeholders}`` in the other
            fields. A row's ``reason`` takes the place of the test's.

    """

    id: str
    what: str
    expect: str
    conditions: Mapping[str, Scalar] = field(default_factory=dict)
    reason: str = ""
    rows: tuple[Mapping[str, Scalar], ...] = ()

    @cached_property
    def expectation(self) -> Expectation:
        """What ``expect`` says."""
        return Expectation.parse(self.expect)

    def each(self) -> Iterator[Test]:
        """Yield the test of each row; a test without rows is one."""
        for row in self.rows or ({},):
            yield Test(
                id=self.id.format_map(row),
                what=self.what.format_map(row),
                expect=self.expect.format_map(row),
                conditions={
                    key.format_map(row): _filled(value, row)
                    for key, value in self.conditions.items()
                },
                reason=str(row.get("reason", self.reason)),
            )


@dataclass(frozen=True)
class Quotation:
    """A sentence of the paper, and what tests it.

    Attributes:
        says: The sentence, or the part of it that can be tested.
        section: Where it is.
        claim: Tests of this sentence, counted apart from the published values.
        tested_by: Beginnings of the ids of other tests of it.
        remark: What else there is to know, or why the sentence is not tested.

    """

    says: str
    section: str = ""
    claim: tuple[Test, ...] = ()
    tested_by: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True)
class Ledger:
    """A paper's ledger.

    Texts of reasons, remarks and the finding have ``{placeholders}`` for numbers of the runs
    (``Measures.words``), and for other reasons.
    """

    paper: Citation
    parameters: tuple[Parameter, ...]
    value: tuple[Test, ...]
    sentence: tuple[Quotation, ...] = ()
    reason: Mapping[str, Reason] = field(default_factory=dict)
    printed: tuple[Printed, ...] = ()
    finding: Finding | None = None

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Read and check a ledger.

        Raises:
            LedgerError: If it is wrong. The message has the lines.

        """
        return cls.parse(path.read_text(encoding="utf-8"), path.name)

    @classmethod
    def parse(cls, text: str, source: str = "paper.toml") -> Ledger:
        """Read and check a ledger's text; ``source`` is its name in errors."""
        try:
            document = tomllib.loads(text)
            ledger = _CONVERTER.structure(document, cls)
        except tomllib.TOMLDecodeError as error:
            raise LedgerError(f"{source}: {error}") from None
        except cattrs.BaseValidationError as error:
            apart = [one.partition(" @ $.") for one in cattrs.transform_error(error)]
            raise LedgerError(_listed(source, text, [(at, why) for why, _, at in apart])) from None
        if faults := list(_faults(ledger)):
            raise LedgerError(_listed(source, text, faults))
        return ledger

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
        """Return the published value of a test with its rule."""
        found = self.values.get(test) or self.claims[test][0]
        return found.expectation

    def published(self, test: str) -> float:
        """Return the published value of a test."""
        return self.expected(test).published

    def met(self, values: Mapping[str, Measure | float | None]) -> list[str]:
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
            LedgerError: If a test has no measurement, or a measurement no test.

        """
        values, claims = self.values, self.claims
        for have, lack, what in (
            ({*values, *claims}, measures.ours, "is not measured"),
            ({*measures.ours, *measures.ns2}, {*values, *claims}, "is measured but not in it"),
        ):
            if missing := sorted(set(have) - set(lack)):
                raise LedgerError(f"{self.paper.key}: {', '.join(missing)} {what}")
        words = _Words(self.reason, measures.words)
        return (
            [self._cell(test, None, measures, words) for test in values.values()],
            [self._cell(test, says, measures, words) for test, says in claims.values()],
        )

    def sentences(self, measures: Measures) -> list[Sentence]:
        """Return the sentences in the order of the ledger, each with its tests."""
        words = _Words(self.reason, measures.words)
        known = {*self.values, *self.claims}
        return [
            Sentence(
                one.section,
                one.says,
                (*(begin for each in one.claim for begin in _begins(each, known)), *one.tested_by),
                one.remark.format_map(words),
            )
            for one in self.sentence
        ]

    def found(self, measures: Measures) -> Finding | None:
        """Return the finding with its numbers."""
        if self.finding is None:
            return None
        words = _Words(self.reason, measures.words)
        return replace(
            self.finding,
            sentence=self.finding.sentence.format_map(words),
            headline=self.finding.headline and self.finding.headline.format_map(words),
        )

    def _cell(self, test: Test, quote: str | None, measures: Measures, words: _Words) -> Cell:
        expected, ours = test.expectation, Measure.of(measures.ours[test.id])
        rule = expected.rule_for(ours)
        if isinstance(rule, WithinSpread) and rule.sd is None:
            raise LedgerError(f"{self.paper.key}: {test.id} is measured without its spread")
        return Cell(
            id=test.id,
            what=test.what,
            conditions={**test.conditions, **ours.conditions},
            unit=expected.unit,
            published=expected.published,
            ours=ours.value,
            ns2=measures.ns2.get(test.id),
            rule=rule,
            known_reason=words.reason(test.reason) if test.reason else None,
            quote=quote,
        )


class _Words(dict[str, object]):
    """What placeholders stand for: numbers from the runs, and the texts of reasons."""

    def __init__(self, reasons: Mapping[str, Reason], words: Mapping[str, object]) -> None:
        super().__init__(words)
        self._reasons = reasons

    def __missing__(self, name: str) -> str:
        if name not in self._reasons:
            raise LedgerError(f"{{{name}}} is neither a number of the judge nor a reason")
        return self.reason(name).text

    def reason(self, name: str) -> Reason:
        reason = self._reasons[name]
        return replace(reason, text=reason.text.format_map(self))


def _faults(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Yield what types cannot say: the field, and what is wrong with it."""
    known: set[str] = set()
    groups = [(f"value[{index}]", each) for index, each in enumerate(ledger.value)]
    for index, quotation in enumerate(ledger.sentence):
        own = enumerate(quotation.claim)
        groups += [(f"sentence[{index}].claim[{number}]", each) for number, each in own]
    for place, each in groups:
        try:
            tests = list(each.each())
        except KeyError as error:
            yield place, f"a row lacks {error.args[0]!r}, which a placeholder names"
            continue
        for test in tests:
            if test.id in known:
                yield f"{place}.id", f"{test.id} is the id of another test too"
            known.add(test.id)
            if test.reason and test.reason not in ledger.reason:
                yield f"{place}.reason", f"{test.reason!r} is not in [reason]"
            try:
                _ = test.expectation
            except ValueError as error:
                yield f"{place}.expect", str(error)
    for index, quotation in enumerate(ledger.sentence):
        for begin in quotation.tested_by:
            if not any(f"{one}/".startswith(f"{begin}/") for one in known):
                yield f"sentence[{index}].tested_by", f"no test is {begin} or begins with it"


def _begins(test: Test, known: Iterable[str]) -> list[str]:
    """Return what the ids of a test's rows begin with; the ids, if those of other tests do too."""
    own = [one.id for one in test.each()]
    begin = commonpath(own)
    same = [one for one in known if begin and f"{one}/".startswith(f"{begin}/")]
    return [begin] if len(same) == len(own) else own


def _filled(value: Scalar, row: Mapping[str, Scalar]) -> Scalar:
    """Return a condition with its placeholders filled; a placeholder alone keeps its type."""
    if not isinstance(value, str):
        return value
    alone = value[1:-1] if value.startswith("{") and value.endswith("}") else ""
    return row[alone] if alone in row else value.format_map(row)


def _listed(source: str, text: str, faults: Iterable[tuple[str, str]]) -> str:
    lines = []
    for place, why in faults:
        found = line_and_column(text, place)
        at = source if found is None else f"{source}, line {found[0]}"
        lines.append(f"{at}: {place}: {why}")
    return "\n".join(lines)


def _scalar(value: object, _: type) -> Scalar:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(f"{value!r} is neither a text nor a number")
    return value


def _text(value: object, _: type) -> str:
    """Return a text, whose lines may be broken anywhere, as one line."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return " ".join(value.split())


def _whole(value: object, _: type) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is not a whole number")
    return value


def _parameter(row: object, _: type) -> Parameter:
    return Parameter(*_CONVERTER.structure(row, tuple[str, str, str]))


def _cause(value: object, _: type) -> Cause:
    if not isinstance(value, str) or value not in _CAUSES:
        raise ValueError(f"{value!r} is not one of {', '.join(_CAUSES)}")
    return _CAUSES[value]


_CAUSES = {
    cause.name.lower().replace("_", "-"): cause for cause in Cause if cause is not Cause.UNKNOWN
}
"""Causes by their names in a ledger; unknown is what has no reason."""
_CONVERTER = cattrs.Converter(forbid_extra_keys=True)
_CONVERTER.register_structure_hook_func(lambda kind: kind == Scalar, _scalar)
_CONVERTER.register_structure_hook(str, _text)
_CONVERTER.register_structure_hook(int, _whole)
_CONVERTER.register_structure_hook(Parameter, _parameter)
_CONVERTER.register_structure_hook(Cause, _cause)
