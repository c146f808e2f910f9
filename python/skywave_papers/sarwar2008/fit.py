"""The search that fitted the shared access to the row of standard TFRC in Table I.

It tried every combination of a coarse grid, each with the same 20 seeds, which the reproduced table
does not use. A combination fits if mean rate and mean loss are both within 10 % of the published
values. Of those that fit, the one with the closest standard deviation was chosen.
``python -m skywave.papers stored sarwar2008/fit`` runs the search and stores the trials.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skywave import run_many
from skywave.papers.cells import CLOSE, relative_distance
from skywave.report.tables import Table
from skywave_papers.sarwar2008 import downloads, live
from skywave_papers.sarwar2008.access import SharedAccess
from skywave_papers.sarwar2008.published import TABLE_1

if TYPE_CHECKING:
    from collections.abc import Iterable

SEEDS = range(1001, 1021)
GRID = tuple(
    SharedAccess(burst_packets, left_kbps, quiet_s, busy_s)
    for burst_packets, left_kbps, quiet_s, busy_s in itertools.product(
        (8, 16, 32, 64), (125, 250, 500), (15, 30, 60, 120), (5, 10, 20)
    )
)


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
        """By how much the mean rate is higher with dynamic feedback, in percent.

        Raises:
            ValueError: If dynamic feedback was not run because the combination does not fit.

        """
        if self.dynamic_kbps is None:
            raise ValueError(f"{self.access} was not run with dynamic feedback")
        return 100 * (self.dynamic_kbps / self.rate_kbps - 1)

    @property
    def fits(self) -> bool:
        """Whether mean rate and mean loss would both count as a match."""
        row = TABLE_1["standard"]
        return CLOSE.holds(row.rate_kbps, self.rate_kbps) and CLOSE.holds(
            row.loss_percent, self.loss_percent
        )

    @property
    def means_miss(self) -> float:
        """Root-mean-square relative distance to the row's mean rate and mean loss."""
        return relative_distance(*self._pairs[:2])

    @property
    def row_miss(self) -> float:
        """Root-mean-square relative distance to all three values of the row."""
        return relative_distance(*self._pairs)

    @property
    def _pairs(self) -> tuple[tuple[float, float], ...]:
        row = TABLE_1["standard"]
        return (
            (self.rate_kbps, row.rate_kbps),
            (self.loss_percent, row.loss_percent),
            (self.deviation_kbps, row.deviation_kbps),
        )


def fitting(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that fit, the chosen one with the closest deviation first."""
    published = TABLE_1["standard"].deviation_kbps
    return sorted(
        (trial for trial in trials if trial.fits),
        key=lambda trial: abs(trial.deviation_kbps - published),
    )


def attempt(
    access: SharedAccess,
    standard_download: live.Download = live.STANDARD,
    dynamic_download: live.Download = live.DYNAMIC,
) -> Trial:
    """Run the downloads of one combination and return the trial."""
    standard = _downloads(standard_download, access)
    trial = Trial(
        access,
        rate_kbps=downloads.mean(standard, "rate_kbps"),
        deviation_kbps=downloads.deviation(standard, "rate_kbps"),
        loss_percent=downloads.mean(standard, "loss_percent"),
    )
    if not trial.fits:
        return trial
    dynamic = _downloads(dynamic_download, access)
    return replace(
        trial,
        dynamic_kbps=downloads.mean(dynamic, "rate_kbps"),
        dynamic_loss_percent=downloads.mean(dynamic, "loss_percent"),
    )


def _downloads(download: live.Download, access: SharedAccess) -> list[downloads.Totals]:
    scenarios = [live.scenario(download, seed, access) for seed in SEEDS]
    return [downloads.totals(results) for results in run_many(scenarios)]


TABLE = Table(Path(__file__).with_name("fit.csv"), Trial, GRID, attempt)
"""The stored trials of the search."""
