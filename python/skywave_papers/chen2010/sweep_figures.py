"""Figures of the sweeps and of the change of demand, for VCP, CoDel and PIE."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from skywave.report.figures import (
    COLOURS,
    NO_TITLE_IN,
    TALL_IN,
    RenderedFigure,
    begin,
    is_narrow,
    style,
)
from skywave_papers.chen2010.sweep import (
    DEMAND,
    ROUTER_LABELS,
    ROUTERS,
    SWEEPS,
    Outcome,
    Router,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MEASURES = (
    ("utilisation", 100.0, "Utilisation (%)"),
    ("queue_share", 100.0, "Queue (% of buffer)"),
    ("drop_percent", 1.0, "Drops (%)"),
)
LARGE_IN = (9.6, 5.6)
MARKERS = ("o", "s", "^", "d")


def draw(
    outcomes: Sequence[Outcome], demand: Mapping[Router, tuple[Floats, ...]]
) -> list[RenderedFigure]:
    """Draw the sweeps and the change of demand."""
    with style():
        return [
            RenderedFigure.of(
                "sweeps",
                "Beyond the paper: the same TCP with VCP's routers, with the additive increase as "
                "published and as in its authors' code for ns-2, and with CoDel and PIE, which "
                "mark. Except for the varied parameter: 45 Mbps, 80 ms, 50 flows, no reverse "
                "traffic, one bottleneck.",
                _sweeps(outcomes),
            ),
            RenderedFigure.at_widths(
                "demand",
                f"Beyond the paper: {DEMAND.joining} flows join {DEMAND.flows} at "
                f"{DEMAND.joins_s:g} s and leave at {DEMAND.leaves_s:g} s. 45 Mbps, 80 ms; means "
                f"over {DEMAND.mean_s:g} s.",
                partial(_demand, demand),
            ),
        ]


def _sweeps(outcomes: Sequence[Outcome]) -> Figure:
    figure = begin(LARGE_IN)
    figure.subplots_adjust(wspace=0.12, hspace=0.16)
    grid = figure.subplots(len(MEASURES), len(SWEEPS), sharex="col", sharey="row")
    for column, (name, sweep) in enumerate(SWEEPS.items()):
        for row, (measure, factor, label) in enumerate(MEASURES):
            axes: Axes = grid[row, column]
            for router, colour, marker in zip(ROUTERS, COLOURS, MARKERS, strict=False):
                points = [one for one in outcomes if (one.sweep, one.router) == (name, router)]
                axes.plot(
                    [one.x for one in points],
                    [factor * getattr(one, measure) for one in points],
                    color=colour,
                    marker=marker,
                    markersize=3,
                    label=ROUTER_LABELS[router],
                )
            if sweep.is_log:
                axes.set_xscale("log")
            axes.set_ylim(bottom=0)
            if column == 0:
                axes.set_ylabel(label)
        grid[-1, column].set_xlabel(sweep.label)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=len(ROUTERS))
    return figure


def _demand(demand: Mapping[Router, tuple[Floats, ...]]) -> Figure:
    figure = begin(TALL_IN, above_in=NO_TITLE_IN)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for (router, (time_s, utilisation, queue)), colour in zip(
        demand.items(), COLOURS, strict=False
    ):
        upper.plot(time_s, 100 * utilisation, color=colour, label=ROUTER_LABELS[router])
        lower.plot(time_s, queue, color=colour)
    upper.set(ylabel="Utilisation (%)", ylim=(0, 105))
    lower.set(ylabel="Queue (packets)", ylim=(0, None), xlabel="Time (s)", xlim=(0, DEMAND.end_s))
    upper.legend(loc="lower right", ncols=2 if is_narrow(figure) else len(ROUTERS))
    return figure
