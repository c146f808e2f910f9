"""Figures of the testbed: the course of runs on both clocks, and times of transfers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skywave.plots.style import COLOURS
from skywave.report.figures import RenderedFigure, begin, style
from validation.testbed.experiment import ExperimentResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

WIDTH_IN, PANEL_IN, REST_IN = 6.5, 1.5, 0.9
MEAN_S = 1.0
"""Curves are means of this time, so that both clocks can be told apart."""


def courses(
    name: str, caption: str, done: Sequence[ExperimentResult], series: str, label: str
) -> RenderedFigure:
    """Draw a series of the first run of each experiment, on both clocks."""
    return RenderedFigure.at_widths(name, caption, lambda: _courses(done, series, label))


def _courses(done: Sequence[ExperimentResult], series: str, label: str) -> Figure:
    with style():
        figure = begin((WIDTH_IN, REST_IN + PANEL_IN * len(done)))
        figure.set_layout_engine("constrained")
        panels = figure.subplots(len(done), sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, one in zip(panels, done, strict=True):
            pair = one.pairs[0]
            for clock, found, colour, dashes in (
                ("simulated", pair.simulated, COLOURS[0], "--"),
                (pair.clock, pair.sockets, COLOURS[1], "-"),
            ):
                times_s, values = _smooth(*found.series[series])
                axes.plot(times_s, values, dashes, color=colour, linewidth=0.9, label=clock)
            axes.set_title(one.experiment.label, fontsize=8, loc="left")
            axes.set_ylim(bottom=0)
            axes.margins(x=0.01)
        panels[0].legend(loc="upper right", fontsize=7, ncols=2, frameon=False)
        panels[-1].set_xlabel("time (s)")
        figure.supylabel(label, fontsize=9)
    return figure


def _smooth(times_s: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of whole intervals of ``MEAN_S``."""
    if times_s.size < 2:
        return times_s, values
    count = max(round(MEAN_S / float(times_s[1] - times_s[0])), 1)
    whole = times_s.size // count * count
    means = values[:whole].astype(np.float64).reshape(-1, count).mean(axis=1)
    return times_s[:whole][count - 1 :: count], means


def transfers(name: str, caption: str, done: Sequence[ExperimentResult]) -> RenderedFigure:
    """Draw the times of transfers over the loss rate, by carrier and clock."""
    return RenderedFigure.at_widths(name, caption, lambda: _transfers(done))


def _transfers(done: Sequence[ExperimentResult]) -> Figure:
    carriers: dict[str, list[tuple[float, ExperimentResult]]] = {}
    for one in done:
        carrier, _, loss = one.experiment.label.partition(", ")
        carriers.setdefault(carrier, []).append((float(loss.split()[0]), one))
    with style():
        figure = begin((WIDTH_IN, 3.2))
        figure.set_layout_engine("constrained")
        axes = figure.subplots()
        for (carrier, points), colour in zip(carriers.items(), COLOURS, strict=False):
            points.sort(key=lambda point: point[0])
            losses = [loss for loss, _ in points]
            for clock, mean, dashes in (
                ("simulated", ExperimentResult.simulated, "--"),
                (points[0][1].pairs[0].clock, ExperimentResult.sockets, "-"),
            ):
                means = [mean(one, "seconds").value for _, one in points]
                axes.plot(
                    losses,
                    means,
                    dashes,
                    marker="o",
                    markersize=3,
                    color=colour,
                    linewidth=0.9,
                    label=f"{carrier}, {clock}",
                )
        axes.set_xlabel("packets lost (%)")
        axes.set_ylabel("time of the transfer (s)")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=7, frameon=False)
    return figure
