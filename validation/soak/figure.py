"""The curves of a soak: memory, descriptors and connections of both judged processes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import pyarrow.parquet as pq

from skywave.papers.figures import COLOURS, TALL_IN, begin, style
from validation.soak.results import SAMPLES, VERDICT

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

FIGURE = "soak.svg"
POINTS = 240
"""How many points a curve has at most: an hour in steps of 15 s."""


def draw(directory: Path) -> Path:
    """Draw the figure of the results in a folder into it; return its path."""
    samples = pq.read_table(directory / SAMPLES)
    verdict = json.loads((directory / VERDICT).read_text())
    path = directory / FIGURE
    with style():
        figure = begin((TALL_IN[0], 6.4))
        memory, files, live, rest = figure.subplots(4, sharex=True)
        for index, process in enumerate(("server", "client")):
            rows = samples.filter(pc.equal(samples["process"], process))
            every = max(1, len(rows) // POINTS)
            columns = {name: rows[name].to_numpy()[::every] for name in rows.column_names[2:]}
            minutes = rows["time_s"].to_numpy()[::every] / 60
            colour = COLOURS[index]
            _line(memory, minutes, columns["rss_bytes"] / 1e6, colour, process)
            _line(files, minutes, columns["descriptors"], colour, "descriptors")
            _line(files, minutes, columns["threads"], colour, "threads", dashed=True)
            _line(live, minutes, columns["connections"], colour, process)
            _line(live, minutes, columns["half_open"], colour, "in handshake", dashed=True)
            _line(rest, minutes, columns["time_waits"], colour, process)
        memory.set_ylabel("RSS (MB)")
        files.set_ylabel("descriptors,\nthreads (dashed)")
        live.set_ylabel("connections\n(in handshake:\ndashed)")
        rest.set_ylabel("resting ports")
        rest.set_xlabel("time (min)")
        for axes in (memory, files, live, rest):
            axes.set_ylim(bottom=0)
            for mark_s in (verdict["plan"]["warm_up_s"], verdict["quiet_s"]):
                axes.axvline(mark_s / 60, color="0.6", linewidth=0.8, linestyle=":")
        memory.legend(loc="lower center", ncols=2)
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
