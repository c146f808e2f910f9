"""Runs the downloads over the emulated link and prepares them for the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skywave import run_many
from skywave.papers.stages import run_each
from skywave_papers.sarwar2008 import downloads, fit, live, live_cells, live_figures
from skywave_papers.sarwar2008.access import FITTED, PACKET_ERROR_RATE
from skywave_papers.sarwar2008.live import BEYOND_SEEDS, DYNAMIC, SEEDS, STANDARD
from skywave_papers.sarwar2008.published import TABLE_1

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave.papers.cells import Cell
    from skywave.report.figures import Drawn
    from skywave.results import Results
    from skywave.scenario import Scenario
    from skywave_papers.sarwar2008.access import SharedAccess
    from skywave_papers.sarwar2008.downloads import Course, Totals
    from skywave_papers.sarwar2008.live import Download
    from skywave_papers.sarwar2008.live_cells import Downloads


@dataclass(frozen=True)
class Live:
    """All downloads, and the full results of one per kind of feedback."""

    ours: Downloads
    shown_seed: int
    scenarios: Mapping[Download, Scenario]
    results: Mapping[Download, Results]

    @property
    def beyond(self) -> Downloads:
        """The first downloads of each condition, whose seeds all conditions have."""
        return {download: runs[: len(BEYOND_SEEDS)] for download, runs in self.ours.items()}

    @property
    def courses(self) -> dict[Download, Course]:
        """The downloads that are plotted."""
        return {download: downloads.course(results) for download, results in self.results.items()}

    @property
    def cells(self) -> list[Cell]:
        """The published values of the live link, judged."""
        return live_cells.published_cells(self.ours, self.beyond, self.courses)

    @property
    def figures(self) -> list[Drawn]:
        """Figures 3 to 6, and the figure of RTT_ref."""
        return live_figures.draw(self.courses, self.shown_seed, self.beyond)


AS_SET = {download: download for download in live.ALL_DOWNLOADS}


def run(
    progress: Callable[[int, int], None] | None = None,
    run_as: Mapping[Download, Download] = AS_SET,
    access: SharedAccess = FITTED,
) -> Live:
    """Run all downloads. Plotted are those with the seed whose standard rate is the median.

    ``run_as`` has what is run for each download of the report: other conditions under another
    reading of the paper.
    """
    plan = [(download, seed) for download in run_as for seed in live.seeds(download)]
    scenarios = [live.scenario(run_as[download], seed, access) for download, seed in plan]
    ours: dict[Download, list[Totals]] = {download: [] for download in run_as}
    for (download, _), results in zip(plan, run_many(scenarios, progress=progress), strict=True):
        ours[download].append(downloads.totals(results))
    order = np.argsort(downloads.values(ours[STANDARD], "rate_kbps"), kind="stable")
    shown_seed = SEEDS[int(order[len(order) // 2])]
    shown = {
        download: live.scenario(run_as[download], shown_seed, access, rates=True)
        for download in (STANDARD, DYNAMIC)
    }
    return Live(ours, shown_seed, shown, run_each(shown))


def sections(ran: Live) -> dict[str, Any]:
    """Return the values of the report's sections on the live link."""
    beyond = ran.beyond
    standard = beyond[STANDARD]
    return {
        "model": {**vars(FITTED), "errors_percent": 100 * PACKET_ERROR_RATE},
        "downloads": len(SEEDS),
        "overshoot_s": downloads.OVERSHOOT_S,
        "beyond_downloads": len(BEYOND_SEEDS),
        "table1": [_table_1(download, ran.ours[download]) for download in (STANDARD, DYNAMIC)],
        "search": _search(),
        "rules": [_overhead(download, beyond[download], standard) for download in live.BY_RULES],
        "why": [_overhead(download, beyond[download], standard) for download in live.WHY],
        "rtt_share_percent": live_cells.rtt_share_percent(beyond),
        "rtt_refs": [
            _overhead(download, beyond[download], standard)
            for download in (STANDARD, *live.BY_RTT_REF.values())
        ],
        "judgement": judgement(beyond),
        "shown_seed": ran.shown_seed,
    }


def _table_1(download: Download, runs: Sequence[Totals]) -> dict[str, Any]:
    return {
        "feedback": download.feedback,
        "published": TABLE_1[download.feedback],
        "rate_kbps": downloads.mean(runs, "rate_kbps"),
        "deviation_kbps": downloads.deviation(runs, "rate_kbps"),
        "loss_percent": downloads.mean(runs, "loss_percent"),
        "later_loss_percent": downloads.mean(runs, "later_loss_percent"),
        "loss_deviation": downloads.deviation(runs, "loss_percent"),
    }


def _search() -> dict[str, Any]:
    """Return the search for the report: the trials that fit, and the closest by other measures."""
    trials = fit.TABLE.read()
    return {
        "tried": len(trials),
        "downloads": len(fit.SEEDS),
        "fitting": fit.fitting(trials),
        "nearest_row": min(trials, key=lambda trial: trial.row_miss),
        "nearest_means": min(trials, key=lambda trial: trial.means_miss),
        "all": trials,
    }


def _overhead(
    download: Download, runs: Sequence[Totals], standard: Sequence[Totals]
) -> dict[str, Any]:
    """Return the gain of a condition and its cost on the uplink."""
    gain_kbps, error_kbps = downloads.gain(runs, standard, "rate_kbps")
    back_kbps = downloads.mean(runs, "back_kbps")
    more_kbps = back_kbps - downloads.mean(standard, "back_kbps")
    return {
        "download": download,
        "rate_kbps": downloads.mean(runs, "rate_kbps"),
        "deviation_kbps": downloads.deviation(runs, "rate_kbps"),
        "gain": "-" if runs is standard else f"{gain_kbps:.0f} ± {error_kbps:.0f}",
        "loss_percent": downloads.mean(runs, "loss_percent"),
        "rtt_ms": downloads.mean(runs, "rtt_ms"),
        "exit_s": downloads.mean(runs, "first_loss_s"),
        "reports_per_s": downloads.mean(runs, "reports_per_s"),
        "back_kbps": back_kbps,
        "back_percent": downloads.mean(runs, "back_percent"),
        "gain_per_back": gain_kbps / more_kbps if more_kbps > 0.1 else None,
    }


def judgement(beyond: Downloads) -> dict[str, Any]:
    """Return numbers that tell whether 100 ms is the right constant.

    ``enough_ms`` is the largest RTT_ref (the least feedback) whose mean rate is at most two
    standard errors below that of the best, by the differences of downloads with the same seed.
    """
    rates = {
        rtt_ref: downloads.mean(beyond[download], "rate_kbps")
        for rtt_ref, download in live.BY_RTT_REF.items()
    }
    best_ms = max(rates, key=lambda rtt_ref: rates[rtt_ref])

    def as_good(rtt_ref: int) -> bool:
        if rtt_ref == best_ms:
            return True
        best, other = (beyond[live.BY_RTT_REF[choice]] for choice in (best_ms, rtt_ref))
        lead, error = downloads.gain(best, other, "rate_kbps")
        return lead <= 2 * error

    standard_kbps = downloads.mean(beyond[STANDARD], "rate_kbps")
    slow_kbps = downloads.mean(beyond[live.MOST_REPORTS_SLOW_SMOOTHING], "rate_kbps")
    back = {
        rtt_ref: downloads.mean(beyond[download], "back_kbps")
        for rtt_ref, download in live.BY_RTT_REF.items()
    }
    return {
        "best_ms": best_ms,
        "enough_ms": max(rtt_ref for rtt_ref in rates if as_good(rtt_ref)),
        "share_percent": 100 * (rates[100] - standard_kbps) / (rates[best_ms] - standard_kbps),
        "least_ms": min(rates),
        "least_gain_kbps": rates[min(rates)] - standard_kbps,
        "least_slow_gain_kbps": slow_kbps - standard_kbps,
        "cost_percent": 100 * back[100] / back[best_ms],
    }
