"""Means of independent runs with their intervals, and Jain's index."""

from __future__ import annotations

import math

import pytest

from skywave.averages import average
from skywave.fairness import jain


def test_averages_have_students_intervals() -> None:
    """Four values: t(0.975, 3) = 3.182."""
    found = average([1.0, 2.0, 3.0, 4.0])
    assert found.mean == 2.5
    assert found.margin == pytest.approx(3.1824 * math.sqrt(5 / 3) / 2, rel=1e-4)


def test_equal_runs_have_no_margin_and_one_run_has_none_to_tell() -> None:
    equal = average([0.1, 0.1, 0.1])
    assert (equal.mean, equal.margin) == (0.1, 0)
    single = average([3.0])
    assert single.mean == 3
    assert math.isnan(single.margin)


@pytest.mark.parametrize(
    ("rates", "index"), [([1, 1], 1), ([5, 0, 0, 0], 1 / 4), ([3, 1], 16 / 20), ([2.0], 1)]
)
def test_jains_index(rates: list[float], index: float) -> None:
    assert jain(rates) == pytest.approx(index)


def test_nobody_has_anything() -> None:
    assert math.isnan(jain([0, 0]))
