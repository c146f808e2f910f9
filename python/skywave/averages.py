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
    """A mean over seeds, and half the width of its confidence interval (Student's t, 95 %).

    Of a single run there is no interval: the margin is NaN. Where one of the values is NaN, so are
    both.
    """

    mean: float
    margin: float

    @property
    def text(self) -> str:
        """The mean and the margin, as they are printed."""
        return f"{number(self.mean, 3)} ± {number(self.margin, 2)}"


def average(values: Sequence[float]) -> Average:
    """Return the mean of independent runs with its confidence interval."""
    if len(values) == 1:
        return Average(float(values[0]), float("nan"))
    if all(value == values[0] for value in values):
        # Exactly: the mean of equal numbers may be off by a rounding.
        return Average(float(values[0]), 0.0)
    # scipy.stats would take a second to import.
    quantile = stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return Average(float(np.mean(values)), float(quantile * error))


def welch(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the p of Welch's t test: how often means of runs alike are at least so far apart.

    It is two-sided, and the variances need not be equal. There are two runs of each at least.
    """
    squares = [np.var(values, ddof=1) / len(values) for values in (one, other)]
    apart = abs(float(np.mean(one)) - float(np.mean(other)))
    if sum(squares) == 0:
        return 1.0 if apart == 0 else 0.0
    degrees = sum(squares) ** 2 / sum(
        square**2 / (len(values) - 1) for square, values in zip(squares, (one, other), strict=True)
    )
    return float(2 * stdtr(degrees, -apart / np.sqrt(sum(squares))))
