"""What a paper says, and what would confirm it: ``paper.toml``.

The ledger holds what is written down before the first run: the citation, the parameters with their
sources, the published values and the sentences with the rules that judge them, and later the
reasons of mismatches. It names no code. The paper's ``judge.py`` measures, and names each
measurement by the id of its test.
"""

# ruff: noqa: TC001, TC003 (annotations are read when a ledger is)

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from numbers import Real
from pathlib import Path
from posixpath import commonpath
from typing import Any, Literal, get_args, get_origin

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn, override

from skywave.papers.cells import Cell, WithinSpread
from skywave.papers.citation import Citation
from skywave.papers.digits import Printed
from skywave.papers.expectation import Expectation
from skywave.papers.measures import Measure, Measures
from skywave.papers.placeholders import fill, names
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
                id=fill(self.id, row),
                what=fill(_one_line(self.what), row),
                expect=fill(self.expect, row),
                conditions={
                    fill(key, row): _filled(value, row) for key, value in self.conditions.items()
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
class Origin:
    """Where a ledger was read."""

    source: str = "paper.toml"
    text: str = ""

    def error(self, faults: Iterable[tuple[str, str]]) -> LedgerError:
        """Return the error that lists faults, each by its field and what is wrong with it."""
        lines = []
        for field, why in faults:
            place = line_and_column(self.text, field)
            at = self.source if place is None else f"{self.source}, line {place[0]}"
            lines.append(": ".join(filter(None, (at, field, why))))
        return LedgerError("\n".join(lines))


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
    origin: Origin = attrs.field(factory=Origin, eq=False, repr=False)

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Read and check a ledger.

        Raises:
            LedgerError: If it is wrong. The message has the lines.
            OSError: If it cannot be read.

        """
        data = path.read_bytes()
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise LedgerError(f"{path.name}, line {line}: the text is not UTF-8") from None
        return cls.parse(text.replace("\r\n", "\n"), path.name)

    @classmethod
    def parse(cls, text: str, source: str = "paper.toml") -> Ledger:
        """Read and check a ledger's text; ``source`` is its name in errors."""
        origin = Origin(source, text)
        try:
            document = tomllib.loads(text)
            if unknown := sorted(set(document) - {one.name for one in attrs.fields(cls)[:-1]}):
                raise origin.error((name, f"a ledger has no {name}: {_SEE}") for name in unknown)
            ledger = _CONVERTER.structure(document, cls)
        except tomllib.TOMLDecodeError as error:
            raise LedgerError(f"{source}: {error}") from None
        except RecursionError:
            raise LedgerError(f"{source}: lists or tables are nested too deeply") from None
        except cattrs.BaseValidationError as error:
            apart = [one.rpartition(" @ $") for one in cattrs.transform_error(error, "$", _why)]
            raise origin.error((at.lstrip("."), why) for why, _, at in apart) from None
        if faults := list(_faults(ledger)):
            raise origin.error(faults)
        return attrs.evolve(ledger, origin=origin)

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
        """Return the published value of a test with its rule.

        Raises:
            LedgerError: If there is no such test.

        """
        found = self.values.get(test) or self.claims.get(test, (None,))[0]
        if found is None:
            raise LedgerError(f"{self.origin.source}: no test has the id {test!r}")
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
        words = self._words(measures)
        return (
            [self._cell(test, None, measures, words) for test in values.values()],
            [self._cell(test, says, measures, words) for test, says in claims.values()],
        )

    def sentences(self, measures: Measures) -> list[Sentence]:
        """Return the sentences in the order of the ledger, each with its tests."""
        words = self._words(measures)
        known = {*self.values, *self.claims}
        return [
            Sentence(
                said.section,
                _one_line(said.says),
                (*(one for each in said.claim for one in _begins(each, known)), *said.tested_by),
                words.fill(said.remark, f"sentence[{index}].remark"),
            )
            for index, said in enumerate(self.sentence)
        ]

    def found(self, measures: Measures) -> Finding | None:
        """Return the finding with its numbers."""
        if self.finding is None:
            return None
        words = self._words(measures)
        headline = words.fill(self.finding.headline, "finding.headline") or None
        sentence = words.fill(self.finding.sentence, "finding.sentence")
        return Finding(sentence, self.finding.figure, headline)

    def check_figures(self, drawn: Iterable[str]) -> None:
        """Check that the figure of the finding is among those that are drawn.

        Raises:
            LedgerError: If it is not.

        """
        known = sorted(drawn)
        if self.finding is not None and self.finding.figure not in known:
            why = f"no figure is named {self.finding.figure!r}: use one of {', '.join(known)}"
            raise self._error("finding.figure", why)

    def _words(self, measures: Measures) -> _Words:
        return _Words(self, measures.words)

    def _error(self, field: str, why: str) -> LedgerError:
        """Return an error of the measurements for this ledger."""
        return self.origin.error([(field, f"{self.paper.key}: {why}")])

    def _field(self, test: str) -> str:
        """Return the field that has a test."""
        fields = ((field, one.id) for field, each in _groups(self) for one in each.each())
        return next(field for field, found in fields if found == test)

    def _cell(self, test: Test, quote: str | None, measures: Measures, words: _Words) -> Cell:
        expected, ours = Expectation.parse(test.expect), Measure.of(measures.ours[test.id])
        ns2 = measures.ns2.get(test.id)
        for value in (ours.value, ours.sd, ns2):
            if value is not None and not _is_finite(value):
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
    """What placeholders stand for: numbers from the runs, and the reasons."""

    def __init__(self, ledger: Ledger, words: Mapping[str, object]) -> None:
        super().__init__(words)
        self._ledger = ledger

    def fill(self, text: str, field: str) -> str:
        """Return the text of a field as one line, with its placeholders filled."""
        waiting = [(text, field, "")]
        while True:
            text, field, name = waiting[-1]
            if lacking := [one for one in names(text) if one not in self]:
                waiting += [self._reason(one, field) for one in lacking]
                continue
            filled = fill(_one_line(text), self)
            waiting.pop()
            if not waiting:
                return filled
            self[name] = filled

    def reason(self, name: str) -> Reason:
        text, field, _ = self._reason(name, "")
        cause = self._ledger.reason[name].cause.upper().replace("-", "_")
        return Reason(Cause[cause], self.fill(text, field))

    def _reason(self, name: str, field: str) -> tuple[str, str, str]:
        """Return a reason's text, its field and its name; ``field`` is that which names it."""
        if name not in self._ledger.reason:
            why = f"{{{name}}} is neither a number of the judge nor a reason"
            raise self._ledger._error(field, why)  # noqa: SLF001
        return self._ledger.reason[name].text, f"reason.{name}.text", name


def _faults(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Yield what types cannot say: the field, and what is wrong with it."""
    if not ledger.paper.title.strip():
        yield "paper.title", "it is empty"
    if not all(author.strip() for author in ledger.paper.authors.split(", ")):
        yield "paper.authors", "a name is empty: separate names by ', '"
    known: set[str] = set()
    for field, each in _groups(ledger):
        try:
            tests = list(each.each())
        except KeyError as error:
            yield field, f"a row lacks {error.args[0]!r}, which a placeholder names"
            continue
        except ValueError as error:
            yield field, str(error)
            continue
        for test in tests:
            yield from _faults_of(test, field, ledger)
            if test.id in known:
                yield f"{field}.id", f"{test.id} is the id of another test too"
            known.add(test.id)
            if len(test.conditions) < len(each.conditions):
                yield f"{field}.conditions", f"two of {test.id} have the same name"
    yield from _faults_of_texts(ledger)
    for index, said in enumerate(ledger.sentence):
        for begin in said.tested_by:
            if not any(f"{one}/".startswith(f"{begin}/") for one in known):
                yield f"sentence[{index}].tested_by", f"no test is {begin} or begins with it"


def _groups(ledger: Ledger) -> Iterator[tuple[str, Test]]:
    """Yield the values and claims, each with its field."""
    for index, each in enumerate(ledger.value):
        yield f"value[{index}]", each
    for index, said in enumerate(ledger.sentence):
        for number, each in enumerate(said.claim):
            yield f"sentence[{index}].claim[{number}]", each


def _faults_of(test: Test, field: str, ledger: Ledger) -> Iterator[tuple[str, str]]:
    if test.id.startswith("/") or test.id != _one_line(test.id) or not test.id:
        why = "begin it with the place in the paper, and put single spaces between words alone"
        yield f"{field}.id", f"{test.id!r} is not an id: {why}"
    if test.reason and test.reason not in ledger.reason:
        yield f"{field}.reason", f"{test.reason!r} is not in [reason]"
    try:
        Expectation.parse(test.expect)
    except ValueError as error:
        yield f"{field}.expect", str(error)


def _faults_of_texts(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Yield texts with braces that are no placeholders, and reasons that name each other."""
    reasons = {f"reason.{name}.text": why.text for name, why in ledger.reason.items()}
    texts = {f"sentence[{index}].remark": one.remark for index, one in enumerate(ledger.sentence)}
    if ledger.finding is not None:
        texts["finding.sentence"] = ledger.finding.sentence
        texts["finding.headline"] = ledger.finding.headline
    named: dict[str, list[str]] = {}
    for field, text in {**reasons, **texts}.items():
        try:
            named[field] = [f"reason.{name}.text" for name in names(text)]
        except ValueError as error:
            yield field, str(error)
    # What names no reason that is left can be filled; what is left in the end is in a circle, or
    # names one that is.
    left = {
        field: [one for one in named[field] if one in named] for field in reasons if field in named
    }
    while free := [field for field, ones in left.items() if not any(one in left for one in ones)]:
        for field in free:
            del left[field]
    for field in left:
        yield field, "it names itself, through the reasons that it names"


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
    return row[alone] if alone in row else fill(value, row)


def _one_line(text: str) -> str:
    """Return a text of several lines as one."""
    return " ".join(text.split())


def _is_finite(value: object) -> bool:
    """Return whether a value is a number, and neither infinite nor NaN."""
    return type(value) is not bool and isinstance(value, Real) and math.isfinite(value)


def _scalar(value: object, _: type) -> Scalar:
    if isinstance(value, str) or (isinstance(value, int | float) and _is_finite(value)):
        return value
    raise ValueError(f"{value!r} is neither a text nor a finite number")


def _exact(value: object, wanted: type) -> object:
    if type(value) is not wanted:
        raise TypeError(f"{value!r} is not {'a text' if wanted is str else 'a whole number'}")
    return value


_SEE = "docs/papers.md lists all keys"


def _why(error: BaseException, kind: Any) -> str:
    """Return what is wrong with a field."""
    if isinstance(error, cattrs.ForbiddenExtraKeysError):
        return f"it has no {' and no '.join(sorted(error.extra_fields))}: {_SEE}"
    if get_origin(kind) is Literal:
        return f"expected one of {', '.join(get_args(kind))}"
    if isinstance(error, ValueError):
        # Ours say what to do.
        return str(error)
    is_table = attrs.has(kind) or is_dataclass(kind)
    if isinstance(error, AttributeError) or (isinstance(error, TypeError) and is_table):
        return "expected a table"
    return cattrs.v.format_exception(error, kind)


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)
    converter.register_structure_hook_func(lambda kind: kind == Scalar, _scalar)
    converter.register_structure_hook(str, _exact)
    converter.register_structure_hook(int, _exact)
    read_elements = converter._structure_tuple  # noqa: SLF001  (no public name has it)

    def read_list(value: object, kind: Any) -> tuple[Any, ...]:
        # A text or a table has elements too, but not those that are meant.
        if not isinstance(value, list):
            raise ValueError("write it as a list, in [brackets]")
        found: tuple[Any, ...] = read_elements(value, kind)
        return found

    converter.register_structure_hook_func(_is_tuple, read_list)
    own = make_dict_structure_fn(
        Ledger, converter, origin=override(omit=True), _cattrs_forbid_extra_keys=True
    )
    converter.register_structure_hook(Ledger, own)
    return converter


_CONVERTER = _converter()
