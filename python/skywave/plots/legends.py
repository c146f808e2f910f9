"""Legends that cover no data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skywave.plots.panels import column_in
from skywave.plots.style import COLUMN_IN
from skywave.plots.texts import POINTS_PER_INCH, size_pt, width_in, wrapped

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
    columns = _columns(labels)
    while columns > 1 and border_in + _total_in(widths_in, columns, em_in) > room_in:
        columns -= 1
    return entries, columns, _lines(entries, columns)


def _places(count: int, columns: int) -> list[slice]:
    """Return the entries of each column, as matplotlib fills them: the first ones have one more."""
    each, more = divmod(count, columns)
    ends = [each * place + min(place, more) for place in range(columns + 1)]
    return [slice(start, end) for start, end in itertools.pairwise(ends)]


def _total_in(widths_in: Sequence[float], columns: int, em_in: float) -> float:
    widest = [max(widths_in[places]) for places in _places(len(widths_in), columns)]
    return sum(widest) + COLUMN_SPACING * em_in * (columns - 1)


def _lines(entries: Sequence[str], columns: int) -> int:
    return max(
        sum(1 + entry.count("\n") for entry in entries[places])
        for places in _places(len(entries), columns)
    )


def _columns(labels: Collection[str]) -> int:
    widest = max(map(len, labels)) + KEY_CHARACTERS
    characters = int(LINE_CHARACTERS * column_in() / COLUMN_IN)
    return max(1, min(len(labels), characters // widest))
