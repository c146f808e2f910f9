"""The report's sections on the emulated live link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skywave_papers.sarwar2008 import downloads, fit, live
from skywave_papers.sarwar2008.access import FITTED, PACKET_ERROR_RATE
from skywave_papers.sarwar2008.judge import rtt_share_percent
from skywave_papers.sarwar2008.live import BEYOND_SEEDS, DYNAMIC, SEEDS, STANDARD
from skywave_papers.sarwar2008.published import TABLE_1

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave_papers.sarwar2008.downloads import Downloads, Live, Totals
    from skywave_papers.sarwar2008.fit import Trial
    from skywave_papers.sarwar2008.live import Download


def sections(ran: Live, trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the values of the report's sections on the live link."""
    beyond = ran.beyond
    standard = beyond[STANDARD]
    return {
        "model": {**vars(FITTED), "errors_percent": 100 * PACKET_ERROR_RATE},
        "downloads": len(SEEDS),
        "overshoot_s": downloads.OVERSHOOT_S,
        "beyond_downloads": len(BEYOND_SEEDS),
        "table1": [_table_1(download, ran.ours[download]) for download in (STANDARD, DYNAMIC)],
        "search": _search(trials),
        "rules": [_overhead(download, beyond[download], standard) for download in live.BY_RULES],
        "why": [_overhead(download, beyond[download], standard) for download in live.WHY],
        "rtt_share_percent": rtt_share_percent(beyond),
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


def _search(trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the search for the report: the trials that fit, and the closest by other measures."""
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
