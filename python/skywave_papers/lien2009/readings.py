"""What readings come to, and the seeds: how many published values are met.

``python -m skywave.papers stored lien2009`` runs and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers import readings
from skywave.report.tables import Table
from skywave_papers.lien2009 import further, judge, setting
from skywave_papers.lien2009.ledger import LEDGER
from skywave_papers.lien2009.measures import Run, Runs, Spreads, of_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skywave.papers.entries import Reading

MEASURES: dict[str, Callable[[Run], Run]] = {
    "overdue-is-lost": lambda run: replace(run, loss_percent=100 - run.played_percent),
    # That of the first period is 0 by definition. It is undefined, so that no value counts it.
    "loss-of-first-period": lambda run: replace(
        run, loss_percent=np.concatenate([[np.nan], 100 - run.ratio_percent[1:]])
    ),
    "delays-by-seconds": lambda run: replace(run, delay_ms=run.delay_by_second_ms),
}
"""How readings measure a run otherwise."""


def _spreads(reading: Reading, seeds: Sequence[int]) -> Spreads:
    """Run everything that has published values under a reading."""
    changes = dict(reading.changes)
    otherwise = [MEASURES[name] for name in changes.pop("measures", ())]
    runs = {}
    for conditions in setting.JUDGED:
        runs[conditions] = further.runs(replace(conditions, **changes), seeds)
        for change in otherwise:
            runs[conditions] = list(map(change, runs[conditions]))
    return of_runs(runs)


TABLE = readings.table(
    LEDGER,
    Path(__file__).with_suffix(".csv"),
    lambda reading: judge.published(_spreads(reading, setting.SEEDS)),
)


@dataclass(frozen=True)
class SeedCount:
    """The number of matching values over the seeds from ``first`` to ``last``."""

    first: int
    last: int
    matches: int

    @classmethod
    def of(cls, seeds: range, of: Spreads, allowing_for: Spreads | None = None) -> SeedCount:
        """Count the matches of runs."""
        met = LEDGER.met(judge.published(of, allowing_for))
        return cls(min(seeds), max(seeds), len(met))


def by_blocks(ours: Runs) -> list[tuple[SeedCount, int]]:
    """Return the counts of blocks of ten of the report's seeds, and at the end that of all.

    Beside each is the number of matches by the deviations over all seeds, which tells blocks whose
    means are nearer to the paper's from those with more spread.
    """
    seeds, every = setting.SEEDS, of_runs(ours)
    blocks = [slice(begin, begin + 10) for begin in range(0, len(seeds), 10)]
    counts = []
    for block in (*blocks, slice(None)):
        of = of_runs({conditions: runs[block] for conditions, runs in ours.items()})
        matches = SeedCount.of(seeds[block], of, every).matches
        counts.append((SeedCount.of(seeds[block], of), matches))
    return counts


COUNTS = Table(
    Path(__file__).with_name("seeds.csv"),
    SeedCount,
    [
        range(begin, begin + len(setting.SEEDS))
        for begin in range(setting.SEEDS.stop, setting.SEEDS.stop + 360, len(setting.SEEDS))
    ],
    lambda seeds: SeedCount.of(seeds, _spreads(LEDGER.reading[0], seeds)),
)
"""The counts of blocks as long as the report's, with later seeds."""
