"""Figures 5 to 7 of Chen, Yang and Hong, and figures of section 3's analysis and of the sweeps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from skywave.report.figures import (
    COLOURS,
    NARROW_IN,
    NO_TITLE_IN,
    TALL_IN,
    TITLE_IN,
    WIDE_IN,
    RenderedFigure,
    begin,
    is_narrow,
    style,
)
from skywave_papers.chen2010 import oracle, sweep
from skywave_papers.chen2010.analysis import STABLE_UP_TO_H, Model, stability_map
from skywave_papers.chen2010.judge import measures_of, published_value
from skywave_papers.chen2010.setting import CAPACITY_BPS, DCCP_VCP, DURATION_S, T_RHO_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from skywave_papers.chen2010.judge import Ns2, Runs
    from skywave_papers.chen2010.measures import Floats, Run

    Line = tuple[Floats, Floats]
    """Times and the values at them."""

LARGE_IN = (9.6, 5.6)
MARKERS = ("o", "s", "^", "d")


def draw(
    ours: Runs, ns2: Ns2, windows: Line, demand: Mapping[str, tuple[Floats, Floats, Floats]]
) -> list[RenderedFigure]:
    """Draw the finding, the paper's figures from the first run of each scheme, and others."""
    beside = "Black: one run of ns-2, means over one second."
    rates = partial(
        _panels,
        ours,
        "Rate (kbps)",
        lambda run: (np.arange(1.0, DURATION_S + 1), run.shown_kbps),
        lambda ns2: (ns2["t_s"], ns2["flow1_kbps"]),
        (0.8, 0.5),
    )
    queues = partial(
        _panels,
        ours,
        "Queue (packets)",
        lambda run: (run.time_s, run.queue_packets),
        lambda ns2: (ns2["t_s"] - 0.5, ns2["queue_mean_pkts"]),
    )
    drops = partial(
        _panels,
        ours,
        "Drop rate (%)",
        lambda run: (run.time_s, 100 * run.drops / np.maximum(run.arrivals, 1)),
        lambda ns2: (ns2["t_s"] - 0.5, 100 * ns2["drops"] / ns2["arrivals"]),
    )
    with style():
        return [
            RenderedFigure.of(
                "finding",
                "Mean queue, mean drop rate, and the highest drop rate of 10 ms at the start. "
                "Bars: means over all seeds. Diamonds: published. Black: ns-2, which has no VCP, "
                "and whose DCCP halves its window for all losses of a round trip together and "
                "grows for each packet. By the paper's words, ours halves it for each loss and "
                "grows for each acknowledgement. The drop rate is a mean over intervals of 10 ms, "
                "of TCP/RED the share of packets: as in the paper.",
                _averages(ours, ns2, narrow=False),
                narrow=_averages(ours, ns2, narrow=True),
            ),
            RenderedFigure.at_widths(
                "figure5",
                "Figure 5. Sending rate of a source with a propagation time of 60 ms, by second. "
                "Black: one run of ns-2.",
                rates,
            ),
            RenderedFigure.at_widths(
                "figure6", f"Figure 6. Queue of the bottleneck, every 10 ms. {beside}", queues
            ),
            RenderedFigure.at_widths(
                "figure7",
                f"Figure 7. Drops over arrivals at the bottleneck, in intervals of 10 ms. {beside}",
                drops,
            ),
            RenderedFigure.at_widths(
                "equation6",
                "Equation 6: the sum of windows of 200 flows, starting from 400 packets, without "
                "delay, with a load that is a control round trip old, and with an additional "
                "interval t_rho of 200 ms. Colours: simulated sums.",
                partial(_equation_6, windows),
            ),
            RenderedFigure.of(
                "stability",
                "The h from which on the equilibrium of equation 6 is unstable, by round-trip time "
                f"and number of flows ({CAPACITY_BPS / 1e6:g} Mbps), for a load that is a control "
                f"round trip old (left) and an interval t_rho of {1e3 * T_RHO_S:g} ms older "
                "(right). Beyond a line, it is stable up to the line's h. The paper's bound is "
                f"{STABLE_UP_TO_H:g} (dashed), for the left; VCP has {Model().h:g}.",
                _stability(),
            ),
            RenderedFigure.of(
                "sweeps",
                "Beyond the paper: the same TCP with VCP's routers, with the additive increase as "
                "published and as in its authors' code for ns-2, and with CoDel and PIE, which "
                "mark. Except for the varied parameter: 45 Mbps, 80 ms, 50 flows, no reverse "
                "traffic, one bottleneck.",
                _sweeps(),
            ),
            RenderedFigure.at_widths(
                "demand",
                f"Beyond the paper: {sweep.JOINING} flows join {sweep.Point.flows} at "
                f"{sweep.JOIN} and leave at {sweep.LEAVE}. 45 Mbps, 80 ms; means over 1 s.",
                partial(_demand, demand),
            ),
        ]


def _averages(ours: Runs, ns2: Ns2, *, narrow: bool) -> Figure:
    handles = (
        Patch(color=COLOURS[0], label="Skywave"),
        Line2D([], [], color=COLOURS[1], marker="D", linestyle="none", label="published"),
        Line2D([], [], color="black", marker="_", markersize=12, linestyle="none", label="ns-2"),
    )
    if narrow:
        figure = begin((NARROW_IN, 4.4))
        figure.subplots_adjust(left=0.12, right=0.97, wspace=0.24, hspace=0.42)
        *panels, empty = figure.subplots(2, 2).ravel()
        empty.set_visible(False)
        figure.legend(handles=handles, loc="center", bbox_to_anchor=(0.78, 0.28))
    else:
        figure = begin(WIDE_IN, above_in=2 * TITLE_IN)
        panels = figure.subplots(1, 3)
        figure.legend(handles=handles, loc="upper right", ncols=3)
    for axes, of_figure, title in zip(
        panels,
        ("fig6", "fig7", "fig7-peak"),
        ("Queue (packets)", "Drop rate (%)", "Peak at the start (%)"),
        strict=True,
    ):
        axes.set_title(title, loc="left")
        axes.set_axisbelow(True)
        labels = [scheme.label.replace("/", "/\n") for scheme in ours]
        axes.set_xticks(range(len(ours)), labels, fontsize=6.5)
        for place, (scheme, runs) in enumerate(ours.items()):
            measure = measures_of(scheme)[of_figure]
            mean = np.mean([getattr(run, measure) for run in runs])
            axes.bar(place, mean, width=0.6, color=COLOURS[0])
            published = published_value(of_figure, scheme)
            if published is not None:
                axes.plot(place, published, color=COLOURS[1], marker="D", linestyle="none")
            if scheme in ns2:
                axes.plot(place, ns2[scheme][measure], color="black", marker="_", markersize=16)
    return figure


def _panels(
    ours: Runs,
    label: str,
    of_run: Callable[[Run], Line],
    of_ns2: Callable[[NDArray[np.void]], Line],
    widths: tuple[float, float] = (0.3, 0.6),
) -> Figure:
    """Draw a panel for each scheme, with lines of its first run and of ns-2's."""
    figure = begin(TALL_IN)
    grid = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, (scheme, runs) in zip(grid.flat, ours.items(), strict=True):
        axes.plot(*of_run(runs[0]), color=COLOURS[0], linewidth=widths[0])
        if scheme in oracle.KNOWN:
            axes.plot(*of_ns2(oracle.read(scheme.transport)), color="black", linewidth=widths[1])
        axes.set_title(f"({scheme.panel}) {scheme.label}", loc="left")
        axes.set_xlim(0, DURATION_S)
    grid[0, 0].set_ylim(bottom=0)
    for left, below in zip(grid[:, 0], grid[-1], strict=True):
        left.set_ylabel(label)
        below.set_xlabel("Time (s)")
    return figure


def _equation_6(windows: Line) -> Figure:
    figure = begin(WIDE_IN, above_in=NO_TITLE_IN)
    axes = figure.subplots()
    # The mean propagation time of the network: equation 6 has only one.
    model = Model(propagation_s=0.14)
    times_s = np.linspace(0, 10, 1001)
    axes.plot(*windows, color=COLOURS[0], linewidth=0.7, label=DCCP_VCP.label)
    for delay_s, line, label in (
        (0.0, ":", "no delay"),
        (None, "-", "R'"),
        (model.control_rtt_s + T_RHO_S, "--", "R' + t_rho"),
    ):
        packets = model.solve(400.0, times_s, delay_s)
        axes.plot(times_s, packets, color="black", linestyle=line, label=label)
    axes.axhline(model.sum_at_rest, color="0.6", linewidth=0.8)
    axes.set(xlim=(0, 10), ylim=(0, None), xlabel="Time (s)", ylabel="Sum of windows (packets)")
    axes.legend(loc="lower right")
    return figure


def _stability() -> Figure:
    figure = begin(WIDE_IN)
    panels = figure.subplots(1, 2, sharey=True)
    rtts_s = np.geomspace(0.01, 2.0, 40)
    flows = np.unique(np.geomspace(1, 1000, 30).astype(np.int64))
    levels = [Model().h, STABLE_UP_TO_H, 1.0, np.pi / 2, 2.0, 4.0, 8.0]
    for axes, added_s, title in (
        (panels[0], 0.0, "load is R' old"),
        (panels[1], T_RHO_S, "load is R' + t_rho old"),
    ):
        critical = np.minimum(stability_map(rtts_s, flows, added_s), 16.0)
        place = rtts_s * 1e3, flows
        shades = axes.pcolormesh(
            *place, np.log2(critical), vmin=-2, vmax=4, shading="nearest", rasterized=True
        )
        lines = axes.contour(*place, critical, levels, colors="white", linewidths=0.8)
        lines.clabel(fmt="%.3g", fontsize=7)
        if critical.min() < STABLE_UP_TO_H < critical.max():
            bound = [STABLE_UP_TO_H]
            axes.contour(*place, critical, bound, colors="white", linestyles="dashed")
        axes.set(xscale="log", yscale="log", xlabel="Round-trip time (ms)")
        axes.set_title(title, loc="left")
        axes.grid(visible=False)
    panels[0].set_ylabel("Flows N")
    bar = figure.colorbar(shades, ax=panels, label="critical h")
    ticks = range(-2, 5)
    bar.set_ticks(ticks, labels=[f"{2.0**tick:g}" for tick in ticks])
    return figure


def _sweeps() -> Figure:
    figure = begin(LARGE_IN)
    figure.subplots_adjust(wspace=0.12, hspace=0.16)
    panels = (
        ("utilisation", 100.0, "Utilisation (%)"),
        ("queue_share", 100.0, "Queue (% of buffer)"),
        ("drop_percent", 1.0, "Drops (%)"),
    )
    grid = figure.subplots(len(panels), len(sweep.SWEEPS), sharex="col", sharey="row")
    for column, (name, varied) in zip(grid.T, sweep.SWEEPS.items(), strict=True):
        for axes, (measure, factor, _) in zip(column, panels, strict=True):
            for (key, router), colour, marker in zip(
                sweep.ROUTERS.items(), COLOURS, MARKERS, strict=True
            ):
                rows = sweep.TABLE.rows(sweep=name, router=key)
                values = [factor * getattr(row, measure) for row in rows]
                look = {"color": colour, "marker": marker, "label": router.label}
                axes.plot([row.x for row in rows], values, markersize=3, **look)
            axes.set_xscale(varied.scale)
            axes.set_ylim(bottom=0)
        column[-1].set_xlabel(varied.label)
    for axes, (_, _, label) in zip(grid[:, 0], panels, strict=True):
        axes.set_ylabel(label)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=len(labels))
    return figure


def _demand(demand: Mapping[str, tuple[Floats, Floats, Floats]]) -> Figure:
    figure = begin(TALL_IN, above_in=NO_TITLE_IN)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for (router, (times_s, utilisation, queue)), colour in zip(
        demand.items(), COLOURS, strict=True
    ):
        upper.plot(times_s, 100 * utilisation, color=colour, label=sweep.ROUTERS[router].label)
        lower.plot(times_s, queue, color=colour)
    upper.set(ylabel="Utilisation (%)", ylim=(0, 105))
    lower.set(ylabel="Queue (packets)", ylim=(0, None), xlabel="Time (s)", xlim=(0, sweep.END_S))
    upper.legend(loc="lower right", ncols=2 if is_narrow(figure) else len(demand))
    return figure
