"""The panels that present the matrix, one per measure: controls by networks, as heat maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from skywave.matrix.axes import CALLS, CONTROLS, NETWORKS
from skywave.matrix.measures import MEASURES, VOICE
from skywave.matrix.table import Row
from skywave.plots.style import begin, heat_map, style, write_in_cell
from skywave.report.figures import RenderedFigure

WIDTH_IN, ROW_IN, HEAD_IN = 6.5, 0.36, 0.62
LABELS_IN = 1.75
"""Space for the names of controls."""


@dataclass(frozen=True)
class Panel:
    """A table of cells. ``rows`` and ``columns`` map keys to labels.

    ``scale`` is the pair of values shown as worst and best.
    """

    key: str
    title: str
    scale: tuple[float, float]
    rows: Mapping[str, str]
    columns: Mapping[str, str]
    cells: Mapping[tuple[str, str], Row]


def panels(rows: Sequence[Row]) -> list[Panel]:
    """Return the panels of all measures that have values.

    A network's calls have a panel of their own: controls by number of flows beside a call.
    """
    networks = {key: network.label for key, network in NETWORKS.items()}
    beside = {key: f"{flows} flow{'s' if flows > 1 else ''}" for flows, key in enumerate(VOICE, 1)}
    found = [
        _panel(
            key,
            measure.title,
            measure.scale,
            networks,
            {(row.control, row.network): row for row in rows if row.measure == key},
        )
        for key, measure in MEASURES.items()
        if key not in VOICE
    ]
    found += [
        _panel(
            f"voice-{network}",
            f"R of a call beside TCP flows, {networks[network]}",
            MEASURES[VOICE[0]].scale,
            beside,
            {
                (row.control, row.measure): row
                for row in rows
                if row.measure in VOICE and row.network == network
            },
        )
        for network in CALLS
    ]
    return [panel for panel in found if panel.cells]


def _panel(
    key: str,
    title: str,
    scale: tuple[float, float],
    columns: Mapping[str, str],
    cells: Mapping[tuple[str, str], Row],
) -> Panel:
    controls, used = ({key[axis] for key in cells} for axis in (0, 1))
    return Panel(
        key=key,
        title=title,
        scale=scale,
        rows={name: control.label for name, control in CONTROLS.items() if name in controls},
        columns={name: label for name, label in columns.items() if name in used},
        cells=cells,
    )


def draw(panel: Panel) -> RenderedFigure:
    """Draw a panel as a heat map."""
    caption = f"{panel.title}: means over seeds, with 95 % confidence intervals. Blue is good."
    with style():
        return RenderedFigure.of(panel.key, caption, _heat_map(panel))


def _heat_map(panel: Panel) -> Figure:
    height_in = HEAD_IN + ROW_IN * len(panel.rows) + 0.1
    figure = begin((WIDTH_IN, height_in))
    figure.subplots_adjust(
        left=LABELS_IN / WIDTH_IN, right=0.985, top=1 - HEAD_IN / height_in, bottom=0.1 / height_in
    )
    axes = figure.subplots()
    worst, best = panel.scale
    goodness = np.full((len(panel.rows), len(panel.columns)), np.nan)
    for (row, control), (column, key) in product(enumerate(panel.rows), enumerate(panel.columns)):
        if cell := panel.cells.get((control, key)):
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
