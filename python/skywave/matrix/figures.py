"""Heat maps, one per measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import Normalize

from skywave.plots.style import begin, heat_map, style, write_in_cell
from skywave.report.figures import RenderedFigure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from skywave.matrix.panels import Panel

WIDTH_IN, ROW_IN, HEAD_IN = 6.5, 0.36, 0.62
LABELS_IN = 1.75
"""Space for the names of controls."""


def draw(panels: Iterable[Panel]) -> list[RenderedFigure]:
    """Draw all panels."""
    with style():
        return [
            RenderedFigure.of(
                panel.key,
                f"{panel.title}: means over seeds, with 95 % confidence intervals. Blue is good.",
                _heat_map(panel),
            )
            for panel in panels
        ]


def _heat_map(panel: Panel) -> Figure:
    height_in = HEAD_IN + ROW_IN * len(panel.rows) + 0.1
    figure = begin((WIDTH_IN, height_in))
    figure.subplots_adjust(
        left=LABELS_IN / WIDTH_IN, right=0.985, top=1 - HEAD_IN / height_in, bottom=0.1 / height_in
    )
    axes = figure.subplots()
    worst, best = panel.scale
    goodness = np.full((len(panel.rows), len(panel.columns)), np.nan)
    for row, control in enumerate(panel.rows):
        for column, key in enumerate(panel.columns):
            cell = panel.cells.get((control, key))
            if cell is None:
                continue
            goodness[row, column] = 1 - abs(cell.mean - best) / abs(worst - best)
            write_in_cell(axes, row - 0.16, column, cell.text, fontsize=8)
            write_in_cell(axes, row + 0.26, column, cell.margin_text, fontsize=6.5)
    # Transparent, so that black numbers are legible on every colour.
    heat_map(
        axes,
        goodness,
        panel.rows.values(),
        panel.columns.values(),
        norm=Normalize(0, 1, clip=True),
        alpha=0.65,
    )
    figure.text(0.012, 1 - 0.18 / height_in, panel.title, fontsize=9.5, va="center")
    axes.xaxis.tick_top()
    axes.tick_params(labelsize=8)
    return figure
