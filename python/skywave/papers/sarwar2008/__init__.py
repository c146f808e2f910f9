"""Sarwar et al. 2008: dynamic feedback for CCID 3 on links with long delays.

Figure 2 is a simulation, compared with ns-2. Table I and Figures 3 to 6 come from a live satellite
link, which is emulated here. What the paper leaves open about it is fitted to one row of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave.papers.protocol import Paper, Ran
from skywave.papers.reproduction import Citation
from skywave.papers.sarwar2008 import (
    cells,
    figures,
    fit,
    live,
    live_report,
    matrix,
    measures,
    oracle,
    setting,
)
from skywave.papers.sarwar2008.published import EXIT_GAIN_S
from skywave.papers.stages import run_each, stage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.papers.protocol import Options
    from skywave.papers.sarwar2008.measures import Series
    from skywave.papers.sarwar2008.setting import Conditions


@dataclass(frozen=True)
class Measured:
    """Figure 2 for each reading, ns-2's results for it, and the downloads."""

    ours: Mapping[Conditions, Series]
    ns2: Mapping[oracle.Run, Series]
    live: live_report.Live


def _run(options: Options) -> Ran[Measured]:
    """Run Figure 2 for each reading and the downloads, and get ns-2's results."""
    scenarios = {conditions: setting.scenario(conditions) for conditions in setting.ALL_CONDITIONS}
    results = run_each(scenarios, stage(options.progress, "Skywave"))
    ours = {conditions: measures.from_results(run) for conditions, run in results.items()}
    downloads = live_report.run(stage(options.progress, "downloads"))
    ns2, source = oracle.ORACLE.consult(
        live=options.live_ns2, progress=stage(options.progress, "ns-2")
    )
    return Ran(
        measured=Measured(ours, ns2, downloads),
        # Of the downloads, write those that are plotted; the others differ in their seed.
        scenarios={
            **{conditions.name: scenario for conditions, scenario in scenarios.items()},
            **{download.name: scenario for download, scenario in downloads.scenarios.items()},
        },
        results={
            **{conditions.name: run for conditions, run in results.items()},
            **{download.name: run for download, run in downloads.results.items()},
        },
        ns2=source,
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
    """Return the durations of slow start by the published equations."""
    standard_s, dynamic_s = cells.slow_starts_s()
    return {
        "standard_s": standard_s,
        "dynamic_s": dynamic_s,
        "gain_s": standard_s - dynamic_s,
        "published_gain_s": EXIT_GAIN_S,
    }


PAPER = Paper(
    protocol=1,
    package=__name__,
    citation=Citation(
        key="sarwar2008",
        title="Improvements in DCCP congestion control for satellite links",
        authors="G. Sarwar, R. Boreli, G. Jourjon, E. Lochin",
        year=2008,
    ),
    parameters=(*setting.PARAMETERS, *live.PARAMETERS),
    run=_run,
    cells=lambda measured: [
        *cells.published_cells(measured.ours, measured.ns2),
        *measured.live.cells,
    ],
    comparisons=lambda measured: cells.ns2_comparisons(measured.ours, measured.ns2),
    figures=lambda measured: [
        *figures.draw(measured.ours, measured.ns2),
        *measured.live.figures,
    ],
    readings=lambda measured: [
        _reading(conditions, series) for conditions, series in measured.ours.items()
    ],
    sections=lambda measured: {
        "growth": _growth(),
        "live": live_report.sections(measured.live),
    },
    stored=(fit.TABLE,),
    golden=oracle.ORACLE.renew,
    network=matrix.NETWORK,
    controls=matrix.CONTROLS,
)
