"""Lien and Ding 2009: voice over DCCP and over UDP, beside five versions of TCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave.papers.ns2 import Ns2Source
from skywave.papers.protocol import Options, Paper, RunOutput
from skywave.papers.stages import run_plans, stage
from skywave.results import emodel
from skywave_papers.lien2009 import (
    beyond,
    canonical,
    figures,
    further,
    judge,
    ledger,
    matrix,
    oracle,
    readings,
    setting,
)
from skywave_papers.lien2009.measures import Runs, estimate, from_results, of_runs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.results import Results


@dataclass(frozen=True)
class Measurements:
    """Both scenarios, and our own sections."""

    ours: Runs
    beyond: Mapping[beyond.Case, beyond.Outcome]
    canonical: Mapping[tuple[str, int], Results]


def _run(options: Options) -> RunOutput[Measurements]:
    """Run both scenarios and our own sections.

    ns-2's results are always the stored ones, since its many runs take minutes.
    """
    every, seeds = setting.ALL_CONDITIONS, setting.SEEDS
    plan = {(one, seed): setting.scenario(one, seed) for one in every for seed in seeds}
    results, others, drawn = run_plans(
        plan, beyond.plan(), canonical.plan(), progress=stage(options.progress, "Skywave")
    )
    ours = {one: [from_results(one, results[one, seed]) for seed in seeds] for one in every}
    return RunOutput(
        measured=Measurements(ours, beyond.outcomes(others), drawn),
        # One run of each setting. The others differ only in their seed.
        scenarios={one.name: plan[one, min(seeds)] for one in every},
        results={one.name: results[one, min(seeds)] for one in every},
        ns2=Ns2Source(
            "stored",
            f"stored results of ns-2.35, means over {oracle.run_count()} runs of each setting",
        ),
    )


def _sections(measured: Measurements) -> dict[str, Any]:
    """Return what else the report needs."""
    ours, ns2 = of_runs(measured.ours), oracle.spreads()
    return {
        "Conditions": setting.Conditions,
        "PERIODS": judge.PERIODS,
        "further": further,
        "ledger": ledger,
        "setting": setting,
        "of": ours,
        "estimate": estimate,
        "of_ns2": ns2,
        "ns2_runs": oracle.run_count(),
        "by_seeds": readings.by_blocks(measured.ours),
        "other_seeds": readings.COUNTS.read(),
        "agreements": judge.agreements(ours, ns2),
        "fitted": judge.without_fitted(ours),
        "beyond": beyond,
        "emodel": emodel,
    }


PAPER = Paper(
    protocol=2,
    package=__name__,
    ledger=ledger.LEDGER,
    run=_run,
    measures=lambda measured: judge.measure(measured.ours, oracle.spreads()),
    comparisons=lambda measured: judge.compare(measured.ours, oracle.spreads()),
    figures=lambda measured: figures.draw(
        of_runs(measured.ours),
        oracle.spreads(),
        oracle.seconds(),
        measured.beyond,
        measured.canonical,
    ),
    readings=lambda _: readings.TABLE.read(),
    sections=_sections,
    golden=oracle.renew,
    stored=(
        further.STARTS,
        readings.COUNTS,
        further.VARIED,
        further.TCP_FIRST,
        further.RIVALS,
        readings.TABLE,
    ),
    network=matrix.NETWORK,
)
