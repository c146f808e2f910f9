"""Names along an x axis, none of which covers another."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

AXIS_IN = 2.6
"""About how long the x axis of a figure as wide as a column is."""
CHARACTER_IN, LINE_IN = 0.062, 0.115
"""About how wide a character is, and how high a line, in the size of ticks."""
INCLINATION = 30
"""Of names that are not horizontal, in degrees."""
MOST_INCLINED = 16
"""Longer names would reach beyond the left end of the axis."""
MOST_LINES = 3
MOST_CHARACTERS = 24
"""Longer names would leave no room for the figure."""


def name_ticks(axes: Axes, names: Sequence[str], axis_in: float = AXIS_IN) -> None:
    """Name the positions 0, 1, 2 and so on of an x axis.

    Names that have no room beside each other, even in several lines, are inclined, and long or
    many ones vertical. Only every second (or third, ..) position has a name if there is no room for
    all of them even then.
    """
    lines = _lines(names, characters=math.floor(axis_in / CHARACTER_IN / max(1, len(names))) - 1)
    if lines is not None:
        axes.set_xticks(range(len(names)), lines)
        return
    longest = max(map(len, names), default=0)
    between_in = axis_in / len(names) * math.sin(math.radians(INCLINATION))
    if longest <= MOST_INCLINED and between_in >= LINE_IN:
        axes.set_xticks(
            range(len(names)), names, rotation=INCLINATION, ha="right", rotation_mode="anchor"
        )
        return
    step = max(1, math.ceil(len(names) * LINE_IN / axis_in))
    shown = [
        name if len(name) <= MOST_CHARACTERS else f"{name[: MOST_CHARACTERS - 1]}…"
        for name in names[::step]
    ]
    axes.set_xticks(range(0, len(names), step), shown, rotation=90)


def _lines(names: Sequence[str], characters: int) -> list[str] | None:
    """Return names in lines of at most so many characters, or None if words do not fit."""
    if characters < 1:
        return None
    wrapped = [textwrap.wrap(name, characters, break_long_words=False) for name in names]
    if any(len(line) > characters for lines in wrapped for line in lines):
        return None
    has_room = max(map(len, wrapped), default=0) <= MOST_LINES
    return ["\n".join(lines) for lines in wrapped] if has_room else None
