"""Names along an x axis, none of which covers another."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

AXIS_IN = 2.6
"""About how long the x axis of a figure as wide as a column is."""
CHARACTER_IN, LINE_IN = 0.062, 0.115
"""About how wide a character is, and how high a line, in the size of ticks."""
MOST_CHARACTERS = 24
"""Longer names would leave no room for the figure."""


def name_ticks(axes: Axes, names: Sequence[str], axis_in: float = AXIS_IN) -> None:
    """Name the positions 0, 1, 2 and so on of an x axis.

    Names are vertical if they have no room beside each other, and only every second (or third, ..)
    position has one if there is no room for all of them even then.
    """
    longest = max(map(len, names), default=0)
    has_room = (longest + 1) * CHARACTER_IN * len(names) <= axis_in
    step = 1 if has_room else max(1, math.ceil(len(names) * LINE_IN / axis_in))
    shown = [
        name if len(name) <= MOST_CHARACTERS else f"{name[: MOST_CHARACTERS - 1]}…"
        for name in names[::step]
    ]
    axes.set_xticks(range(0, len(names), step), shown, rotation=0 if has_room else 90)
