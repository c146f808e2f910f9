"""Figures 2 to 6 of Lien and Ding, and our own figures."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from skywave.report.figures import (
    COLOURS,
    NARROW_IN,
    TALL_IN,
    TITLE_IN,
    RenderedFigure,
    begin,
    is_narrow,
    style,
)
from skywave_papers.lien2009 import beyond, canonical, setting
from skywave_papers.lien2009.ledger import DELAY_MS, LOSS, RATIO
from skywave_papers.lien2009.setting import FLAVOURS, STREAMS, Conditions, Transport

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from skywave.results import Results
    from skywave.results.samples import Samples
    from skywave_papers.lien2009.measures import Spread, Spreads

BAND = "bands: one standard deviation of single runs"
VOICE_COLOURS: dict[Transport, str] = {"dccp": COLOURS[0], "udp": COLOURS[2]}


def draw(
    ours: Spreads,
    ns2: Spreads,
    seconds: Mapping[str, Samples],
    found: Mapping[beyond.Case, beyond.Outcome],
    canonical_runs: Mapping[tuple[str, int], Results],
) -> list[RenderedFigure]:
    """Draw the finding, the paper's figures, and those of our own sections."""
    throughputs = (Conditions("NewReno", "udp"), Conditions("NewReno"), Conditions("Vegas"))
    with style():
        return [
            RenderedFigure.at_widths(
                "finding",
                "Packets of the call that arrive, relative to those without TCP, by the number of "
                f"TCP flows beside it. Means over all seeds; {BAND}. Diamonds: the paper's Table 3 "
                "(DCCP; it has none for UDP). Black: ns-2.",
                partial(_kept, ours, ns2),
            ),
            *(
                RenderedFigure.at_widths(
                    f"figure{number}",
                    f"Figure {number}. Throughput of voice over {one.transport.upper()} and of the "
                    f"first {one.tcp} flow on the bottleneck. (a) Voice first, TCP flows at 10, 20 "
                    ".. 50 s; (b) TCP first, voice from 20 to 80 s. Means over all seeds; "
                    f"{BAND}. Black: one run of ns-2.",
                    partial(_throughput, ours, seconds, one),
                )
                for number, one in enumerate(throughputs, start=2)
            ),
            *(
                RenderedFigure.at_widths(
                    f"figure{number}",
                    f"Figure {number}. Delay and loss of voice over UDP and DCCP beside {tcp} "
                    f"(voice first). Means over all seeds; {BAND}. Diamonds: Table 4. Black: ns-2.",
                    partial(_quality, ours, ns2, tcp),
                )
                for number, tcp in ((5, "NewReno"), (6, "Vegas"))
            ),
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
                canonical.draw(canonical_runs),
            ),
        ]


def _kept(ours: Spreads, ns2: Spreads) -> Figure:
    figure, rows, legend = begin(above_in=2 * TITLE_IN), 1, {"loc": "upper right", "ncols": 3}
    if is_narrow(figure):
        rows, legend = 2, {"loc": "upper left", "ncols": 2}
        figure = begin((NARROW_IN, 4.2), above_in=2.6 * TITLE_IN)
        figure.subplots_adjust(left=0.17, right=0.98, wspace=0.14, hspace=0.34)
    panels = figure.subplots(rows, -(-len(FLAVOURS) // rows), sharey=True, squeeze=False)
    for axes in panels.flat[len(FLAVOURS) :]:
        axes.set_visible(False)
    flows = np.arange(STREAMS + 1)
    for axes, tcp in zip(panels.flat, FLAVOURS, strict=False):
        for transport, colour in VOICE_COLOURS.items():
            conditions = Conditions(tcp, transport)
            label = f"{transport.upper()}, Skywave"
            _band(axes, flows, ours(conditions, "ratio_percent"), colour, label)
            label = "ns-2" if transport == "dccp" else ""
            _ns2(axes, flows, ns2(conditions, "ratio_percent"), label)
        _published(axes, flows, (100, *RATIO[tcp]), "DCCP, published")
        axes.set(xlim=(-0.4, STREAMS + 0.4), ylim=(0, 115), xticks=flows)
        axes.set_title(tcp, loc="left")
    for axes in panels[:, 0]:
        axes.set_ylabel("Packets that arrive (%)")
    for axes in panels[-1] if rows > 1 else panels[0, 2:3]:
        axes.set_xlabel("TCP flows")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), **legend)
    return figure


def _throughput(ours: Spreads, seconds: Mapping[str, Samples], first: Conditions) -> Figure:
    figure = begin(TALL_IN, above_in=2 * TITLE_IN)
    panels = figure.subplots(2, 1)
    titles = ("(a) Voice first", "(b) TCP first")
    for number, (axes, title) in enumerate(zip(panels, titles, strict=True), start=1):
        conditions = replace(first, scenario=number)
        theirs = seconds[conditions.name]
        for what, label, colour in (
            ("tcp_kbps", f"first {first.tcp}", COLOURS[1]),
            ("voice_kbps", f"voice over {first.transport.upper()}", COLOURS[0]),
        ):
            spread = ours(conditions, what)
            time_s = np.arange(1, spread.mean.size + 1)
            _band(axes, time_s, spread, colour, label)
            axes.plot(theirs["time_s"], theirs[what], color="black", linewidth=0.5)
        axes.set(xlim=(0, time_s[-1]), ylim=(0, 260), ylabel="Throughput (kbps)")
        axes.set_title(title, loc="left")
    panels[0].legend(ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.1))
    panels[1].set_xlabel("Time (s)")
    return figure


def _quality(ours: Spreads, ns2: Spreads, tcp: str) -> Figure:
    figure = begin(TALL_IN)
    panels = figure.subplots(2, 1, sharex=True)
    middle_s = _middles_s(1)
    for axes, what, label, published in zip(
        panels,
        ("delay_ms", "loss_percent"),
        ("Delay (ms)", "Loss rate (%)"),
        (DELAY_MS[tcp], LOSS[tcp]),
        strict=True,
    ):
        for transport in ("udp", "dccp"):
            conditions = Conditions(tcp, transport)
            spread = ours(conditions, what)
            _band(axes, middle_s, spread, VOICE_COLOURS[transport], transport.upper())
            _ns2(axes, middle_s, ns2(conditions, what))
        _published(axes, middle_s, published)
        axes.set(ylabel=label, ylim=(0, None))
    panels[0].legend(ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    panels[1].set_xlabel("Time (s); another TCP flow every 10 s")
    return figure


def _long_call(ours: Spreads, ns2: Spreads) -> Figure:
    figure = begin()
    axes = figure.subplots()
    middle_s = _middles_s(setting.LONG_CALL.scenario)
    _band(axes, middle_s, ns2(setting.LONG_CALL, "ratio_percent"), "black", "ns-2")
    _band(axes, middle_s, ours(setting.LONG_CALL, "ratio_percent"), COLOURS[0], "Skywave")
    axes.set(xlim=setting.VOICE_S[setting.LONG_CALL.scenario], ylim=(0, None), xlabel="Time (s)")
    axes.set_ylabel("Throughput ratio (%)")
    axes.legend(ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return figure


def _middles_s(scenario: int) -> np.ndarray:
    """Return the middle of each period of a call."""
    return np.arange(*setting.VOICE_S[scenario], setting.GAP_S) + setting.GAP_S / 2


def _band(axes: Axes, x: np.ndarray, spread: Spread, colour: str, label: str) -> None:
    axes.plot(x, spread.mean, color=colour, label=label)
    low, high = spread.mean - spread.sd, spread.mean + spread.sd
    axes.fill_between(x, np.maximum(low, 0), high, color=colour, alpha=0.18, linewidth=0)


def _ns2(axes: Axes, x: np.ndarray, spread: Spread, label: str = "") -> None:
    axes.plot(x, spread.mean, color="black", linewidth=0.8, linestyle=(0, (4, 2)), label=label)


def _published(axes: Axes, x: np.ndarray, values: tuple[float, ...], label: str = "") -> None:
    axes.plot(x, values, color=COLOURS[0], marker="D", linestyle="none", label=label)
