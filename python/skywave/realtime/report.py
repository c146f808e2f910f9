"""Writes a comparison of simulated and real time: a page, its figures and its tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from skywave import _json
from skywave._files import replacing
from skywave._folders import Kind, check_folder
from skywave.realtime.figures import over_time
from skywave.report import environment
from skywave.report.pages import render

if TYPE_CHECKING:
    from skywave.realtime.comparison import ClockComparison


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
            environment=environment.describe(),
        )
        (partial / "comparison.html").write_text(page, encoding="utf-8")
        text = _json.text(comparison.document()) + "\n"
        (partial / "comparison.json").write_text(text, encoding="utf-8")
        scenario = comparison.scenario.to_json() + "\n"
        (partial / "scenario.json").write_text(scenario, encoding="utf-8")
        real_time = [run.results for run in comparison.real_time]
        for clock, runs in (("simulated", comparison.simulated), ("real-time", real_time)):
            for number, results in enumerate(runs, start=1):
                tables = partial / f"{clock}-{number}"
                tables.mkdir()
                results.write_tables(tables)
