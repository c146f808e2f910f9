"""Widths of texts, and line breaks."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import matplotlib as mpl
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

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
