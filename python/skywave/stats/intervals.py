"""Means, medians and other estimates of independent runs, with confidence intervals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skywave._printing import number

CONFIDENCE = 0.95
"""The confidence of intervals, unless another is asked for."""
RESAMPLES = 9999


@dataclass(frozen=True)
class Estimate:
    """A value with a confidence interval, all in the same unit.

    An interval that cannot be computed has ends and a margin of NaN. A margin of 0 means that all
    runs gave the same value, as runs do in which nothing is random; it says nothing about the
    precision of the value.
    """

    value: float
    low: float
    high: float
    margin: float
    """Half the width of the interval."""
    confidence: float = CONFIDENCE

    @classmethod
    def around(cls, value: float, margin: float, confidence: float = CONFIDENCE) -> Self:
        """Return an estimate whose value is in the middle of its interval."""
        return cls(value, value - margin, value + margin, margin, confidence)

    @classmethod
    def between(cls, value: float, low: float, high: float, confidence: float = CONFIDENCE) -> Self:
        """Return an estimate whose value need not be in the middle of its interval."""
        return cls(value, low, high, (high - low) / 2, confidence)

    @property
    def text(self) -> str:
        """The value and its margin as text, or its interval if that is not symmetric."""
        if self == self.around(self.value, self.margin, self.confidence) or isnan(self.margin):
            return f"{number(self.value, 3)} ± {number(self.margin, 2)}"
        return f"{number(self.value, 3)} ({number(self.low, 3)} to {number(self.high, 3)})"


def average(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of independent runs with its confidence interval.

    Its margin is t(n - 1) s / sqrt(n), where s is the sample standard deviation and t the quantile
    of Student's t (Jain 1991, section 13.2). It is exact for normally distributed values, and NaN
    for a single run. If any value is NaN, so are mean and margin.

    Raises:
        ValueError: If there are no values, or ``confidence`` is not between 0 and 1.
    """
    _check(values, confidence)
    if len(values) == 1:
        return Estimate.around(float(values[0]), float("nan"), confidence)
    if all(value == values[0] for value in values):
        # Return it exactly: the mean of equal numbers may have a rounding error.
        return Estimate.around(float(values[0]), 0.0, confidence)
    # Not from scipy.stats, which takes a second to load.
    from scipy.special import stdtrit  # noqa: PLC0415

    quantile = stdtrit(len(values) - 1, (1 + confidence) / 2)
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return Estimate.around(float(np.mean(values)), float(quantile * error), confidence)


def median(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Return the median of independent runs, with an interval that holds for any distribution.

    The interval's ends are two of the values, the j-th from below and from above, with the largest
    j for which 2 P(B < j) <= 1 - ``confidence``, where B is binomial with n trials of probability
    1/2 (Le Boudec 2010, theorem 2.1). Fewer than six runs have no such interval at 95 %; its ends
    are then NaN, as they are if any value is NaN.

    Raises:
        ValueError: If there are no values, or ``confidence`` is not between 0 and 1.
    """
    _check(values, confidence)
    from scipy.special import bdtr  # noqa: PLC0415  (a fifth of a second to load)

    ordered = np.sort(np.asarray(values, dtype=np.float64))
    middle = float(np.median(ordered))
    rank = 0
    while 2 * bdtr(rank, len(ordered), 0.5) <= 1 - confidence:
        rank += 1
    if rank == 0 or np.isnan(middle):
        return Estimate.around(middle, float("nan"), confidence)
    return Estimate.between(middle, float(ordered[rank - 1]), float(ordered[-rank]), confidence)


def bootstrap(
    values: Sequence[float],
    statistic: Callable[..., Any] = np.mean,
    *,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Estimate:
    """Return a statistic of independent runs with its BCa bootstrap interval.

    Bias-corrected and accelerated (Efron and Tibshirani 1993, section 14.3), of 9999 resamples;
    the same ``seed`` gives the same interval. ``statistic`` takes an array and an ``axis``, as
    ``numpy.mean`` and ``numpy.median`` do. It is for statistics that have no formula: of fewer
    than 30 runs, its intervals of means are narrower than they should be (docs/statistics.md).

    The ends are NaN if there is one run, if any value is NaN, or where BCa is not defined, as for
    the maximum.

    Raises:
        ValueError: If there are no values, or ``confidence`` is not between 0 and 1.
    """
    _check(values, confidence)
    sample = np.asarray(values, dtype=np.float64)
    if (sample == sample[0]).all() and len(sample) > 1:
        # The statistic of one of them, without the rounding errors of a mean of equal numbers.
        found = float(statistic(sample[:1], axis=-1))
        return Estimate.around(found, 0.0, confidence)
    found = float(statistic(sample, axis=-1))
    if len(sample) == 1 or np.isnan(sample).any():
        return Estimate.around(found, float("nan"), confidence)
    low, high = bca((sample,), statistic, confidence=confidence, seed=seed)
    return Estimate.between(found, low, high, confidence)


def bca(
    samples: Sequence[NDArray[np.float64]],
    statistic: Callable[..., Any],
    *,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the BCa interval of a statistic of independent samples, without NaN in them."""
    if all((sample == sample[0]).all() for sample in samples):
        found = float(statistic(*samples, axis=-1))
        return found, found
    import scipy.stats  # noqa: PLC0415  (takes a second)

    with warnings.catch_warnings():
        # The ends are NaN then, which says the same.
        warnings.simplefilter("ignore", scipy.stats.DegenerateDataWarning)
        interval = scipy.stats.bootstrap(
            samples,
            statistic,
            confidence_level=confidence,
            n_resamples=RESAMPLES,
            method="BCa",
            rng=np.random.default_rng(seed),
        ).confidence_interval
    return float(interval.low), float(interval.high)


def _check(values: Sequence[float], confidence: float) -> None:
    if len(values) == 0:
        raise ValueError("no values: give those of at least one run")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence}: give one between 0 and 1, such as 0.95")
