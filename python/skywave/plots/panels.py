"""Panels above each other, in a figure as wide as a column of a paper."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skywave.plots.style import COLUMN_IN
from skywave.plots.texts import wrapped

ALONE_IN = 2.3
"""The height of a figure with a single panel."""
PANEL_IN, AXIS_IN = 1.3, 0.5
"""The height of one of several panels, and of the axis below them."""
BESIDE_IN = 0.8
"""What is beside the panels: a label and ticks."""
LINE_IN = 0.13
"""How high a line of a title is."""
LEAST_IN, MOST_IN = 1.0, 40.0
"""The sizes of figures that a user may ask for."""

_width_in: ContextVar[float] = ContextVar("width_in", default=COLUMN_IN)


def column_in() -> float:
    """Return the width of figures: the caller's, or that of a column."""
    return _width_in.get()


@contextmanager
def as_wide_as(width_in: float) -> Iterator[None]:
    """Let figures of a column that begin in this context be so wide."""
    chosen = _width_in.set(width_in)
    try:
        yield
    finally:
        _width_in.reset(chosen)


def at_size(size_in: tuple[float, float] | None, draw: Callable[[], Figure]) -> Figure:
    """Return a figure with that width and height, or as wide as a column and as high as it takes.

    Raises:
        ValueError: If there is no room for its axes in that size.
    """
    if size_in is None:
        return draw()
    width_in, height_in = size_in
    said = f"{width_in:g} x {height_in:g} inches"
    if not (min(size_in) >= LEAST_IN and max(size_in) <= MOST_IN):
        raise ValueError(
            f"a figure of {said}: width and height are from {LEAST_IN:g} to {MOST_IN:g} inches"
        )
    with as_wide_as(width_in):
        figure = draw()
    needed_in = figure.get_figheight()
    figure.set_figheight(height_in)
    with warnings.catch_warnings():
        # matplotlib warns if it gives up the layout.
        warnings.simplefilter("error", UserWarning)
        try:
            figure.draw_without_rendering()
        except UserWarning:
            raise ValueError(
                f"a figure of {said} has no room for its axes beside names and legend: make it "
                f"larger, such as {width_in:g} x {needed_in:.1f} inches"
            ) from None
    return figure


def check_log(log: Collection[str], axes: str, kind: str) -> None:
    """Raise ``ValueError`` if ``log`` has one that is not among ``axes``, those that can be."""
    for name in log:
        if name not in list(axes):
            able = " or ".join(axes) or "none"
            raise ValueError(f"{name} cannot be logarithmic in a figure of the kind {kind}: {able}")


def stacked(
    titles: Collection[str], panel_in: float = PANEL_IN, *, has_common_y: bool = True
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each title, and with the same x axis in all.

    A single panel has no title if that is empty, and one that is too long for a line has several.
    Use it in the style of a column.
    """
    lines = [wrapped(title, column_in() - BESIDE_IN, "axes.titlesize") for title in titles]
    more = sum(line.count("\n") for line in lines)
    height_in = max(ALONE_IN, AXIS_IN + panel_in * len(titles)) + LINE_IN * more
    figure = Figure(figsize=(column_in(), height_in), layout="constrained")
    axes: Any = figure.subplots(len(titles), sharex=True, sharey=has_common_y, squeeze=False)
    panels = list(axes[:, 0])
    for panel, title in zip(panels, lines, strict=True):
        if title:
            panel.set_title(title, loc="left")
    return figure, panels


def label_x(panel: Axes, text: str) -> None:
    """Label the x axis, in as many lines as it takes."""
    panel.set_xlabel(wrapped(text, column_in() - BESIDE_IN, "axes.labelsize"))


def label_y(figure: Figure, panels: Collection[Axes], text: str) -> None:
    """Label the y axes: one label for all, in as many lines as it takes."""
    lines = wrapped(text, figure.get_figheight() - AXIS_IN, "axes.labelsize")
    if len(panels) > 1:
        figure.supylabel(lines, fontsize="medium", multialignment="center")
        return
    [panel] = panels
    panel.set_ylabel(lines)
