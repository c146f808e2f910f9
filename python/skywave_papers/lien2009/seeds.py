"""The effect of the choice of seeds: the number of matching values, by block of seeds.

``python -m skywave.papers stored lien2009`` runs the blocks that are not the report's and stores
their counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skywave.papers.stages import measure_each
from skywave.report.tables import Table
from skywave_papers.lien2009 import judge, measures, setting
from skywave_papers.lien2009.ledger import LEDGER

if TYPE_CHECKING:
    from skywave_papers.lien2009.judge import Runs, Spreads

BLOCK = 10
"""Seeds in each of the blocks that the report's seeds are divided into."""
BLOCKS = 9
"""How many other blocks there are, each with as many seeds as the report."""


@dataclass(frozen=True)
class Count:
    """The number of matching values over the seeds from ``first`` to ``last``."""

    first: int
    last: int
    matches: int


@dataclass(frozen=True)
class BlockCount:
    """The count of one block, and what it would be by the deviations over all the report's seeds.

    The latter tells blocks whose means are nearer to the paper's from those with more spread.
    """

    count: Count
    by_all_deviations: int


def of_blocks(ours: Runs) -> list[BlockCount]:
    """Return the counts of blocks of ten of the report's seeds, and at the end that of all."""
    every = judge.of_runs(ours)
    blocks = [setting.SEEDS[begin : begin + BLOCK] for begin in range(0, len(setting.SEEDS), BLOCK)]
    counts = []
    for block in (*blocks, setting.SEEDS):
        chosen = {
            conditions: [runs[setting.SEEDS.index(seed)] for seed in block]
            for conditions, runs in ours.items()
        }
        of = judge.of_runs(chosen)
        counts.append(BlockCount(_count(block, of), _matches(of, every)))
    return counts


def _matches(of: Spreads, allowing_for: Spreads | None = None) -> int:
    return len(LEDGER.met(judge.published(of, allowing_for)))


def _count(seeds: range, of: Spreads) -> Count:
    return Count(min(seeds), max(seeds), _matches(of))


def count(seeds: range) -> Count:
    """Run the settings with published values over ``seeds`` and count the matches."""
    runs = measure_each(
        {
            (conditions, seed): setting.scenario(conditions, seed)
            for conditions in setting.JUDGED
            for seed in seeds
        },
        lambda key, results: measures.from_results(key[0], results),
    )
    ours = {conditions: [runs[conditions, seed] for seed in seeds] for conditions in setting.JUDGED}
    return _count(seeds, judge.of_runs(ours))


_LENGTH = len(setting.SEEDS)
OTHERS = tuple(
    range(begin, begin + _LENGTH)
    for begin in range(setting.SEEDS.stop, setting.SEEDS.stop + BLOCKS * _LENGTH, _LENGTH)
)
"""Blocks as long as the report's, with later seeds."""
TABLE = Table(Path(__file__).parent / "seeds.csv", Count, OTHERS, count)
