"""Legends that cover no data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ENTRIES = 10
"""More lines than that cannot be told apart."""
LINE_CHARACTERS = 52
"""About as many characters fit into a line of a legend as wide as a column."""
LINE_IN = 0.14
KEY_CHARACTERS = 7
"""How many the line before each name is worth."""


def above(axes: Axes, *, least: int = 2) -> int:
    """Put a legend above the axes, in as many columns as fit, and return its number of lines.

    There is none if it would have fewer than ``least`` names.
    """
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) < least:
        return 0
    columns = _columns(labels)
    axes.legend(
        handles,
        labels,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        borderaxespad=0.2,
        columnspacing=1.2,
        ncols=columns,
    )
    return -(-len(labels) // columns)


def for_all(figure: Figure, panels: Iterable[Axes]) -> None:
    """Put one legend above all panels, which have the same looks by name; the figure grows by it.

    There is none if it would have a single name.
    """
    found: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        found = dict(zip(labels, handles, strict=True)) | found
    if len(found) < 2:
        return
    columns = _columns(found)
    figure.legend(
        list(found.values()),
        list(found),
        loc="outside upper center",
        borderaxespad=0.2,
        columnspacing=1.2,
        ncols=columns,
    )
    figure.set_figheight(figure.get_figheight() + LINE_IN * -(-len(found) // columns))


def _columns(labels: Collection[str]) -> int:
    widest = max(map(len, labels)) + KEY_CHARACTERS
    return max(1, min(len(labels), LINE_CHARACTERS // widest))
