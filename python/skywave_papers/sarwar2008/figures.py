"""Figure 2 of Sarwar et al., and the growth by its equations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.measures import Measure
from skywave.report.figures import (
    COLOURS,
    NO_TITLE_IN,
    TALL_IN,
    TITLE_IN,
    RenderedFigure,
    begin,
    style,
)
from skywave_papers.sarwar2008 import growth
from skywave_papers.sarwar2008.ledger import LEDGER
from skywave_papers.sarwar2008.oracle import Run
from skywave_papers.sarwar2008.setting import (
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

    from skywave.papers.measures import Measures
    from skywave_papers.sarwar2008.measures import Series

GROWTH_S = 25.0
GROUP = 0.81
"""Width of a group of bars; groups are 1 apart."""


def draw_finding(measures: Measures) -> RenderedFigure:
    """Draw what dynamic feedback gains: published, ours and ns-2's."""
    with style():
        return RenderedFigure.at_widths(
            "finding",
            "What dynamic feedback gains. Left: how much earlier slow start ends and throughput "
            "recovers in the simulation of Figure 2. Right: the mean rate over the live satellite "
            "link, emulated here; ns-2 was not run for it.",
            partial(_finding, measures),
        )


def _finding(measures: Measures) -> Figure:
    figure = begin(above_in=2 * TITLE_IN)
    times, rates = figure.subplots(1, 2, gridspec_kw={"wspace": 0.5})
    for axes, ids, names in (
        (times, ("fig2/exit", "fig2/recovery"), ("slow\nstart", "recovery")),
        (rates, ("table1/standard/rate", "table1/dynamic/rate"), ("standard", "dynamic")),
    ):
        bars: tuple[tuple[str, list[float | None], str], ...] = (
            ("published", [LEDGER.published(name) for name in ids], "0.6"),
            ("Skywave", [Measure.of(measures.ours[name]).value for name in ids], COLOURS[0]),
            ("ns-2", [measures.ns2.get(name) for name in ids], COLOURS[2]),
        )
        # The fewer there are, the more room their numbers have.
        known = [bar for bar in bars if any(value is not None for value in bar[1])]
        width = GROUP / len(known)
        for place, (label, values, colour) in enumerate(known):
            at, heights = zip(
                *((at, value) for at, value in enumerate(values) if value is not None), strict=True
            )
            places = np.array(at) + (place - (len(known) - 1) / 2) * width
            drawn = axes.bar(places, heights, width, color=colour, label=label, zorder=2)
            axes.bar_label(drawn, fmt="%.0f", fontsize=7)
        axes.set_xticks(range(len(names)), labels=names, fontsize=8)
        axes.set_xlim(-0.5, len(names) - 0.5)
    times.set_ylabel("Gain (s)")
    rates.set_ylabel("Mean rate (kbit/s)")
    figure.legend(*times.get_legend_handles_labels(), loc="upper right", ncols=3)
    return figure


def draw(ours: Mapping[Conditions, Series], ns2: Mapping[Run, Series]) -> list[RenderedFigure]:
    """Draw all figures."""
    with style():
        return [
            RenderedFigure.at_widths(
                "figure2",
                "Figure 2. Throughput of CCID 3 with standard and with dynamic feedback on the "
                "satellite link (samples of 1 s), each with one error at the end of slow start. "
                f"Below: ns-2's Agent/TFRC with one and with {REPORTS} reports per RTT, and the "
                f"same error. In the paper, slow start ends {LEDGER.published('fig2/exit'):g} s "
                "earlier, and the recovery after it takes about "
                f"{LEDGER.published('fig2/recovery'):g} s less.",
                partial(_figure_2, ours, ns2),
            ),
            RenderedFigure.at_widths(
                "growth",
                "The allowed rate X in slow start, and by equations 5 and 6, which start with one "
                "packet per second. The simulation also starts so, has one packet per RTT after "
                "the first report, and can at most double per RTT.",
                partial(_growth, ours),
            ),
        ]


def _figure_2(ours: Mapping[Conditions, Series], ns2: Mapping[Run, Series]) -> Figure:
    figure = begin(TALL_IN)
    panels = figure.subplots(2, 1, sharex=True, sharey=True)
    lines = (
        (panels[0], "standard", ours[STANDARD], COLOURS[0]),
        (panels[0], "dynamic", ours[DYNAMIC], COLOURS[1]),
        (panels[1], "Agent/TFRC, 1 report", ns2[Run("tfrc", 1, None)], COLOURS[0]),
        (panels[1], f"Agent/TFRC, {REPORTS} reports", ns2[Run("tfrc", REPORTS, None)], COLOURS[1]),
    )
    for axes, label, series, colour in lines:
        axes.plot(series.time_s, series.throughput_bps / 1e6, color=colour, label=label)
    for axes, title in zip(panels, ("Skywave", "ns-2.35"), strict=True):
        axes.set_title(title, loc="left")
        axes.set(ylabel="Throughput (Mbps)", ylim=(0, 1.05 * LINK_BPS / 1e6))
        axes.legend(loc="lower right")
    panels[1].set(xlabel="Time (s)", xlim=(0, float(ours[STANDARD].time_s[-1])))
    return figure


def _growth(ours: Mapping[Conditions, Series]) -> Figure:
    figure = begin(above_in=NO_TITLE_IN)
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
    axes.set(
        yscale="log",
        ylim=(0.005, 10),
        xlim=(0, GROWTH_S),
        xlabel="Time since the start (s)",
        ylabel="Allowed rate X (Mbps)",
    )
    axes.legend(loc="lower right")
    return figure
