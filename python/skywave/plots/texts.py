"""Widths of texts, line breaks, and names along an x axis, none of which covers another."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from skywave.plots.style import COLUMN_IN

BESIDE_IN = 0.9
"""About what is beside the x axis of a figure."""
CHARACTER_IN, LINE_IN = 0.062, 0.115
"""About how wide a character is, and how high a line, in the size of ticks."""
SIZE = "xtick.labelsize"
INCLINATION = 30
"""Of names that are not horizontal, in degrees."""
MOST_INCLINED = 16
"""Longer names would reach beyond the left end of the axis."""
MOST_LINES = 3
VERTICAL_IN = 1.4
"""How long vertical names are before they are put in several lines, as far as there is room."""
LONG_IN = 0.5
"""Room for names that every figure has. It grows by what they need beyond that."""


POINTS_PER_INCH = 72
HAIR_SPACE = "\N{HAIR SPACE}"
PIECE = re.compile(r"\s*(?:[^\s,;=_./>-]+[,;=_./>-]*|[,;=_./>-]+)")
"""What a line may end after."""


@lru_cache(maxsize=4096)
def _width_in(text: str, size_pt: float, family: tuple[str, ...]) -> float:
    font = FontProperties(family=list(family), size=size_pt)
    width_pt, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width_pt) / POINTS_PER_INCH


def plain(name: str) -> str:
    """Return a name as matplotlib shows it unchanged.

    A "$" would begin a formula, and what begins with "_" would have no place in a legend.
    """
    escaped = name.replace("$", r"\$")
    return f"{HAIR_SPACE}{escaped}" if escaped.startswith("_") else escaped


def size_pt(name: str) -> float:
    """Return a size of the current style, such as ``legend.fontsize``, in points."""
    sizes: Any = mpl.rcParams
    return float(FontProperties(size=sizes[name]).get_size_in_points())


def width_in(text: str, size: str) -> float:
    """Return how wide the widest line of a text is, in inches.

    ``size`` names an entry of the current style, such as ``legend.fontsize``.
    """
    family = tuple(mpl.rcParams["font.serif"])
    return max(_width_in(line, size_pt(size), family) for line in text.split("\n"))


def wrapped(text: str, most_in: float, size: str) -> str:
    """Return a text in lines that are at most so wide.

    Lines end between words, or else after punctuation. A piece that is wider than a line is broken.
    Nothing is left out.
    """
    lines: list[str] = []
    for given in text.split("\n"):
        line = ""
        for word in re.findall(r"\s*\S+", given):
            # A word that has room in a line of its own stays whole.
            is_whole = width_in(word.strip(), size) <= most_in
            for piece in [word] if is_whole else _pieces(word, most_in, size):
                if line and width_in(line + piece, size) > most_in:
                    lines.append(line)
                    line = piece.lstrip()
                else:
                    line += piece if line else piece.lstrip()
        lines.append(line)
    return "\n".join(lines)


def _pieces(word: str, most_in: float, size: str) -> list[str]:
    pieces = []
    for piece in PIECE.findall(word):
        is_whole = width_in(piece.strip(), size) <= most_in
        pieces += [piece] if is_whole else list(piece)
    return pieces


def name_ticks(axes: Axes, names: Sequence[str], beside_in: float = BESIDE_IN) -> float:
    """Name the positions 0, 1, 2 and so on of an x axis; return how high the names are, in inches.

    Names that have no room beside each other, even in several lines, are inclined, and long or
    many ones vertical. Only every second (or third, ..) position has a name if there is no room for
    all of them even then. No name is cut. ``beside_in`` is what the figure has beside the axis.
    """
    figure = axes.get_figure(root=True)
    axis_in = (COLUMN_IN if figure is None else figure.get_figwidth()) - beside_in
    lines = _lines(names, characters=math.floor(axis_in / CHARACTER_IN / max(1, len(names))) - 1)
    if lines is not None:
        axes.set_xticks(range(len(names)), lines)
        return LINE_IN * max((1 + line.count("\n") for line in lines), default=0)
    longest_in = max(width_in(name, SIZE) for name in names)
    between_in = axis_in / len(names)
    inclination = math.radians(INCLINATION)
    if max(map(len, names)) <= MOST_INCLINED and between_in * math.sin(inclination) >= LINE_IN:
        axes.set_xticks(
            range(len(names)), names, rotation=INCLINATION, ha="right", rotation_mode="anchor"
        )
        return longest_in * math.sin(inclination) + LINE_IN
    step = max(1, math.ceil(LINE_IN / between_in))
    shown = _vertical(names[::step], math.floor(step * between_in / LINE_IN))
    axes.set_xticks(
        range(0, len(names), step), shown, rotation=90, multialignment="right", ha="center"
    )
    return max(width_in(name, SIZE) for name in shown)


def _vertical(names: Sequence[str], most_lines: int) -> list[str]:
    """Return names in up to so many lines, each as short as that allows."""
    longest_in = max(width_in(name, SIZE) for name in names)
    length_in = max(VERTICAL_IN, longest_in / most_lines)
    while True:
        lines = [wrapped(name, length_in, SIZE) for name in names]
        if length_in >= longest_in or all(1 + line.count("\n") <= most_lines for line in lines):
            return lines
        # Lines end between words, so the last one may have needed more.
        length_in *= 1.1


def make_room(figure: Figure, names_in: float) -> None:
    """Let a figure grow for the names on its x axis, so that the axes do not shrink."""
    figure.set_figheight(figure.get_figheight() + max(0.0, names_in - LONG_IN))


def _lines(names: Sequence[str], characters: int) -> list[str] | None:
    """Return names in lines of at most so many characters, or None if words do not fit."""
    if characters < 1:
        return None
    wrapped = [textwrap.wrap(name, characters, break_long_words=False) for name in names]
    if any(len(line) > characters for lines in wrapped for line in lines):
        return None
    has_room = max(map(len, wrapped), default=0) <= MOST_LINES
    return ["\n".join(lines) for lines in wrapped] if has_room else None
