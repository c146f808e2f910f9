"""The curves of a soak: memory, descriptors and connections of both judged processes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import pyarrow.parquet as pq

from skywave.plots.style import COLOURS, TALL_IN, begin, style
from validation.soak.results import OUTCOME, SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

FIGURE = "soak.svg"
POINTS = 180
"""How many points a curve has at most: an hour and its quiet time in steps of 20 s."""


def draw(directory: Path) -> Path:
    """Draw the figure of the results in a folder into it; return its path."""
    samples = pq.read_table(directory / SAMPLES)
    outcome = json.loads((directory / OUTCOME).read_text())
    path = directory / FIGURE
    with style():
        figure = begin((TALL_IN[0], 6.4))
        panels = figure.subplots(4, sharex=True, gridspec_kw={"hspace": 0.4})
        memory, files, open_, waiting = panels
        for process, colour in zip(("server", "client"), COLOURS, strict=False):
            rows = samples.filter(pc.equal(samples["process"], process))
            thin = slice(None, None, len(rows) // POINTS + 1)
            minutes = rows["time_s"].to_numpy()[thin] / 60
            column = {name: rows[name].to_numpy()[thin] for name in rows.column_names[2:]}
            established = column["connections"] - column["half_open"]
            _line(memory, minutes, column["anonymous_bytes"] / 1e6, colour, process)
            _line(memory, minutes, column["rss_bytes"] / 1e6, colour, "", dashed=True)
            _line(files, minutes, column["descriptors"], colour, process)
            _line(files, minutes, column["threads"], colour, process, dashed=True)
            _line(open_, minutes, established, colour, process)
            _line(waiting, minutes, column["half_open"], colour, process)
            _line(waiting, minutes, column["time_waits"], colour, process, dashed=True)
        memory.legend(loc="lower center", ncols=2)
        for axes, title, unit in (
            (memory, "Anonymous memory, and resident (dashed)", "memory (MB)"),
            (files, "Descriptors, and threads (dashed)", "number"),
            (open_, "Connections: open and closing", "number"),
            (waiting, "Handshakes, and resting ports (dashed)", "number"),
        ):
            axes.set_title(title, loc="left")
            axes.set_ylabel(unit)
            axes.set_ylim(bottom=0)
            axes.margins(x=0.01)
            for mark_s in (outcome["plan"]["warm_up_s"], outcome["quiet_s"]):
                axes.axvline(mark_s / 60, color="0.6", linewidth=0.8, linestyle=":")
        waiting.set_xlabel("time (min)")
        figure.align_ylabels()
        figure.savefig(path, metadata={"Date": None})
    return path


def _line(
    axes: Axes,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    colour: str,
    label: str,
    *,
    dashed: bool = False,
) -> None:
    axes.plot(x, y, color=colour, label=label, linestyle="--" if dashed else "-")
