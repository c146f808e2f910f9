"""The style of all figures."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count, cycle
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

if TYPE_CHECKING:
    import numpy as np

GOOD_AND_BAD = "RdYlBu"
"""A colour map: blue is good, and colour-blind readers can tell it from bad."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Four colours that colour-blind readers can tell apart (Okabe and Ito)."""
MORE_COLOURS = (*COLOURS, "#e69f00", "#56b4e9", "#000000")
"""Seven of them: all but yellow, which is too light for lines on white."""
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")
WIDE_IN = (6.5, 3.2)
TALL_IN = (6.5, 5.2)
NARROW_IN = 3.7
"""The width at which labels are legible on a telephone, and in a thumbnail."""
COLUMN_IN = 3.5
"""The width of a column of a paper with two columns (IEEE)."""
LEFT_IN, RIGHT_IN, BOTTOM_IN = 0.65, 0.2, 0.45
"""Margins for the labels of the axes, in inches."""
NO_TITLE_IN = 0.1
"""Space above axes with nothing there but half a label of a tick, in inches."""
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
            # Publishers refuse Type 3 fonts, matplotlib's default.
            "pdf.fonttype": 42,
        }
    ):
        yield


@contextmanager
def column_style() -> Iterator[None]:
    """Apply the style, in the sizes of text that a column of a paper needs."""
    with (
        style(),
        mpl.rc_context(
            {
                "font.size": 8,
                "axes.labelsize": 8,
                "axes.titlesize": 8,
                "legend.fontsize": 7,
                "xtick.labelsize": 7,
                "ytick.labelsize": 7,
                "legend.handlelength": 2.4,
            }
        ),
    ):
        yield


def begin(
    size_in: tuple[float, float] = WIDE_IN,
    *,
    above_in: float = TITLE_IN,
    above_narrow_in: float | None = None,
) -> Figure:
    """Return a figure with margins for labels, and ``above_in`` inches above the axes.

    Fixed margins align figures, and save matplotlib an extra drawing per format that only measures.
    Within :func:`at_most` the figure may be narrower; it then has ``above_narrow_in`` inches, if
    given, since a legend needs more lines there.
    """
    width_in, height_in = min(size_in[0], _widest_in.get()), size_in[1]
    if above_narrow_in is not None and width_in <= NARROW_IN:
        above_in = above_narrow_in
    figure = Figure(figsize=(width_in, height_in))
    figure.subplots_adjust(
        left=LEFT_IN / width_in,
        right=1 - RIGHT_IN / width_in,
        bottom=BOTTOM_IN / height_in,
        top=1 - above_in / height_in,
    )
    return figure


@contextmanager
def at_most(width_in: float) -> Iterator[None]:
    """Let figures that begin in this context be no wider than that, in inches."""
    widest = _widest_in.set(width_in)
    try:
        yield
    finally:
        _widest_in.reset(widest)


def is_narrow(figure: Figure) -> bool:
    """Return whether the figure is for narrow screens, so that a legend needs fewer columns."""
    return bool(figure.get_figwidth() <= NARROW_IN)


def series_styles(*, reverse: bool = False) -> Iterator[dict[str, Any]]:
    """Return the looks of lines: colours and dashes differ, so that they differ in grey too.

    In ``reverse`` the colours begin with the last, for lines that are not of the same kind.
    """
    colours = MORE_COLOURS[::-1] if reverse else MORE_COLOURS
    for index, colour, dash, marker in zip(
        count(), cycle(colours), cycle(DASHES), cycle(MARKERS), strict=False
    ):
        # Later lines above earlier ones, in every panel.
        yield {"color": colour, "linestyle": dash, "marker": marker, "zorder": 2 + index / 1000}


def heat_map(
    axes: Axes,
    values: NDArray[np.float64],
    rows: Collection[str],
    columns: Collection[str],
    *,
    norm: Normalize,
    alpha: float = 1.0,
    colours: str = GOOD_AND_BAD,
) -> None:
    """Draw a table of values as colours, with row and column names as ticks."""
    axes.imshow(values, cmap=colours, norm=norm, aspect="auto", alpha=alpha)
    axes.set_xticks(range(len(columns)), list(columns))
    axes.set_yticks(range(len(rows)), list(rows))
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def write_in_cell(axes: Axes, row: float, column: float, text: str, **style: Any) -> None:
    """Write text into a cell of a heat map. Whole numbers for row and column are its centre."""
    # The text is inside the axes, so the layout need not measure it.
    axes.text(column, row, text, ha="center", va="center", in_layout=False, **style)
