"""What readings come to: in Figure 2, in the downloads, or in both.

A reading changes Figure 2 (``figure_2``), the live link (``live``), or both for dynamic feedback
(``dynamic``); values of Figure 2 are means over ``seeds``. ``slow_start = "by-threes"`` replaces a
run by arithmetic. A reading that changes standard feedback on the live link has its own search for
the shared access, by the same rule as :mod:`skywave_papers.sarwar2008.fit`.
``python -m skywave.papers stored sarwar2008/readings`` runs and stores the results.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from skywave.papers.measures import over_seeds
from skywave.papers.readings import ReadingResult
from skywave.papers.stages import run_each
from skywave.report.tables import Table
from skywave_papers.sarwar2008 import downloads, errors, fit, growth, judge, live, measures, setting
from skywave_papers.sarwar2008.access import FITTED, SharedAccess
from skywave_papers.sarwar2008.ledger import LEDGER

if TYPE_CHECKING:
    from skywave.papers.entries import Reading
    from skywave_papers.sarwar2008.judge import Values


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


def attempt(reading: Reading) -> ReadingValues:
    """Run everything that has published values under this reading, and judge it."""
    run_as = _downloads(reading)
    access = _access(run_as[live.STANDARD], run_as[live.DYNAMIC])
    value = {
        **_figure_2(reading),
        **judge.published_downloads(downloads.run(None, run_as, access)),
    }
    known = {name: float("nan") if one is None else one for name, one in value.items()}
    return ReadingValues(
        **vars(ReadingResult.judge(reading.label, LEDGER, value)),
        access=access,
        exit_gain_s=value["fig2/exit"],
        recovery_gain_s=value["fig2/recovery"],
        standard_kbps=known["table1/standard/rate"],
        dynamic_kbps=known["table1/dynamic/rate"],
        gain_percent=known["text/gain"],
        standard_loss_percent=known["table1/standard/loss"],
        dynamic_loss_percent=known["table1/dynamic/loss"],
        live_exit_gain_s=known["fig5/exit"],
    )


def _downloads(reading: Reading) -> dict[live.Download, live.Download]:
    """Return what is run for each download that has published values."""
    of_live, dynamic = (reading.changes.get(name, {}) for name in ("live", "dynamic"))
    return {
        download: replace(
            download, **of_live, **(dynamic if download.feedback == "dynamic" else {})
        )
        for download in (live.STANDARD, live.DYNAMIC, live.SLOW_SMOOTHING)
    }


def _access(standard: live.Download, dynamic: live.Download) -> SharedAccess:
    """Return the access fitted to standard feedback under a reading."""
    return FITTED if standard == live.STANDARD else _searched(standard, dynamic)


@cache
def _searched(standard: live.Download, dynamic: live.Download) -> SharedAccess:
    trials = [fit.attempt(access, standard, dynamic) for access in fit.GRID]
    fitting = fit.fitting(trials)
    best = fitting[0] if fitting else min(trials, key=lambda trial: trial.means_miss)
    return best.access


def _figure_2(reading: Reading) -> Values:
    """Measure Figure 2 by means over the reading's seeds."""
    of_both, of_dynamic = (reading.changes.get(name, {}) for name in ("figure_2", "dynamic"))
    standard = replace(setting.STANDARD, **of_both)
    dynamic = replace(setting.DYNAMIC, **{**of_both, **of_dynamic})
    first, last = reading.changes.get("seeds", (0, 0))
    by_seed = []
    for seed in range(first, last + 1):
        scenarios = errors.scenarios((standard, dynamic))
        for scenario in scenarios.values():
            scenario.seed = seed
        runs = {key: measures.from_results(run) for key, run in run_each(scenarios).items()}
        by_seed.append(judge.figure_2(runs[standard], runs[dynamic]))
    means = over_seeds(by_seed)
    if reading.changes.get("slow_start") != "by-threes":
        return means
    gain_s = growth.by_threes_gain_s(setting.LINK_BPS / 8, setting.RTT_S, setting.PACKET_SIZE)
    return {**means, "fig2/exit": gain_s, "fig2/exit-order": gain_s}


TABLE = Table(Path(__file__).with_suffix(".csv"), ReadingValues, LEDGER.reading, attempt)
