"""The panels that present the matrix: controls by networks, one panel per measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skywave.matrix.controls import CONTROLS
from skywave.matrix.measures import MEASURES, VOICE
from skywave.matrix.networks import CALLS, NETWORKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.matrix.table import Row


@dataclass(frozen=True)
class Panel:
    """A table of cells. ``rows`` and ``columns`` map keys to labels.

    ``scale`` is the pair of values shown as worst and best.
    """

    key: str
    title: str
    definition: str
    scale: tuple[float, float]
    rows: Mapping[str, str]
    columns: Mapping[str, str]
    cells: Mapping[tuple[str, str], Row]


def panels(rows: Sequence[Row]) -> list[Panel]:
    """Return the panels of all measures that have values."""
    found = []
    for key, measure in MEASURES.items():
        cells = {(row.control, row.network): row for row in rows if row.measure == key}
        if cells and key not in VOICE:
            networks = {network: NETWORKS[network].label for network in NETWORKS}
            found.append(
                _panel(key, measure.title, measure.definition, measure.scale, networks, cells)
            )
    calls = (_calls(network, rows) for network in CALLS)
    return found + [panel for panel in calls if panel.cells]


def _calls(network: str, rows: Sequence[Row]) -> Panel:
    """Return the panel of a network's calls: controls by number of flows beside a call."""
    first = MEASURES[VOICE[0]]
    return _panel(
        f"voice-{network}",
        f"R of a call beside TCP flows, {NETWORKS[network].label}",
        first.definition,
        first.scale,
        {key: f"{flows} flow{'s' if flows > 1 else ''}" for flows, key in enumerate(VOICE, 1)},
        {
            (row.control, row.measure): row
            for row in rows
            if row.measure in VOICE and row.network == network
        },
    )


def _panel(
    key: str,
    title: str,
    definition: str,
    scale: tuple[float, float],
    columns: Mapping[str, str],
    cells: Mapping[tuple[str, str], Row],
) -> Panel:
    controls = {control for control, _ in cells}
    used = {column for _, column in cells}
    return Panel(
        key=key,
        title=title,
        definition=definition,
        scale=scale,
        rows={name: CONTROLS[name].label for name in CONTROLS if name in controls},
        columns={name: label for name, label in columns.items() if name in used},
        cells=cells,
    )
