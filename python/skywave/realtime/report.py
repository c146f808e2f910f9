"""Writes a comparison of simulated and real time: a page, its figures and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skywave import _json
from skywave._files import replacing
from skywave._folders import Kind, check_folder
from skywave._printing import number
from skywave.realtime.figures import over_time
from skywave.report import environment
from skywave.report.pages import render
from skywave.results.columns import Scale

if TYPE_CHECKING:
    from pathlib import Path

    from skywave.realtime.comparison import ClockComparison, Row


def cells(row: Row) -> dict[str, str]:
    """Return a row as text: what, measure, means with margins, ratio, and whether they differ."""
    scale = Scale.of(row.measure, max(abs(row.simulated.value), abs(row.real_time.value)))

    def text(mean: float, margin: float) -> str:
        shown = number(mean / scale.factor, 3)
        # Runs that do not vary have no interval: it would claim a precision that nobody measured.
        has_margin = margin > 0
        return f"{shown} ± {number(margin / scale.factor, 2)}" if has_margin else shown

    return {
        "what": row.what,
        "measure": scale.label,
        "simulated": text(row.simulated.value, row.simulated.margin),
        "real_time": text(row.real_time.value, row.real_time.margin),
        "ratio": "" if row.ratio is None else number(row.ratio, 3),
        "differs": "differs" if row.differs else "",
    }


def document(comparison: ClockComparison) -> dict[str, Any]:
    """Return it as JSON."""
    return {
        "name": comparison.scenario.name,
        "runs": len(comparison.real_time),
        "planned": comparison.planned,
        "rows": [
            {
                "what": row.what,
                "measure": row.measure,
                "simulated": row.simulated.value,
                "simulated_margin": row.simulated.margin,
                "real_time": row.real_time.value,
                "real_time_margin": row.real_time.margin,
                "differs": None if row.difference is None else row.differs,
            }
            for row in comparison.rows()
        ],
        "causes": comparison.causes(),
        "warnings": comparison.warnings(),
        "accuracy": [run.accuracy.document() for run in comparison.real_time],
    }


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
            rows=[cells(row) for row in comparison.rows()],
            figure=figure,
            causes=comparison.causes(),
            warnings=comparison.warnings(),
            accuracies=[list(run.accuracy.lines()) for run in comparison.real_time],
            environment=environment.describe(),
        )
        (partial / "comparison.html").write_text(page, encoding="utf-8")
        text = _json.text(document(comparison)) + "\n"
        (partial / "comparison.json").write_text(text, encoding="utf-8")
        scenario = comparison.scenario.to_json() + "\n"
        (partial / "scenario.json").write_text(scenario, encoding="utf-8")
        real_time = [run.results for run in comparison.real_time]
        for clock, runs in (("simulated", comparison.simulated), ("real-time", real_time)):
            for number, results in enumerate(runs, start=1):
                tables = partial / f"{clock}-{number}"
                tables.mkdir()
                results.write_tables(tables)
