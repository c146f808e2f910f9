"""The downloads over the emulated satellite link, and their measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from skywave import run_many
from skywave.papers.stages import run_each
from skywave.results.samples import Samples
from skywave_papers.sarwar2008 import live
from skywave_papers.sarwar2008.measures import at_end

if TYPE_CHECKING:
    from collections.abc import Callable

    from skywave._progress import Progress
    from skywave.results import Results
    from skywave.scenario import Scenario
    from skywave_papers.sarwar2008.live import Download, SharedAccess
    from skywave_papers.sarwar2008.measures import Floats

IPSTAR_BACK_S = 0.6
"""Propagation delay of the emulated live link from the receiver to the sender."""
OVERSHOOT_S = 3.0
"""Losses up to this many seconds after the first belong to the overshoot of slow start: feedback
about it and the sender's reaction take about two round-trip times."""


@dataclass(frozen=True)
class Totals:
    """The totals of one download.

    ``rate_kbps`` counts what the application received. ``loss_percent`` is the share of sent data
    packets that the link lost, ``later_loss_percent`` the same without those lost in the overshoot
    of slow start. ``back_kbps`` counts reports with their headers.
    """

    rate_kbps: float
    loss_percent: float
    later_loss_percent: float
    rtt_ms: float
    first_loss_s: float | None
    reports_per_s: float
    back_kbps: float

    @property
    def back_percent(self) -> float:
        """Rate of the feedback relative to that of the received data, in percent."""
        return 100 * self.back_kbps / self.rate_kbps


def totals(results: Results) -> Totals:
    """Return the totals of one download."""
    (flow,) = results.totals["flows"]
    (up,) = (link for link in results.totals["links"] if link["name"] == live.UP)
    lost_at = results.drops["time_s"].to_numpy()
    later = int(np.sum(lost_at > lost_at[0] + OVERSHOOT_S)) if lost_at.size else 0
    return Totals(
        rate_kbps=8 * flow["delivered_bytes"] / live.DURATION_S / 1e3,
        loss_percent=100 * flow["drops"] / flow["packets_sent"],
        later_loss_percent=100 * later / flow["packets_sent"],
        rtt_ms=1e3 * float(np.nanmean(Samples(results.flows)["srtt_s"])),
        first_loss_s=float(lost_at[0]) if lost_at.size else None,
        reports_per_s=up["arrivals"] / live.DURATION_S,
        back_kbps=8e-3 * up["delivered_bytes"] / live.DURATION_S,
    )


@dataclass(frozen=True)
class Course:
    """One download by second. X, p and the round-trip time are those at the end of the second.

    ``delay_s`` is the mean one-way delay of the packets that arrived in it. Values that the sender
    does not know yet are NaN.
    """

    time_s: Floats
    throughput_bps: Floats
    rate_bps: Floats
    loss_event_rate: Floats
    rtt_s: Floats
    delay_s: Floats

    @classmethod
    def of(cls, results: Results) -> Course:
        """Return one download by second."""
        there = Samples(results.link_flows)
        known = ("allowed_rate_bps", "loss_event_rate", "rtt_s")
        rate_bps, loss_event_rate, rtt_s = (
            at_end(results, there["time_s"], name) for name in known
        )
        delay_s = Samples(results.flows)["delay_mean_s"]
        throughput_bps = there["throughput_bps"]
        return cls(there["time_s"], throughput_bps, rate_bps, loss_event_rate, rtt_s, delay_s)

    @property
    def rtt_error_s(self) -> float:
        """Distance of the sender's round-trip time from that of packets, after slow start.

        It is the root mean square over seconds. A packet's round trip is its delay and the
        propagation delay back.
        """
        packets_s = self.delay_s + IPSTAR_BACK_S
        known = (self.loss_event_rate > 0) & np.isfinite(packets_s) & np.isfinite(self.rtt_s)
        return float(np.sqrt(np.mean(np.square(self.rtt_s[known] - packets_s[known]))))

    @property
    def rtt_above_p(self) -> float:
        """By how much the round-trip time changes more than p, while p does not rise.

        It is the difference of mean relative changes per second.
        """
        known = np.isfinite(self.rtt_s) & (self.loss_event_rate > 0)
        rtt, p = (
            np.abs(np.diff(np.log(values[known]))) for values in (self.rtt_s, self.loss_event_rate)
        )
        calm = np.diff(self.loss_event_rate[known]) <= 0
        return float(rtt[calm].mean() - p[calm].mean())

    def correlation(self, of: Floats, skip_s: float) -> float:
        """Return the correlation of the allowed rate with ``of``, for times after ``skip_s``."""
        known = (self.time_s > skip_s) & np.isfinite(of) & np.isfinite(self.rate_bps)
        return float(np.corrcoef(of[known], self.rate_bps[known])[0, 1])


Downloads: TypeAlias = Mapping[live.Download, Sequence[Totals]]


def values(downloads: Sequence[Totals], measure: str) -> Floats:
    """Return a measure of each download; NaN if it did not occur."""
    return np.array([getattr(download, measure) for download in downloads], dtype=np.float64)


def mean(downloads: Sequence[Totals], measure: str) -> float:
    """Return the mean of a measure over the downloads in which it occurred."""
    return float(np.nanmean(values(downloads, measure)))


def deviation(downloads: Sequence[Totals], measure: str) -> float:
    """Return the standard deviation of a measure over downloads."""
    return float(np.nanstd(values(downloads, measure), ddof=1))


def gain(fast: Sequence[Totals], slow: Sequence[Totals], measure: str) -> tuple[float, float]:
    """Return the mean difference of downloads with the same seed, and its standard error."""
    difference = values(fast, measure) - values(slow, measure)
    difference = difference[np.isfinite(difference)]
    return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(difference.size))


def best_rtt_refs_ms(beyond: Downloads) -> tuple[int, int]:
    """Return the RTT_ref with the highest mean rate, and the largest that is enough.

    The latter, the least feedback, has a mean rate at most two standard errors below that of the
    best, by the differences of downloads with the same seed.
    """
    runs = {rtt_ref: beyond[one] for rtt_ref, one in live.BY_RTT_REF.items()}
    best = max(runs, key=lambda rtt_ref: mean(runs[rtt_ref], "rate_kbps"))
    leads = {rtt_ref: gain(runs[best], one, "rate_kbps") for rtt_ref, one in runs.items()}
    return best, max(rtt_ref for rtt_ref, (lead, error) in leads.items() if lead <= 2 * error)


def usual_percent(beyond: Downloads) -> tuple[float, float]:
    """Return the gain of an RTT_ref of 100 ms and its feedback, relative to those of the best."""
    usual, best = (beyond[live.BY_RTT_REF[one]] for one in (100, best_rtt_refs_ms(beyond)[0]))
    gained, most = (gain(one, beyond[live.STANDARD], "rate_kbps")[0] for one in (usual, best))
    return 100 * gained / most, 100 * mean(usual, "back_kbps") / mean(best, "back_kbps")


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
        return {download: runs[: len(live.BEYOND_SEEDS)] for download, runs in self.ours.items()}

    @cached_property
    def courses(self) -> dict[Download, Course]:
        """The downloads that are plotted."""
        return {download: Course.of(results) for download, results in self.results.items()}


def run(
    progress: Callable[[Progress], None] | None,
    run_as: Mapping[Download, Download],
    access: SharedAccess = live.FITTED,
) -> Live:
    """Run downloads. Plotted are those with the seed whose standard rate is the median.

    ``run_as`` has what is run for each: other conditions under another reading of the paper.
    """
    scenarios = [
        live.scenario(run_as[one], seed, access) for one in run_as for seed in live.seeds(one)
    ]
    results = run_many(scenarios, progress=progress)
    ours = {one: [totals(next(results)) for _ in live.seeds(one)] for one in run_as}
    order = np.argsort(values(ours[live.STANDARD], "rate_kbps"), kind="stable")
    shown_seed = live.SEEDS[int(order[len(order) // 2])]
    shown = {
        download: live.scenario(run_as[download], shown_seed, access, rates=True)
        for download in (live.STANDARD, live.DYNAMIC)
    }
    return Live(ours, shown_seed, shown, run_each(shown))
