"""Comparisons of two sets of runs: difference, p-value and effect size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from skywave._known import listed
from skywave.stats.intervals import CONFIDENCE, Estimate, average, bca, bootstrap

Test = Literal["paired-t", "wilcoxon", "welch", "mann-whitney"]
"""How two sets of runs are compared.

``"paired-t"`` and ``"wilcoxon"`` compare run by run, and ``"welch"`` and ``"mann-whitney"`` without
order. The t-tests (paired, Welch's) assume differences or values that are about normal; the rank
tests (Wilcoxon's signed-rank, Mann and Whitney's U) do not. Runs with the same seed are pairs: they
share what is random outside of what differs, which makes their difference more precise (common
random numbers; Law 2015, section 11.2).
"""
PAIRED = frozenset({"paired-t", "wilcoxon"})
NAN = float("nan")

Correction = Literal["holm", "benjamini-hochberg", "none"]
"""How p-values are adjusted.

``"holm"`` (Holm 1979) bounds the probability of even one false finding among all, whatever the
dependence of the tests. ``"benjamini-hochberg"`` (Benjamini and Hochberg 1995) bounds the expected
share of false ones among the findings, of tests that are independent or positively dependent; it
finds more.
"""

Runs = Sequence[float] | Mapping[int, float]
"""The values of runs: in order, or by seed."""


@dataclass(frozen=True)
class Comparison:
    """Two sets of runs compared.

    ``difference`` is the mean of ``one`` minus that of ``other``, in the unit of the values. Its
    interval is Student's or Welch's for t-tests, and the bootstrap's for rank tests. ``p`` is
    two-sided: how probable a difference at least this large would be if there were none.
    ``adjusted_p`` is corrected for all comparisons made at once; for a single one it is ``p``.

    ``effect`` says how large the difference is beside the variation of the runs. Its name, formula
    and source depend on the test; d is a difference of a pair, s a sample standard deviation:

    - paired t: Cohen's d_z, mean(d) / s(d) (Cohen 1988, section 2.3.5);
    - Welch: Cohen's d, the difference / sqrt((s1^2 + s2^2) / 2) (Cohen 1988, section 2.3.2);
    - Wilcoxon: the rank-biserial correlation, (W+ - W-) / (W+ + W-) (Kerby 2014), from -1 to 1;
    - Mann-Whitney: Cliff's delta, P(one > other) - P(one < other) (Cliff 1993), from -1 to 1.

    Where nothing varies, as if nothing is random, there is nothing to test: interval, p-values and
    effect are NaN. Of paired tests, the differences of the pairs must vary; of the others, the
    values of either side.
    """

    one: str
    other: str
    difference: Estimate
    p: float
    adjusted_p: float
    effect: float
    effect_name: str
    test: Test
    runs: tuple[int, int]
    """The number of values on each side."""


def compare(
    one: Runs,
    other: Runs,
    *,
    test: Test = "paired-t",
    names: tuple[str, str] = ("one", "other"),
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Compare two sets of runs.

    Paired tests pair values by seed, or by order if they are not given by seed. If any value is
    NaN, so are the results. If nothing varies, only the difference is known.

    Raises:
        ValueError: If the test is unknown, if a side has fewer than two runs, or if a run has no
            pair in a paired test.
    """
    if test not in get_args(Test):
        raise ValueError(f"{test} is not a known test: use {listed(test, get_args(Test))}")
    compared, effect_name = _TESTS[test]
    x, y = _aligned(one, other, names) if test in PAIRED else (_array(one), _array(other))
    for name, values in zip(names, (x, y), strict=True):
        if len(values) < 2:
            raise ValueError(f"{name} has fewer than two runs: more are needed to compare")
    if all((sample == sample[0]).all() for sample in ((x - y,) if test in PAIRED else (x, y))):
        difference, p, effect = Estimate.around(float(x[0] - y[0]), NAN, confidence), NAN, NAN
    elif np.isnan(x).any() or np.isnan(y).any():
        difference, p, effect = Estimate.around(NAN, NAN, confidence), NAN, NAN
    else:
        difference, p, effect = compared(x, y, confidence)
    return Comparison(
        one=names[0],
        other=names[1],
        difference=difference,
        p=p,
        adjusted_p=p,
        effect=effect,
        effect_name=effect_name,
        test=test,
        runs=(len(x), len(y)),
    )


def compare_all(
    groups: Mapping[str, Runs],
    *,
    baseline: str | None = None,
    test: Test = "paired-t",
    correction: Correction = "holm",
    confidence: float = CONFIDENCE,
) -> list[Comparison]:
    """Compare each group with the ``baseline``, or without one each pair of groups.

    The p-values are adjusted for all comparisons; intervals are not.

    Raises:
        ValueError: As :func:`compare` does, and if there is no group of the baseline's name.
    """
    if baseline is None:
        pairs = list(combinations(groups, 2))
    elif baseline in groups:
        pairs = [(name, baseline) for name in groups if name != baseline]
    else:
        raise ValueError(f"{baseline} is not among the groups: use {', '.join(groups)}")
    found = [
        compare(groups[one], groups[other], test=test, names=(one, other), confidence=confidence)
        for one, other in pairs
    ]
    return adjusted(found, correction)


def adjusted(comparisons: Sequence[Comparison], correction: Correction) -> list[Comparison]:
    """Return comparisons with p-values adjusted for all of them."""
    p_values = adjust([each.p for each in comparisons], correction)
    return [replace(each, adjusted_p=p) for each, p in zip(comparisons, p_values, strict=True)]


def welch(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the two-sided p-value of Welch's t-test for equal means.

    The variances may differ. Each sample needs at least two runs.
    """
    from scipy.special import stdtr  # noqa: PLC0415  (loaded when there is something to compare)

    error, degrees = _welch(one, other)
    apart = abs(float(np.mean(one)) - float(np.mean(other)))
    if error == 0:
        return 1.0 if apart == 0 else 0.0
    return float(2 * stdtr(degrees, -apart / error))


def _welch(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Return the standard error of the difference, and the degrees of freedom (Welch 1947)."""
    squares = [np.var(values, ddof=1) / len(values) for values in (one, other)]
    if sum(squares) == 0:
        return 0.0, float("inf")
    degrees = sum(squares) ** 2 / sum(
        square**2 / (len(values) - 1) for square, values in zip(squares, (one, other), strict=True)
    )
    return float(np.sqrt(sum(squares))), float(degrees)


def _array(runs: Runs) -> NDArray[np.float64]:
    values = list(runs.values()) if isinstance(runs, Mapping) else runs
    return np.asarray(values, dtype=np.float64)


def _aligned(
    one: Runs, other: Runs, names: tuple[str, str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if isinstance(one, Mapping) != isinstance(other, Mapping):
        raise ValueError("values of one side are by seed: give those of both sides so, or neither")
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name, lacking, there in ((names[0], one, other), (names[1], other, one)):
            if absent := sorted(set(there) - set(lacking)):
                seeds = ", ".join(map(str, absent[:5]))
                raise ValueError(
                    f"{name} has no run with seed {seeds}: give the seeds that both have, or "
                    'compare by test="welch"'
                )
        return _array(one), np.asarray([other[seed] for seed in one], dtype=np.float64)
    x, y = _array(one), _array(other)
    if len(x) != len(y):
        raise ValueError(
            f"{names[0]} has {len(x)} runs and {names[1]} has {len(y)}: a paired test needs pairs"
        )
    return x, y


_Found = tuple[Estimate, float, float]
"""Difference, p-value and effect size."""


def _paired_t(x: NDArray[np.float64], y: NDArray[np.float64], confidence: float) -> _Found:
    from scipy.special import stdtr  # noqa: PLC0415

    apart = x - y
    found = average(list(apart), confidence)
    effect = found.value / float(np.std(apart, ddof=1))
    # t = d_z sqrt(n)
    p = float(2 * stdtr(len(apart) - 1, -abs(effect) * np.sqrt(len(apart))))
    return found, p, effect


def _welch_t(x: NDArray[np.float64], y: NDArray[np.float64], confidence: float) -> _Found:
    from scipy.special import stdtrit  # noqa: PLC0415

    apart = float(np.mean(x) - np.mean(y))
    error, degrees = _welch(list(x), list(y))
    margin = float(stdtrit(degrees, (1 + confidence) / 2) * error)
    effect = apart / float(np.sqrt((np.var(x, ddof=1) + np.var(y, ddof=1)) / 2))
    return Estimate.around(apart, margin, confidence), welch(list(x), list(y)), effect


def _wilcoxon(x: NDArray[np.float64], y: NDArray[np.float64], confidence: float) -> _Found:
    import scipy.stats  # noqa: PLC0415  (takes a second)

    apart = x - y
    difference = bootstrap(list(apart), confidence=confidence)
    changed = apart[apart != 0]
    ranks = scipy.stats.rankdata(np.abs(changed))
    effect = float(np.sum(np.sign(changed) * ranks) / np.sum(ranks))
    return difference, float(scipy.stats.wilcoxon(changed).pvalue), effect


def _mann_whitney(x: NDArray[np.float64], y: NDArray[np.float64], confidence: float) -> _Found:
    import scipy.stats  # noqa: PLC0415  (takes a second)

    effect = float(np.mean(np.sign(x[:, None] - y[None, :])))
    p = float(scipy.stats.mannwhitneyu(x, y).pvalue)
    low, high = bca((x, y), _difference_of_means, confidence=confidence)
    difference = Estimate.between(float(_difference_of_means(x, y)), low, high, confidence)
    return difference, p, effect


def _difference_of_means(
    x: NDArray[np.float64], y: NDArray[np.float64], axis: int = -1
) -> NDArray[np.float64]:
    return np.asarray(np.mean(x, axis=axis) - np.mean(y, axis=axis))


_Compare = Callable[[NDArray[np.float64], NDArray[np.float64], float], _Found]
_TESTS: dict[Test, tuple[_Compare, str]] = {
    "paired-t": (_paired_t, "Cohen's d_z"),
    "wilcoxon": (_wilcoxon, "rank-biserial correlation"),
    "welch": (_welch_t, "Cohen's d"),
    "mann-whitney": (_mann_whitney, "Cliff's delta"),
}
"""How each test compares, and the name of its effect."""


def adjust(p_values: Sequence[float], correction: Correction = "holm") -> list[float]:
    """Return adjusted p-values, in the order given, to compare with the level (0.05) as they are.

    A NaN stays NaN and does not count as a test.

    Raises:
        ValueError: If a p-value is not between 0 and 1, or the correction is unknown.
    """
    if correction not in get_args(Correction):
        known = listed(correction, get_args(Correction))
        raise ValueError(f"{correction} is not a known correction: use {known}")
    given = np.asarray(p_values, dtype=np.float64)
    tested = ~np.isnan(given)
    if (wrong := given[tested & ~((given >= 0) & (given <= 1))]).size:
        raise ValueError(f"a p-value of {wrong[0]:g}: it must be between 0 and 1")
    if correction != "none" and tested.any():
        given[tested] = _adjusted(given[tested], correction)
    return [float(p) for p in given]


def _adjusted(p: NDArray[np.float64], correction: Correction) -> NDArray[np.float64]:
    order = np.argsort(p)
    rank = np.arange(1, p.size + 1)
    if correction == "holm":
        adjusted = np.maximum.accumulate(p[order] * (p.size + 1 - rank))
    else:
        adjusted = np.minimum.accumulate((p[order] * p.size / rank)[::-1])[::-1]
    back = np.empty_like(p)
    back[order] = np.minimum(adjusted, 1)
    return back
