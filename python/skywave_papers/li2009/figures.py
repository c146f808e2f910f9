"""Figures 2 to 5 of Li and Yousefi'zadeh, and figures of our own sections."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from skywave.report import figures
from skywave_papers.li2009 import setting, stored
from skywave_papers.li2009.ledger import LEDGER
from skywave_papers.li2009.measures import law_percent
from skywave_papers.li2009.setting import AGGREGATES, CARRIERS, FLOWS, LOSS_PERCENT, SCHEMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from skywave_papers.li2009.experiments import Measurements, Ours
    from skywave_papers.li2009.measures import Course, LinkSeries, Transfers
    from skywave_papers.li2009.setting import Scheme

LOT_MEAN = 5
"""Samples of the parking lot per plotted mean."""
QUEUE_SHOWN_S = 30
PERIODS = ("before", "after")
"""The periods before and after L2's Local starts."""
DPCP_L0_PERCENT = tuple(LEDGER.published(f"fig2c-{period}") for period in PERIODS)
"""Long's published share of L0, before and after."""
VCP_L0_PERCENT = 100 / (1 + LEDGER.published("fig2a"))
"""The published ratio as Long's share of L0, of the whole run."""
TRANSITIONS_S = tuple(LEDGER.published(f"fig3/{name}-transition") for name in ("dpcp", "vcp"))
KNEE_PERCENT = (LEDGER.published("fig4/knee"), LEDGER.published("4.3/downgrade-from"))
"""Published loss rates, between which the time of a transfer has its knee."""
DOTTED: dict[str, Any] = {"color": "0.45", "linewidth": 0.8, "linestyle": ":"}


def draw(measured: Measurements) -> list[figures.RenderedFigure]:
    """Draw all figures."""
    ours = measured.ours
    courses = {scheme: runs[0] for scheme, runs in ours.dumbbells.items()}
    with figures.style():
        return [
            figures.RenderedFigure.at_widths(
                "finding",
                "Share of the first link (L0) that 30 transfers over all four links (Long) get "
                "beside 10 of its own, before and after those of the third link (L2) start. Bars: "
                f"means of our runs, with each of {len(setting.LOT_SEEDS)} seeds as a dot. "
                "Diamonds: published (of VCP one value, for the whole run). Dotted: proportional "
                "fairness. ns-2 has neither protocol.",
                partial(_finding, ours),
            ),
            *(
                figures.RenderedFigure.at_widths(
                    name,
                    f"Figure 2, {label}, seed {setting.LOT_SEED}: shares of L0 and L2, in % of the "
                    f"link's rate. Local of L2 starts at {setting.JOINS_S} s.",
                    partial(
                        _shares,
                        {one: measured.series[one, reading] for one in setting.PUBLISHED_LOTS},
                    ),
                )
                for name, reading, label in (
                    ("figure2", FLOWS, FLOWS.label),
                    ("figure2-aggregates", AGGREGATES, f"{AGGREGATES.label} (not judged)"),
                )
            ),
            figures.RenderedFigure.at_widths(
                "figure3",
                "Figure 3. Utilisation of the dumbbell's bottleneck, averaged over one second. "
                "Dotted: published transition times of DPCP and VCP.",
                partial(_utilisation, courses),
            ),
            figures.RenderedFigure.at_widths(
                "figure4",
                "Figure 4. Time to transfer a file over a bottleneck that loses packets, and the "
                "share of segments that DPCP over TCP sends in VCP's mode (from headers), with "
                f"95 % confidence intervals. Dotted: {KNEE_PERCENT[0]:g} and {KNEE_PERCENT[1]:g} "
                "%, between which the paper has the knee.",
                partial(_transfers, ours.transfers),
            ),
            figures.RenderedFigure.at_widths(
                "figure5",
                "Figure 5. Queue of the dumbbell's bottleneck, every 0.1 s, from "
                f"{setting.STEADY_FROM_S} s.",
                partial(_queues, courses),
            ),
            figures.RenderedFigure.at_widths(
                "interval",
                "Not published: t_rho, the routers' interval. Long's share of L0 before and after "
                "L2's Local starts, with 30 and 10 senders. Dotted: published values of DPCP.",
                _intervals,
            ),
        ]


def _finding(ours: Ours) -> Figure:
    figure = figures.begin(figures.WIDE_IN, above_in=2 * figures.TITLE_IN)
    panels = figure.subplots(1, 2, sharey=True)
    for index, (axes, period) in enumerate(zip(panels, PERIODS, strict=True)):
        for place, (scheme, colour) in enumerate(zip(SCHEMES, figures.COLOURS, strict=False)):
            shares = [getattr(lot, f"l0_long_{period}") for lot in ours.lots[scheme, FLOWS]]
            axes.bar(place, np.mean(shares), width=0.6, color=colour, alpha=0.5)
            axes.plot([place] * len(shares), shares, ".", color=colour, markersize=4)
        published = (VCP_L0_PERCENT, DPCP_L0_PERCENT[index])
        axes.plot(published, "D", color="black", markersize=5)
        axes.axhline(law_percent(FLOWS, joined=bool(index))[0], **DOTTED)
        axes.set_xticks(range(len(SCHEMES)), labels=[scheme.label for scheme in SCHEMES])
        axes.set_title(period, loc="left")
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


def _shares(lots: Mapping[Scheme, Mapping[str, LinkSeries]]) -> Figure:
    figure = figures.begin(figures.TALL_IN, above_in=0.55)
    grid = figure.subplots(2, 2, sharex=True, sharey=True)
    panels = iter("abcd")
    for row, (scheme, lot) in zip(grid, lots.items(), strict=True):
        for axes, (link, series) in zip(row, lot.items(), strict=True):
            ends_s = series.time_s.reshape(-1, LOT_MEAN)[:, -1]
            for name, bps, colour in (
                ("Long", series.long_bps, figures.COLOURS[0]),
                ("Local", series.local_bps, figures.COLOURS[1]),
            ):
                percent = 100 * bps.sum(axis=1) / series.rate_bps
                means = percent.reshape(-1, LOT_MEAN).mean(axis=1)
                axes.plot(ends_s, means, color=colour, linewidth=0.8, label=name)
            axes.set_title(f"({next(panels)}) {scheme.label}, {link}", loc="left")
            axes.set(xlim=(0, setting.LOT_S), ylim=(0, 105))
        row[0].set_ylabel("Share of the link (%)")
    for axes in grid[-1]:
        axes.set_xlabel("Time (s)")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=2)
    return figure


def _utilisation(courses: Mapping[Scheme, Course]) -> Figure:
    figure = figures.begin(figures.WIDE_IN)
    axes = figure.subplots()
    for (scheme, course), colour in zip(courses.items(), figures.COLOURS, strict=False):
        axes.plot(course.time_s, 100 * course.utilisation, color=colour, label=scheme.label)
    for published_s in TRANSITIONS_S:
        axes.axvline(published_s, **DOTTED)
    axes.set(
        xlim=(0, setting.DUMBBELL_S), ylim=(0, 105), xlabel="Time (s)", ylabel="Utilisation (%)"
    )
    axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _transfers(transfers: Transfers) -> Figure:
    figure = figures.begin(figures.TALL_IN, above_in=figures.NO_TITLE_IN)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.2, 1))
    bars: dict[str, Any] = {"marker": "o", "markersize": 3, "capsize": 2}
    for carrier, colour in zip(CARRIERS, figures.COLOURS, strict=False):
        times = [found.mean_s for found in transfers[carrier].values()]
        # A logarithmic axis cannot show an interval that reaches zero.
        below = [min(time.margin, 0.9 * time.value) for time in times]
        upper.errorbar(
            LOSS_PERCENT,
            [time.value for time in times],
            yerr=(below, [time.margin for time in times]),
            color=colour,
            label=carrier.label,
            **bars,
        )
    upper.set(yscale="log", ylabel="Completion time (s)")
    upper.legend(loc="upper left")
    shares = [found.vcp_share for found in transfers[setting.DPCP_TCP].values()]
    lower.errorbar(
        LOSS_PERCENT,
        [100 * share.value for share in shares],
        yerr=[100 * share.margin for share in shares],
        color=figures.COLOURS[1],
        **bars,
    )
    lower.set(ylim=(0, 100), ylabel="In VCP's mode (%)", xlabel="Packet loss rate (%)")
    for axes in (upper, lower):
        for knee in KNEE_PERCENT:
            axes.axvline(knee, **DOTTED)
    return figure


def _queues(courses: Mapping[Scheme, Course]) -> Figure:
    figure = figures.begin(figures.TALL_IN)
    panels = figure.subplots(len(courses), 1, sharex=True, sharey=True)
    for axes, (scheme, course), colour in zip(
        panels, courses.items(), figures.COLOURS, strict=False
    ):
        mean = course.outcome.queue
        axes.plot(course.time_s, course.queue_packets, color=colour, linewidth=0.8)
        axes.axhline(mean, **DOTTED)
        axes.set_title(f"{scheme.label}: mean {mean:.1f}", loc="left")
        axes.set_ylabel("Queue (packets)")
    panels[0].set(
        xlim=(setting.STEADY_FROM_S, setting.STEADY_FROM_S + QUEUE_SHOWN_S), ylim=(0, None)
    )
    panels[-1].set_xlabel("Time (s)")
    return figure


def _intervals() -> Figure:
    figure = figures.begin(figures.WIDE_IN)
    panels = figure.subplots(1, 2, sharey=True)
    choices = (setting.DEFAULT, *stored.INTERVALS)
    intervals_ms = [one.interval_ms for one in choices]
    for axes, period, published in zip(panels, PERIODS, DPCP_L0_PERCENT, strict=True):
        for scheme, colour in zip(SCHEMES, figures.COLOURS, strict=False):
            lots = [stored.lot(scheme, choices=one) for one in choices]
            percent = [getattr(lot, f"l0_long_{period}") for lot in lots]
            axes.plot(
                intervals_ms, percent, color=colour, marker="o", markersize=3, label=scheme.label
            )
        axes.axhline(published, **DOTTED)
        axes.set_title(period, loc="left")
        axes.set_xscale("log")
        axes.set_xticks(intervals_ms, labels=[str(ms) for ms in intervals_ms])
        axes.minorticks_off()
        axes.set_xlabel("t_rho (ms)")
    panels[0].set(ylim=(0, 80), ylabel="Long's share of L0 (%)")
    panels[0].legend(loc="lower right")
    return figure
