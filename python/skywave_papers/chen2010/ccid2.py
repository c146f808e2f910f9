"""Whether some reading of CCID 2 gives the published DCCP/RED: 125 packets, 3 % dropped.

Each reading is run with several buffers on the same two seeds. CCID 2 reduces its window once for
all packets lost in it, as in RFC 4341 and in ns-2's module. The drop rate is the paper's: the mean
over intervals of 10 ms.
``python -m skywave.papers stored chen2010/ccid2`` runs all of them and stores the results.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skywave import run_many
from skywave.papers.cells import CLOSE, relative_distance
from skywave.papers.measures import mean
from skywave.report.tables import Table
from skywave_papers.chen2010.ledger import LEDGER
from skywave_papers.chen2010.measures import from_results
from skywave_papers.chen2010.setting import CODES, DCCP_RED, UNPUBLISHED, scenario

if TYPE_CHECKING:
    from collections.abc import Iterable

QUEUE_PACKETS, DROP_PERCENT = (LEDGER.published(value) for value in ("fig6b", "fig7b"))
"""The published DCCP/RED."""
SEEDS = range(1001, 1003)
BUFFERS = (130, 140, 200, 800)
GROWTHS = ("rfc4341", "ns2-tcplike", "per-ack")
ACK_RATIOS = (1, 2)
TIMEOUTS = ("200 ms", "1 s")
RULES: tuple[tuple[Literal["rfc", "ns2"], str, str], ...] = (
    ("rfc", "200 ms", "marks"),
    ("ns2", "1 s", "drops"),
)
"""Rules, smallest RTO and action of RED, for readings with an Ack Ratio of 2."""


@dataclass(frozen=True)
class Reading:
    """One reading of what the paper calls CCID 2.

    ``growth`` is by packets (in slow start half a packet for each, or one) or, with a fractional
    window, by acknowledgements. ``ack_ratio`` is the initial one; with windows of a few packets it
    cannot stay above 2 (RFC 4341 section 6.1.2). ``least_rto`` is the smallest RTO. RED may mark
    instead of dropping, since CCID 2 is designed for ECN.
    """

    profile: Literal["rfc", "ns2"]
    growth: str
    ack_ratio: int
    least_rto: str
    router: str
    buffer: int

    @property
    def dccp(self) -> dict[str, Any]:
        """The parameters of DCCP that differ from the paper's settings."""
        return {
            "profile": self.profile,
            "growth": self.growth,
            "ack_ratio": self.ack_ratio,
            "min_rto": self.least_rto,
            "ecn": self.router == "marks",
            # With these, all packets have the same size.
            "short_seqnos": True,
        }


ALL_READINGS = (
    *(
        Reading("rfc", growth, ack_ratio, timeout, "drops", buffer)
        for growth, ack_ratio, timeout, buffer in itertools.product(
            GROWTHS, ACK_RATIOS, TIMEOUTS, BUFFERS
        )
    ),
    *(
        Reading(profile, growth, 2, timeout, router, buffer)
        for profile, timeout, router in RULES
        for growth, buffer in itertools.product(GROWTHS, BUFFERS)
    ),
)


@dataclass(frozen=True)
class Answer:
    """The results of a reading, as means over the seeds."""

    reading: Reading
    queue_packets: float
    drop_percent: float
    peak_percent: float
    utilisation: float

    @property
    def is_published(self) -> bool:
        """Whether mean queue and mean drop rate would both count as a match."""
        return CLOSE.holds(QUEUE_PACKETS, self.queue_packets) and CLOSE.holds(
            DROP_PERCENT, self.drop_percent
        )

    @property
    def miss(self) -> float:
        """Root-mean-square relative distance to the published mean queue and mean drop rate."""
        return relative_distance(
            (self.queue_packets, QUEUE_PACKETS), (self.drop_percent, DROP_PERCENT)
        )


def ask(reading: Reading) -> Answer:
    """Run one reading and return its results."""
    unpublished = replace(UNPUBLISHED, buffer=reading.buffer)
    red = {"ecn": reading.router == "marks"}
    runs = [
        from_results(results)
        for results in run_many(
            scenario(DCCP_RED, seed, unpublished, red=red, dccp=reading.dccp, senders=CODES)
            for seed in SEEDS
        )
    ]
    return Answer(
        reading,
        mean(runs, "series.queue_mean"),
        mean(runs, "series.interval_drop_percent"),
        mean(runs, "series.peak_percent"),
        mean(runs, "utilisation"),
    )


def nearest(answers: Iterable[Answer]) -> list[Answer]:
    """Return the answers sorted by distance from the published values, closest first."""
    return sorted(answers, key=lambda answer: answer.miss)


TABLE = Table(Path(__file__).with_suffix(".csv"), Answer, ALL_READINGS, ask)
"""The stored answers, in the order of the readings."""
