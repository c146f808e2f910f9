"""Numbers as people read them."""

from __future__ import annotations

import math

import pytest

from skywave._printing import at_least, at_most, number, with_margin


@pytest.mark.parametrize(
    ("value", "decimals", "lower", "upper"),
    [
        (89.9, 0, "89", "90"),
        (5.0, 0, "5", "5"),
        (0.29, 2, "0.29", "0.29"),
        (0.28, 2, "0.28", "0.28"),
        (0.996, 2, "0.99", "1.00"),
        (1e-9, 2, "0.00", "0.01"),
    ],
)
def test_limits_are_rounded_to_their_own_side(
    value: float, decimals: int, lower: str, upper: str
) -> None:
    assert at_least(value, decimals) == lower
    assert at_most(value, decimals) == upper


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (math.nan, "-"),
        (math.inf, "inf"),
        (0, "0"),
        (50, "50"),
        (-1616.7, "-1617"),
        (0.00123456, "0.00123"),
        (0.0000012, "0.0000012"),
        (99.96, "100"),
        (12.30, "12.3"),
    ],
)
def test_numbers_have_significant_digits_and_no_exponents(value: float | None, text: str) -> None:
    assert number(value, 3) == text


def test_decimals_can_be_limited() -> None:
    assert number(0.98765, 3, most_decimals=2) == "0.99"
    assert number(0.0007, 3, most_decimals=3) == "0.001"


@pytest.mark.parametrize(
    ("mean", "margin", "text"),
    [
        (9.4812, 0.0123, "9.481±0.012"),
        (304.17599999999999, 3e-14, "304.2±0"),
        (304.1440116, 0.0000010, "304.1440±0.0001"),
        (1234567.8, 0.05, "1234568±1"),
        (0.0, 0.03, "0.00±0.03"),
        (5.0, 0.0, "5±0"),
        (0.000123, 0.00004, "0.00012±0.00004"),
    ],
)
def test_a_margin_makes_no_precision_of_noise(mean: float, margin: float, text: str) -> None:
    assert with_margin(mean, margin) == text
