"""Lien and Ding 2009: voice over DCCP and over UDP, beside five versions of TCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave.papers.ns2 import Ns2Source
from skywave.papers.protocol import Paper, RunOutput
from skywave.papers.stages import run_plans, stage
from skywave_papers.lien2009 import (
    agreement,
    beyond,
    canonical,
    figures,
    further,
    judge,
    matrix,
    measures,
    oracle,
    published,
    readings,
    send_queue,
    setting,
)
from skywave_papers.lien2009.ledger import LEDGER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.papers.protocol import Options
    from skywave.report.figures import RenderedFigure
    from skywave.results import Results
    from skywave_papers.lien2009.judge import Runs
    from skywave_papers.lien2009.oracle import Periods


SHOWN_QUEUES = (1, 50, 80, setting.SEND_QUEUE, setting.SEND_QUEUE + 1, 95, 200)
"""The send queues in the report's table."""


@dataclass(frozen=True)
class Measurements:
    """Both scenarios, ns-2's results for them, and our own sections."""

    ours: Runs
    ns2: Mapping[str, Periods]
    beyond: Mapping[beyond.Case, beyond.Outcome]
    canonical: Mapping[tuple[str, int], Results]


def _run(options: Options) -> RunOutput[Measurements]:
    """Run both scenarios and our own sections.

    ns-2's results are always the stored ones, since its many runs take minutes.
    """
    plan = {
        (conditions, seed): setting.scenario(conditions, seed)
        for conditions in setting.ALL_CONDITIONS
        for seed in setting.SEEDS
    }
    other, panels = beyond.plan(), canonical.plan()
    results, others, drawn = run_plans(
        plan, other, panels, progress=stage(options.progress, "Skywave")
    )
    ours: Runs = {
        conditions: [
            measures.from_results(conditions, results[conditions, seed]) for seed in setting.SEEDS
        ]
        for conditions in setting.ALL_CONDITIONS
    }
    first = min(setting.SEEDS)
    return RunOutput(
        measured=Measurements(ours, oracle.periods(), beyond.outcomes(others), drawn),
        # One run of each setting. The others differ only in their seed.
        scenarios={
            conditions.name: plan[conditions, first] for conditions in setting.ALL_CONDITIONS
        },
        results={
            conditions.name: results[conditions, first] for conditions in setting.ALL_CONDITIONS
        },
        ns2=Ns2Source("stored", oracle.remark()),
    )


def _figures(measured: Measurements) -> list[RenderedFigure]:
    """Draw the paper's figures and those of our own sections."""
    ours, ns2 = measured.ours, measured.ns2
    return [
        figures.draw_finding(ours, ns2),
        *figures.draw(ours, ns2, oracle.seconds()),
        *figures.draw_ours(ours, ns2, measured.beyond, measured.canonical),
    ]


def _sections(measured: Measurements) -> dict[str, Any]:
    """Return what else the report needs."""
    ours, ns2 = measured.ours, measured.ns2
    return {
        "Conditions": setting.Conditions,
        "PERIODS": judge.PERIODS,
        "further": further,
        "published": published,
        "setting": setting,
        "of": judge.of_runs(ours),
        "ns2_runs": oracle.runs(),
        "by_seeds": readings.by_blocks(ours),
        "other_seeds": readings.SEEDS.read(),
        "agreements": agreement.agreements(ours, ns2),
        "starts": [one for one in send_queue.TABLE.read() if one.send_queue in SHOWN_QUEUES],
        "fitted": judge.without_fitted(ours),
        "floor": readings.TABLE.row(reading="a bottleneck of 10 Mbps").matches,
        "of_first": [
            readings.TABLE.row(reading=one.label).matches
            for one in LEDGER.reading
            if "loss-of-first-period" in one.changes.get("measures", ())
        ],
        "beyond": beyond.tables(measured.beyond),
    }


PAPER = Paper(
    protocol=2,
    package=__name__,
    ledger=LEDGER,
    run=_run,
    measures=lambda measured: judge.measure(measured.ours, measured.ns2),
    comparisons=lambda measured: judge.compare(measured.ours, measured.ns2),
    figures=_figures,
    readings=lambda _: readings.TABLE.read(),
    sections=_sections,
    golden=oracle.renew,
    stored=(
        send_queue.TABLE,
        readings.SEEDS,
        further.VARIED,
        further.TCP_FIRST,
        further.RIVALS,
        readings.TABLE,
    ),
    network=matrix.NETWORK,
)
