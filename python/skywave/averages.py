"""Means of independent runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr, stdtrit

from skywave.printing import number

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Average:
    """A mean over seeds, and its margin: half of its 95 % confidence interval (Student's t).

    The margin of a single run is NaN. If any value is NaN, so are mean and margin.
    """

    mean: float
    margin: float

    @property
    def text(self) -> str:
        """Mean and margin as text."""
        return f"{number(self.mean, 3)} ± {number(self.margin, 2)}"


def average(values: Sequence[float]) -> Average:
    """Return the mean of independent runs and the margin of its confidence interval."""
    if len(values) == 1:
        return Average(float(values[0]), float("nan"))
    if all(value == values[0] for value in values):
        # Return it exactly: the mean of equal numbers may have a rounding error.
        return Average(float(values[0]), 0.0)
    # Not from scipy.stats, which takes a second to import.
    quantile = stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return Average(float(np.mean(values)), float(quantile * error))


def welch(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the two-sided p-value of Welch's t-test for equal means.

    The variances may differ. Each sample needs at least two runs.
    """
    squares = [np.var(values, ddof=1) / len(values) for values in (one, other)]
    apart = abs(float(np.mean(one)) - float(np.mean(other)))
    if sum(squares) == 0:
        return 1.0 if apart == 0 else 0.0
    degrees = sum(squares) ** 2 / sum(
        square**2 / (len(values) - 1) for square, values in zip(squares, (one, other), strict=True)
    )
    return float(2 * stdtr(degrees, -apart / np.sqrt(sum(squares))))
