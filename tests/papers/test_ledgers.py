"""The ledgers of our papers: rules that hold for each."""

from __future__ import annotations

import csv
import html
import operator
import string
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT, Reproduced, assert_report_is_whole
from skywave.papers import installed
from skywave.papers.ledger import Ledger
from skywave.papers.readings import ReadingResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from skywave.report.tables import Table

PATHS = sorted((ROOT / "python" / "skywave_papers").glob("*/paper.toml"))
VERDICTS = ROOT / "tests" / "papers" / "verdicts"


@pytest.fixture(params=PATHS, ids=lambda path: path.parent.name)
def ledger(request: pytest.FixtureRequest) -> Ledger:
    path: Path = request.param
    return Ledger.read(path)


def test_sentences_are_distinct_and_tested_or_have_a_remark(ledger: Ledger) -> None:
    quotes = [one.says for one in ledger.sentence]
    assert quotes
    assert len(quotes) == len(set(quotes))
    for one in ledger.sentence:
        assert one.claim or one.tested_by or one.remark, one.says


def test_every_published_value_tests_a_sentence(ledger: Ledger) -> None:
    begins = [f"{begin}/" for one in ledger.sentence for begin in one.tested_by]
    assert [name for name in ledger.values if not f"{name}/".startswith(tuple(begins))] == []


def test_every_reason_has_a_value_or_is_part_of_another_text(ledger: Ledger) -> None:
    tests = [*ledger.values.values(), *(test for test, _ in ledger.claims.values())]
    texts = [
        *(reason.text for reason in ledger.reason.values()),
        *(one.remark for one in ledger.sentence),
    ]
    named = {name for text in texts for _, name, _, _ in string.Formatter().parse(text)}
    assert set(ledger.reason) - named == {test.reason for test in tests} - {""} - named


def test_every_row_fills_placeholders_alone(ledger: Ledger) -> None:
    claims = (test for one in ledger.sentence for test in one.claim)
    for test in (*ledger.value, *claims):
        shown = (*test.conditions, *(str(value) for value in test.conditions.values()))
        texts = (test.id, test.what, test.expect, *shown)
        named = {name for text in texts for _, name, _, _ in string.Formatter().parse(text)}
        for row in test.rows:
            assert set(row) <= named | {"reason"}, test.id


def readings_of(key: str) -> Table[Any, ReadingResult]:
    """Return the table of a paper's readings."""
    (table,) = (one for one in installed.paper(key).stored if issubclass(one.kind, ReadingResult))
    return table


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.parent.name)
def test_readings_are_stored_and_change_something(path: Path) -> None:
    rows, given = readings_of(path.parent.name).read(), Ledger.read(path).reading
    assert [one.reading for one in rows] == [one.label for one in given]
    changes = [one.changes for one in given]
    assert all(one not in changes[:index] for index, one in enumerate(changes))
    assert all(one.matches == len(one.met) for one in rows)


@pytest.fixture(params=[path.parent.name for path in PATHS])
def report(request: pytest.FixtureRequest, reproduced: Callable[..., Reproduced]) -> Reproduced:
    """Return the report of a paper, of chen2010 with as few seeds as its own tests."""
    seeds = {"seeds": 5} if request.param == "chen2010" else {}
    return reproduced(request.param, **seeds)


def test_a_report_is_whole(report: Reproduced) -> None:
    assert_report_is_whole(report)


def test_verdicts_are_those_stored(report: Reproduced) -> None:
    """A change of behaviour shows here. If it is meant, store what it leads to."""
    document = report.document
    judged = sorted((*document["cells"], *document["claims"]), key=operator.itemgetter("id"))
    with (VERDICTS / f"{document['paper']}.csv").open(newline="") as file:
        _, *stored = csv.reader(file)
    assert [[one["id"], one["verdict"]] for one in judged] == stored


def test_the_verdicts_are_those_of_the_first_reading(report: Reproduced) -> None:
    chosen, *others = report.sections["readings"]
    page = html.unescape(report.page)
    assert all(f"<td>{one.reading}</td>" in page for one in others)
    if report.document["seeds"] is None:  # otherwise the readings are over more seeds
        cells = report.cells.items()
        assert chosen.met == {name for name, one in cells if one["verdict"] == "match"}


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("lien2009", "loss includes overdue packets"),
        ("nor2011", "slow start of RFC 4341"),
        ("sarwar2008", "smoothing per round-trip time"),
    ],
)
def test_a_stored_reading_is_repeated(key: str, label: str) -> None:
    table = readings_of(key)
    (reading,) = (one for one in table.given if one.label == label)
    again, before = table.make(reading), table.row(reading=label)
    assert (again.cells, again.matches) == (before.cells, before.matches)
