"""The figures of the book: cwnd over time of each control, ours and the reference's."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from skywave._files import replacing_file
from skywave.plots.style import COLOURS, begin, style
from validation.controls.cases import CASES, DROPS, DURATION_S, QUEUE, THRESHOLD
from validation.controls.curves import SAMPLE_S, Curve, difference
from validation.controls.tables import OURS as SIMULATED
from validation.controls.tables import REFERENCE, digest, stored

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = {
    "cwnd-losses": ("reno", "cubic", "westwood", "htcp", "illinois", "hybla"),
    "cwnd-delays": ("vegas", "bbr", "c4", "dctcp", "prague"),
}
"""The controls of each figure, by its name: those that losses govern, and the others."""
WIDTH_IN, PANEL_IN, REST_IN = 6.5, 1.55, 0.95
WIDTH_PX, PALETTE = 800, 32
MOST = 215
"""Where the axes end, in packets: above what full queues allow."""
SOURCE = "Source"
"""The text in a file that has the digest of the curves which it shows."""
TITLE_PT, NOTE_PT = 8, 6.5
NOTE_AT = (0.99, 1.0)
"""Where a panel says how far curves go beyond it, as fractions of its size."""
DETAIL_AT = (0.5, 0.15, 0.48, 0.3)
"""Where a panel has an enlarged part, as fractions of its size."""
DETAIL_S = (30, 36)
"""What part that is."""
OURS: dict[str, Any] = {"color": COLOURS[0], "linewidth": 0.9}
THEIRS: dict[str, Any] = {"color": COLOURS[1], "linewidth": 1.1, "linestyle": "--"}
LIMIT: dict[str, Any] = {"color": "0.6", "linewidth": 0.7, "linestyle": ":"}
LEGEND = [
    Line2D([], [], label="ours", **OURS),
    Line2D([], [], label="reference", **THEIRS),
    Line2D([], [], label="BDP, and BDP + queue (or + threshold)", **LIMIT),
]


def draw(name: str) -> Figure:
    """Return a figure of what is stored, by its name."""
    ours, theirs = stored(SIMULATED), stored(REFERENCE)
    controls = FIGURES[name]
    rows = (len(controls) + 1) // 2
    with style():
        figure = begin((WIDTH_IN, REST_IN + PANEL_IN * rows))
        figure.set_layout_engine("constrained")
        panels = figure.subplots(rows, 2, sharex=True, sharey=True)
        for axes, control in zip(panels.flat, controls, strict=False):
            _panel(axes, control, ours[control], theirs[control])
        is_odd = len(controls) % 2
        for axes in (panels[-1, 0], panels[-1 - is_odd, 1]):
            axes.set_xlabel("time (s)")
            axes.tick_params(labelbottom=True)
        for axes in panels[:, 0]:
            axes.set_ylabel("cwnd (packets)")
        if is_odd:
            panels[-1, 1].set_axis_off()
            panels[-1, 1].legend(handles=LEGEND, loc="center")
        else:
            figure.legend(handles=LEGEND, loc="outside upper center", ncols=len(LEGEND))
    return figure


def write(figure: Figure, path: Path) -> Path:
    """Write a figure as PNG, as wide and with as few colours as those of the book."""
    drawn = io.BytesIO()
    with style():
        figure.savefig(drawn, format="png", dpi=WIDTH_PX / WIDTH_IN, metadata={"Software": None})
    with replacing_file(path) as partial, Image.open(drawn) as image:
        few = image.convert("RGB").convert("P", palette=Image.Palette.ADAPTIVE, colors=PALETTE)
        source = PngInfo()
        source.add_text(SOURCE, digest())
        few.save(partial, format="PNG", optimize=True, pnginfo=source)
    return path


def _panel(axes: Axes, control: str, ours: Curve, theirs: Curve) -> None:
    case = CASES[control]
    room = QUEUE if case.network is DROPS else THRESHOLD
    for packets in (QUEUE, QUEUE + room):
        axes.axhline(packets, **LIMIT)
    _lines(axes, ours, theirs)
    mine, other = ours.measures(), theirs.measures()
    cwnd, goodput = (difference(mine[name], other[name]) for name in ("cwnd", "goodput"))
    title = f"{control} / {case.reference}: cwnd {cwnd}, goodput {goodput}"
    axes.set_title(title, loc="left", fontsize=TITLE_PT)
    axes.set_ylim(0, MOST)
    axes.set_xlim(0, DURATION_S)
    largest = [float(curve.cwnd_packets.max()) for curve in (ours, theirs)]
    if max(largest) > MOST:
        text = f"▲ at first up to {largest[0]:.0f} / {largest[1]:.0f}"
        axes.text(*NOTE_AT, text, transform=axes.transAxes, fontsize=NOTE_PT, ha="right", va="top")
    if case.network is not DROPS:
        detail = axes.inset_axes(DETAIL_AT)
        _lines(detail, ours, theirs)
        shown = slice(round(DETAIL_S[0] / SAMPLE_S), round(DETAIL_S[1] / SAMPLE_S))
        both = np.concatenate([curve.cwnd_packets[shown] for curve in (ours, theirs)])
        detail.set_xlim(*DETAIL_S)
        detail.set_ylim(both.min() - 1, both.max() + 1)
        detail.tick_params(labelsize=NOTE_PT)


def _lines(axes: Axes, ours: Curve, theirs: Curve) -> None:
    axes.plot(theirs.times_s, theirs.cwnd_packets, **THEIRS)
    axes.plot(ours.times_s, ours.cwnd_packets, **OURS)
