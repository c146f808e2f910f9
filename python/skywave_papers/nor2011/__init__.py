"""Nor et al. 2011: the effect of CCID 2's initial slow-start threshold on a long-delay link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave.papers.protocol import Paper, RunOutput
from skywave.papers.stages import run_plans, stage
from skywave_papers.nor2011 import (
    figures,
    further,
    judge,
    matrix,
    measures,
    oracle,
    readings,
    setting,
)
from skywave_papers.nor2011.ledger import LEDGER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.papers.protocol import Options
    from skywave_papers.nor2011.further import Further
    from skywave_papers.nor2011.measures import Series
    from skywave_papers.nor2011.setting import Conditions


@dataclass(frozen=True)
class Measurements:
    """Both experiments and the runs of our own sections, ns-2's results for the same, and more."""

    ours: Mapping[Conditions, Series]
    ns2: Mapping[Conditions, Series]
    further: Further
    """Our runs for claims that neither experiment tests."""


def _run(options: Options) -> RunOutput[Measurements]:
    """Run both experiments, our own sections and further claims, and get ns-2's results."""
    scenarios = {conditions: setting.scenario(conditions) for conditions in setting.ALL_CONDITIONS}
    others = further.scenarios()
    results, other_results = run_plans(
        scenarios, others, progress=stage(options.progress, "Skywave")
    )
    ours = {conditions: measures.from_results(run) for conditions, run in results.items()}
    ns2, source = oracle.ORACLE.consult(live=options.live_ns2, progress=options.progress)
    return RunOutput(
        measured=Measurements(ours, ns2, further.measure(other_results)),
        scenarios={
            **{conditions.name: scenario for conditions, scenario in scenarios.items()},
            **others,
        },
        results={
            **{conditions.name: run for conditions, run in results.items()},
            **other_results,
        },
        ns2=source,
    )


def _sections(measured: Measurements) -> dict[str, Any]:
    """Return what else the report needs."""
    return {
        **readings.sections(),
        "setting": setting,
        "measures": measures,
        "simulators": {"Skywave": measured.ours, "ns-2": measured.ns2},
        "experiment_2": tuple(map(setting.Conditions, setting.PUBLISHED_SSTHRESH)),
        "published": LEDGER.published,
        "sharing": judge.sharing,
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
