"""Panels above each other, in a figure as wide as a column of a paper, and legends above them."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from contextvars import ContextVar
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skywave.plots.style import COLUMN_IN
from skywave.plots.texts import POINTS_PER_INCH, size_pt, width_in, wrapped

ALONE_IN = 2.3
"""The height of a figure with a single panel."""
PANEL_IN, AXIS_IN = 1.3, 0.5
"""The height of one of several panels, and of the axis below them."""
BESIDE_IN = 0.8
"""What is beside the panels: a label and ticks."""
TITLE_LINE_IN = 0.13
"""How high a line of a title is."""
LEAST_IN, MOST_IN = 1.0, 40.0
"""The sizes of figures that a user may ask for."""

_width_in: ContextVar[float] = ContextVar("width_in", default=COLUMN_IN)


def column_in() -> float:
    """Return the width of figures: the caller's, or that of a column."""
    return _width_in.get()


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
    chosen = _width_in.set(width_in)
    try:
        figure = draw()
    finally:
        _width_in.reset(chosen)
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
    height_in = max(ALONE_IN, AXIS_IN + panel_in * len(titles)) + TITLE_LINE_IN * more
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


MOST_ENTRIES = 10
"""More lines than that cannot be told apart."""
LINE_CHARACTERS = 52
"""About as many characters fit into a line of a legend as wide as a column."""
LINE_IN = 0.14
KEY_CHARACTERS = 7
"""How many the line before each name is worth."""
EDGE_IN = 0.05
"""What stays free at each side of a legend."""
COLUMN_SPACING = 1.2
"""Between columns, in sizes of the font."""
SHARE_OF_AXES = 0.8
"""How much of the width of a figure its layout leaves to the axes, at least."""


def above(axes: Axes, *, least: int = 2, gap_lines: int = 0) -> int:
    """Put a legend above the axes, in as many columns as fit, and return its number of lines.

    There is none if it would have fewer than ``least`` names. Names that are too long for a line
    are in several. ``gap_lines`` lines between the legend and the axes stay free.
    """
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) < least:
        return 0
    entries, columns, lines = _arranged(labels, _room_above_in(axes))
    axes.legend(
        handles,
        entries,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        borderaxespad=0.2 + gap_lines * LINE_IN * POINTS_PER_INCH / size_pt("legend.fontsize"),
        columnspacing=COLUMN_SPACING,
        ncols=columns,
    )
    return lines


def for_all(figure: Figure, panels: Iterable[Axes]) -> None:
    """Put one legend above all panels, which have the same looks by name; the figure grows by it.

    There is none if it would have a single name. Names that are too long for a line are in several.
    """
    found: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        found = dict(zip(labels, handles, strict=True)) | found
    if len(found) < 2:
        return
    entries, columns, lines = _arranged(list(found), figure.get_figwidth() - 2 * EDGE_IN)
    figure.legend(
        list(found.values()),
        entries,
        loc="outside upper center",
        borderaxespad=0.2,
        columnspacing=COLUMN_SPACING,
        ncols=columns,
    )
    figure.set_figheight(figure.get_figheight() + LINE_IN * lines)


def _room_above_in(axes: Axes) -> float:
    """Return how wide a legend in the middle above the axes may be."""
    figure = axes.get_figure(root=True)
    if figure is None:
        return math.inf
    figure_in = float(figure.get_figwidth())
    if figure.get_layout_engine() is not None:
        return SHARE_OF_AXES * figure_in
    box = axes.get_position()
    return float(min(box.x0 + box.x1, 2 - box.x0 - box.x1) * figure_in) - 2 * EDGE_IN


def _arranged(labels: Sequence[str], room_in: float) -> tuple[list[str], int, int]:
    """Return names in lines, the number of columns that have room, and that of lines."""
    em_in = size_pt("legend.fontsize") / POINTS_PER_INCH
    border_in = 2 * mpl.rcParams["legend.borderpad"] * em_in
    key_in = (mpl.rcParams["legend.handlelength"] + mpl.rcParams["legend.handletextpad"]) * em_in
    entries = [wrapped(label, room_in - border_in - key_in, "legend.fontsize") for label in labels]
    widths_in = [key_in + width_in(entry, "legend.fontsize") for entry in entries]
    widest = max(map(len, labels)) + KEY_CHARACTERS
    most = int(LINE_CHARACTERS * column_in() / COLUMN_IN) // widest
    for columns in range(max(1, min(len(labels), most)), 0, -1):
        places = _places(len(entries), columns)
        total_in = sum(max(widths_in[place]) for place in places)
        if border_in + total_in + COLUMN_SPACING * em_in * (columns - 1) <= room_in:
            break
    lines = max(sum(1 + entry.count("\n") for entry in entries[place]) for place in places)
    return entries, columns, lines


def _places(count: int, columns: int) -> list[slice]:
    """Return the entries of each column, as matplotlib fills them: the first ones have one more."""
    each, more = divmod(count, columns)
    ends = [each * place + min(place, more) for place in range(columns + 1)]
    return [slice(start, end) for start, end in itertools.pairwise(ends)]
