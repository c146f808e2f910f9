"""Readings of the paper's open points, each judged by all published values.

A reading changes the runs of Figure 2, the downloads, or both. The readings and their sentences
were fixed before they were counted. The first follows the paper's words most closely, and the
verdicts use it, whatever it meets.

A reading that changes standard feedback on the live link has its own search for the shared access,
by the same rule as :mod:`skywave_papers.sarwar2008.fit`. ``python -m skywave.papers stored
sarwar2008/tried`` runs and stores the outcomes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skywave.papers.measures import over_seeds
from skywave.papers.stages import run_each
from skywave.papers.tried import Tried
from skywave.report.tables import Table
from skywave_papers.sarwar2008 import (
    downloads,
    errors,
    fit,
    growth,
    judge,
    live,
    measures,
    setting,
)
from skywave_papers.sarwar2008.access import FITTED, PACKET_ERROR_RATE, SharedAccess
from skywave_papers.sarwar2008.ledger import LEDGER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave_papers.sarwar2008.judge import Values


@dataclass(frozen=True)
class Reading:
    """A reading: what it changes in Figure 2, on the live link, and in both for dynamic feedback.

    ``sentence`` is what the paper says of it, and what speaks for it or against it. Values of
    Figure 2 are means over ``seeds``. ``exit_gain_s`` replaces a run by arithmetic.
    """

    label: str
    sentence: str
    figure_2: Mapping[str, Any] = field(default_factory=dict)
    live: Mapping[str, Any] = field(default_factory=dict)
    dynamic: Mapping[str, Any] = field(default_factory=dict)
    seeds: range = range(1)
    exit_gain_s: float | None = None


SCANNED_ERRORS = (2, 3, 5, 10)
"""Numbers of errors at the end of slow start, other than the one of the verdicts."""
QUEUE_ALONE = "no errors in Figure 2, queue of {} packets"
TELLS_RTT = "the sender tells the round-trip time on the live link"
BY_THREES = "doubling every third round-trip time, or each (arithmetic)"

READINGS = (
    Reading(
        "as for the verdicts",
        'Figure 2: "patched to include the same number of errors and RTT values on exiting slow '
        'start phase" (section V-C): one error in both runs, at the first packet that arrives once '
        "X has reached the link's rate, and a queue that loses nothing. \"patched to include the "
        'proposed modifications inside the official TFRC implementation" (section IV): there, each '
        "packet has the sender's round-trip time. Live link: \"implementing our proposal inside "
        'the Linux kernel DCCP/CCID3" (section I), and "Other than the proposed improvements, the '
        'standard DCCP/CCID3 default parameters [...] are used for all simulation and live tests" '
        "(section IV): RFC 4342's receiver knows the round-trip time by the window counter only.",
    ),
    *(
        Reading(
            f"{number} errors at the end of slow start",
            "The same sentence does not give the number. Each error is a loss event of its own.",
            {"errors": number},
        )
        for number in SCANNED_ERRORS
    ),
    *(
        Reading(
            QUEUE_ALONE.format(queue),
            "The queue is not published. If it alone loses packets, both runs do not have the same "
            "number of errors, which the paper says they have.",
            {"errors": 0, "queue": queue},
        )
        for queue in setting.QUEUES
    ),
    Reading(
        "independent errors in Figure 2",
        '"The simulation parameters include RTT, error rate and a congestion bottleneck" (section '
        f"IV): the live link's rate, {100 * PACKET_ERROR_RATE:g} %, beside a queue of 50 packets; "
        "means over 20 seeds. An error rate does not give both runs the same number of errors.",
        {"errors": 0, "error_rate": PACKET_ERROR_RATE},
        seeds=range(1, 21),
    ),
    Reading(
        TELLS_RTT,
        "RFC 6323's option, as in ns-2's TFRC. It is younger than the paper. \"As the link delay "
        'is already measured within the DCCP protocol" (section VII) does not say by whom.',
        live={"receiver_rtt": "option"},
    ),
    Reading(
        "window counters in Figure 2",
        '"simulations with modified ns-2 DCCP" (abstract) may mean a module for DCCP instead of '
        '"the official TFRC implementation".',
        {"receiver_rtt": "window-counter"},
    ),
    Reading(
        "window counters with standard feedback only",
        '"This algorithm is based on the observed link delay and is dynamically applied in the '
        'DCCP receiver" (section I): a patch may tell the delay to dynamic receivers only.',
        {"receiver_rtt": "window-counter"},
        dynamic={"receiver_rtt": "option"},
    ),
    Reading(
        "rules of RFC 5348",
        "The paper cites RFC 3448 for TFRC. RFC 5348 is of September 2008, the month before.",
        {"rules": "rfc5348"},
        {"rules": "rfc5348"},
    ),
    Reading(
        "X_recv over a whole round-trip time",
        '"an observation interval O as the length of time used for all calculations on which '
        'receiver feedback is based" (section III) excludes it; RFC 5348 section 6 requires it.',
        dynamic={"window": "round-trip"},
    ),
    Reading(
        "smoothing per round-trip time",
        '"a weighted average over the duration of the observation interval" (section V-B) speaks '
        "for weights per report.",
        dynamic={"smoothing": "per-round-trip"},
    ),
    Reading(
        BY_THREES,
        "No text says so: equation 5 has every second. Seven doublings then give the published "
        "14 s exactly.",
        exit_gain_s=growth.by_threes_gain_s(
            setting.LINK_BPS / 8, setting.RTT_S, setting.PACKET_SIZE
        ),
    ),
)
"""All readings. The first is the one that the verdicts use."""


@dataclass(frozen=True)
class Outcome:
    """What a reading comes to: the values that it meets, its shared access, and main values."""

    tried: Tried
    access: SharedAccess
    exit_gain_s: float | None
    recovery_gain_s: float | None
    standard_kbps: float
    dynamic_kbps: float
    gain_percent: float
    standard_loss_percent: float
    dynamic_loss_percent: float
    live_exit_gain_s: float


def attempt(reading: Reading) -> Outcome:
    """Run everything that has published values under this reading, and judge it."""
    run_as = _downloads(reading)
    access = _access(run_as[live.STANDARD], run_as[live.DYNAMIC])
    value = {
        **_figure_2(reading),
        **judge.published_downloads(downloads.run(None, run_as, access)),
    }

    def known(name: str) -> float:
        found = value[name]
        return float("nan") if found is None else found

    return Outcome(
        Tried.of(reading.label, LEDGER.met(value)),
        access,
        value["fig2/exit"],
        value["fig2/recovery"],
        known("table1/standard/rate"),
        known("table1/dynamic/rate"),
        known("text/gain"),
        known("table1/standard/loss"),
        known("table1/dynamic/loss"),
        known("fig5/exit"),
    )


def _downloads(reading: Reading) -> dict[live.Download, live.Download]:
    """Return what is run for each download that has published values."""
    return {
        download: replace(
            download,
            **{**reading.live, **(reading.dynamic if download.feedback == "dynamic" else {})},
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
    standard = replace(setting.STANDARD, **reading.figure_2)
    dynamic = replace(setting.DYNAMIC, **{**reading.figure_2, **reading.dynamic})
    by_seed = []
    for seed in reading.seeds:
        scenarios = errors.scenarios((standard, dynamic))
        for scenario in scenarios.values():
            scenario.seed = seed
        runs = {key: measures.from_results(run) for key, run in run_each(scenarios).items()}
        by_seed.append(judge.figure_2(runs[standard], runs[dynamic]))
    means = over_seeds(by_seed)
    if reading.exit_gain_s is None:
        return means
    return {**means, "fig2/exit": reading.exit_gain_s, "fig2/exit-order": reading.exit_gain_s}


TABLE = Table(Path(__file__).with_name("tried.csv"), Outcome, READINGS, attempt)
"""The stored outcomes of all readings."""
