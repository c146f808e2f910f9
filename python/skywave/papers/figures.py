"""Figures of papers: the project's style, and figures as a report embeds and stores them."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skywave.plots.files import render
from skywave.plots.style import (
    COLOURS,
    GOOD_AND_BAD,
    TALL_IN,
    TITLE_IN,
    WIDE_IN,
    begin,
    heat_map,
    style,
    write_in_cell,
)

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "GOOD_AND_BAD",
    "TALL_IN",
    "TITLE_IN",
    "WIDE_IN",
    "Drawn",
    "begin",
    "heat_map",
    "style",
    "write_in_cell",
]


@dataclass(frozen=True)
class Drawn:
    """A rendered figure, to be stored as files and embedded in a page."""

    name: str
    caption: str
    png: bytes
    svg: bytes

    @classmethod
    def of(cls, name: str, caption: str, figure: Figure) -> Drawn:
        """Render a figure as PNG at 300 dpi and as SVG."""
        return cls(name, caption, render(figure, "png"), render(figure, "svg"))

    @property
    def data_uri(self) -> str:
        """The SVG as a data URI, for an image in a self-contained page."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode("ascii")

    def write(self, directory: Path) -> None:
        """Write the figure as PNG and SVG."""
        (directory / f"{self.name}.png").write_bytes(self.png)
        (directory / f"{self.name}.svg").write_bytes(self.svg)
