"""Figures 2 to 6 of Lien and Ding, and our own figures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from skywave.report.figures import (
    COLOURS,
    NARROW_IN,
    TALL_IN,
    TITLE_IN,
    WIDE_IN,
    RenderedFigure,
    begin,
    style,
)
from skywave_papers.lien2009 import beyond, canonical
from skywave_papers.lien2009.measures import over_runs
from skywave_papers.lien2009.published import DELAY_MS, LOSS, RATIO
from skywave_papers.lien2009.setting import (
    FLAVOURS,
    GAP_S,
    LONG_CALL,
    STREAMS,
    TRANSPORTS,
    VOICE_S,
    Conditions,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from skywave.results import Results
    from skywave_papers.lien2009.beyond import Case, Outcome
    from skywave_papers.lien2009.judge import Runs
    from skywave_papers.lien2009.measures import Run, Spread
    from skywave_papers.lien2009.oracle import Periods, Seconds

BAND = "bands: one standard deviation of single runs"


def draw_finding(ours: Runs, ns2: Mapping[str, Periods]) -> RenderedFigure:
    """Draw what a call keeps beside each TCP: published, ours and ns-2's."""
    with style():
        return RenderedFigure.of(
            "finding",
            "Packets of the call that arrive, relative to those without TCP, by the number of TCP "
            f"flows beside it. Means over all seeds; {BAND}. Diamonds: the paper's Table 3 (DCCP; "
            "it has none for UDP). Black: ns-2.",
            _kept(ours, ns2),
            narrow=_kept_narrow(ours, ns2),
        )


def _kept(ours: Runs, ns2: Mapping[str, Periods]) -> Figure:
    figure = begin(WIDE_IN, above_in=2 * TITLE_IN)
    panels = figure.subplots(1, len(FLAVOURS), sharey=True)
    _plot_kept(panels, ours, ns2)
    panels[0].set_ylabel("Packets that arrive (%)")
    panels[len(FLAVOURS) // 2].set_xlabel("TCP flows")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="upper right", ncols=3)
    return figure


def _kept_narrow(ours: Runs, ns2: Mapping[str, Periods]) -> Figure:
    figure = begin((NARROW_IN, 4.2), above_in=2.6 * TITLE_IN)
    figure.subplots_adjust(left=0.17, right=0.98, wspace=0.14, hspace=0.34)
    grid = figure.subplots(2, (len(FLAVOURS) + 1) // 2, sharey=True)
    panels = grid.ravel()[: len(FLAVOURS)]
    grid[-1, -1].set_visible(False)
    _plot_kept(panels, ours, ns2)
    for axes in grid[:, 0]:
        axes.set_ylabel("Packets that arrive (%)")
    for axes in panels[grid.shape[1] :]:
        axes.set_xlabel("TCP flows")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="upper left", ncols=2)
    return figure


def _plot_kept(panels: Iterable[Axes], ours: Runs, ns2: Mapping[str, Periods]) -> None:
    flows = np.arange(STREAMS + 1)
    for axes, tcp in zip(panels, FLAVOURS, strict=True):
        for transport, colour in zip(TRANSPORTS, (COLOURS[0], COLOURS[2]), strict=True):
            conditions = Conditions(tcp, transport)
            spread = over_runs(ours[conditions], "ratio_percent")
            _band(axes, flows, spread, colour, f"{transport.upper()}, Skywave")
            theirs = ns2[conditions.name].ratio_percent.mean
            label = "ns-2" if transport == TRANSPORTS[0] else None
            axes.plot(
                flows, theirs, color="black", linewidth=0.8, linestyle=(0, (4, 2)), label=label
            )
        published = (100, *RATIO[tcp])
        axes.plot(
            flows,
            published,
            color=COLOURS[0],
            marker="D",
            linestyle="none",
            label="DCCP, published",
        )
        axes.set(xlim=(-0.4, STREAMS + 0.4), ylim=(0, 115), xticks=flows)
        axes.set_title(tcp, loc="left")


def draw(
    ours: Runs, ns2: Mapping[str, Periods], seconds: Mapping[str, Seconds]
) -> list[RenderedFigure]:
    """Draw the paper's figures."""
    with style():
        figures = [
            RenderedFigure.at_widths(
                f"figure{number}",
                f"Figure {number}. Throughput of voice over {transport.upper()} and of the first "
                f"{tcp} flow on the bottleneck. (a) Voice first, TCP flows at 10, 20 .. 50 s; (b) "
                f"TCP first, voice from 20 to 80 s. Means over all seeds; {BAND}. Black: one run "
                "of ns-2.",
                partial(_throughput, ours, seconds, tcp, transport),
            )
            for number, tcp, transport in (
                (2, "NewReno", "udp"),
                (3, "NewReno", "dccp"),
                (4, "Vegas", "dccp"),
            )
        ]
        figures += [
            RenderedFigure.at_widths(
                f"figure{number}",
                f"Figure {number}. Delay and loss of voice over UDP and DCCP beside {tcp} (voice "
                f"first). Means over all seeds; {BAND}. Diamonds: Table 4. Black: ns-2.",
                partial(_quality, ours, ns2, tcp),
            )
            for number, tcp in ((5, "NewReno"), (6, "Vegas"))
        ]
    return figures


def draw_ours(
    ours: Runs,
    ns2: Mapping[str, Periods],
    found: Mapping[Case, Outcome],
    panels: Mapping[tuple[str, int], Results],
) -> list[RenderedFigure]:
    """Draw the figures of our own sections."""
    with style():
        return [
            RenderedFigure.of(
                "beyond",
                "R of the call, beside the first TCP flow (10 to 20 s) and beside all five (50 to "
                "60 s). A call is usable from 70 on (bold). Means over "
                f"{len(beyond.SEEDS)} seeds.",
                beyond.draw(found),
            ),
            RenderedFigure.at_widths(
                "history",
                f"A call of 200 s over DCCP beside one NewReno flow that joins at 10 s; {BAND}. "
                "Black: ns-2.",
                partial(_long_call, ours, ns2),
            ),
            RenderedFigure.of(
                "canonical",
                "Segments that each TCP sends after one to four losses (crosses): of the 14th data "
                "packet; of the 14th and 28th; of the 14th, 26th and 28th; of the 14th, 24th, 26th "
                "and 28th. Grey: new segments; orange: retransmissions. 0.8 Mbps, 100 ms, segments "
                "of 1000 B, windows of up to 28.",
                canonical.draw(panels),
            ),
        ]


def _long_call(ours: Runs, ns2: Mapping[str, Periods]) -> Figure:
    figure = begin()
    axes = figure.subplots()
    begin_s, end_s = VOICE_S[LONG_CALL.scenario]
    middle_s = np.arange(begin_s, end_s, GAP_S) + GAP_S / 2
    for spread, colour, label in (
        (ns2[LONG_CALL.name].ratio_percent, "black", "ns-2"),
        (over_runs(ours[LONG_CALL], "ratio_percent"), COLOURS[0], "Skywave"),
    ):
        _band(axes, middle_s, spread, colour, label)
    axes.set(
        xlim=(begin_s, end_s), ylim=(0, None), xlabel="Time (s)", ylabel="Throughput ratio (%)"
    )
    axes.legend(ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return figure


def _throughput(ours: Runs, seconds: Mapping[str, Seconds], tcp: str, transport: str) -> Figure:
    figure = begin(TALL_IN, above_in=2 * TITLE_IN)
    panels = figure.subplots(2, 1)
    for number, (axes, title) in enumerate(
        zip(panels, ("(a) Voice first", "(b) TCP first"), strict=True), start=1
    ):
        conditions = Conditions(tcp, transport, scenario=number)  # type: ignore[arg-type]
        runs = ours[conditions]
        for what, label, colour in (
            ("tcp_kbps", f"first {tcp}", COLOURS[1]),
            ("voice_kbps", f"voice over {transport.upper()}", COLOURS[0]),
        ):
            spread = over_runs(runs, what)
            time_s = np.arange(1, spread.mean.size + 1)
            _band(axes, time_s, spread, colour, label)
            if conditions.name in seconds:
                theirs = seconds[conditions.name]
                axes.plot(theirs.time_s, getattr(theirs, what), color="black", linewidth=0.5)
        axes.set(xlim=(0, time_s[-1]), ylim=(0, 260), ylabel="Throughput (kbps)")
        axes.set_title(title, loc="left")
    panels[0].legend(ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.1))
    panels[1].set_xlabel("Time (s)")
    return figure


def _quality(ours: Runs, ns2: Mapping[str, Periods], tcp: str) -> Figure:
    figure = begin(TALL_IN)
    panels = figure.subplots(2, 1, sharex=True)
    begin_s, end_s = VOICE_S[1]
    middle_s = np.arange(begin_s, end_s, GAP_S) + GAP_S / 2
    published: dict[str, Sequence[float]] = {
        "delay_ms": DELAY_MS[tcp],
        "loss_percent": LOSS[tcp],
    }
    for axes, (what, label) in zip(
        panels,
        (("delay_ms", "Delay (ms)"), ("loss_percent", "Loss rate (%)")),
        strict=True,
    ):
        for transport, colour in (("udp", COLOURS[2]), ("dccp", COLOURS[0])):
            conditions = Conditions(tcp, transport)  # type: ignore[arg-type]
            runs: Sequence[Run] = ours[conditions]
            _band(axes, middle_s, over_runs(runs, what), colour, transport.upper())
            if conditions.name in ns2:
                theirs = getattr(ns2[conditions.name], what)
                axes.plot(
                    middle_s, theirs.mean, color="black", linewidth=0.8, linestyle=(0, (4, 2))
                )
        axes.plot(middle_s, published[what], color=COLOURS[0], marker="D", linestyle="none")
        axes.set(ylabel=label, ylim=(0, None))
    panels[0].legend(ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    panels[1].set_xlabel("Time (s); another TCP flow every 10 s")
    return figure


def _band(axes: Axes, x: np.ndarray, spread: Spread, colour: str, label: str) -> None:
    axes.plot(x, spread.mean, color=colour, label=label)
    low, high = spread.mean - spread.sd, spread.mean + spread.sd
    axes.fill_between(x, np.maximum(low, 0), high, color=colour, alpha=0.18, linewidth=0)
