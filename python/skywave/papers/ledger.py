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
from pathlib import Path
from posixpath import commonpath
from typing import Literal

import attrs
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


@attrs.frozen
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
    conditions: Mapping[str, Scalar] = attrs.field(factory=dict)
    reason: str = ""
    rows: tuple[Mapping[str, Scalar], ...] = ()

    def each(self) -> Iterator[Test]:
        """Yield the test of each row; a test without rows is one."""
        for row in self.rows or ({},):
            yield Test(
                id=self.id.format_map(row),
                what=_one_line(self.what).format_map(row),
                expect=self.expect.format_map(row),
                conditions={
                    key.format_map(row): _filled(value, row)
                    for key, value in self.conditions.items()
                },
                reason=str(row.get("reason", self.reason)),
            )


@attrs.frozen
class Said:
    """A sentence of the paper.

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


@attrs.frozen
class Why:
    """Why values do not match. ``text`` may name ``{numbers}`` and other reasons."""

    text: str
    cause: Literal[
        "unstated", "two-readings", "conflict", "rules", "ours", "shared", "no-reading", "other"
    ] = "other"


@attrs.frozen
class Headline:
    """What was found: a sentence with ``{numbers}``, the name of a figure, a shorter sentence."""

    sentence: str
    figure: str
    headline: str = ""


@attrs.frozen
class Ledger:
    """A paper's ledger."""

    paper: Citation
    parameters: tuple[tuple[str, str, str], ...]
    value: tuple[Test, ...]
    sentence: tuple[Said, ...] = ()
    reason: Mapping[str, Why] = attrs.field(factory=dict)
    printed: tuple[Printed, ...] = ()
    finding: Headline | None = None

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

    @property
    def settings(self) -> tuple[Parameter, ...]:
        """The parameters."""
        return tuple(Parameter(*map(_one_line, row)) for row in self.parameters)

    @property
    def values(self) -> dict[str, Test]:
        """The tests of published values, by id."""
        return {test.id: test for each in self.value for test in each.each()}

    @property
    def claims(self) -> dict[str, tuple[Test, str]]:
        """The tests of sentences, by id, with their sentence."""
        return {
            test.id: (test, _one_line(said.says))
            for said in self.sentence
            for each in said.claim
            for test in each.each()
        }

    def expected(self, test: str) -> Expectation:
        """Return the published value of a test with its rule."""
        found = self.values.get(test) or self.claims[test][0]
        return Expectation.parse(found.expect)

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
            if test.id in values and Expectation.parse(test.expect).is_met_by(values[test.id])
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
                said.section,
                _one_line(said.says),
                (*(one for each in said.claim for one in _begins(each, known)), *said.tested_by),
                words.fill(said.remark),
            )
            for said in self.sentence
        ]

    def found(self, measures: Measures) -> Finding | None:
        """Return the finding with its numbers."""
        if self.finding is None:
            return None
        words = _Words(self.reason, measures.words)
        headline = words.fill(self.finding.headline) or None
        return Finding(words.fill(self.finding.sentence), self.finding.figure, headline)

    def _cell(self, test: Test, quote: str | None, measures: Measures, words: _Words) -> Cell:
        expected, ours = Expectation.parse(test.expect), Measure.of(measures.ours[test.id])
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
    """What placeholders stand for: numbers from the runs, and the reasons."""

    def __init__(self, reasons: Mapping[str, Why], words: Mapping[str, object]) -> None:
        super().__init__(words)
        self._reasons = reasons

    def __missing__(self, name: str) -> str:
        if name not in self._reasons:
            raise LedgerError(f"{{{name}}} is neither a number of the judge nor a reason")
        return self.fill(self._reasons[name].text)

    def fill(self, text: str) -> str:
        return _one_line(text).format_map(self)

    def reason(self, name: str) -> Reason:
        why = self._reasons[name]
        return Reason(Cause[why.cause.upper().replace("-", "_")], self.fill(why.text))


def _faults(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Yield what types cannot say: the field, and what is wrong with it."""
    known: set[str] = set()
    groups = [(f"value[{index}]", each) for index, each in enumerate(ledger.value)]
    for index, said in enumerate(ledger.sentence):
        own = enumerate(said.claim)
        groups += [(f"sentence[{index}].claim[{number}]", each) for number, each in own]
    for field, each in groups:
        try:
            tests = list(each.each())
        except KeyError as error:
            yield field, f"a row lacks {error.args[0]!r}, which a placeholder names"
            continue
        for test in tests:
            if test.id in known:
                yield f"{field}.id", f"{test.id} is the id of another test too"
            known.add(test.id)
            if test.reason and test.reason not in ledger.reason:
                yield f"{field}.reason", f"{test.reason!r} is not in [reason]"
            try:
                Expectation.parse(test.expect)
            except ValueError as error:
                yield f"{field}.expect", str(error)
    for index, said in enumerate(ledger.sentence):
        for begin in said.tested_by:
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


def _one_line(text: str) -> str:
    """Return a text of several lines as one."""
    return " ".join(text.split())


def _listed(source: str, text: str, faults: Iterable[tuple[str, str]]) -> str:
    lines = []
    for field, why in faults:
        place = line_and_column(text, field)
        at = source if place is None else f"{source}, line {place[0]}"
        lines.append(f"{at}: {field}: {why}")
    return "\n".join(lines)


def _scalar(value: object, _: type) -> Scalar:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(f"{value!r} is neither a text nor a number")
    return value


def _exact(value: object, wanted: type) -> object:
    if type(value) is not wanted:
        raise TypeError(f"{value!r} is not {'a text' if wanted is str else 'a whole number'}")
    return value


_CONVERTER = cattrs.Converter(forbid_extra_keys=True)
_CONVERTER.register_structure_hook_func(lambda kind: kind == Scalar, _scalar)
_CONVERTER.register_structure_hook(str, _exact)
_CONVERTER.register_structure_hook(int, _exact)
