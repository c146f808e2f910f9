"""What readings come to: combinations of rules that the paper leaves open.

- After a decrease: wait for a round-trip time, or for t_rho as the published codes of VCP do.
- On a loss under a chain: leave cwnd to the load factor, or halve it as VCP does.
- Routers average means of their queue in intervals, or samples.

``python -m skywave.papers stored li2009/readings`` runs and stores the results.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skywave.papers import readings
from skywave.papers.stages import run_plans
from skywave_papers.li2009 import experiments, judge, setting, variants
from skywave_papers.li2009.experiments import PUBLISHED_LOTS, Ours
from skywave_papers.li2009.ledger import LEDGER
from skywave_papers.li2009.setting import DEFAULT, FLOWS, LOT_SEEDS

if TYPE_CHECKING:
    from skywave.papers.entries import Reading
    from skywave_papers.li2009.judge import Values


def measure(reading: Reading) -> list[Values]:
    """Run everything under a reading; return the values with the parking lots of each seed."""
    choices = replace(DEFAULT, **reading.changes)
    lots = {
        (scheme, FLOWS, choices, seed): setting.lot(scheme, FLOWS, choices, seed)
        for scheme in PUBLISHED_LOTS
        for seed in LOT_SEEDS
    }
    lot_results, courses, times = run_plans(
        lots, experiments.dumbbells(choices), experiments.transfers(choices)
    )
    outcomes = {key: variants.lot_outcome(key, results) for key, results in lot_results.items()}
    return [
        judge.published(
            Ours(
                {
                    (scheme, FLOWS): [outcomes[scheme, FLOWS, choices, seed]]
                    for scheme in PUBLISHED_LOTS
                },
                experiments.courses(courses),
                experiments.times(times),
            )
        )
        for seed in LOT_SEEDS
    ]


TABLE = readings.table(LEDGER, Path(__file__).with_suffix(".csv"), measure)
