"""The style of all figures, and how they are stored."""

from __future__ import annotations

import base64
import io
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from numpy.typing import NDArray

GOOD_AND_BAD = "RdYlBu"
"""A colour map: blue is good, and colour-blind readers can tell it from bad."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Four colours that colour-blind readers can tell apart (Okabe and Ito)."""
WIDE_IN = (6.5, 3.2)
TALL_IN = (6.5, 5.2)
LEFT_IN, RIGHT_IN, BOTTOM_IN = 0.65, 0.2, 0.45
"""Room for the labels of the axes, in inches."""
TITLE_IN = 0.3
"""Room above the axes for one line: a title, or a legend."""


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of this project, on no screen."""
    with mpl.rc_context(
        {
            "font.family": "serif",
            "font.serif": ["DejaVu Serif"],
            "font.size": 9,
            "axes.labelsize": 9,
            "figure.subplot.hspace": 0.28,
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
            # The same figure is the same file.
            "svg.hashsalt": "skywave",
        }
    ):
        yield


def begin(size_in: tuple[float, float] = WIDE_IN, *, above_in: float = TITLE_IN) -> Figure:
    """Begin a figure whose margins have room for labels, and ``above_in`` over the axes.

    Fixed margins let figures line up, and spare matplotlib to draw each one once more for every
    format only to measure it.
    """
    width_in, height_in = size_in
    figure = Figure(figsize=size_in)
    figure.subplots_adjust(
        left=LEFT_IN / width_in,
        right=1 - RIGHT_IN / width_in,
        bottom=BOTTOM_IN / height_in,
        top=1 - above_in / height_in,
    )
    return figure


def heat_map(
    axes: Axes,
    values: NDArray[np.float64],
    rows: Collection[str],
    columns: Collection[str],
    *,
    norm: Normalize,
    alpha: float = 1.0,
) -> None:
    """Colour a table of values, with the names of its rows and columns as ticks."""
    axes.imshow(values, cmap=GOOD_AND_BAD, norm=norm, aspect="auto", alpha=alpha)
    axes.set_xticks(range(len(columns)), list(columns))
    axes.set_yticks(range(len(rows)), list(rows))
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def write_in_cell(axes: Axes, row: float, column: float, text: str, **style: Any) -> None:
    """Write into a cell of a heat map, in its middle where row and column are whole."""
    # It is inside of the axes: its extent need not be measured.
    axes.text(column, row, text, ha="center", va="center", in_layout=False, **style)


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
        png, svg = io.BytesIO(), io.BytesIO()
        # Quicker than by default, and little larger.
        quick = {"compress_level": 3}
        figure.savefig(png, format="png", metadata={"Software": None}, pil_kwargs=quick)
        figure.savefig(svg, format="svg", metadata={"Date": None})
        return cls(name, caption, png.getvalue(), svg.getvalue())

    @property
    def data_uri(self) -> str:
        """The vectors, as the source of an image of a self-contained page."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode("ascii")

    def write(self, directory: Path) -> None:
        """Write the figure as PNG and SVG."""
        (directory / f"{self.name}.png").write_bytes(self.png)
        (directory / f"{self.name}.svg").write_bytes(self.svg)
