"""Means of independent runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Average:
    """A mean over seeds, and half the width of its confidence interval (Student's t, 95 %).

    Of a single run there is no interval: the margin is NaN.
    """

    mean: float
    margin: float

    @property
    def text(self) -> str:
        """The mean and the margin, as they are printed."""
        return f"{self.mean:.3g} ± {self.margin:.2g}"


def average(values: Sequence[float]) -> Average:
    """Return the mean of independent runs with its confidence interval."""
    if len(values) == 1:
        return Average(float(values[0]), float("nan"))
    if min(values) == max(values):
        # Exactly: the mean of equal numbers may be off by a rounding.
        return Average(float(values[0]), 0.0)
    # scipy.stats would take a second to import.
    quantile = stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return Average(float(np.mean(values)), float(quantile * error))
