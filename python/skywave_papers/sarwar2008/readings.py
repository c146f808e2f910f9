"""The search for the shared access of the downloads, and what readings come to.

The search fitted the access to the row of standard TFRC in Table I. It tried every combination of a
coarse grid, each with the same 20 seeds, which the reproduced table does not use. A combination
fits if mean rate and mean loss are both within 10 % of the published values. Of those that fit, the
one with the closest standard deviation was chosen.

A reading changes Figure 2 (``figure_2``), the live link (``live``), or both for dynamic feedback
(``dynamic``); values of Figure 2 are means over ``seeds``. ``slow_start = "by-threes"`` replaces a
run by arithmetic. A reading that changes standard feedback on the live link has its own search.

``python -m skywave.papers stored sarwar2008`` runs both and stores the results.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from skywave import run_many
from skywave.papers.cells import CLOSE, relative_distance
from skywave.papers.measures import over_seeds
from skywave.papers.readings import ReadingResult
from skywave.papers.stages import run_each
from skywave.report.tables import Table
from skywave_papers.sarwar2008 import downloads, judge, live, setting
from skywave_papers.sarwar2008.ledger import LEDGER, TABLE_1
from skywave_papers.sarwar2008.live import FITTED, SharedAccess
from skywave_papers.sarwar2008.measures import from_results

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skywave.papers.entries import Reading
    from skywave_papers.sarwar2008.judge import Values

TELLS_RTT = "the sender tells the round-trip time on the live link"
"""The reading that the report compares with that of the verdicts."""
SEEDS = range(1001, 1021)
"""The seeds of the search."""
_TRIED = itertools.product((8, 16, 32, 64), (125, 250, 500), (15, 30, 60, 120), (5, 10, 20))
GRID = tuple(itertools.starmap(SharedAccess, _TRIED))


@dataclass(frozen=True)
class Trial:
    """One combination, and the results of standard TFRC with it.

    If it fits, ``dynamic_kbps`` and ``dynamic_loss_percent`` are the results of dynamic feedback.
    They show how much the prediction depends on the choice, and do not influence it.
    """

    access: SharedAccess
    rate_kbps: float
    deviation_kbps: float
    loss_percent: float
    dynamic_kbps: float | None = None
    dynamic_loss_percent: float | None = None

    @property
    def gain_percent(self) -> float:
        """By how much the mean rate is higher with dynamic feedback; NaN unless it fits."""
        return 100 * ((self.dynamic_kbps or math.nan) / self.rate_kbps - 1)

    @property
    def fits(self) -> bool:
        """Whether mean rate and mean loss would both count as a match."""
        return all(CLOSE.holds(theirs, ours) for ours, theirs in self._pairs[:2])

    @property
    def means_miss(self) -> float:
        """Root-mean-square relative distance to the row's mean rate and mean loss."""
        return relative_distance(*self._pairs[:2])

    @property
    def row_miss(self) -> float:
        """Root-mean-square relative distance to all three values of the row."""
        return relative_distance(*self._pairs)

    @property
    def _pairs(self) -> list[tuple[float, float]]:
        names = ("rate_kbps", "loss_percent", "deviation_kbps")
        return [(getattr(self, name), getattr(TABLE_1["standard"], name)) for name in names]


def fitting(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that fit, the chosen one with the closest deviation first."""
    published = TABLE_1["standard"].deviation_kbps
    return sorted(
        (trial for trial in trials if trial.fits),
        key=lambda trial: abs(trial.deviation_kbps - published),
    )


def attempt(
    access: SharedAccess,
    standard: live.Download = live.STANDARD,
    dynamic: live.Download = live.DYNAMIC,
) -> Trial:
    """Run the downloads of one combination and return the trial."""

    def run(download: live.Download) -> list[downloads.Totals]:
        scenarios = [live.scenario(download, seed, access) for seed in SEEDS]
        return [downloads.totals(results) for results in run_many(scenarios)]

    totals = run(standard)
    trial = Trial(
        access,
        rate_kbps=downloads.mean(totals, "rate_kbps"),
        deviation_kbps=downloads.deviation(totals, "rate_kbps"),
        loss_percent=downloads.mean(totals, "loss_percent"),
    )
    if not trial.fits:
        return trial
    totals = run(dynamic)
    return replace(
        trial,
        dynamic_kbps=downloads.mean(totals, "rate_kbps"),
        dynamic_loss_percent=downloads.mean(totals, "loss_percent"),
    )


TRIALS = Table(Path(__file__).with_name("fit.csv"), Trial, GRID, attempt)


@dataclass(frozen=True)
class ReadingValues(ReadingResult):
    """The result of a reading with its shared access and main values."""

    access: SharedAccess
    exit_gain_s: float | None
    recovery_gain_s: float | None
    standard_kbps: float
    dynamic_kbps: float
    gain_percent: float
    standard_loss_percent: float
    dynamic_loss_percent: float
    live_exit_gain_s: float


def _judge(reading: Reading) -> ReadingValues:
    """Run everything that has published values under this reading, and judge it."""
    of_live, dynamic = (reading.changes.get(name, {}) for name in ("live", "dynamic"))
    run_as = {
        one: replace(one, **of_live, **(dynamic if one.feedback == "dynamic" else {}))
        for one in (live.STANDARD, live.DYNAMIC, live.SLOW_SMOOTHING)
    }
    standard = run_as[live.STANDARD]
    access = FITTED if standard == live.STANDARD else _searched(standard, run_as[live.DYNAMIC])
    figure_2 = _figure_2(reading)
    table_1 = judge.published_downloads(downloads.run(None, run_as, access))
    return ReadingValues(
        **vars(ReadingResult.judge(reading.label, LEDGER, {**figure_2, **table_1})),
        access=access,
        exit_gain_s=figure_2["fig2/exit"],
        recovery_gain_s=figure_2["fig2/recovery"],
        standard_kbps=table_1["table1/standard/rate"],
        dynamic_kbps=table_1["table1/dynamic/rate"],
        gain_percent=table_1["text/gain"],
        standard_loss_percent=table_1["table1/standard/loss"],
        dynamic_loss_percent=table_1["table1/dynamic/loss"],
        live_exit_gain_s=table_1["fig5/exit"],
    )


@cache
def _searched(standard: live.Download, dynamic: live.Download) -> SharedAccess:
    """Return the access fitted to standard feedback under a reading."""
    trials = [attempt(access, standard, dynamic) for access in GRID]
    best, *_ = fitting(trials) or [min(trials, key=lambda trial: trial.means_miss)]
    return best.access


def _figure_2(reading: Reading) -> Values:
    """Measure Figure 2 by means over the reading's seeds."""
    of_both, of_dynamic = (reading.changes.get(name, {}) for name in ("figure_2", "dynamic"))
    standard = replace(setting.STANDARD, **of_both)
    dynamic = replace(setting.DYNAMIC, **{**of_both, **of_dynamic})
    first, last = reading.changes.get("seeds", (0, 0))
    by_seed = []
    for seed in range(first, last + 1):
        results = run_each(setting.scenarios((standard, dynamic), seed))
        by_seed.append(judge.figure_2(*(from_results(run) for run in results.values())))
    means = over_seeds(by_seed)
    if reading.changes.get("slow_start") != "by-threes":
        return means
    gain_s = judge.BY_THREES_GAIN_S
    return {**means, "fig2/exit": gain_s, "fig2/exit-order": gain_s}


TABLE = Table(Path(__file__).with_suffix(".csv"), ReadingValues, LEDGER.reading, _judge)
