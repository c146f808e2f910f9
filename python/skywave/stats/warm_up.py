"""Detects the end of the warm-up of a run."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

BATCH = 5
"""Samples per batch: the 5 of MSER-5."""
LEAST_KEPT = 5
"""How many batches are kept at least; a choice of ours."""


def truncation(samples: ArrayLike) -> int | None:
    """Return how many samples at the beginning of a run belong to its warm-up, by MSER-5.

    MSER discards the first d means of batches of five samples, where d minimises the
    squared standard error of the rest, sum((Y_i - mean)^2) / (n - d)^2 (White 1997; White, Cobb
    and Spratt 2000). At least five batches are kept, since fewer may be close to each other by
    chance.

    None if the minimum is in the second half, which means that the run is too short to tell, or if
    there are fewer than 50 samples. Samples after the last whole batch do not count, and neither
    does a NaN in its batch.

    A slow oscillation, such as the sawtooth of a long round-trip time, may look like a warm-up.
    """
    values = np.asarray(samples, dtype=np.float64)
    batches = values[: len(values) // BATCH * BATCH].reshape(-1, BATCH)
    counts = np.sum(~np.isnan(batches), axis=1)
    known = counts > 0
    means = np.nansum(batches[known], axis=1) / counts[known]
    if len(means) < 2 * LEAST_KEPT:
        return None
    # Centred, so that the difference of large sums does not lose its digits.
    centred = means - np.mean(means)
    sums = np.cumsum(centred[::-1])[::-1]
    squares = np.cumsum(np.square(centred)[::-1])[::-1]
    left = np.arange(len(means), 0, -1)
    errors = ((squares - sums**2 / left) / left**2)[: 1 - LEAST_KEPT]
    # The first of those that differ by no more than rounding.
    rounding = 1e-12 * float(np.max(np.abs(errors)))
    first = int(np.argmax(errors <= np.min(errors) + rounding))
    return None if first >= len(means) / 2 else int(np.flatnonzero(known)[first]) * BATCH
