"""Figures 2 to 6 of Sarwar et al., the growth by its equations, and the effect of RTT_ref."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.measures import Measure
from skywave.plots.panels import above
from skywave.report.figures import (
    COLOURS,
    NO_TITLE_IN,
    TALL_IN,
    TITLE_IN,
    RenderedFigure,
    begin,
    style,
)
from skywave.scenario.quantities import Rate
from skywave_papers.sarwar2008 import downloads, live, setting
from skywave_papers.sarwar2008.ledger import LEDGER
from skywave_papers.sarwar2008.live import FITTED
from skywave_papers.sarwar2008.oracle import Run
from skywave_papers.sarwar2008.setting import LINK_BPS, REPORTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from skywave.papers.measures import Measures
    from skywave_papers.sarwar2008.downloads import Course, Downloads, Live
    from skywave_papers.sarwar2008.judge import Ns2, Runs

GROWTH_S = 25.0
GROUP = 0.81
"""Width of a group of bars; groups are 1 apart."""
BAR_COLOURS = {"published": "0.6", "Skywave": COLOURS[0], "ns-2": COLOURS[2]}


def draw(measures: Measures, ours: Runs, ns2: Ns2, link: Live) -> list[RenderedFigure]:
    """Draw all figures."""
    courses, seed = link.courses, link.shown_seed
    same = "Grey: other users take part of the link."
    exit_s, recovery_s = map(LEDGER.published, ("fig2/exit", "fig2/recovery"))
    with style():
        return [
            RenderedFigure.at_widths(
                "finding",
                "What dynamic feedback gains. Left: how much earlier slow start ends and "
                "throughput recovers in the simulation of Figure 2. Right: the mean rate over the "
                "live satellite link, emulated here; ns-2 was not run for it.",
                partial(_finding, measures),
            ),
            RenderedFigure.at_widths(
                "figure2",
                "Figure 2. Throughput of CCID 3 with standard and with dynamic feedback on the "
                "satellite link (samples of 1 s), each with one error at the end of slow start. "
                f"Below: ns-2's Agent/TFRC with one and with {REPORTS} reports per RTT, and the "
                f"same error. In the paper, slow start ends {exit_s:g} s earlier, and the recovery "
                f"after it takes about {recovery_s:g} s less.",
                partial(_figure_2, ours, ns2),
            ),
            RenderedFigure.at_widths(
                "growth",
                "The allowed rate X in slow start, and by equations 5 and 6, which start with one "
                "packet per second. The simulation also starts so, has one packet per RTT after "
                "the first report, and can at most double per RTT.",
                partial(_growth, ours),
            ),
            RenderedFigure.at_widths(
                "figure3",
                "Figure 3. A download with standard feedback: throughput and allowed rate X. "
                f"{same}",
                partial(_rates, courses[live.STANDARD], seed, COLOURS[0]),
            ),
            RenderedFigure.at_widths(
                "figure4",
                "Figure 4. A download with dynamic feedback, with errors and load as in Figure 3. "
                f"{same}",
                partial(_rates, courses[live.DYNAMIC], seed, COLOURS[1]),
            ),
            RenderedFigure.at_widths(
                "figure5",
                "Figure 5. Loss event rate p of both downloads, as the sender knows it. It is 0 in "
                f"slow start. {same}",
                partial(_loss_events, courses, seed),
            ),
            RenderedFigure.at_widths(
                "figure6",
                f"Figure 6. Round-trip time of both downloads, as the sender knows it. {same}",
                partial(_round_trips, courses, seed),
            ),
            RenderedFigure.at_widths(
                "rtt-ref",
                "Mean rate by the feedback that each RTT_ref costs, with two standard errors of "
                "the difference from standard feedback (horizontal line).",
                partial(_rtt_ref, link.beyond),
            ),
        ]


def _finding(measures: Measures) -> Figure:
    figure = begin(above_in=2 * TITLE_IN)
    times, rates = figure.subplots(1, 2, gridspec_kw={"wspace": 0.5})
    for axes, ids, names in (
        (times, ("fig2/exit", "fig2/recovery"), ("slow\nstart", "recovery")),
        (rates, ("table1/standard/rate", "table1/dynamic/rate"), ("standard", "dynamic")),
    ):
        bars: dict[str, list[float | None]] = {
            "published": [LEDGER.published(name) for name in ids],
            "Skywave": [Measure.of(measures.ours[name]).value for name in ids],
            "ns-2": [measures.ns2.get(name) for name in ids],
        }
        # The fewer there are, the more room their numbers have.
        known = [label for label in bars if any(value is not None for value in bars[label])]
        width = GROUP / len(known)
        for place, label in enumerate(known):
            places = np.arange(len(ids)) + (place - (len(known) - 1) / 2) * width
            heights, colour = np.array(bars[label], np.float64), BAR_COLOURS[label]
            drawn = axes.bar(places, heights, width, color=colour, label=label, zorder=2)
            axes.bar_label(drawn, fmt="%.0f", fontsize=7)
        axes.set_xticks(range(len(names)), labels=names, fontsize=8)
        axes.set_xlim(-0.5, len(names) - 0.5)
    times.set_ylabel("Gain (s)")
    rates.set_ylabel("Mean rate (kbit/s)")
    figure.legend(*times.get_legend_handles_labels(), loc="upper right", ncols=3)
    return figure


def _figure_2(ours: Runs, ns2: Ns2) -> Figure:
    figure = begin(TALL_IN)
    panels = figure.subplots(2, 1, sharex=True, sharey=True)
    lines = (
        (panels[0], "standard", ours[setting.STANDARD], COLOURS[0]),
        (panels[0], "dynamic", ours[setting.DYNAMIC], COLOURS[1]),
        (panels[1], "Agent/TFRC, 1 report", ns2[Run("tfrc", 1, None)], COLOURS[0]),
        (panels[1], f"Agent/TFRC, {REPORTS} reports", ns2[Run("tfrc", REPORTS, None)], COLOURS[1]),
    )
    for axes, label, series, colour in lines:
        axes.plot(series.time_s, series.throughput_bps / 1e6, color=colour, label=label)
    for axes, title in zip(panels, ("Skywave", "ns-2.35"), strict=True):
        axes.set_title(title, loc="left")
        axes.set(ylabel="Throughput (Mbps)", ylim=(0, 1.05 * LINK_BPS / 1e6))
        axes.legend(loc="lower right")
    panels[1].set(xlabel="Time (s)", xlim=(0, float(ours[setting.STANDARD].time_s[-1])))
    return figure


def _growth(ours: Runs) -> Figure:
    figure = begin(above_in=NO_TITLE_IN)
    axes = figure.subplots()
    time_s = np.linspace(0, GROWTH_S, 200)
    for conditions, equation, reports, colour in (
        (setting.STANDARD, 5, 1, COLOURS[0]),
        (setting.DYNAMIC, 6, REPORTS, COLOURS[1]),
    ):
        # One packet per second, doubled every (N + 1) / N round-trip times.
        rate = setting.PACKET_SIZE * 2 ** (time_s * reports / ((reports + 1) * setting.RTT_S))
        label = f"{conditions.feedback}, equation {equation}"
        axes.plot(time_s, rate * 8 / 1e6, color=colour, linestyle=":", label=label)
        series = ours[conditions]
        shown = series.time_s <= GROWTH_S
        label = f"{conditions.feedback}, simulated"
        since_s, rate = series.time_s[shown] - setting.START_S, series.rate_bps[shown]
        axes.step(since_s, rate / 1e6, where="post", color=colour, label=label)
    axes.axhline(LINK_BPS / 1e6, color="0.45", linewidth=0.8)
    axes.set(
        yscale="log",
        ylim=(0.005, 10),
        xlim=(0, GROWTH_S),
        xlabel="Time since the start (s)",
        ylabel="Allowed rate X (Mbps)",
    )
    axes.legend(loc="lower right")
    return figure


def _over_time(seed: int) -> tuple[Figure, Axes]:
    """Return a figure over the time of a download, with the load by others in grey.

    A legend has room above the axes.
    """
    figure = begin()
    axes = figure.subplots()
    steps = FITTED.load(seed, live.DURATION_S).steps
    ends_s = [*(step.at.seconds for step in steps[1:]), float(live.DURATION_S)]
    for step, end_s in zip(steps, ends_s, strict=True):
        if step.rate == Rate(f"{FITTED.left_kbps:g} kbps"):
            axes.axvspan(step.at.seconds, end_s, color="0.88", linewidth=0)
    axes.set(xlim=(0, live.DURATION_S), xlabel="Time (s)")
    return figure, axes


def _rates(course: Course, seed: int, colour: str) -> Figure:
    figure, axes = _over_time(seed)
    axes.plot(course.time_s, course.throughput_bps / 1e3, color=colour, label="throughput")
    allowed_kbps = course.rate_bps / 1e3
    axes.plot(course.time_s, allowed_kbps, color="0.35", linestyle=":", label="allowed rate X")
    axes.set(ylabel="Rate (kbps)", ylim=(0, 1500))
    above(axes)
    return figure


def _loss_events(courses: Mapping[live.Download, Course], seed: int) -> Figure:
    figure, axes = _over_time(seed)
    for (download, course), colour in zip(courses.items(), COLOURS, strict=False):
        percent = 100 * course.loss_event_rate
        axes.step(course.time_s, percent, where="post", color=colour, label=download.feedback)
    axes.set(ylabel="Loss event rate p (%)", ylim=(0, None))
    above(axes)
    return figure


def _round_trips(courses: Mapping[live.Download, Course], seed: int) -> Figure:
    figure, axes = _over_time(seed)
    for (download, course), colour in zip(courses.items(), COLOURS, strict=False):
        axes.plot(course.time_s, course.rtt_s, color=colour, label=download.feedback)
    axes.set_ylabel("Round-trip time (s)")
    above(axes)
    return figure


def _rtt_ref(beyond: Downloads) -> Figure:
    figure = begin(above_in=NO_TITLE_IN)
    axes = figure.subplots()
    standard = beyond[live.STANDARD]
    rows = []
    for rtt_ref, download in live.BY_RTT_REF.items():
        runs = beyond[download]
        _, error = downloads.gain(runs, standard, "rate_kbps")
        back, rate = (downloads.mean(runs, name) for name in ("back_kbps", "rate_kbps"))
        rows.append((back, rate, 2 * error))
        axes.annotate(
            f"{rtt_ref} ms", (back, rate), xytext=(6, -11), textcoords="offset points", fontsize=8
        )
    back_kbps, rate_kbps, errors = zip(*rows, strict=True)
    axes.errorbar(back_kbps, rate_kbps, yerr=errors, color=COLOURS[1], marker="o", capsize=3)
    axes.axhline(downloads.mean(standard, "rate_kbps"), color=COLOURS[0], label="standard")
    axes.set_xscale("log")
    axes.set_xticks([2, 5, 10, 20, 40], labels=["2", "5", "10", "20", "40"])
    axes.minorticks_off()
    axes.set(xlim=(1.5, 45), xlabel="Feedback on the uplink (kbps)", ylabel="Mean rate (kbps)")
    axes.legend(loc="upper left")
    return figure
