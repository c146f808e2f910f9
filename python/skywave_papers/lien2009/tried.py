"""Readings of the paper's open points, each judged by all published values.

A reading changes settings, or how a run is measured. The readings, their sentences and their seeds
are fixed here; what they come to is stored. ``python -m skywave.papers stored lien2009/tried`` runs
and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skywave.papers.stages import measure_each
from skywave.papers.tried import Tried
from skywave.report.tables import Table
from skywave_papers.lien2009 import judge, measures, published, setting
from skywave_papers.lien2009.ledger import LEDGER
from skywave_papers.lien2009.measures import Run
from skywave_papers.lien2009.setting import SENT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skywave_papers.lien2009.measures import Floats


@dataclass(frozen=True)
class Overdue(Run):
    """A run whose loss includes packets that arrive after the deadline."""

    @property
    def loss_percent(self) -> Floats:
        """Share of the frames made in a period that was not played."""
        return 100 - self.played_percent


@dataclass(frozen=True)
class OfFirstPeriod(Run):
    """A run whose loss is relative to the packets of the first period.

    That of the first period is 0 by definition. It is undefined here, so that no value counts it.
    """

    @property
    def loss_percent(self) -> Floats:
        """Share of the first period's packets that is missing in a period."""
        return np.concatenate([[np.nan], 100 - self.ratio_percent[1:]])


def _by_seconds(run: Run) -> Run:
    return replace(run, delay_ms=run.delay_by_second_ms)


def _overdue(run: Run) -> Run:
    return Overdue(**vars(run))


def _of_first_period(run: Run) -> Run:
    return OfFirstPeriod(**vars(run))


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


_SMALL = {"send_queue": 1}
OF_FIRST_PERIOD = (
    "a send queue of 1 packet, loss relative to the first period",
    "a send queue of 1 packet, loss relative to the first period, delays as means of seconds",
)
"""The readings that do not count the losses of the first period."""

READINGS = (
    Reading(
        "as for the verdicts",
        '"The link in the middle is first set to 0.25Mbps bandwidth with a 50ms latency" (section '
        f"3.1). {SENT} packets of 80 B in 10 s, by the digits of Tables 3 and 4. Means of periods "
        "of 10 s.",
    ),
    Reading(
        "30 ms",
        'Table 1: "VoIP Inter-Packet Interval 30 ms". The digits of Tables 3 and 4 exclude it.',
        {"interval_s": setting.TABLE_1_INTERVAL_S},
    ),
    Reading(
        "30 ms, ns-2's send queue, jitter",
        "The same with what suits it best: nothing overflows at the start, and jitter breaks the "
        "phase effects that rule at 33 packets per second.",
        {
            "interval_s": setting.TABLE_1_INTERVAL_S,
            "send_queue": setting.NS2_SEND_QUEUE,
            "jitter": True,
        },
    ),
    Reading(
        "10 ms",
        "Not in the paper: 64 kbps, the rate of G.711, in packets of 80 B.",
        {"interval_s": 0.01},
    ),
    Reading(
        "12.5 ms",
        f"Not in the paper: with 800 packets of the call in 10 s, the {SENT} would include DCCP's "
        "reports.",
        {"interval_s": 0.0125},
    ),
    Reading(
        "a send queue of 1 packet",
        '"almost no buffer is allowed in the sender" (section 2.5). But then far fewer packets '
        f"leave and arrive in the first period than {SENT} and {published.RECEIVED}.",
        _SMALL,
    ),
    Reading(
        OF_FIRST_PERIOD[0],
        "Table 4's losses have one denominator. If it is the number of packets in the first "
        "period, the loss there is 0 by definition: these five values are not counted.",
        _SMALL,
        _of_first_period,
    ),
    Reading(
        "ns-2's send queue",
        f"{setting.NS2_SEND_QUEUE} packets. The backlog of the start overflows the bottleneck, and "
        "TFRC begins with a loss history; Table 4 has no loss then.",
        {"send_queue": setting.NS2_SEND_QUEUE},
    ),
    Reading(
        "delays as means of seconds",
        "Figures 5 and 6 plot the delay over time, and Table 4 may be the mean of what they plot. "
        "Chosen after the misses were seen, so the verdicts do not use it.",
        measure=_by_seconds,
    ),
    Reading(
        OF_FIRST_PERIOD[1],
        "The three preceding alternatives combined, as they were found.",
        _SMALL,
        lambda run: _of_first_period(_by_seconds(run)),
    ),
    Reading(
        "jitter of TCP senders",
        "The paper does not say whether it avoided phase effects.",
        {"jitter": True},
    ),
    Reading(
        "a bottleneck of 1.5 Mbps",
        'Table 1: "Link Bandwidth 1.5~10 Mbps". A full queue takes 160 ms then; Table 4 has 627.',
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
        "loss includes overdue packets",
        '"Average delay time and loss rate, which includes arrived but overdue packets" (section '
        f"3.3). Overdue is what arrives more than {setting.DEADLINE_S * 1e3:g} ms after it was "
        "made. The published losses are the complement of the throughput ratio, so they include "
        "no packet that arrived.",
        measure=_overdue,
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
    values = judge.published(judge.of_runs(ours))
    met = set(LEDGER.met(values))
    return Tried.of(reading.label, [name for name in values if name in met])


TABLE = Table(Path(__file__).parent / "tried.csv", Tried, READINGS, attempt)
"""The stored outcomes of all readings."""
