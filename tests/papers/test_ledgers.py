"""The ledgers of our papers: rules that hold for each."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from skywave.papers.ledger import Ledger

if TYPE_CHECKING:
    from pathlib import Path

PATHS = sorted((ROOT / "python" / "skywave_papers").glob("*/paper.toml"))


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
