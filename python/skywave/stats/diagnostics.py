"""Warnings about results: sentences for users, or None where there is nothing to say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skywave._printing import number
from skywave.results.samples import ROUNDING, shares

SHARE_LIMITED = 0.1
"""The share of its time from which on a flow counts as limited by its receive window."""
WIDEN = "set a larger receive_window, or raise max_receive_window if it autotunes"
"""What to do then. Only a window of a fixed size is as large as it says from the start."""
SHIFT = 0.01
"""The share of a mean by which a warm-up must move it to be mentioned."""
MOST_NAMED = 3
"""The most flows or links that a sentence names."""


BATCH = 5
"""Samples per batch: the 5 of MSER-5."""
LEAST_KEPT = 5
"""How many batches are kept at least; a choice of ours."""
LEAST_SAMPLES = 2 * LEAST_KEPT * BATCH
"""With fewer samples, no warm-up can be told: it may take half of them at most."""


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


def unchanged_by_seeds(runs: Sequence[Sequence[float]]) -> str | None:
    """Return a warning if the seed changes none of the measures of a scenario.

    ``runs`` has the measures of each run, in the same order. NaN is equal to NaN. None for fewer
    than two runs, or if there are no measures.
    """
    if len(runs) < 2 or len(runs[0]) == 0:
        return None
    values = np.asarray(runs, dtype=np.float64)
    if not np.array_equal(values, np.broadcast_to(values[0], values.shape), equal_nan=True):
        return None
    return (
        f"{len(runs)} seeds gave the same values: nothing in this scenario is random; add jitter, "
        "loss or start_jitter"
    )


def limited_by_receive_window(flow: Mapping[str, object]) -> str | None:
    """Return a warning if the receive window, not congestion control, limited a flow's rate.

    ``flow`` is the summary of a flow. If it has ``receive_window_limited_s`` and ``active_s``, the
    seconds in which the window kept data back and those in which the flow had data, at least 10 %
    of the latter count. None if it has not.
    """
    limited_s, active_s = flow.get("receive_window_limited_s"), flow.get("active_s")
    if not isinstance(limited_s, int | float) or not isinstance(active_s, int | float):
        return None
    if active_s <= 0 or limited_s < SHARE_LIMITED * active_s:
        return None
    return (
        f"{flow.get('name', 'a flow')} was limited by its receive window for "
        f"{number(limited_s, 3)} of {number(active_s, 3)} s "
        f"({number(100 * limited_s / active_s, 2)} %): {WIDEN}"
    )


@dataclass(frozen=True)
class WarmUp:
    """The warm-up of a run."""

    end_s: float
    """When it is over."""
    shift: float
    """By what share of the mean after it the mean of everything is higher, or lower if negative."""


def warm_up_in_mean(
    times_s: ArrayLike, samples: ArrayLike, *, from_s: float = 0.0
) -> WarmUp | None:
    """Return the warm-up of a run if a mean of its samples from ``from_s`` on has it inside.

    MSER-5 finds it (:func:`skywave.stats.truncation`), and it counts if it moves the mean by at
    least 1 %. The remaining samples may have a warm-up in turn, which is discarded too, and so on:
    the end of the warm-up does not depend on ``from_s``, so a mean from then on, or from any later
    time, has none inside. A sample covers the interval that ends at its time. The last sample does
    not count if its interval is shorter.
    """
    times = np.asarray(times_s, dtype=np.float64)
    if times.size < LEAST_SAMPLES:
        return None
    whole = shares(times) == 1
    times, values = times[whole], np.asarray(samples, dtype=np.float64)[whole]
    end = 0
    while left_out := truncation(values[end:]):
        if abs(_shift(values[end:], values[end + left_out :])) < SHIFT:
            break
        end += left_out
    if end == 0 or times[end - 1] <= from_s:
        return None
    # A sample that ends at from_s is before it.
    shift = _shift(values[times > from_s], values[end:])
    return WarmUp(float(times[end - 1]), shift) if abs(shift) >= SHIFT else None


def _shift(values: NDArray[np.float64], steady: NDArray[np.float64]) -> float:
    """Return the relative excess of the mean over the steady mean; 0 if undefined."""
    mean = float(np.nanmean(steady))
    return 0.0 if mean == 0 else (float(np.nanmean(values)) - mean) / abs(mean)


def warm_ups_in_means(what: str, found: Mapping[str, WarmUp]) -> str | None:
    """Return a warning that names the means with a warm-up, and when to start averaging instead.

    ``what`` names the measure, such as ``goodput``, and ``found`` has warm-ups by flow or link.
    """
    if not found:
        return None
    said = [
        f"{name} ({number(100 * abs(one.shift), 2)} % {'higher' if one.shift > 0 else 'lower'})"
        for name, one in found.items()
    ]
    if len(said) > MOST_NAMED:
        said = [*said[:MOST_NAMED], f"{len(said) - MOST_NAMED} more"]
    names = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
    end_s = not_before(max(one.end_s for one in found.values()))
    return f"the warm-up is inside the mean {what} of {names}: average from {end_s} s on"


def not_before(time_s: float) -> str:
    """Return a time with three digits, or as many as are before the point, rounded up."""
    digits = max(0, 2 - math.floor(math.log10(time_s)))
    # Only so far that a time which is written exactly stays.
    return number(math.ceil(time_s * 10**digits * (1 - ROUNDING)) / 10**digits, 17, digits)
