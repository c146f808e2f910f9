"""Panels above each other, in a figure as wide as a column of a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from skywave.plots.style import COLUMN_IN

if TYPE_CHECKING:
    from collections.abc import Collection

    from matplotlib.axes import Axes

ALONE_IN = 2.3
"""The height of a figure with a single panel."""
PANEL_IN, AXIS_IN = 1.3, 0.5
"""The height of one of several panels, and of the axis below them."""


def stacked(
    titles: Collection[str], panel_in: float = PANEL_IN, *, has_common_y: bool = True
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each title, and with the same x axis in all.

    A single panel has no title if that is empty. Use it in the style of a column.
    """
    height_in = max(ALONE_IN, AXIS_IN + panel_in * len(titles))
    figure = Figure(figsize=(COLUMN_IN, height_in), layout="constrained")
    axes: Any = figure.subplots(len(titles), sharex=True, sharey=has_common_y, squeeze=False)
    panels = list(axes[:, 0])
    for panel, title in zip(panels, titles, strict=True):
        if title:
            panel.set_title(title, loc="left")
    return figure, panels


def label_y(figure: Figure, panels: Collection[Axes], text: str) -> None:
    """Label the y axes: one label for all."""
    if len(panels) > 1:
        figure.supylabel(text, fontsize="medium")
        return
    [panel] = panels
    panel.set_ylabel(text)
