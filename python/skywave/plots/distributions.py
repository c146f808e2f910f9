"""Distributions of a measure: empirical CDFs and boxes, one for each group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from skywave.plots.panels import for_all, label_x, label_y, stacked
from skywave.plots.style import column_style, series_styles
from skywave.plots.texts import make_room, name_ticks
from skywave.results.columns import Scale

Panels = Mapping[str, Mapping[str, Sequence[float]]]
"""The values of each group, by the title of its panel and its name."""


def cdf(panels: Panels, measure: str, *, is_log: bool = False) -> Figure:
    """Return the empirical distribution functions of groups of values, without NaN.

    ``is_log`` makes the axis of values logarithmic.
    """
    values, names, scale = _scaled(panels, measure, is_log=is_log)
    with column_style():
        figure, drawn = stacked(values)
        looks = dict(zip(names, series_styles(), strict=False))
        for axes, groups in zip(drawn, values.values(), strict=True):
            for name, group in groups.items():
                if group.size:
                    line = {key: looks[name][key] for key in ("color", "linestyle", "zorder")}
                    axes.ecdf(group, label=name, **line)
            axes.set_ylim(0, 1.02)
            if is_log:
                axes.set_xscale("log")
        label_x(drawn[-1], scale.label)
        label_y(figure, drawn, "fraction of values")
        for_all(figure, drawn)
    return figure


def box(panels: Panels, measure: str, by: str = "", *, is_log: bool = False) -> Figure:
    """Return a box for each group: median, quartiles, and whiskers to 1.5 interquartile ranges.

    Values beyond the whiskers are points (Tukey 1977), and a NaN does not count. ``by`` names what
    the groups differ in, and ``is_log`` makes the axis of values logarithmic.
    """
    values, names, scale = _scaled(panels, measure, is_log=is_log)
    with column_style():
        figure, drawn = stacked(values)
        for axes, groups in zip(drawn, values.values(), strict=True):
            # By dictionaries, since the lines of boxes have no entries in matplotlib's style.
            boxes = axes.boxplot(
                [groups.get(name, np.zeros(0)) for name in names],
                positions=range(len(names)),
                widths=0.55,
                patch_artist=True,
                medianprops={"color": "black", "linewidth": 1.4},
                flierprops={"marker": ".", "markersize": 3, "markeredgecolor": "0.3"},
            )
            for patch, look in zip(boxes["boxes"], series_styles(), strict=False):
                patch.set(facecolor=look["color"], alpha=0.45, edgecolor="black", linewidth=0.8)
            axes.grid(visible=False, axis="x")
            if is_log:
                axes.set_yscale("log")
        label_y(figure, drawn, scale.label)
        label_x(drawn[-1], by)
        make_room(figure, name_ticks(drawn[-1], names))
    return figure


def check_positive(groups: Iterable[NDArray[np.float64]], measure: str) -> None:
    """Raise ``ValueError`` if a logarithmic axis would hide some of the values."""
    hidden = sum(int((group <= 0).sum()) for group in groups)
    if hidden:
        raise ValueError(
            f"{hidden} values of {measure} are not above 0, and a logarithmic axis has no place "
            "for them: leave --log out"
        )


def _scaled(
    panels: Panels, measure: str, *, is_log: bool
) -> tuple[dict[str, dict[str, NDArray[np.float64]]], list[str], Scale]:
    """Return finite values in the unit of the axis, and the names of groups that have any."""
    values: dict[str, dict[str, NDArray[np.float64]]] = {}
    for title, groups in panels.items():
        each = {name: np.asarray(group, dtype=np.float64) for name, group in groups.items()}
        values[title] = {name: group[np.isfinite(group)] for name, group in each.items()}
    full = [one for groups in values.values() for one in groups.items() if one[1].size]
    if not full:
        raise ValueError(f"{measure} has no values: nothing to plot")
    scale = Scale.of(measure, max(float(np.max(np.abs(group))) for _, group in full))
    scaled = {
        title: {name: group / scale.factor for name, group in groups.items()}
        for title, groups in values.items()
    }
    if is_log:
        check_positive((one for each in scaled.values() for one in each.values()), measure)
    return scaled, list(dict.fromkeys(name for name, _ in full)), scale
