"""Readings of what the paper leaves open, each judged by all published values.

A reading changes settings, or how a run is measured. The readings, their sentences and their seeds
are fixed here; what they come to is stored. ``python -m skywave.papers stored lien2009/tried`` runs
and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skywave.papers import tried
from skywave.papers.lien2009 import cells, measures, oracle, setting
from skywave.papers.lien2009.measures import Run, over_runs
from skywave.papers.stages import measure_each
from skywave.papers.stored import Table
from skywave.papers.tried import Tried

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave.papers.lien2009.cells import Runs
    from skywave.papers.lien2009.measures import Floats
    from skywave.papers.lien2009.oracle import Periods


@dataclass(frozen=True)
class Overdue(Run):
    """A run whose loss includes packets that arrive after the deadline."""

    @property
    def loss_percent(self) -> Floats:
        """Share of the frames made in a period that was not played."""
        return 100 - self.played_percent


def running(delay_ms: Floats, packets: Floats) -> Floats:
    """Return the mean delay of all packets since 10 s at the end of each period.

    The first period, without TCP, keeps its own mean. ``packets`` may have any unit.
    """
    weights = np.where(np.isfinite(delay_ms[1:]), packets[1:], 0.0)
    sums = np.cumsum(weights * np.nan_to_num(delay_ms[1:]))
    with np.errstate(invalid="ignore"):
        return np.concatenate([delay_ms[:1], sums / np.cumsum(weights)])


def _with_running_delay(run: Run) -> Run:
    return replace(run, delay_ms=running(run.delay_ms, run.received))


def _overdue(run: Run) -> Run:
    return Overdue(**vars(run))


def _as_measured(run: Run) -> Run:
    return run


@dataclass(frozen=True)
class Reading:
    """A reading: the settings that it changes, and how it measures a run.

    ``sentence`` is what the paper says of it, and what speaks for it or against it.
    """

    label: str
    sentence: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    measure: Callable[[Run], Run] = _as_measured


READINGS = (
    Reading(
        "as for the verdicts",
        '"The link in the middle is first set to 0.25Mbps bandwidth with a 50ms latency" (section '
        "3.1). Packets of 80 B, means of periods of 10 s, jitter against phase effects.",
    ),
    Reading(
        "a bottleneck of 1.5 Mbps",
        'Table 1: "Link Bandwidth 1.5~10 Mbps". The published delay without TCP excludes it.',
        {"rate": "1.5 Mbps"},
    ),
    Reading(
        "a bottleneck of 10 Mbps",
        "The other end of Table 1's range.",
        {"rate": "10 Mbps"},
    ),
    Reading(
        "s = 1460 B",
        'Table 2: "s Packet Size 1460 Bytes". Table 4 has no loss without TCP, which excludes it.',
        {"segment_size": "1460 B"},
    ),
    Reading(
        "the sender reports the round-trip time",
        "The paper does not say how the receiver learns the round-trip time. ns-2's module uses "
        "window counters; RFC 6323 has an option.",
        {"tells_rtt": True},
    ),
    Reading(
        "loss intervals as in RFC 3448",
        "The paper cites the draft of CCID 3, which refers to RFC 3448, but ran a module for ns-2. "
        "The module counts loss intervals that it has not yet seen as zero.",
        {"rules": "rfc3448"},
    ),
    Reading(
        "no jitter",
        "The paper does not say how it avoided phase effects, or whether it did.",
        {"jitter": False},
    ),
    Reading(
        "loss includes overdue packets",
        '"Average delay time and loss rate, which includes arrived but overdue packets" (section '
        f"3.3). Overdue is what arrives more than {setting.DEADLINE_S * 1e3:g} ms after it was "
        "made. The published losses are the complement of the throughput ratio, so they include "
        "no packet that arrived.",
        measure=_overdue,
    ),
    Reading(
        "delays as running means since 10 s",
        '"Average delay time" may be the mean of all packets until then, without the period before '
        "TCP. Ratios and losses cannot be such means (see above).",
        measure=_with_running_delay,
    ),
)
"""All readings. The first is the one that the verdicts use."""


def attempt(reading: Reading) -> Tried:
    """Run everything that has published values under this reading, and judge it."""
    plan = {conditions: replace(conditions, **reading.changes) for conditions in setting.JUDGED}
    runs = measure_each(
        {
            (conditions, seed): setting.scenario(changed, seed)
            for conditions, changed in plan.items()
            for seed in setting.SEEDS
        },
        lambda key, results: reading.measure(measures.from_results(plan[key[0]], results)),
    )
    ours = {conditions: [runs[conditions, seed] for seed in setting.SEEDS] for conditions in plan}
    return tried.tried(reading.label, cells.published_cells(ours, oracle.periods()))


TABLE = Table(Path(__file__).parent / "tried.csv", Tried, READINGS, attempt)
"""The stored outcomes of all readings."""


@dataclass(frozen=True)
class Distance:
    """Root-mean-square distances of delays beside one TCP to the published ones, in ms.

    They are of our means and of ns-2's, each as means of periods and as running means.
    """

    tcp: str
    ours: float
    ours_running: float
    ns2: float
    ns2_running: float
    inverted_ms: float
    """The delay of the last period, if the published delays were running means."""


def distances(ours: Runs, ns2: Mapping[str, Periods]) -> list[Distance]:
    """Return how far delays are from the published ones, by TCP."""
    return [
        _distance(
            conditions.tcp,
            (
                over_runs(ours[conditions], "delay_ms").mean,
                over_runs(ours[conditions], "received").mean,
            ),
            (ns2[conditions.name].delay_ms.mean, ns2[conditions.name].ratio_percent.mean),
        )
        for conditions in setting.TABLES
    ]


def _distance(tcp: str, ours: tuple[Floats, Floats], ns2: tuple[Floats, Floats]) -> Distance:
    published = np.array(cells.DELAY_MS[tcp][1:])

    def distance(delay_ms: Floats) -> float:
        return float(np.sqrt(np.mean(np.square(delay_ms[1:] - published))))

    return Distance(
        tcp,
        distance(ours[0]),
        distance(running(*ours)),
        distance(ns2[0]),
        distance(running(*ns2)),
        inverted(cells.DELAY_MS[tcp][1:], cells.RATIO[tcp]),
    )


def inverted(means: Sequence[float], weights: Sequence[float]) -> float:
    """Return the last period's value, if ``means`` are running means with these weights."""
    sums = np.array(means) * np.cumsum(weights)
    return float((sums[-1] - sums[-2]) / weights[-1])


def least_inverted_ratio() -> float:
    """Return the lowest ratio of a period, in %, if Table 3 had running means."""
    ones = (1.0,) * len(cells.PERIODS)
    return min(
        inverted(ratios[:end], ones[:end])
        for ratios in cells.RATIO.values()
        for end in range(2, len(ratios) + 1)
    )
