"""Sarwar et al. 2008: dynamic feedback for CCID 3 on links with long delays.

Figure 2 is a simulation, compared with ns-2. Table I and Figures 3 to 6 come from a live satellite
link, which is emulated here. What the paper leaves open about it is fitted to one row of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave.papers.protocol import Paper, RunOutput
from skywave.papers.stages import run_plans, stage
from skywave_papers.sarwar2008 import (
    access,
    downloads,
    errors,
    figures,
    fit,
    further,
    growth,
    judge,
    live,
    live_figures,
    matrix,
    measures,
    oracle,
    readings,
    setting,
)
from skywave_papers.sarwar2008.ledger import LEDGER
from skywave_papers.sarwar2008.published import TABLE_1

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers.measures import Measures
    from skywave.papers.protocol import Options
    from skywave.report.figures import RenderedFigure
    from skywave_papers.sarwar2008.fit import Trial
    from skywave_papers.sarwar2008.further import Further
    from skywave_papers.sarwar2008.measures import Series
    from skywave_papers.sarwar2008.setting import Conditions


TELLS_RTT = "the sender tells the round-trip time on the live link"
"""The reading that the report compares with that of the verdicts."""


@dataclass(frozen=True)
class Measurements:
    """Figure 2 for each reading, ns-2's results for it, the downloads, and more."""

    ours: Mapping[Conditions, Series]
    ns2: Mapping[oracle.Run, Series]
    live: downloads.Live
    further: Further
    """The runs of claims that neither has."""
    trials: Sequence[Trial]
    """The stored search for the shared access of the downloads."""


def _run(options: Options) -> RunOutput[Measurements]:
    """Run Figure 2 for each reading and the downloads, and get ns-2's results."""
    scenarios = errors.scenarios(setting.ALL_CONDITIONS)
    others = further.scenarios()
    results, other_results = run_plans(
        scenarios, others, progress=stage(options.progress, "Skywave")
    )
    ours = {conditions: measures.from_results(run) for conditions, run in results.items()}
    link = downloads.run(stage(options.progress, "downloads"))
    ns2, source = oracle.ORACLE.consult(live=options.live_ns2, progress=options.progress)
    return RunOutput(
        measured=Measurements(
            ours, ns2, link, further.measure(other_results, results), fit.TABLE.read()
        ),
        # Of the downloads, write those that are plotted; the others differ in their seed.
        scenarios={
            **{conditions.name: scenario for conditions, scenario in scenarios.items()},
            **others,
            **{download.name: scenario for download, scenario in link.scenarios.items()},
        },
        results={
            **{conditions.name: run for conditions, run in results.items()},
            **other_results,
            **{download.name: run for download, run in link.results.items()},
        },
        ns2=source,
    )


def _measures(measured: Measurements) -> Measures:
    fitting = fit.fitting(measured.trials)
    return judge.measure(measured.ours, measured.ns2, measured.live, measured.further, fitting)


def _figures(measured: Measurements) -> list[RenderedFigure]:
    link = measured.live
    return [
        figures.draw_finding(_measures(measured)),
        *figures.draw(measured.ours, measured.ns2),
        *live_figures.draw(link.courses, link.shown_seed, link.beyond),
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


def _sections(measured: Measurements) -> dict[str, Any]:
    """Return what else the report needs."""
    return {
        "access": access,
        "beyond": measured.live.beyond,
        "downloads": downloads,
        "fit": fit,
        "growth": _growth(),
        "judge": judge,
        "live": live,
        "published": TABLE_1,
        "rtt_ref": downloads.RttRefJudgement.of(measured.live.beyond),
        "tells_rtt": readings.TABLE.row(reading=TELLS_RTT),
    }


PAPER = Paper(
    protocol=2,
    package=__name__,
    ledger=LEDGER,
    run=_run,
    measures=_measures,
    comparisons=lambda measured: judge.compare(measured.ours, measured.ns2),
    figures=_figures,
    readings=lambda _: readings.TABLE.read(),
    sections=_sections,
    stored=(fit.TABLE, readings.TABLE),
    golden=oracle.ORACLE.renew,
    network=matrix.NETWORK,
    controls=matrix.CONTROLS,
)
