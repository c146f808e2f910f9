"""The style of all figures, and how they are stored."""

from __future__ import annotations

import base64
import io
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import matplotlib as mpl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Four colours that colour-blind readers can tell apart (Okabe and Ito)."""
WIDE_IN = (6.5, 3.2)
TALL_IN = (6.5, 5.2)


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of this project, on no screen."""
    with mpl.rc_context(
        {
            "font.family": "serif",
            "font.serif": ["DejaVu Serif"],
            "font.size": 9,
            "axes.labelsize": 9,
            "axes.titlesize": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "0.9",
            "grid.linewidth": 0.6,
            "legend.fontsize": 8,
            "legend.frameon": False,
            "lines.linewidth": 1.1,
            "savefig.dpi": 300,
            "savefig.bbox": "tight",
            # The same figure is the same file.
            "svg.hashsalt": "skywave",
        }
    ):
        yield


@dataclass(frozen=True)
class Drawn:
    """A figure as it is stored and as it is embedded in a page."""

    name: str
    caption: str
    png: bytes
    svg: bytes

    @classmethod
    def of(cls, name: str, caption: str, figure: Figure) -> Drawn:
        """Render a figure at 300 dpi and as vectors."""
        rendered = {}
        for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=metadata)
            rendered[kind] = buffer.getvalue()
        return cls(name, caption, rendered["png"], rendered["svg"])

    @property
    def data_uri(self) -> str:
        """The vectors, as the source of an image of a self-contained page."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode("ascii")

    def write(self, directory: Path) -> None:
        """Write the figure as PNG and SVG."""
        (directory / f"{self.name}.png").write_bytes(self.png)
        (directory / f"{self.name}.svg").write_bytes(self.svg)
