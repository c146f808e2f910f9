"""Distributions of a measure: empirical CDFs and boxes, one for each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from skywave.columns import Scale
from skywave.plots.legends import above
from skywave.plots.style import COLUMN_IN, column_style, series_styles
from skywave.plots.ticks import name_ticks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

HEIGHT_IN = 2.3


def cdf(groups: Mapping[str, Sequence[float]], measure: str) -> Figure:
    """Return the empirical distribution functions of groups of values, without NaN.

    Raises:
        ValueError: If no group has a value.

    """
    values, scale = _scaled(groups, measure)
    with column_style():
        figure = Figure(figsize=(COLUMN_IN, HEIGHT_IN), layout="constrained")
        axes = figure.subplots()
        for (name, group), look in zip(values.items(), series_styles(), strict=False):
            line = {key: look[key] for key in ("color", "linestyle", "zorder")}
            axes.ecdf(group, label=name, **line)
        axes.set_xlabel(scale.label)
        axes.set_ylabel("fraction of values")
        axes.set_ylim(0, 1.02)
        above(axes)
    return figure


def box(groups: Mapping[str, Sequence[float]], measure: str, by: str = "") -> Figure:
    """Return a box for each group: median, quartiles, and whiskers to 1.5 interquartile ranges.

    Values beyond the whiskers are points (Tukey 1977), and a NaN does not count. ``by`` names what
    the groups differ in.

    Raises:
        ValueError: If no group has a value.

    """
    values, scale = _scaled(groups, measure)
    with column_style():
        figure = Figure(figsize=(COLUMN_IN, HEIGHT_IN), layout="constrained")
        axes = figure.subplots()
        # By dictionaries, since the lines of boxes have no entries in matplotlib's style.
        boxes = axes.boxplot(
            list(values.values()),
            positions=range(len(values)),
            widths=0.55,
            patch_artist=True,
            medianprops={"color": "black", "linewidth": 1.4},
            flierprops={"marker": ".", "markersize": 3, "markeredgecolor": "0.3"},
        )
        for patch, look in zip(boxes["boxes"], series_styles(), strict=False):
            patch.set(facecolor=look["color"], alpha=0.45, edgecolor="black", linewidth=0.8)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel(scale.label)
        axes.set_xlabel(by)
        name_ticks(axes, list(values))
    return figure


def _scaled(
    groups: Mapping[str, Sequence[float]], measure: str
) -> tuple[dict[str, NDArray[np.float64]], Scale]:
    values = {name: np.asarray(group, dtype=np.float64) for name, group in groups.items()}
    values = {name: group[np.isfinite(group)] for name, group in values.items()}
    values = {name: group for name, group in values.items() if group.size}
    if not values:
        raise ValueError(f"{measure} has no values: nothing to plot")
    scale = Scale.of(measure, max(float(np.max(np.abs(group))) for group in values.values()))
    return {name: group / scale.factor for name, group in values.items()}, scale
