"""The ledger of a paper, ``paper.toml``: its values and sentences, and the tests that confirm them.

The ledger holds what is written down before the first run: the citation, the parameters with their
sources, the published values and the sentences with the rules that judge them, and later the
reasons of mismatches. It names no code. The paper's ``judge.py`` measures, and names each
measurement by the id of its test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from posixpath import commonpath

from skywave.papers.cells import Cell, Reason
from skywave.papers.digits import PrintedTable
from skywave.papers.entries import (
    Citation,
    Finding,
    Parameter,
    Reading,
    Sentence,
    Test,
    begins,
    fill,
    names,
)
from skywave.papers.errors import LedgerError
from skywave.papers.ledger_text import LedgerText, is_finite
from skywave.papers.measures import Measure, Measures, Value
from skywave.papers.rules import Expectation


@dataclass(frozen=True)
class Ledger:
    """A paper's ledger: the tables of the file by their names.

    Texts of reasons, remarks and the finding have ``{placeholders}`` for numbers of the runs
    (``Measures.words``), and for other reasons.
    """

    paper: Citation
    parameters: tuple[Parameter, ...]
    value: tuple[Test, ...]
    sentence: tuple[Sentence, ...] = ()
    reason: Mapping[str, Reason] = field(default_factory=dict)
    reading: tuple[Reading, ...] = ()
    printed: tuple[PrintedTable, ...] = ()
    finding: Finding | None = None
    origin: LedgerText = field(default=LedgerText("", "paper.toml"), compare=False, repr=False)

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Read and check a ledger.

        Raises:
            LedgerError: If it is wrong. The message has the lines.
            OSError: If it cannot be read.
        """
        try:
            return cls.parse(path.read_text(encoding="utf-8-sig"), path.name)
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise LedgerError(f"{path.name}, line {line}: the text is not UTF-8") from None

    @classmethod
    def parse(cls, text: str, source: str = "paper.toml") -> Ledger:
        """Read and check a ledger's text; ``source`` is its name in errors."""
        origin = LedgerText(text, source)
        ledger = origin.structured(cls)
        if found := list(_faults(ledger)):
            raise origin.error(found)
        return ledger

    def entries(self) -> Iterator[tuple[str, Test, str | None]]:
        """Yield the values and claims as they are written, with rows in them.

        Each has its field, such as ``"sentence[3].claim[0]"``, and a claim its sentence.
        """
        for index, each in enumerate(self.value):
            yield f"value[{index}]", each, None
        for index, sentence in enumerate(self.sentence):
            for number, each in enumerate(sentence.claim):
                yield f"sentence[{index}].claim[{number}]", each, sentence.says

    @cached_property
    def _tests(self) -> dict[str, tuple[str, Test, str | None]]:
        """The test of each row by its id, otherwise as entries."""
        return {
            test.id: (place, test, says)
            for place, entry, says in self.entries()
            for test in entry.each()
        }

    @cached_property
    def values(self) -> Mapping[str, Test]:
        """The tests of published values, by id."""
        return {key: test for key, (_, test, says) in self._tests.items() if says is None}

    @cached_property
    def claims(self) -> Mapping[str, tuple[Test, str]]:
        """The tests of sentences, by id, with their sentence."""
        return {
            key: (test, says) for key, (_, test, says) in self._tests.items() if says is not None
        }

    @property
    def sentences(self) -> list[Sentence]:
        """The sentences, with the ids of their claims in ``tested_by``."""
        return [
            replace(one, tested_by=(*self._tested_by(one.claim), *one.tested_by))
            for one in self.sentence
        ]

    def _tested_by(self, claims: Iterable[Test]) -> Iterator[str]:
        """Yield the common beginning of each claim's ids; the ids, if others share it."""
        for claim in claims:
            own = [one.id for one in claim.each()]
            begin = commonpath(own)
            same = [one for one in self._tests if begin and begins(one, begin)]
            yield from [begin] if len(same) == len(own) else own

    def expected(self, test: str) -> Expectation:
        """Return the published value of a test with its rule."""
        if test not in self._tests:
            raise LedgerError(f"{self.origin.source}: no test has the id {test!r}")
        return self._tests[test][1].expectation

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

    def filled(self, words: Mapping[str, object]) -> Ledger:
        """Return the ledger with words and reasons in the place of placeholders.

        Raises:
            LedgerError: If a placeholder is neither.
        """
        known = dict(words)

        def filled(place: str, text: str) -> str:
            try:
                return fill(text, known)
            except KeyError as error:
                why = f"{{{error.args[0]}}} is neither a number of the judge nor a reason"
                raise self._error(place, why) from None

        reasons = {}
        for name in _in_order(self.reason):
            text = filled(f"reason.{name}.text", self.reason[name].text)
            reasons[name] = replace(self.reason[name], text=text)
            known.setdefault(name, text)
        return replace(
            self,
            reason=reasons,
            sentence=tuple(
                replace(one, remark=filled(f"sentence[{index}].remark", one.remark))
                for index, one in enumerate(self.sentence)
            ),
            finding=self.finding
            and replace(
                self.finding,
                sentence=filled("finding.sentence", self.finding.sentence),
                headline=filled("finding.headline", self.finding.headline),
            ),
        )

    def judge(self, measures: Measures) -> tuple[list[Cell], list[Cell]]:
        """Return the published values and the claims, judged, in the order of the ledger.

        Raises:
            LedgerError: If a test has no measurement, or one that is not a number; if a measurement
                has no test, or a placeholder no word.
        """
        for tests, among, what in (
            (self._tests, measures.ours, "is not measured"),
            ({**measures.ours, **measures.ns2}, self._tests, "is measured but not in it"),
        ):
            if missing := sorted(str(test) for test in tests if test not in among):
                raise self._error("", f"{', '.join(missing)} {what}")
        reasons = self.filled(measures.words).reason
        cells = [self._cell(test, measures, reasons) for test in self._tests]
        return cells[: len(self.values)], cells[len(self.values) :]

    def check_figures(self, drawn: Iterable[str]) -> None:
        """Check that the figure of the finding is among those that are drawn."""
        known = sorted(drawn)
        if self.finding is not None and self.finding.figure not in known:
            why = f"no figure is named {self.finding.figure!r}: use one of {', '.join(known)}"
            raise self._error("finding.figure", why)

    def _error(self, place: str, why: str) -> LedgerError:
        """Return an error of the measurements for this ledger."""
        return self.origin.error([(place, f"{self.paper.key}: {why}")])

    def _cell(self, key: str, measures: Measures, reasons: Mapping[str, Reason]) -> Cell:
        place, test, quote = self._tests[key]
        expected, ours, ns2 = (
            test.expectation,
            Measure.of(measures.ours[key]),
            measures.ns2.get(key),
        )
        for value in (ours.value, ours.sd, ns2):
            if value is not None and not is_finite(value):
                why = f"the measurement of {key} is {value!r}: give a number or None"
                raise self._error(place, why)
        rule = expected.rule_for(ours)
        if rule.needs_sd and rule.sd is None:
            raise self._error(place, f"{key} is measured without its spread")
        return Cell(
            id=key,
            what=test.what,
            conditions={**test.conditions, **ours.conditions},
            unit=expected.unit,
            published=expected.published,
            ours=ours.value,
            ns2=ns2,
            rule=rule,
            known_reason=reasons[test.reason] if test.reason else None,
            quote=quote,
        )


def _in_order(reasons: Mapping[str, Reason]) -> list[str]:
    """Return names of reasons, each after those that it names.

    Omits reasons that name each other in a circle. They may name each other to any depth.
    """
    graph = {name: set(reasons) & set(names(reason.text)) for name, reason in reasons.items()}
    order: list[str] = []
    sorter = TopologicalSorter(graph)
    with suppress(CycleError):
        sorter.prepare()
    while ready := sorter.get_ready():
        order += ready
        sorter.done(*ready)
    return order


def _faults(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Yield each fault beyond types: its field and a description."""
    if not ledger.paper.title:
        yield "paper.title", "it is empty"
    if not all(author.strip() for author in ledger.paper.authors.split(", ")):
        yield "paper.authors", "a name is empty: separate names by ', '"
    yield from _faults_of_tests(ledger)
    yield from _faults_of_texts(ledger)
    labels = [one.label for one in ledger.reading]
    for index, label in enumerate(labels):
        if label in labels[:index]:
            yield f"reading[{index}].label", f"{label} is the label of another reading too"


def _faults_of_tests(ledger: Ledger) -> Iterator[tuple[str, str]]:
    known: set[str] = set()
    for place, entry, _ in ledger.entries():
        try:
            tests = list(entry.each())
        except KeyError as error:
            yield place, f"a row lacks {error.args[0]!r}, which a placeholder names"
            continue
        except ValueError as error:
            yield place, str(error)
            continue
        for test in tests:
            yield from _faults_of_test(test, place, ledger)
            if test.id in known:
                yield f"{place}.id", f"{test.id} is the id of another test too"
            known.add(test.id)
            if len(test.conditions) < len(entry.conditions):
                yield f"{place}.conditions", f"two of {test.id} have the same name"
    for index, sentence in enumerate(ledger.sentence):
        for begin in sentence.tested_by:
            if not any(begins(one, begin) for one in known):
                yield f"sentence[{index}].tested_by", f"no test is {begin} or begins with it"


def _faults_of_test(test: Test, place: str, ledger: Ledger) -> Iterator[tuple[str, str]]:
    if test.id.startswith("/") or test.id != " ".join(test.id.split()) or not test.id:
        why = "begin it with the place in the paper, and put single spaces between words alone"
        yield f"{place}.id", f"{test.id!r} is not an id: {why}"
    if test.reason and test.reason not in ledger.reason:
        yield f"{place}.reason", f"{test.reason!r} is not in [reason]"
    try:
        _ = test.expectation
    except ValueError as error:
        yield f"{place}.expect", str(error)


def _faults_of_texts(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Yield texts with braces that are no placeholders, and reasons that name each other."""
    texts = {f"reason.{name}.text": reason.text for name, reason in ledger.reason.items()}
    texts |= {f"sentence[{index}].remark": one.remark for index, one in enumerate(ledger.sentence)}
    if ledger.finding is not None:
        texts["finding.sentence"] = ledger.finding.sentence
        texts["finding.headline"] = ledger.finding.headline
    wrong = False
    for place, text in texts.items():
        try:
            names(text)
        except ValueError as error:
            wrong = True
            yield place, str(error)
    if not wrong:
        ordered = set(_in_order(ledger.reason))
        for name in ledger.reason:
            if name not in ordered:
                yield f"reason.{name}.text", "it names itself, through the reasons that it names"
