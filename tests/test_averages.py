"""Means of independent runs with their intervals, and Jain's index."""

from __future__ import annotations

import math

import pytest

from skywave.averages import average, welch
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


@pytest.mark.parametrize("place", range(3))
def test_what_is_not_there_has_no_mean(place: int) -> None:
    values = [1.0, 1.0, 1.0]
    values[place] = math.nan
    found = average(values)
    assert math.isnan(found.mean)
    assert math.isnan(found.margin)


def test_welchs_t_test() -> None:
    """Student's own data on sleep (1908): t = 1.8608 at 17.776 degrees of freedom, p = 0.07939."""
    one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    other = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    assert welch(one, other) == pytest.approx(0.07939, abs=1e-5)
    assert welch(one, other) == welch(other, one)
    assert welch(one, one) == pytest.approx(1)
    assert welch([1.0, 1.0], [1.0, 1.0]) == 1
    assert welch([1.0, 1.0], [2.0, 2.0]) == 0


@pytest.mark.parametrize(
    ("rates", "index"), [([1, 1], 1), ([5, 0, 0, 0], 1 / 4), ([3, 1], 16 / 20), ([2.0], 1)]
)
def test_jains_index(rates: list[float], index: float) -> None:
    assert jain(rates) == pytest.approx(index)


def test_nobody_has_anything() -> None:
    assert math.isnan(jain([0, 0]))
