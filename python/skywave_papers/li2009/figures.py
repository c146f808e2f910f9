"""Figures 2 to 5 of Li and Yousefi'zadeh, and figures of our own sections."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from skywave.report.figures import (
    COLOURS,
    NO_TITLE_IN,
    TALL_IN,
    TITLE_IN,
    WIDE_IN,
    RenderedFigure,
    begin,
    style,
)
from skywave_papers.li2009 import variants
from skywave_papers.li2009.ledger import LEDGER
from skywave_papers.li2009.parking import law_percent
from skywave_papers.li2009.setting import (
    AGGREGATES,
    CARRIERS,
    DEFAULT,
    DPCP,
    DUMBBELL_S,
    FLOWS,
    JOINS_S,
    LOSS_PERCENT,
    LOT_S,
    LOT_SEED,
    LOT_SEEDS,
    SCHEMES,
    STEADY_FROM_S,
    TPCP,
    VCP,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from skywave.stats import Estimate
    from skywave_papers.li2009.dumbbell import Course
    from skywave_papers.li2009.experiments import Ours
    from skywave_papers.li2009.lossy import TransferTimes
    from skywave_papers.li2009.parking import LinkSeries
    from skywave_papers.li2009.setting import Carrier, Reading, Scheme

T_RHOS_MS = (DEFAULT.interval_ms, *variants.INTERVALS_MS)
LOT_MEAN = 5
"""Samples of the parking lot per plotted mean."""
QUEUE_SHOWN_S = 30

DPCP_L0_PERCENT = tuple(LEDGER.published(f"fig2c-{period}") for period in ("before", "after"))
"""Long's published share of L0, before and after."""
VCP_L0_PERCENT = 100 / (1 + LEDGER.published("fig2a"))
"""The published ratio as Long's share of L0, of the whole run."""
TRANSITIONS_S = tuple(LEDGER.published(f"fig3/{name}-transition") for name in ("dpcp", "vcp"))
KNEE_PERCENT = (LEDGER.published("fig4/knee"), LEDGER.published("4.3/downgrade-from"))
"""Published loss rates, between which the time of a transfer has its knee."""


def draw(
    ours: Ours,
    series: Mapping[tuple[Scheme, Reading], Mapping[str, LinkSeries]],
    vcp_shares: Mapping[int, Estimate],
) -> list[RenderedFigure]:
    """Draw all figures. ``series`` has the parking lots of one seed."""
    first = {scheme: runs[0] for scheme, runs in ours.dumbbells.items()}
    with style():
        return [
            RenderedFigure.at_widths(
                "finding",
                "Share of the first link (L0) that 30 transfers over all four links (Long) get "
                "beside 10 of its own, before and after those of the third link (L2) start. Bars: "
                f"means of our runs, with each of {len(LOT_SEEDS)} seeds as a dot. Diamonds: "
                "published (of VCP one value, for the whole run). Dotted: proportional fairness. "
                "ns-2 has neither protocol.",
                partial(_finding, ours),
            ),
            _figure_2("figure2", series, FLOWS),
            _figure_2("figure2-aggregates", series, AGGREGATES),
            RenderedFigure.at_widths(
                "figure3",
                "Figure 3. Utilisation of the dumbbell's bottleneck, averaged over one second. "
                "Dotted: published transition times of DPCP and VCP.",
                partial(_utilisation, first),
            ),
            RenderedFigure.at_widths(
                "figure4",
                "Figure 4. Time to transfer a file over a bottleneck that loses packets, and the "
                "share of segments that DPCP over TCP sends in VCP's mode (from headers), with "
                f"95 % confidence intervals. Dotted: {KNEE_PERCENT[0]:g} and {KNEE_PERCENT[1]:g} "
                "%, between which the paper has the knee.",
                partial(_transfers, ours.transfers, vcp_shares),
            ),
            RenderedFigure.at_widths(
                "figure5",
                "Figure 5. Queue of the dumbbell's bottleneck, every 0.1 s, from "
                f"{STEADY_FROM_S} s.",
                partial(_queues, first),
            ),
            RenderedFigure.at_widths(
                "interval",
                "Not published: t_rho, the routers' interval. Long's share of L0 before and after "
                "L2's Local starts, with 30 and 10 senders. Dotted: published values of DPCP.",
                _intervals,
            ),
        ]


def _finding(ours: Ours) -> Figure:
    figure = begin(WIDE_IN, above_in=2 * TITLE_IN)
    panels = figure.subplots(1, 2, sharey=True)
    values = {
        VCP: (VCP_L0_PERCENT, VCP_L0_PERCENT),
        DPCP: DPCP_L0_PERCENT,
        TPCP: (None, None),
    }
    for index, (axes, name, title) in enumerate(
        zip(panels, ("l0_long_before", "l0_long_after"), ("before", "after"), strict=True)
    ):
        for place, (scheme, colour) in enumerate(zip(SCHEMES, COLOURS, strict=False)):
            shares = [getattr(lot, name) for lot in ours.lots[scheme, FLOWS]]
            axes.bar(place, np.mean(shares), width=0.6, color=colour, alpha=0.5)
            axes.plot([place] * len(shares), shares, ".", color=colour, markersize=4)
            value = values[scheme][index]
            if value is not None:
                axes.plot(place, value, "D", color="black", markersize=5)
        axes.axhline(
            law_percent(FLOWS, joined=bool(index))[0],
            color="0.45",
            linewidth=0.8,
            linestyle=":",
        )
        axes.set_xticks(range(len(SCHEMES)), labels=[scheme.label for scheme in SCHEMES])
        axes.set_title(title, loc="left")
    panels[0].set(ylim=(0, 70), ylabel="Long's share of L0 (%)")
    figure.legend(
        handles=[
            Patch(color="0.7", label="Skywave"),
            Line2D([], [], color="black", marker="D", linestyle="none", label="published"),
        ],
        loc="upper right",
        ncols=2,
    )
    return figure


def _figure_2(
    name: str,
    series: Mapping[tuple[Scheme, Reading], Mapping[str, LinkSeries]],
    reading: Reading,
) -> RenderedFigure:
    lots = {scheme: series[scheme, reading] for scheme in (VCP, DPCP)}
    label = reading.label if reading == FLOWS else f"{reading.label} (not judged)"
    return RenderedFigure.at_widths(
        name,
        f"Figure 2, {label}, seed {LOT_SEED}: shares of L0 and L2, in % of the link's rate. "
        f"Local of L2 starts at {JOINS_S} s.",
        partial(_shares, lots),
    )


def _shares(lots: Mapping[Scheme, Mapping[str, LinkSeries]]) -> Figure:
    figure = begin(TALL_IN, above_in=0.55)
    grid = figure.subplots(2, 2, sharex=True, sharey=True)
    panels = iter("abcd")
    for row, (scheme, lot) in zip(grid, lots.items(), strict=True):
        for axes, (link, series) in zip(row, lot.items(), strict=True):
            for name, bps, colour in (
                ("Long", series.long_bps, COLOURS[0]),
                ("Local", series.local_bps, COLOURS[1]),
            ):
                percent = 100 * bps.sum(axis=1) / series.rate_bps
                whole = percent.size // LOT_MEAN * LOT_MEAN
                axes.plot(
                    series.time_s[LOT_MEAN - 1 : whole : LOT_MEAN],
                    percent[:whole].reshape(-1, LOT_MEAN).mean(axis=1),
                    color=colour,
                    linewidth=0.8,
                    label=name,
                )
            axes.set_title(f"({next(panels)}) {scheme.label}, {link}", loc="left")
            axes.set(xlim=(0, LOT_S), ylim=(0, 105))
        row[0].set_ylabel("Share of the link (%)")
    for axes in grid[-1]:
        axes.set_xlabel("Time (s)")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=2)
    return figure


def _utilisation(courses: Mapping[Scheme, Course]) -> Figure:
    figure = begin(WIDE_IN)
    axes = figure.subplots()
    for (scheme, course), colour in zip(courses.items(), COLOURS, strict=False):
        axes.plot(course.time_s, 100 * course.utilisation, color=colour, label=scheme.label)
    for published_s in TRANSITIONS_S:
        axes.axvline(published_s, color="0.45", linewidth=0.8, linestyle=":")
    axes.set(xlim=(0, DUMBBELL_S), ylim=(0, 105), xlabel="Time (s)", ylabel="Utilisation (%)")
    axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _transfers(
    transfers: Mapping[Carrier, Mapping[int, TransferTimes]], vcp_shares: Mapping[int, Estimate]
) -> Figure:
    figure = begin(TALL_IN, above_in=NO_TITLE_IN)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.2, 1))
    for carrier, colour in zip(CARRIERS, COLOURS, strict=False):
        times = transfers[carrier]
        mean = np.array([times[percent].mean_s for percent in LOSS_PERCENT])
        margin = np.array([times[percent].margin_s for percent in LOSS_PERCENT])
        # A logarithmic axis cannot show an interval that reaches zero.
        below = np.minimum(margin, 0.9 * mean)
        upper.errorbar(
            LOSS_PERCENT,
            mean,
            yerr=(below, margin),
            color=colour,
            marker="o",
            markersize=3,
            capsize=2,
            label=carrier.label,
        )
    upper.set(yscale="log", ylabel="Completion time (s)")
    upper.legend(loc="upper left")
    lower.errorbar(
        list(vcp_shares),
        [100 * share.value for share in vcp_shares.values()],
        yerr=[100 * share.margin for share in vcp_shares.values()],
        color=COLOURS[1],
        marker="o",
        markersize=3,
        capsize=2,
    )
    lower.set(ylim=(0, 100), ylabel="In VCP's mode (%)", xlabel="Packet loss rate (%)")
    for axes in (upper, lower):
        for knee in KNEE_PERCENT:
            axes.axvline(knee, color="0.45", linewidth=0.8, linestyle=":")
    return figure


def _queues(courses: Mapping[Scheme, Course]) -> Figure:
    figure = begin(TALL_IN)
    panels = figure.subplots(len(courses), 1, sharex=True, sharey=True)
    for axes, (scheme, course), colour in zip(panels, courses.items(), COLOURS, strict=False):
        axes.plot(course.time_s, course.queue_packets, color=colour, linewidth=0.8)
        axes.axhline(course.queue_mean, color="0.45", linewidth=0.8, linestyle=":")
        axes.set_title(f"{scheme.label}: mean {course.queue_mean:.1f}", loc="left")
        axes.set_ylabel("Queue (packets)")
    panels[0].set(xlim=(STEADY_FROM_S, STEADY_FROM_S + QUEUE_SHOWN_S), ylim=(0, None))
    panels[-1].set_xlabel("Time (s)")
    return figure


def _intervals() -> Figure:
    figure = begin(WIDE_IN)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, measure, title, value in zip(
        panels,
        ("l0_long_before", "l0_long_after"),
        ("before", "after"),
        DPCP_L0_PERCENT,
        strict=True,
    ):
        for scheme, colour in zip(SCHEMES, COLOURS, strict=False):
            chosen = (replace(DEFAULT, interval_ms=ms) for ms in T_RHOS_MS)
            found = [variants.lot(scheme, choices=choices) for choices in chosen]
            percent = [getattr(lot, measure) for lot in found]
            axes.plot(
                T_RHOS_MS, percent, color=colour, marker="o", markersize=3, label=scheme.label
            )
        axes.axhline(value, color="0.45", linewidth=0.8, linestyle=":")
        axes.set_title(title, loc="left")
        axes.set_xscale("log")
        axes.set_xticks(T_RHOS_MS, labels=[str(ms) for ms in T_RHOS_MS])
        axes.minorticks_off()
        axes.set_xlabel("t_rho (ms)")
    panels[0].set(ylim=(0, 80), ylabel="Long's share of L0 (%)")
    panels[0].legend(loc="lower right")
    return figure
