"""The style of all figures, and their rendering."""

from __future__ import annotations

import base64
import io
import math
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
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
NARROW_IN = 3.7
"""The width at which labels are legible on a telephone, and in a thumbnail."""
LEFT_IN, RIGHT_IN, BOTTOM_IN = 0.65, 0.2, 0.45
"""Margins for the labels of the axes, in inches."""
TITLE_IN = 0.3
"""Space above the axes for one line, a title or a legend, in inches."""

_widest_in: ContextVar[float] = ContextVar("widest_in", default=math.inf)


@contextmanager
def style() -> Iterator[None]:
    """Apply the project's style to figures drawn in this context."""
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
            # Equal figures become identical files.
            "svg.hashsalt": "skywave",
        }
    ):
        yield


def begin(size_in: tuple[float, float] = WIDE_IN, *, above_in: float = TITLE_IN) -> Figure:
    """Return a figure with margins for labels, and ``above_in`` inches above the axes.

    Fixed margins align figures, and save matplotlib an extra drawing per format that only measures.
    While :meth:`Drawn.at_widths` draws for narrow screens, the figure is ``NARROW_IN`` wide.
    """
    width_in, height_in = min(size_in[0], _widest_in.get()), size_in[1]
    figure = Figure(figsize=(width_in, height_in))
    figure.subplots_adjust(
        left=LEFT_IN / width_in,
        right=1 - RIGHT_IN / width_in,
        bottom=BOTTOM_IN / height_in,
        top=1 - above_in / height_in,
    )
    return figure


def is_narrow(figure: Figure) -> bool:
    """Return whether the figure is for narrow screens, so that a legend needs fewer columns."""
    return bool(figure.get_figwidth() <= NARROW_IN)


def heat_map(
    axes: Axes,
    values: NDArray[np.float64],
    rows: Collection[str],
    columns: Collection[str],
    *,
    norm: Normalize,
    alpha: float = 1.0,
) -> None:
    """Draw a table of values as colours, with row and column names as ticks."""
    axes.imshow(values, cmap=GOOD_AND_BAD, norm=norm, aspect="auto", alpha=alpha)
    axes.set_xticks(range(len(columns)), list(columns))
    axes.set_yticks(range(len(rows)), list(rows))
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def write_in_cell(axes: Axes, row: float, column: float, text: str, **style: Any) -> None:
    """Write text into a cell of a heat map. Whole numbers for row and column are its centre."""
    # The text is inside the axes, so the layout need not measure it.
    axes.text(column, row, text, ha="center", va="center", in_layout=False, **style)


@dataclass(frozen=True)
class Drawn:
    """A rendered figure, to be stored as files and embedded in a page.

    ``narrow_svg`` is the same figure for narrow screens, if it was drawn for them.
    """

    name: str
    caption: str
    png: bytes
    svg: bytes
    narrow_svg: bytes | None = None

    @classmethod
    def of(cls, name: str, caption: str, figure: Figure, *, narrow: Figure | None = None) -> Drawn:
        """Render a figure as PNG at 300 dpi and as SVG, and ``narrow`` as SVG.

        ``narrow`` shows the same, ``NARROW_IN`` wide.
        """
        png = io.BytesIO()
        # Faster than the default level, and little larger.
        quick = {"compress_level": 3}
        figure.savefig(png, format="png", metadata={"Software": None}, pil_kwargs=quick)
        return cls(
            name,
            caption,
            png.getvalue(),
            _svg(figure),
            None if narrow is None else _svg(narrow),
        )

    @classmethod
    def at_widths(cls, name: str, caption: str, draw: Callable[[], Figure]) -> Drawn:
        """Render a figure as it is drawn, and once more for narrow screens.

        ``draw`` begins the figure by :func:`begin`. It may ask for the figure's width.
        """
        figure = draw()
        widest = _widest_in.set(NARROW_IN)
        try:
            return cls.of(name, caption, figure, narrow=draw())
        finally:
            _widest_in.reset(widest)

    @property
    def data_uri(self) -> str:
        """The SVG as a data URI, for an image in a self-contained page."""
        return _data_uri(self.svg)

    @property
    def narrow_uri(self) -> str | None:
        """The SVG for narrow screens as a data URI; None if there is none."""
        return None if self.narrow_svg is None else _data_uri(self.narrow_svg)

    def write(self, directory: Path) -> None:
        """Write the figure as PNG and SVG."""
        (directory / f"{self.name}.png").write_bytes(self.png)
        (directory / f"{self.name}.svg").write_bytes(self.svg)


def _svg(figure: Figure) -> bytes:
    svg = io.BytesIO()
    figure.savefig(svg, format="svg", metadata={"Date": None})
    return svg.getvalue()


def _data_uri(svg: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode("ascii")
