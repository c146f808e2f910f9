"""What readings come to, and the seeds: how many published values are met.

``python -m skywave.papers stored lien2009`` runs and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers import readings
from skywave.papers.stages import measure_each
from skywave.report.tables import Table
from skywave_papers.lien2009 import judge, measures, setting
from skywave_papers.lien2009.ledger import LEDGER
from skywave_papers.lien2009.measures import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave.papers.entries import Reading
    from skywave_papers.lien2009.judge import Runs, Spreads, Values
    from skywave_papers.lien2009.measures import Floats


@dataclass(frozen=True)
class OverdueIsLost(Run):
    """A run whose loss includes packets that arrive after the deadline."""

    @property
    def loss_percent(self) -> Floats:
        """Share of the frames made in a period that was not played."""
        return 100 - self.played_percent


@dataclass(frozen=True)
class LossOfFirstPeriod(Run):
    """A run whose loss is relative to the packets of the first period.

    That of the first period is 0 by definition. It is undefined here, so that no value counts it.
    """

    @property
    def loss_percent(self) -> Floats:
        """Share of the first period's packets that is missing in a period."""
        return np.concatenate([[np.nan], 100 - self.ratio_percent[1:]])


MEASURES: Mapping[str, Callable[[Run], Run]] = {
    "overdue-is-lost": lambda run: OverdueIsLost(**vars(run)),
    "loss-of-first-period": lambda run: LossOfFirstPeriod(**vars(run)),
    "delays-by-seconds": lambda run: replace(run, delay_ms=run.delay_by_second_ms),
}
"""How readings measure a run otherwise."""


def _runs(reading: Reading, seeds: Sequence[int]) -> Runs:
    """Run everything that has published values under a reading."""
    changes = dict(reading.changes)
    otherwise = [MEASURES[name] for name in changes.pop("measures", ())]
    plan = {conditions: replace(conditions, **changes) for conditions in setting.JUDGED}
    runs = measure_each(
        {
            (key, seed): setting.scenario(run_as, seed)
            for key, run_as in plan.items()
            for seed in seeds
        },
        lambda key, results: measures.from_results(plan[key[0]], results),
    )
    for change in otherwise:
        runs = {key: change(run) for key, run in runs.items()}
    return {conditions: [runs[conditions, seed] for seed in seeds] for conditions in plan}


def measure(reading: Reading) -> Values:
    """Measure all published values under a reading."""
    return judge.published(judge.of_runs(_runs(reading, setting.SEEDS)))


TABLE = readings.table(LEDGER, Path(__file__).with_suffix(".csv"), measure)

BLOCK = 10
"""Seeds in each of the blocks that the report's seeds are divided into."""
OTHER_SEEDS = tuple(
    range(begin, begin + len(setting.SEEDS))
    for begin in range(setting.SEEDS.stop, setting.SEEDS.stop + 360, len(setting.SEEDS))
)
"""Blocks as long as the report's, with later seeds."""


@dataclass(frozen=True)
class SeedCount:
    """The number of matching values over the seeds from ``first`` to ``last``."""

    first: int
    last: int
    matches: int


def count(seeds: range) -> SeedCount:
    """Run the settings with published values over ``seeds`` and count the matches."""
    return _count(seeds, judge.of_runs(_runs(LEDGER.reading[0], seeds)))


def _count(seeds: range, of: Spreads, allowing_for: Spreads | None = None) -> SeedCount:
    return SeedCount(min(seeds), max(seeds), len(LEDGER.met(judge.published(of, allowing_for))))


def by_blocks(ours: Runs) -> list[tuple[SeedCount, int]]:
    """Return the counts of blocks of ten of the report's seeds, and at the end that of all.

    Beside each is the number of matches by the deviations over all seeds, which tells blocks whose
    means are nearer to the paper's from those with more spread.
    """
    every = judge.of_runs(ours)
    blocks = [setting.SEEDS[begin : begin + BLOCK] for begin in range(0, len(setting.SEEDS), BLOCK)]
    counts = []
    for block in (*blocks, setting.SEEDS):
        of = judge.of_runs(
            {
                conditions: [runs[setting.SEEDS.index(seed)] for seed in block]
                for conditions, runs in ours.items()
            }
        )
        counts.append((_count(block, of), _count(block, of, every).matches))
    return counts


SEEDS = Table(Path(__file__).with_name("seeds.csv"), SeedCount, OTHER_SEEDS, count)
