"""The output of a comparison of both clocks: a page, its figures and its tables."""

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

    from skywave.realtime.both import Both, Row


def cells(row: Row) -> dict[str, str]:
    """Return a row as text: what, measure, both means with margins, their ratio, the verdict."""
    scale = Scale.of(row.measure, max(abs(row.simulated.mean), abs(row.lived.mean)))

    def text(mean: float, margin: float) -> str:
        shown = number(mean / scale.factor, 3)
        # Runs that do not vary have no interval: it would claim a precision that nobody measured.
        has_margin = margin > 0
        return f"{shown} ± {number(margin / scale.factor, 2)}" if has_margin else shown

    return {
        "what": row.what,
        "measure": scale.label,
        "simulated": text(row.simulated.mean, row.simulated.margin),
        "lived": text(row.lived.mean, row.lived.margin),
        "ratio": "" if row.ratio is None else number(row.ratio, 3),
        "differs": "differs" if row.differs else "",
    }


def document(both: Both) -> dict[str, Any]:
    """Return it as JSON."""
    return {
        "name": both.scenario.name,
        "runs": len(both.lived),
        "planned": both.planned,
        "rows": [
            {
                "what": row.what,
                "measure": row.measure,
                "simulated": row.simulated.mean,
                "simulated_margin": row.simulated.margin,
                "lived": row.lived.mean,
                "lived_margin": row.lived.margin,
                "differs": None if row.difference is None else row.differs,
            }
            for row in both.rows()
        ],
        "causes": both.causes(),
        "warnings": both.warnings(),
        "emulator": [run.verdict.document() for run in both.lived],
    }


def write(both: Both, directory: Path) -> None:
    """Write the page ``both.html``, ``both.json``, the figure, and every table of every run.

    What an earlier run has left there and this one does not write is removed.

    Raises:
        OSError: If the directory cannot be written, or is that of something else. Its
            contents stay.

    """
    check_folder(directory, Kind.RUN)
    with replacing(directory, whole=True) as partial:
        figure = over_time(both, "over-time")
        if figure is not None:
            (partial / "figures").mkdir()
            figure.write(partial / "figures")
        page = render(
            "both.html.j2",
            packages="skywave.realtime",
            both=both,
            rows=[cells(row) for row in both.rows()],
            figure=figure,
            causes=both.causes(),
            warnings=both.warnings(),
            verdicts=[list(run.verdict.lines()) for run in both.lived],
            environment=environment.describe(),
        )
        (partial / "both.html").write_text(page, encoding="utf-8")
        text = _json.text(document(both)) + "\n"
        (partial / "both.json").write_text(text, encoding="utf-8")
        scenario = both.scenario.to_json() + "\n"
        (partial / "scenario.json").write_text(scenario, encoding="utf-8")
        for index, (simulated, lived) in enumerate(zip(both.simulated, both.lived, strict=True)):
            for clock, results in (("simulated", simulated), ("lived", lived.results)):
                tables = partial / f"{clock}-{index + 1}"
                tables.mkdir()
                results.write_tables(tables)
