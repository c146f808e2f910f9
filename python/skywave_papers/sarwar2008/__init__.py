"""Sarwar et al. 2008: dynamic feedback for CCID 3 on links with long delays.

Figure 2 is a simulation, compared with ns-2. Table I and Figures 3 to 6 come from a live satellite
link, which is emulated here. What the paper leaves open about it is fitted to one row of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave._printing import number
from skywave.papers.citation import Citation
from skywave.papers.protocol import Paper, Ran
from skywave.papers.reproduction import Finding
from skywave.papers.stages import run_plans, stage
from skywave_papers.sarwar2008 import (
    cells,
    claims,
    errors,
    figures,
    fit,
    further,
    growth,
    live,
    live_report,
    matrix,
    measures,
    oracle,
    sentences,
    setting,
    tried,
)
from skywave_papers.sarwar2008.published import EXIT_GAIN_S, PRINTED, TABLE_1

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.papers.cells import Cell
    from skywave.papers.protocol import Options
    from skywave_papers.sarwar2008.further import Further
    from skywave_papers.sarwar2008.measures import Series
    from skywave_papers.sarwar2008.setting import Conditions


@dataclass(frozen=True)
class Measured:
    """Figure 2 for each reading, ns-2's results for it, the downloads, and the runs of claims."""

    ours: Mapping[Conditions, Series]
    ns2: Mapping[oracle.Run, Series]
    live: live_report.Live
    further: Further


def _run(options: Options) -> Ran[Measured]:
    """Run Figure 2 for each reading and the downloads, and get ns-2's results."""
    scenarios = errors.scenarios(setting.ALL_CONDITIONS)
    others = further.scenarios()
    results, other_results = run_plans(
        scenarios, others, progress=stage(options.progress, "Skywave")
    )
    ours = {conditions: measures.from_results(run) for conditions, run in results.items()}
    downloads = live_report.run(stage(options.progress, "downloads"))
    ns2, source = oracle.ORACLE.consult(
        live=options.live_ns2, progress=stage(options.progress, "ns-2")
    )
    return Ran(
        measured=Measured(ours, ns2, downloads, further.measure(other_results, results)),
        # Of the downloads, write those that are plotted; the others differ in their seed.
        scenarios={
            **{conditions.name: scenario for conditions, scenario in scenarios.items()},
            **others,
            **{download.name: scenario for download, scenario in downloads.scenarios.items()},
        },
        results={
            **{conditions.name: run for conditions, run in results.items()},
            **other_results,
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


def _cells(measured: Measured) -> list[Cell]:
    return [*cells.published_cells(measured.ours, measured.ns2), *measured.live.cells]


def _claims(measured: Measured) -> list[Cell]:
    return claims.further_claims(measured.ours, measured.ns2, measured.live, measured.further)


def _finding(measured: Measured) -> Finding:
    """Return what more reports gain: the published values, and ours."""
    judged = {cell.id: cell for cell in _cells(measured)}
    exit_, rate, order = (judged[name] for name in ("fig2/exit", "text/gain", "table1/rate-order"))
    table_percent = 100 * order.published / TABLE_1["standard"].rate_kbps
    return Finding(
        "A receiver that reports every tenth of a second, not once per round trip, makes downloads "
        f"over an emulated satellite link {number(rate.ours, 2)} % faster (published: "
        f"{number(rate.published)} % in the text, {number(table_percent, 2)} % by its table) and "
        f"lose less. But the start-up phase ends only {number(exit_.ours)} s sooner here, and "
        f"{number(exit_.ns2)} s in ns-2 with its own initial rate, not {number(exit_.published)} "
        "s: a receiver has little "
        "to report while few packets arrive, and a sender may double its rate only once per round "
        "trip.",
        "finding",
        "Receivers that report several times per round trip do make downloads over a satellite "
        f"link faster: by {number(rate.ours, 2)} % (published: {number(rate.published)} % and "
        f"{number(table_percent, 2)} %). But the start-up phase ends {number(exit_.ours)} s "
        f"sooner here and {number(exit_.ns2)} s in ns-2, not {number(exit_.published)} s.",
    )


def _growth() -> Mapping[str, float]:
    """Return the durations of slow start by the published equations, and by threes."""
    standard_s, dynamic_s = cells.slow_starts_s()
    return {
        "standard_s": standard_s,
        "dynamic_s": dynamic_s,
        "gain_s": standard_s - dynamic_s,
        "published_gain_s": EXIT_GAIN_S,
        "by_threes_s": growth.by_threes_gain_s(
            setting.LINK_BPS / 8, setting.RTT_S, setting.PACKET_SIZE
        ),
    }


def _sections(measured: Measured) -> dict[str, Any]:
    """Return the values of this report's own sections."""
    outcomes = tried.TABLE.read()
    return {
        "growth": _growth(),
        "live": live_report.sections(measured.live),
        "outcomes": outcomes,
        "tried": [outcome.tried for outcome in outcomes],
        "tried_rules": {reading.label: reading.sentence for reading in tried.READINGS},
        "tells_rtt": next(one for one in outcomes if one.tried.reading == tried.TELLS_RTT),
        "by_threes": next(one for one in outcomes if one.tried.reading == tried.BY_THREES),
        "sentences": sentences.SENTENCES,
        "held": sentences.held([*_cells(measured), *_claims(measured)]),
    }


PAPER = Paper(
    protocol=2,
    package=__name__,
    citation=Citation(
        key="sarwar2008",
        title="Improvements in DCCP congestion control for satellite links",
        authors="G. Sarwar, R. Boreli, G. Jourjon, E. Lochin",
        year=2008,
        venue="International Workshop on Satellite and Space Communications (IWSSC)",
        doi="10.1109/IWSSC.2008.4656732",
    ),
    parameters=(*setting.PARAMETERS, *live.PARAMETERS),
    run=_run,
    cells=_cells,
    printed=PRINTED,
    claims=_claims,
    finding=_finding,
    comparisons=lambda measured: cells.ns2_comparisons(measured.ours, measured.ns2),
    figures=lambda measured: [
        figures.draw_finding({cell.id: cell for cell in _cells(measured)}),
        *figures.draw(measured.ours, measured.ns2),
        *measured.live.figures,
    ],
    readings=lambda measured: [
        _reading(conditions, series) for conditions, series in measured.ours.items()
    ],
    sections=_sections,
    stored=(fit.TABLE, tried.TABLE),
    golden=oracle.ORACLE.renew,
    network=matrix.NETWORK,
    controls=matrix.CONTROLS,
)
