"""Nor et al. 2011: the effect of CCID 2's initial slow-start threshold on a long-delay link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave.papers.protocol import Paper, RunOutput
from skywave.papers.stages import run_plans, stage
from skywave.results.fairness import jain
from skywave_papers.nor2011 import figures, further, judge, matrix, measures, readings, setting
from skywave_papers.nor2011.ledger import LEDGER
from skywave_papers.nor2011.oracle import ORACLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.papers.protocol import Options


@dataclass(frozen=True)
class Measurements:
    """Our runs of both experiments and of our own sections, ns-2's, and claims of further runs."""

    ours: judge.Runs
    ns2: judge.Runs
    further: Mapping[str, float]


def _run(options: Options) -> RunOutput[Measurements]:
    """Run both experiments, our own sections and further claims, and get ns-2's results."""
    plans = {conditions: setting.scenario(conditions) for conditions in setting.ALL_CONDITIONS}
    others = further.scenarios()
    runs, other_runs = run_plans(plans, others, progress=stage(options.progress, "Skywave"))
    ours = {conditions: measures.from_results(run) for conditions, run in runs.items()}
    ns2, source = ORACLE.consult(live=options.live_ns2, progress=options.progress)
    claims = further.measure(other_runs, ours[setting.EXPERIMENT_1])
    return RunOutput(
        measured=Measurements(ours, ns2, claims),
        scenarios={**{conditions.name: plan for conditions, plan in plans.items()}, **others},
        results={**{conditions.name: run for conditions, run in runs.items()}, **other_runs},
        ns2=source,
    )


def _sections(measured: Measurements) -> dict[str, Any]:
    """Return what else the report needs."""
    return {
        "setting": setting,
        "measures": measures,
        "simulators": {"Skywave": measured.ours, "ns-2": measured.ns2},
        "experiment_2": tuple(map(setting.Conditions, setting.PUBLISHED_SSTHRESH)),
        "published": LEDGER.published,
        "jain": jain,
        "scans": {"Skywave": readings.SCAN.read(), "ns-2": readings.NS2_SCAN.read()},
        "bands": readings.bands(readings.SCAN.read()),
        "conflict": readings.conflict,
    }


PAPER = Paper(
    protocol=2,
    package=__name__,
    ledger=LEDGER,
    run=_run,
    measures=lambda measured: judge.measure(measured.ours, measured.ns2, measured.further),
    comparisons=lambda measured: judge.compare(measured.ours, measured.ns2),
    figures=lambda measured: figures.draw(measured.ours, measured.ns2),
    readings=lambda _: readings.results(),
    sections=_sections,
    stored=(readings.SCAN, readings.TABLE),
    golden=readings.renew_ns2,
    network=matrix.NETWORK,
    controls=matrix.CONTROLS,
)
