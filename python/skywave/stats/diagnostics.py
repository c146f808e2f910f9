"""Warnings about results: sentences for users, or None where there is nothing to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skywave.printing import number
from skywave.stats.warm_up import truncation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHARE_LIMITED = 0.05
"""The share of its time from which on a flow counts as limited by its receive window."""
SHIFT = 0.01
"""The share of a mean by which a warm-up must move it to be mentioned."""


def unchanged_by_seeds(runs: Sequence[Sequence[float]]) -> str | None:
    """Say so if the seed changes none of the measures of a scenario.

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
    """Say so if the receive window of a flow, and not its congestion control, set its rate.

    ``flow`` is the summary of a flow. If it has ``receive_window_limited_s`` and ``active_s``, the
    seconds in which the window kept data back and those in which the flow had data, at least 5 % of
    the latter count. None if it has not.
    """
    limited_s, active_s = flow.get("receive_window_limited_s"), flow.get("active_s")
    if not isinstance(limited_s, int | float) or not isinstance(active_s, int | float):
        return None
    if active_s <= 0 or limited_s < SHARE_LIMITED * active_s:
        return None
    return (
        f"{flow.get('name', 'a flow')} was limited by its receive window for "
        f"{number(limited_s, 3)} of {number(active_s, 3)} s "
        f"({number(100 * limited_s / active_s, 2)} %): to measure its congestion control, set a "
        "larger receive_window"
    )


def warm_up_in_mean(
    times_s: Sequence[float], samples: Sequence[float], what: str, *, from_s: float = 0.0
) -> str | None:
    """Say so if a mean of samples from ``from_s`` on has the warm-up of the run in it.

    The warm-up is found by MSER-5 (:func:`skywave.stats.truncation`) and mentioned if it moves the
    mean by at least 1 %. A sample covers the interval that ends at its time. ``what`` names what is
    averaged, such as ``goodput of file``.
    """
    times = np.asarray(times_s, dtype=np.float64)
    values = np.asarray(samples, dtype=np.float64)
    # A sample that ends at from_s is before it.
    counted = times > from_s
    times, values = times[counted], values[counted]
    left_out = truncation(list(values))
    if not left_out:
        return None
    whole, steady = float(np.nanmean(values)), float(np.nanmean(values[left_out:]))
    if steady == 0 or abs(whole - steady) < SHIFT * abs(steady):
        return None
    percent = 100 * (whole - steady) / abs(steady)
    return (
        f"the warm-up, until {number(float(times[left_out - 1]), 3)} s, makes the mean {what} "
        f"{number(abs(percent), 2)} % {'higher' if percent > 0 else 'lower'}: average from "
        f"{number(float(times[left_out - 1]), 3)} s on"
    )
