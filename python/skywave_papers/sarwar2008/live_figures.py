"""Figures 3 to 6 of Sarwar et al. on the emulated link, and the effect of RTT_ref there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from skywave.plots.panels import above
from skywave.report.figures import COLOURS, NO_TITLE_IN, RenderedFigure, begin, style
from skywave.scenario.quantities import Rate
from skywave_papers.sarwar2008 import downloads
from skywave_papers.sarwar2008.access import FITTED
from skywave_papers.sarwar2008.live import BY_RTT_REF, DURATION_S, DYNAMIC, STANDARD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from skywave_papers.sarwar2008.downloads import Course, Downloads
    from skywave_papers.sarwar2008.live import Download

LINES = ((STANDARD, COLOURS[0]), (DYNAMIC, COLOURS[1]))


def draw(courses: Mapping[Download, Course], seed: int, beyond: Downloads) -> list[RenderedFigure]:
    """Draw Figures 3 to 6 from one download of each kind, and the comparison of RTT_ref."""
    same = "Grey: other users take part of the link."
    with style():
        return [
            RenderedFigure.at_widths(
                "figure3",
                "Figure 3. A download with standard feedback: throughput and allowed rate X. "
                f"{same}",
                partial(_rates, courses[STANDARD], seed, COLOURS[0]),
            ),
            RenderedFigure.at_widths(
                "figure4",
                "Figure 4. A download with dynamic feedback, with errors and load as in Figure 3. "
                f"{same}",
                partial(_rates, courses[DYNAMIC], seed, COLOURS[1]),
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
                partial(_rtt_ref, beyond),
            ),
        ]


def _over_time(seed: int) -> tuple[Figure, Axes]:
    """Return a figure over the time of a download, with the load by others in grey.

    A legend has room above the axes.
    """
    figure = begin()
    axes = figure.subplots()
    begins = [(step.at.seconds, step.rate) for step in FITTED.load(seed, DURATION_S).steps]
    ends = [at_s for at_s, _ in begins[1:]] + [float(DURATION_S)]
    for (at_s, rate), end_s in zip(begins, ends, strict=True):
        if rate == Rate(f"{FITTED.left_kbps:g} kbps"):
            axes.axvspan(at_s, end_s, color="0.88", linewidth=0)
    axes.set(xlim=(0, DURATION_S), xlabel="Time (s)")
    return figure, axes


def _rates(course: Course, seed: int, colour: str) -> Figure:
    figure, axes = _over_time(seed)
    axes.plot(course.time_s, course.throughput_bps / 1e3, color=colour, label="throughput")
    axes.plot(
        course.time_s, course.rate_bps / 1e3, color="0.35", linestyle=":", label="allowed rate X"
    )
    axes.set(ylabel="Rate (kbps)", ylim=(0, 1500))
    above(axes)
    return figure


def _loss_events(courses: Mapping[Download, Course], seed: int) -> Figure:
    figure, axes = _over_time(seed)
    for download, colour in LINES:
        course = courses[download]
        axes.step(
            course.time_s,
            100 * course.loss_event_rate,
            where="post",
            color=colour,
            label=download.feedback,
        )
    axes.set(ylabel="Loss event rate p (%)", ylim=(0, None))
    above(axes)
    return figure


def _round_trips(courses: Mapping[Download, Course], seed: int) -> Figure:
    figure, axes = _over_time(seed)
    for download, colour in LINES:
        course = courses[download]
        axes.plot(course.time_s, course.rtt_s, color=colour, label=download.feedback)
    axes.set_ylabel("Round-trip time (s)")
    above(axes)
    return figure


def _rtt_ref(beyond: Downloads) -> Figure:
    figure = begin(above_in=NO_TITLE_IN)
    axes = figure.subplots()
    standard = beyond[STANDARD]
    rows = []
    for rtt_ref, download in BY_RTT_REF.items():
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
