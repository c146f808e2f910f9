"""Figures of reports: the project's style, and figures as a page embeds and stores them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skywave.plots.files import render
from skywave.plots.style import (
    COLOURS,
    GOOD_AND_BAD,
    NARROW_IN,
    NO_TITLE_IN,
    TALL_IN,
    TITLE_IN,
    WIDE_IN,
    at_most,
    begin,
    heat_map,
    is_narrow,
    style,
    write_in_cell,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "GOOD_AND_BAD",
    "NARROW_IN",
    "NO_TITLE_IN",
    "TALL_IN",
    "TITLE_IN",
    "WIDE_IN",
    "RenderedFigure",
    "begin",
    "heat_map",
    "is_narrow",
    "style",
    "write_in_cell",
]


@dataclass(frozen=True)
class RenderedFigure:
    """A rendered figure, to be stored as files and embedded in a page.

    ``narrow_svg`` is the same figure for narrow screens, if it was drawn for them.
    """

    name: str
    caption: str
    png: bytes
    svg: bytes
    narrow_svg: bytes | None = None

    @classmethod
    def of(
        cls, name: str, caption: str, figure: Figure, *, narrow: Figure | None = None
    ) -> RenderedFigure:
        """Render a figure as PNG at 300 dpi and as SVG, and the same ``NARROW_IN`` wide as SVG."""
        narrow_svg = None if narrow is None else render(narrow, "svg")
        return cls(name, caption, render(figure, "png"), render(figure, "svg"), narrow_svg)

    @classmethod
    def at_widths(cls, name: str, caption: str, draw: Callable[[], Figure]) -> RenderedFigure:
        """Render a figure as it is drawn, and once more for narrow screens.

        ``draw`` begins the figure by :func:`begin`. It may ask for the figure's width.
        """
        figure = draw()
        with at_most(NARROW_IN):
            return cls.of(name, caption, figure, narrow=draw())

    def write(self, directory: Path) -> None:
        """Write the figure as PNG and SVG."""
        (directory / f"{self.name}.png").write_bytes(self.png)
        (directory / f"{self.name}.svg").write_bytes(self.svg)
