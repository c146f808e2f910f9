"""Correction of p-values for many comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from skywave._known import listed

Correction = Literal["holm", "benjamini-hochberg", "none"]
"""How p-values are adjusted.

``"holm"`` (Holm 1979) bounds the probability of even one false finding among all, whatever the
dependence of the tests. ``"benjamini-hochberg"`` (Benjamini and Hochberg 1995) bounds the expected
share of false ones among the findings, of tests that are independent or positively dependent; it
finds more.
"""


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
