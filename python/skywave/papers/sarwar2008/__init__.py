"""Sarwar et al. 2008: dynamic feedback for CCID 3 on links of long delay.

Figure 2 is a simulation, beside ns-2's. Table I and Figures 3 to 6 come from a live satellite link,
which is emulated here; what the paper does not say of it is fitted to one row of the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skywave.papers.reproduction import Paper, Reproduction
from skywave.papers.sarwar2008 import (
    cells,
    figures,
    live,
    live_report,
    measures,
    oracle,
    setting,
)
from skywave.papers.sarwar2008.published import EXIT_GAIN_S
from skywave.papers.stages import run_each, stage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.papers import Progress
    from skywave.papers.sarwar2008.measures import Series
    from skywave.papers.sarwar2008.setting import Conditions

PAPER = Paper(
    key="sarwar2008",
    title="Improvements in DCCP congestion control for satellite links",
    authors="G. Sarwar, R. Boreli, G. Jourjon, E. Lochin",
    year=2008,
)


def reproduce(*, live_ns2: bool, progress: Progress | None) -> Reproduction:
    """Run Figure 2 under each reading and the downloads, and judge the published values."""
    scenarios = {conditions: setting.scenario(conditions) for conditions in setting.ALL_CONDITIONS}
    results = run_each(scenarios, stage(progress, "Skywave"))
    ours = {conditions: measures.from_results(run) for conditions, run in results.items()}
    ran = live_report.run(stage(progress, "downloads"))
    ns2, source = oracle.ORACLE.consult(live=live_ns2, progress=stage(progress, "ns-2"))
    return Reproduction(
        paper=PAPER,
        cells=[*cells.published_cells(ours, ns2), *ran.cells],
        comparisons=cells.ns2_comparisons(ours, ns2),
        parameters=(*setting.PARAMETERS, *live.PARAMETERS),
        ns2=source,
        figures=[*figures.draw(ours, ns2), *ran.figures],
        # Of the downloads those that are drawn; the others differ in their seed.
        scenarios={
            **{conditions.name: scenario for conditions, scenario in scenarios.items()},
            **{download.name: scenario for download, scenario in ran.scenarios.items()},
        },
        results={
            **{conditions.name: run for conditions, run in results.items()},
            **{download.name: run for download, run in ran.results.items()},
        },
        sections={
            "readings": [_reading(conditions, series) for conditions, series in ours.items()],
            "growth": _growth(),
            "live": live_report.sections(ran),
        },
    )


def _reading(conditions: Conditions, series: Series) -> dict[str, Any]:
    """Return a row of the table of readings."""
    return {
        "reading": conditions.reading,
        "feedback": conditions.feedback,
        "exit_s": series.exit_s,
        "recovery_s": series.recovery_s,
        "mean_kbps": series.mean_bps / 1e3,
        "loss_percent": series.loss_percent,
        "reports": int(series.reports.sum()),
        "return_kbps": (series.return_bps or 0) / 1e3,
        "return_percent": 100 * (series.return_bps or 0) / series.mean_bps,
    }


def _growth() -> Mapping[str, float]:
    """Return what the published equations say of this link."""
    standard_s, dynamic_s = cells.slow_starts_s()
    return {
        "standard_s": standard_s,
        "dynamic_s": dynamic_s,
        "gain_s": standard_s - dynamic_s,
        "published_gain_s": EXIT_GAIN_S,
    }
