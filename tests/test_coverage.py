"""The stored coverage of confidence intervals: it can be repeated, and is of the rule in use."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from conftest import ROOT
from skywave.stats import LEAST_SEEDS, Target, average
from validation import coverage
from validation.coverage import FIXED, SEQUENTIAL, Distribution, Fixed, Sequential

PAGE = (ROOT / "docs" / "statistics.md").read_text()


def test_the_simulated_rule_is_the_one_in_use() -> None:
    target = Target.parse("ci(goodput) < 5 %")
    values = Distribution("lognormal", 0.3).draw(np.random.default_rng(3), (20, 600))
    mean, margin = coverage.running(values)
    stops = coverage.stops(mean, margin, 0.05, LEAST_SEEDS)
    assert len(set(stops)) > 5
    for study, means, margins, stop in zip(values, mean, margin, stops, strict=True):
        assert target.is_met(list(study[:stop]))
        assert not any(target.is_met(list(study[:count])) for count in range(1, stop))
        found = average(list(study[:stop]))
        assert means[stop - 1] == pytest.approx(found.value)
        assert margins[stop - 1] == pytest.approx(found.margin)


def within(percent: float, other: float, studies: int) -> bool:
    """Four standard errors, of the fresh simulation and of the stored one."""
    share = other / 100
    error = math.sqrt(share * (1 - share) * (1 / studies + 1 / coverage.STUDIES))
    return abs(percent - other) <= 400 * error + 0.05


@pytest.mark.parametrize("row", [0, 4, 11, 15])
def test_stored_rows_can_be_repeated(row: int) -> None:
    """With other random numbers, and fewer studies."""
    studies = 4000
    fresh = coverage.sequential(*SEQUENTIAL[row], studies=studies, seed=2)
    stored = coverage.stored(Sequential)[row]
    assert stored["distribution"] == fresh.distribution
    assert float(stored["variation_percent"]) == pytest.approx(fresh.variation_percent)
    assert float(stored["bound_percent"]) == pytest.approx(fresh.bound_percent)
    assert float(stored["seeds"]) == pytest.approx(fresh.seeds, rel=0.05)
    for name in ("covered_percent", "least_three_covered_percent", "fixed_covered_percent"):
        assert within(getattr(fresh, name), float(stored[name]), studies), name


def test_stored_bootstrap_rows_can_be_repeated() -> None:
    studies = 500
    fresh = coverage.fixed(*FIXED[1], studies=4000, bootstrap_studies=studies, seed=2)
    stored = coverage.stored(Fixed)[1]
    assert within(fresh.student_covered_percent, float(stored["student_covered_percent"]), 4000)
    assert within(fresh.bca_covered_percent, float(stored["bca_covered_percent"]), studies)


@pytest.mark.parametrize("kind", [Sequential, Fixed])
def test_the_page_has_the_stored_tables(kind: type[object]) -> None:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines()]
    stored = coverage.stored(kind)
    assert len(stored) == len(SEQUENTIAL if kind is Sequential else FIXED)
    for row in stored:
        assert list(row.values()) in rows


def test_the_page_says_how_much_is_lost() -> None:
    losses = [
        float(row["fixed_covered_percent"]) - float(row["covered_percent"])
        for row in coverage.stored(Sequential)
    ]
    [said] = re.findall(r"Coverage is at most (\d\.\d) points below", PAGE)
    assert max(losses) == pytest.approx(float(said), abs=0.05)
