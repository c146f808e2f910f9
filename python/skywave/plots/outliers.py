"""Clipping of samples far above the sustained level, which would flatten the others.

Data that has waited for a retransmission reaches the application all at once, so goodput may be
many times the rate of the link for one sample. Of other measures, the largest samples are what a
reader looks for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from matplotlib.axes import Axes

from skywave._printing import number
from skywave.results.columns import Scale
from skywave.results.samples import Series, largest

CUT = ("goodput_bps",)
"""What may go beyond its axis."""
UNUSUAL = 1.5
"""A sample is cut if it is more than this many times as large as what lasts."""
LASTING = 9
"""Of how many samples in a row a median is. Four in a row do not change it."""
MARK_PT, NOTE_PT = 2.5, 6


def reach(measure: str, series: Collection[Series]) -> float:
    """Return the largest size of a sample that an axis shows, as the laboratory's charts do.

    That is the largest one of whole intervals, but of goodput at most 1.5 times what lasts: the
    largest median of nine samples in a row that are not 0.
    """
    if measure not in CUT:
        return largest(series)
    return max((_reach(one) for one in series), default=0.0)


def _reach(one: Series) -> float:
    values = one.whole().values
    known = values[np.isfinite(values) & (values > 0)]
    most = largest([one])
    if known.size < LASTING:
        return most
    medians = np.median(np.lib.stride_tricks.sliding_window_view(known, LASTING), axis=1)
    return min(most, UNUSUAL * float(medians.max()))


def mark_cut(
    axes: Axes, series: Mapping[str, Series], colours: Mapping[str, str], scale: Scale
) -> int:
    """Mark the samples beyond the top of an axis, and say how large they are, above the axes.

    Returns how many lines of text are there: one, or none if nothing is cut. A sample of an
    interval that the end of the run cut short is not marked.
    """
    top = axes.get_ylim()[1] * scale.factor
    most = 0.0
    for name, one in series.items():
        whole = one.whole()
        beyond = np.nan_to_num(whole.values) > top
        if not beyond.any():
            continue
        most = max(most, float(whole.values[beyond].max()))
        axes.scatter(
            whole.times_s[beyond],
            np.ones(np.count_nonzero(beyond)),
            MARK_PT**2,
            marker="^",
            color=colours[name],
            transform=axes.get_xaxis_transform(),
            clip_on=False,
            zorder=4,
            label="_beyond",
        )
    if not most:
        return 0
    _, parenthesis, unit = scale.label.rpartition(" (")
    text = f"{number(most / scale.factor, 3)} {unit.removesuffix(')') if parenthesis else ''}"
    axes.set_title(f"▲ cut off, up to {text.strip()}", loc="right", fontsize=NOTE_PT)
    return 1
