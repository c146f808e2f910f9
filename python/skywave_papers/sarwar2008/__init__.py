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
    downloads,
    figures,
    further,
    judge,
    live,
    matrix,
    oracle,
    readings,
    setting,
)
from skywave_papers.sarwar2008.ledger import LEDGER, TABLE_1
from skywave_papers.sarwar2008.measures import from_results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeVar

    from skywave.papers.measures import Measures
    from skywave.papers.protocol import Options

    Run = TypeVar("Run")


@dataclass(frozen=True)
class Measurements:
    """Figure 2 for each reading, ns-2's results for it, the downloads, and more."""

    ours: judge.Runs
    ns2: judge.Ns2
    live: downloads.Live
    further: Measures
    """Of claims that neither has."""
    trials: Sequence[readings.Trial]
    """The stored search for the shared access of the downloads."""


def _run(options: Options) -> RunOutput[Measurements]:
    """Run Figure 2 for each reading and the downloads, and get ns-2's results."""
    scenarios, others = setting.scenarios(setting.ALL_CONDITIONS), further.scenarios()
    results, other_results = run_plans(
        scenarios, others, progress=stage(options.progress, "Skywave")
    )
    ours = {conditions: from_results(run) for conditions, run in results.items()}
    link = downloads.run(
        stage(options.progress, "downloads"), {one: one for one in live.ALL_DOWNLOADS}
    )
    ns2, source = oracle.ORACLE.consult(live=options.live_ns2, progress=options.progress)
    return RunOutput(
        measured=Measurements(
            ours, ns2, link, further.measure(other_results, results, ours), readings.TRIALS.read()
        ),
        # Of the downloads, write those that are plotted; the others differ in their seed.
        scenarios=_by_name(scenarios) | others | _by_name(link.scenarios),
        results=_by_name(results) | other_results | _by_name(link.results),
        ns2=source,
    )


def _by_name(runs: Mapping[Any, Run]) -> dict[str, Run]:
    return {one.name: run for one, run in runs.items()}


def _measures(measured: Measurements) -> Measures:
    predicted = [one.gain_percent for one in readings.fitting(measured.trials)]
    return judge.measure(measured.ours, measured.ns2, measured.live, measured.further, predicted)


def _sections(measured: Measurements) -> dict[str, Any]:
    """Return what else the report needs."""
    return {
        "beyond": measured.live.beyond,
        "downloads": downloads,
        "judge": judge,
        "live": live,
        "published": TABLE_1,
        "published_gain_s": LEDGER.published("fig2/exit"),
        "search": readings,
        "setting": setting,
        "tells_rtt": readings.TABLE.row(reading=readings.TELLS_RTT),
    }


PAPER = Paper(
    protocol=2,
    package=__name__,
    ledger=LEDGER,
    run=_run,
    measures=_measures,
    comparisons=lambda measured: judge.compare(measured.ours, measured.ns2),
    figures=lambda measured: figures.draw(
        _measures(measured), measured.ours, measured.ns2, measured.live
    ),
    readings=lambda _: readings.TABLE.read(),
    sections=_sections,
    stored=(readings.TRIALS, readings.TABLE),
    golden=oracle.ORACLE.renew,
    network=matrix.NETWORK,
    controls=matrix.CONTROLS,
)
