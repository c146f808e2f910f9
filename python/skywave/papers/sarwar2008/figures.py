"""Figure 2 of Sarwar et al., and the growth by its equations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.figures import COLOURS, TALL_IN, Drawn, begin, style
from skywave.papers.sarwar2008 import growth
from skywave.papers.sarwar2008.oracle import Run
from skywave.papers.sarwar2008.published import EXIT_GAIN_S, RECOVERY_GAIN_S
from skywave.papers.sarwar2008.setting import (
    DYNAMIC,
    LINK_BPS,
    PACKET_SIZE,
    REPORTS,
    RTT_S,
    STANDARD,
    START_S,
    Conditions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from skywave.papers.sarwar2008.measures import Series

GROWTH_S = 25.0


def draw(ours: Mapping[Conditions, Series], ns2: Mapping[Run, Series]) -> list[Drawn]:
    """Draw all figures."""
    with style():
        return [
            Drawn.of(
                "figure2",
                "Figure 2. Throughput of CCID 3 with standard and with dynamic feedback on the "
                "satellite link (samples of 1 s). Below: ns-2's Agent/TFRC with one and with "
                f"{REPORTS} reports per RTT, and its DCCP module. In the paper, slow start ends "
                f"{EXIT_GAIN_S:g} s earlier, and the recovery after it takes about "
                f"{RECOVERY_GAIN_S:g} s less.",
                _figure_2(ours, ns2),
            ),
            Drawn.of(
                "growth",
                "The allowed rate X in slow start, and by equations 5 and 6, which start with one "
                "packet per second. The simulation also starts so, has one packet per RTT after "
                "the first report, and can at most double per RTT.",
                _growth(ours),
            ),
        ]


def _figure_2(ours: Mapping[Conditions, Series], ns2: Mapping[Run, Series]) -> Figure:
    figure = begin(TALL_IN)
    panels = figure.subplots(2, 1, sharex=True, sharey=True)
    queue = STANDARD.queue
    lines = (
        (panels[0], "standard", ours[STANDARD], COLOURS[0]),
        (panels[0], "dynamic", ours[DYNAMIC], COLOURS[1]),
        (panels[1], "Agent/TFRC, 1 report", ns2[Run("tfrc", 1, queue)], COLOURS[0]),
        (panels[1], f"Agent/TFRC, {REPORTS} reports", ns2[Run("tfrc", REPORTS, queue)], COLOURS[1]),
        (panels[1], "Agent/DCCP/TFRC", ns2[Run("dccp", 1, queue)], COLOURS[2]),
    )
    for axes, label, series, colour in lines:
        axes.plot(series.time_s, series.throughput_bps / 1e6, color=colour, label=label)
    for axes, title in zip(panels, ("Skywave", "ns-2.35"), strict=True):
        axes.set_title(title, loc="left")
        axes.set_ylabel("Throughput (Mbps)")
        axes.set_ylim(0, 1.05 * LINK_BPS / 1e6)
        axes.legend(loc="lower right")
    panels[1].set_xlabel("Time (s)")
    panels[1].set_xlim(0, float(ours[STANDARD].time_s[-1]))
    return figure


def _growth(ours: Mapping[Conditions, Series]) -> Figure:
    figure = begin(above_in=0.1)
    axes = figure.subplots()
    time_s = np.linspace(0, GROWTH_S, 200)
    for label, reports, conditions, colour in (
        ("standard", 1.0, STANDARD, COLOURS[0]),
        ("dynamic", float(REPORTS), DYNAMIC, COLOURS[1]),
    ):
        rates = [growth.dynamic_rate(at, RTT_S, PACKET_SIZE, reports) for at in time_s]
        equation = 5 if reports == 1 else 6
        axes.plot(
            time_s,
            np.array(rates) * 8 / 1e6,
            color=colour,
            linestyle=":",
            label=f"{label}, equation {equation}",
        )
        series = ours[conditions]
        shown = series.time_s <= GROWTH_S
        axes.step(
            series.time_s[shown] - START_S,
            series.rate_bps[shown] / 1e6,
            where="post",
            color=colour,
            label=f"{label}, simulated",
        )
    axes.axhline(LINK_BPS / 1e6, color="0.45", linewidth=0.8)
    axes.set_yscale("log")
    axes.set_ylim(0.005, 10)
    axes.set_xlim(0, GROWTH_S)
    axes.set_xlabel("Time since the start (s)")
    axes.set_ylabel("Allowed rate X (Mbps)")
    axes.legend(loc="lower right")
    return figure
