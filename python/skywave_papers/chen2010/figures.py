"""Figures 5 to 7 of Chen, Yang and Hong, and figures of section 3's analysis."""

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
    style,
)
from skywave_papers.chen2010.analysis import STABLE_UP_TO_H, Model, stability_map
from skywave_papers.chen2010.judge import DROP_RATES, NS2_DROPS, published_value
from skywave_papers.chen2010.setting import CAPACITY_BPS, DURATION_S, T_RHO_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from skywave_papers.chen2010.judge import Ns2, Runs
    from skywave_papers.chen2010.measures import Series
    from skywave_papers.chen2010.oracle import Measure, Seconds
    from skywave_papers.chen2010.setting import Scheme

    Floats = NDArray[np.float64]
    Shown = Mapping[Scheme, Series]
    Theirs = Mapping[Scheme, Seconds]


def draw_finding(ours: Runs, ns2: Ns2) -> RenderedFigure:
    """Draw what each scheme makes of queue and drops: published, ours and ns-2's."""
    with style():
        return RenderedFigure.of(
            "finding",
            "Mean queue, mean drop rate, and the highest drop rate of 10 ms at the start. Bars: "
            "means over all seeds. Diamonds: published. Black: ns-2, which has no VCP, and whose "
            "DCCP halves its window for all losses of a round trip together and grows for each "
            "packet. By the paper's words, ours halves it for each loss and grows for each "
            "acknowledgement. The drop rate is a mean over intervals of 10 ms, of TCP/RED "
            "the share of packets: as in the paper.",
            _averages(ours, ns2),
            narrow=_averages_narrow(ours, ns2),
        )


_MARKS = (
    Patch(color=COLOURS[0], label="Skywave"),
    Line2D([], [], color=COLOURS[1], marker="D", linestyle="none", label="published"),
    Line2D([], [], color="black", marker="_", markersize=12, linestyle="none", label="ns-2"),
)


def _averages(ours: Runs, ns2: Ns2) -> Figure:
    figure = begin(WIDE_IN, above_in=2 * TITLE_IN)
    _plot_averages(figure.subplots(1, 3), ours, ns2)
    figure.legend(handles=_MARKS, loc="upper right", ncols=3)
    return figure


def _averages_narrow(ours: Runs, ns2: Ns2) -> Figure:
    figure = begin((NARROW_IN, 4.4))
    figure.subplots_adjust(left=0.12, right=0.97, wspace=0.24, hspace=0.42)
    grid = figure.subplots(2, 2)
    grid[1, 1].set_visible(False)
    _plot_averages(grid.ravel()[:3], ours, ns2)
    figure.legend(handles=_MARKS, loc="center", bbox_to_anchor=(0.78, 0.28))
    return figure


def _plot_averages(panels: Sequence[Axes], ours: Runs, ns2: Ns2) -> None:
    labels = [scheme.label.replace("/", "/\n") for scheme in ours]
    for axes, title in zip(
        panels, ("Queue (packets)", "Drop rate (%)", "Peak at the start (%)"), strict=True
    ):
        axes.set_title(title, loc="left")
        axes.set_axisbelow(True)
        axes.set_xticks(range(len(ours)), labels, fontsize=6.5)
    for place, (scheme, runs) in enumerate(ours.items()):
        drop_rate = DROP_RATES.get(scheme.name, "interval_drop_percent")
        rows: tuple[tuple[Axes, str, str, Measure], ...] = (
            (panels[0], "queue_mean", "fig6", "queue_pkts"),
            (panels[1], drop_rate, "fig7", NS2_DROPS[drop_rate]),
            (panels[2], "peak_percent", "fig7-peak", "peak_pct"),
        )
        for axes, measure, of_figure, of_ns2 in rows:
            mean = np.mean([getattr(run.series, measure) for run in runs])
            axes.bar(place, mean, width=0.6, color=COLOURS[0])
            published = published_value(of_figure, scheme)
            if published is not None:
                axes.plot(place, published, color=COLOURS[1], marker="D", linestyle="none")
            if scheme in ns2:
                axes.plot(place, ns2[scheme][of_ns2], color="black", marker="_", markersize=16)


def draw(
    ours: Shown, ns2: Theirs, sums: Mapping[Scheme, tuple[Floats, Floats]]
) -> list[RenderedFigure]:
    """Draw the paper's figures from one run of each scheme, and those of the analysis.

    ``sums`` has times and sums of windows for the schemes that section 3 models.
    """
    beside = "Black: one run of ns-2, means over one second."
    with style():
        return [
            RenderedFigure.at_widths(
                "figure5",
                "Figure 5. Sending rate of a source with a propagation time of 60 ms, by second. "
                "Black: one run of ns-2.",
                partial(_panels, ours, ns2, _rate, "Rate (kbps)"),
            ),
            RenderedFigure.at_widths(
                "figure6",
                f"Figure 6. Queue of the bottleneck, every 10 ms. {beside}",
                partial(_panels, ours, ns2, _queue, "Queue (packets)"),
            ),
            RenderedFigure.at_widths(
                "figure7",
                f"Figure 7. Drops over arrivals at the bottleneck, in intervals of 10 ms. {beside}",
                partial(_panels, ours, ns2, _drops, "Drop rate (%)"),
            ),
            RenderedFigure.at_widths(
                "equation6",
                "Equation 6: the sum of windows of 200 flows, starting from 400 packets, without "
                "delay, with a load that is a control round trip old, and with an additional "
                "interval t_rho of 200 ms" + (". Colours: simulated sums." if sums else "."),
                partial(_equation_6, sums),
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
        ]


def _panels(
    ours: Shown,
    ns2: Theirs,
    plot: Callable[[Axes, Series, Seconds | None], None],
    label: str,
) -> Figure:
    figure = begin(TALL_IN)
    rows = (len(ours) + 1) // 2
    grid = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False)
    for axes, (scheme, series) in zip(grid.flat, ours.items(), strict=False):
        plot(axes, series, ns2.get(scheme))
        axes.set_title(f"({scheme.panel}) {scheme.label}", loc="left")
        axes.set_xlim(0, DURATION_S)
    grid[0, 0].set_ylim(bottom=0)
    for axes in grid[:, 0]:
        axes.set_ylabel(label)
    for axes in grid[-1]:
        axes.set_xlabel("Time (s)")
    return figure


def _rate(axes: Axes, series: Series, theirs: Seconds | None) -> None:
    kbps = series.shown_kbps
    axes.plot(np.arange(1, kbps.size + 1), kbps, color=COLOURS[0], linewidth=0.8)
    if theirs is not None:
        axes.plot(theirs.time_s, theirs.shown_kbps, color="black", linewidth=0.5)


def _queue(axes: Axes, series: Series, theirs: Seconds | None) -> None:
    axes.plot(series.time_s, series.queue_packets, color=COLOURS[0], linewidth=0.3)
    if theirs is not None:
        axes.plot(theirs.time_s - 0.5, theirs.queue_packets, color="black", linewidth=0.6)


def _drops(axes: Axes, series: Series, theirs: Seconds | None) -> None:
    percent = 100 * series.drops / np.maximum(series.arrivals, 1)
    axes.plot(series.time_s, percent, color=COLOURS[0], linewidth=0.3)
    if theirs is not None:
        axes.plot(theirs.time_s - 0.5, theirs.drop_percent, color="black", linewidth=0.6)


def _equation_6(sums: Mapping[Scheme, tuple[Floats, Floats]]) -> Figure:
    figure = begin(WIDE_IN, above_in=NO_TITLE_IN)
    axes = figure.subplots()
    # The mean propagation time of the network: equation 6 has only one.
    model = Model(propagation_s=0.14)
    time_s = np.linspace(0, 10, 1001)
    for (scheme, (at_s, packets)), colour in zip(sums.items(), COLOURS, strict=False):
        axes.plot(at_s, packets, color=colour, linewidth=0.7, label=scheme.label)
    for delay_s, line, label in (
        (0.0, ":", "no delay"),
        (None, "-", "R'"),
        (model.control_rtt_s + T_RHO_S, "--", "R' + t_rho"),
    ):
        solution = model.solve(400.0, float(time_s[-1]), delay_s)
        axes.plot(time_s, solution(time_s), color="black", linestyle=line, label=label)
    axes.axhline(model.sum_at_rest, color="0.6", linewidth=0.8)
    axes.set(
        xlim=(0, time_s[-1]), ylim=(0, None), xlabel="Time (s)", ylabel="Sum of windows (packets)"
    )
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
        shades = axes.pcolormesh(
            rtts_s * 1e3,
            flows,
            np.log2(critical),
            cmap="viridis",
            vmin=-2,
            vmax=4,
            shading="nearest",
            rasterized=True,
        )
        lines = axes.contour(rtts_s * 1e3, flows, critical, levels, colors="white", linewidths=0.8)
        lines.clabel(fmt="%.3g", fontsize=7)
        if critical.min() < STABLE_UP_TO_H < critical.max():
            axes.contour(
                rtts_s * 1e3,
                flows,
                critical,
                [STABLE_UP_TO_H],
                colors="white",
                linestyles="dashed",
            )
        axes.set(xscale="log", yscale="log", xlabel="Round-trip time (ms)")
        axes.set_title(title, loc="left")
        axes.grid(visible=False)
    panels[0].set_ylabel("Flows N")
    bar = figure.colorbar(shades, ax=panels, label="critical h")
    ticks = [-2, -1, 0, 1, 2, 3, 4]
    bar.set_ticks(ticks, labels=[f"{2.0**tick:g}" for tick in ticks])
    return figure
