"""Denominators of printed numbers, against tables whose denominators are known."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from skywave.papers.digits import SIGNIFICANCE, PrintedTable, denominator
from skywave_papers.lien2009 import ledger, setting
from skywave_papers.nor2011.ledger import LEDGER
from skywave_papers.sarwar2008.ledger import LEDGER as SARWAR2008


def fitting(table: PrintedTable, denominator: int) -> int:
    return int(table.fitting(np.array(denominator)))


def printed(*values: str, whole: int = 100) -> PrintedTable:
    return PrintedTable("Table 0", "shares (%)", values, whole)


def shares(count: int, of: int) -> PrintedTable:
    """Return a table of shares of ``of`` packets, as a paper would print it."""
    packets = np.random.default_rng(of).integers(1, of, size=count)
    return printed(*(f"{100 * k / of:.2f}" for k in packets))


@pytest.mark.parametrize("of", [7, 333, 856, 1009])
def test_the_denominator_of_shares_is_found(of: int) -> None:
    found = denominator(shares(25, of))
    assert found.value == of
    assert found.is_found
    assert found.next_fitting < 25


def test_random_numbers_have_none() -> None:
    """At most as often as the significance says, within three standard deviations."""
    numbers = np.random.default_rng(1).uniform(0, 100, size=(200, 6))
    tables = [printed(*(f"{number:.2f}" for number in row)) for row in numbers]
    false = sum(denominator(table).is_found for table in tables)
    expected = SIGNIFICANCE * len(tables)
    assert false <= expected + 3 * expected**0.5


def test_few_digits_say_nothing() -> None:
    whole = denominator(printed("73", "395", "415", whole=1))
    assert (whole.value, whole.is_found) == (1, False), "whole numbers are over 1"
    assert not denominator(printed("2.9", "1.9")).is_found


def test_a_half_is_rounded_either_way() -> None:
    """1 / 8 is 12.5 %, which is printed as 12 or 13."""
    assert fitting(printed("12", "13"), 8) == 2
    assert fitting(printed("12.6"), 8) == 0


def test_trailing_zeros_count() -> None:
    assert fitting(printed("16.5"), 6) == 0
    assert fitting(printed("33.30"), 3) == 0
    assert fitting(printed("33.3"), 3) == 1


def test_means_of_whole_numbers_over_so_many() -> None:
    table = printed("2.43", "1.14", "3.29", "0.71", "5.57", whole=1)
    found = denominator(table)
    assert (found.value, found.is_found) == (7, True)
    assert table.numerators(7) == [17, 8, 23, 5, 39]


@pytest.mark.parametrize(
    ("table", "packets"),
    [(ledger.RATIOS, ledger.RECEIVED), (ledger.LOSSES, setting.SENT)],
    ids=["Table 3", "Table 4"],
)
def test_lien2009_counts_the_call_in_packets(table: PrintedTable, packets: int) -> None:
    """All 25 ratios are over 856 and all 25 losses over 867; no other denominator is near."""
    found = denominator(table)
    assert (found.value, found.is_found) == (packets, True)
    assert found.chance < 1e-20
    assert found.next_fitting <= 14
    numerators = table.numerators(packets)
    assert [f"{float(Fraction(100 * k, packets)):.2f}" for k in numerators] == list(table.values)


def test_lien2009_does_not_count_333_packets() -> None:
    """10 s of packets every 30 ms, as its Table 1 has them."""
    assert fitting(ledger.RATIOS, 333) < 5
    assert fitting(ledger.LOSSES, 333) < 5


def test_lien2009_counts_the_same_packets_in_both_tables() -> None:
    """By when they arrive, and by when they were sent: both differ by packets in flight."""
    for tcp in ledger.RATIO:
        arrived, kept = ledger.ARRIVED[tcp], ledger.KEPT[tcp]
        assert max(abs(one - other) for one, other in zip(arrived, kept, strict=True)) <= 13
    assert list(ledger.ARRIVED["Vegas"]) == [623, 449, 284, 168, 108]
    assert list(ledger.KEPT["Vegas"]) == [636, 444, 283, 166, 105]


@pytest.mark.parametrize(
    "table", [*LEDGER.printed, *SARWAR2008.printed], ids=["nor2011", "rates", "losses"]
)
def test_other_tables_are_too_short(table: PrintedTable) -> None:
    found = denominator(table)
    assert not found.is_found
    assert found.to_dict()["numerators"] is None
