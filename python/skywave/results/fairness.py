"""Fairness of shares."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def jain(rates: ArrayLike) -> float:
    """Return Jain's index: 1 for equal rates, 1/n if one of n flows has everything.

    NaN if all rates are zero.
    """
    shares = np.asarray(rates, dtype=np.float64)
    if not shares.any():
        return float("nan")
    return float(shares.sum() ** 2 / (shares.size * np.square(shares).sum()))
