"""Figures 2 and 3 of Nor et al., and figures of our own sections."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from skywave.report.figures import COLOURS, TALL_IN, RenderedFigure, begin, is_narrow, style
from skywave_papers.nor2011 import setting
from skywave_papers.nor2011.ledger import LEDGER
from skywave_papers.nor2011.measures import LINK_BPS
from skywave_papers.nor2011.setting import EXPERIMENT_1, SHORT_QUEUE, WIDE_WINDOW, Conditions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from skywave_papers.nor2011.judge import Runs
    from skywave_papers.nor2011.measures import Series

    Floats = NDArray[np.float64]

SHARING_MEAN_S = 5
THRESHOLD_MEAN_S = 3
"""About five round trips. Samples of 1 s would show the bursts of single round trips."""
YLIM_MBPS, YLABEL = (0, LINK_BPS / 1e6 * 1.05), "Throughput (Mbps)"


def draw(ours: Runs, ns2: Runs) -> list[RenderedFigure]:
    """Draw all figures."""
    second = [Conditions(ssthresh) for ssthresh in setting.PUBLISHED_SSTHRESH]
    with style():
        return [
            RenderedFigure.at_widths(
                "figure2",
                "Figure 2. Throughput of DCCP TCP-like and TCP on the bottleneck, experiment 1 "
                f"(means over {SHARING_MEAN_S} s). In the paper, DCCP zigzags between about 1 and "
                "1.7 Mbps, and TCP has around 300 kbps (shaded).",
                partial(_sharing, ours[EXPERIMENT_1], ns2[EXPERIMENT_1], published=True),
            ),
            RenderedFigure.at_widths(
                "figure3",
                "Figure 3. Throughput of DCCP TCP-like for four initial slow-start thresholds, "
                f"experiment 2 (samples of 1 s, and means over {THRESHOLD_MEAN_S} s). Dotted: "
                "about 160 s and about 100 s, when the paper's flows reach the maximum with 20 and "
                "with 200 packets, in the colours of these thresholds.",
                partial(_thresholds, ours, ns2, second),
            ),
            RenderedFigure.at_widths(
                "send-queue",
                f"As Figure 3, with a send queue of {setting.SHORT_SEND_QUEUE} packets: 200 "
                "packets reach the maximum at about 100 s.",
                partial(_thresholds, ours, ns2, SHORT_QUEUE),
            ),
            RenderedFigure.at_widths(
                "wide-window",
                f"Experiment 1 with a TCP window of {WIDE_WINDOW.tcp_window} segments, which "
                f"never limits (means over {SHARING_MEAN_S} s).",
                partial(_sharing, ours[WIDE_WINDOW], ns2[WIDE_WINDOW], published=False),
            ),
        ]


def _means(time_s: Floats, samples: Floats, over_s: int) -> tuple[Floats, Floats]:
    """Return the ends of intervals of ``over_s`` seconds, and means of 1 s samples over them."""
    whole = samples.size // over_s * over_s
    return time_s[over_s - 1 : whole : over_s], samples[:whole].reshape(-1, over_s).mean(axis=1)


def _sharing(ours: Series, ns2: Series, *, published: bool) -> Figure:
    figure = begin(above_in=0.46, above_narrow_in=0.85)
    axes = figure.subplots()
    for name, mine, theirs, colour, dashes in (
        ("DCCP TCP-like", ours.dccp, ns2.dccp, COLOURS[0], (4, 2)),
        ("TCP NewReno", ours.tcp, ns2.tcp, COLOURS[1], (1, 1.5)),
    ):
        axes.plot(
            *_means(ours.time_s, mine.throughput_bps / 1e6, SHARING_MEAN_S),
            color=colour,
            label=f"{name}, Skywave",
        )
        axes.plot(
            *_means(ns2.time_s, theirs.throughput_bps / 1e6, SHARING_MEAN_S),
            color="black",
            linewidth=0.8,
            linestyle=(0, dashes),
            label=f"{name}, ns-2",
        )
    if published:
        axes.axhspan(1.0, 1.7, color=COLOURS[0], alpha=0.07, linewidth=0)
        axes.axhline(0.3, color=COLOURS[1], alpha=0.35, linewidth=2.5)
    axes.set(xlim=(0, ours.time_s[-1]), ylim=YLIM_MBPS, xlabel="Time (s)", ylabel=YLABEL)
    axes.legend(ncols=1 if is_narrow(figure) else 2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _thresholds(ours: Runs, ns2: Runs, runs: Sequence[Conditions]) -> Figure:
    figure = begin(TALL_IN, above_in=0.61, above_narrow_in=1.0)
    panels = figure.subplots(2, 1, sharex=True)
    for axes, title, series in ((panels[0], "Skywave", ours), (panels[1], "ns-2.35", ns2)):
        for conditions, colour in zip(runs, COLOURS, strict=True):
            run = series[conditions]
            samples_mbps = run.dccp.throughput_bps / 1e6
            axes.plot(run.time_s, samples_mbps, color=colour, linewidth=0.5, alpha=0.25)
            axes.plot(
                *_means(run.time_s, samples_mbps, THRESHOLD_MEAN_S),
                color=colour,
                label=f"{conditions.ssthresh} packets",
            )
        for ssthresh, colour in ((20, COLOURS[0]), (200, COLOURS[-1])):
            published_s = LEDGER.published(f"fig3/ssthresh={ssthresh}")
            axes.axvline(published_s, color=colour, linewidth=1.2, linestyle=":")
        axes.set(xlim=(0, 200), ylim=YLIM_MBPS, ylabel=YLABEL)
        axes.set_title(title, loc="left")
    panels[0].plot([], [], color="0.3", linewidth=1.2, linestyle=":", label="published")
    panels[0].legend(
        title="initial ssthresh",
        ncols=2 if is_narrow(figure) else 5,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.08),
    )
    panels[1].set_xlabel("Time (s)")
    return figure
