"""Writes a comparison of simulated and real time: a page, its figures and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.lines import Line2D

from skywave import _json
from skywave._files import replacing
from skywave._folders import Kind, check_folder
from skywave.plots.panels import above
from skywave.plots.runs import mark_cut, reach
from skywave.plots.style import COLOURS
from skywave.report.figures import RenderedFigure, begin, style
from skywave.report.pages import render
from skywave.results.columns import Scale
from skywave.results.samples import HELD, Series, by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from skywave.realtime.comparison import ClockComparison
    from skywave.results import Results


WIDTH_IN, PANEL_IN, REST_IN = 6.5, 1.35, 0.85
PANELS = (
    ("flows", "goodput_bps"),
    ("flows", "cwnd_packets"),
    ("links", "queue_packets"),
    ("flows", "delay_mean_s"),
    ("links", "drops"),
)
"""What is shown over time."""
CLOCKS: tuple[tuple[str, Literal["--", "-"], float], ...] = (
    ("simulated", "--", 0.9),
    ("between sockets", "-", 0.8),
)


def over_time(comparison: ClockComparison, name: str) -> RenderedFigure | None:
    """Draw the first run of each clock over time; None if nothing was sampled."""
    runs = (comparison.simulated[0], comparison.real_time[0].results)
    panels = [
        (table, measure)
        for table, measure in PANELS
        if any(_largest(run, table, measure) > 0 for run in runs)
    ]
    if not panels:
        return None
    on_clock = comparison.real_time[0].accuracy.on_clock
    caption = (
        f"{comparison.scenario.name}: the first run, simulated (dashed) and {on_clock} (solid). "
        "Each point is of an interval that ends then."
    )
    return RenderedFigure.at_widths(name, caption, lambda: _draw(runs, panels, on_clock))


def _draw(runs: Sequence[Results], panels: Sequence[tuple[str, str]], on_clock: str) -> Figure:
    with style():
        figure = begin((WIDTH_IN, REST_IN + PANEL_IN * len(panels)))
        figure.set_layout_engine("constrained")
        all_axes = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
        for axes, (table, measure) in zip(all_axes, panels, strict=True):
            _panel(axes, runs, table, measure)
        all_axes[-1].set_xlabel("time (s)")
        figure.align_ylabels(all_axes)
        lines = [
            Line2D([], [], color="black", linestyle=dashes, linewidth=width)
            for _, dashes, width in CLOCKS
        ]
        labels = ["simulated", on_clock]
        figure.legend(lines, labels, loc="outside upper right", ncols=len(lines))
    return figure


def _panel(axes: Axes, runs: Sequence[Results], table: str, measure: str) -> None:
    most = max(_largest(run, table, measure) for run in runs)
    scale = Scale.of(measure, most)
    drawn: dict[str, Series] = {}
    colours: dict[str, str] = {}
    for results, (clock, dashes, width) in zip(runs, CLOCKS, strict=True):
        series = _series(results, table, measure)
        shown = list(series)
        if table == "links":
            links = sorted(results.totals["links"], key=lambda link: -link["queue_max_packets"])
            shown = [link["name"] for link in links[:1] if link["name"] in series]
        # As many as there are colours.
        for name, colour in zip(shown, COLOURS, strict=False):
            one = series[name]
            drawn[f"{clock} {name}"], colours[f"{clock} {name}"] = one, colour
            label = name if clock != "simulated" else None
            axes.plot(
                one.times_s,
                one.values / scale.factor,
                dashes,
                color=colour,
                linewidth=width,
                label=label,
            )
    axes.set_ylabel(scale.label.replace(" (", "\n("))
    # A sample of an interval that the end of the run cut short does not set the scale.
    axes.set_ylim(0, min(axes.get_ylim()[1], 1.05 * most / scale.factor) if most > 0 else None)
    axes.margins(x=0.01)
    noted = mark_cut(axes, drawn, colours, scale)
    above(axes, least=1, gap_lines=noted)


def _series(results: Results, table: str, measure: str) -> dict[str, Series]:
    """Return a measure of each flow or link that has any of it: no cwnd of CCID 3."""
    rows, key = results.tables[table], table.removesuffix("s")
    is_held = measure in HELD
    every = by_name(rows, key, measure, while_active=is_held)
    if not is_held:
        return every
    return {name: one for name, one in every.items() if not np.isnan(one.values).all()}


def _largest(results: Results, table: str, measure: str) -> float:
    if table not in results.tables or measure not in results.tables[table].column_names:
        return 0.0
    return reach(measure, _series(results, table, measure).values())


def write(comparison: ClockComparison, directory: Path) -> None:
    """Write ``comparison.html``, ``comparison.json``, the figure, and every table of every run.

    Files of an earlier comparison that this one does not write are removed.

    Raises:
        OSError: If the directory cannot be written, or is that of something else. Its
            contents stay.
    """
    check_folder(directory, Kind.RUN)
    with replacing(directory, whole=True) as partial:
        figure = over_time(comparison, "over-time")
        if figure is not None:
            (partial / "figures").mkdir()
            figure.write(partial / "figures")
        page = render(
            "comparison.html.j2",
            packages="skywave.realtime",
            comparison=comparison,
            rows=[row.cells() for row in comparison.rows()],
            figure=figure,
            causes=comparison.causes(),
            warnings=comparison.warnings(),
            accuracies=[list(run.accuracy.lines()) for run in comparison.real_time],
        )
        (partial / "comparison.html").write_text(page, encoding="utf-8")
        text = _json.text(comparison.document()) + "\n"
        (partial / "comparison.json").write_text(text, encoding="utf-8")
        scenario = comparison.scenario.to_json() + "\n"
        (partial / "scenario.json").write_text(scenario, encoding="utf-8")
        real_time = [run.results for run in comparison.real_time]
        other = comparison.clock.replace(" ", "-")
        for clock, runs in (("simulated", comparison.simulated), (other, real_time)):
            for number, results in enumerate(runs, start=1):
                tables = partial / f"{clock}-{number}"
                tables.mkdir()
                results.write_tables(tables)
