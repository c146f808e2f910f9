"""Sarwar et al. 2008: dynamic feedback for CCID 3 on links with long delays.

Figure 2 is a simulation, compared with ns-2. Table I and Figures 3 to 6 come from a live satellite
link, which is emulated here. What the paper leaves open about it is fitted to one row of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave.papers.protocol import Paper, Ran
from skywave.papers.stages import run_plans, stage
from skywave_papers.sarwar2008 import (
    downloads,
    errors,
    figures,
    fit,
    further,
    growth,
    judge,
    live_figures,
    live_report,
    matrix,
    measures,
    oracle,
    setting,
    tried,
)
from skywave_papers.sarwar2008.ledger import LEDGER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers.measures import Measures
    from skywave.papers.protocol import Options
    from skywave.report.figures import Drawn
    from skywave_papers.sarwar2008.fit import Trial
    from skywave_papers.sarwar2008.further import Further
    from skywave_papers.sarwar2008.measures import Series
    from skywave_papers.sarwar2008.setting import Conditions


@dataclass(frozen=True)
class Measured:
    """Figure 2 for each reading, ns-2's results for it, the downloads, and more."""

    ours: Mapping[Conditions, Series]
    ns2: Mapping[oracle.Run, Series]
    live: downloads.Live
    further: Further
    """The runs of claims that neither has."""
    trials: Sequence[Trial]
    """The stored search for the shared access of the downloads."""


def _run(options: Options) -> Ran[Measured]:
    """Run Figure 2 for each reading and the downloads, and get ns-2's results."""
    scenarios = errors.scenarios(setting.ALL_CONDITIONS)
    others = further.scenarios()
    results, other_results = run_plans(
        scenarios, others, progress=stage(options.progress, "Skywave")
    )
    ours = {conditions: measures.from_results(run) for conditions, run in results.items()}
    live = downloads.run(stage(options.progress, "downloads"))
    ns2, source = oracle.ORACLE.consult(live=options.live_ns2, progress=options.progress)
    return Ran(
        measured=Measured(
            ours, ns2, live, further.measure(other_results, results), fit.TABLE.read()
        ),
        # Of the downloads, write those that are plotted; the others differ in their seed.
        scenarios={
            **{conditions.name: scenario for conditions, scenario in scenarios.items()},
            **others,
            **{download.name: scenario for download, scenario in live.scenarios.items()},
        },
        results={
            **{conditions.name: run for conditions, run in results.items()},
            **other_results,
            **{download.name: run for download, run in live.results.items()},
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


def _measures(measured: Measured) -> Measures:
    fitting = fit.fitting(measured.trials)
    return judge.measure(measured.ours, measured.ns2, measured.live, measured.further, fitting)


def _figures(measured: Measured) -> list[Drawn]:
    live = measured.live
    return [
        figures.draw_finding(_measures(measured)),
        *figures.draw(measured.ours, measured.ns2),
        *live_figures.draw(live.courses, live.shown_seed, live.beyond),
    ]


def _growth() -> Mapping[str, float]:
    """Return the durations of slow start by the published equations, and by threes."""
    standard_s, dynamic_s = judge.slow_starts_s()
    return {
        "standard_s": standard_s,
        "dynamic_s": dynamic_s,
        "gain_s": standard_s - dynamic_s,
        "published_gain_s": LEDGER.published("fig2/exit"),
        "by_threes_s": growth.by_threes_gain_s(
            setting.LINK_BPS / 8, setting.RTT_S, setting.PACKET_SIZE
        ),
    }


def _sections(measured: Measured) -> dict[str, Any]:
    """Return the values of this report's own sections."""
    outcomes = tried.TABLE.read()
    return {
        "growth": _growth(),
        "live": live_report.sections(measured.live, measured.trials),
        "outcomes": outcomes,
        "tried": [outcome.tried for outcome in outcomes],
        "tried_rules": {reading.label: reading.sentence for reading in tried.READINGS},
        "tells_rtt": next(one for one in outcomes if one.tried.reading == tried.TELLS_RTT),
    }


PAPER = Paper(
    protocol=2,
    package=__name__,
    ledger=LEDGER,
    run=_run,
    measures=_measures,
    comparisons=lambda measured: judge.compare(measured.ours, measured.ns2),
    figures=_figures,
    readings=lambda measured: [
        _reading(conditions, series) for conditions, series in measured.ours.items()
    ],
    sections=_sections,
    stored=(fit.TABLE, tried.TABLE),
    golden=oracle.ORACLE.renew,
    network=matrix.NETWORK,
    controls=matrix.CONTROLS,
)
