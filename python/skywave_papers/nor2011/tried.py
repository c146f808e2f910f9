"""Readings of the paper's open points, judged by all of its values: the send queue, and others.

``python -m skywave.papers stored nor2011`` runs and stores what our simulator gives, and ``python
-m skywave.papers golden nor2011`` what ns-2 gives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skywave.papers.stages import run_each
from skywave.papers.tried import Tried
from skywave.report.tables import Table
from skywave_papers.nor2011 import judge, measures, oracle, setting
from skywave_papers.nor2011.ledger import LEDGER
from skywave_papers.nor2011.measures import LOSS_WINDOW_S, Series
from skywave_papers.nor2011.setting import (
    EXPERIMENT_1,
    EXPERIMENT_2,
    PAPER_QUEUE,
    PAPER_SEND_QUEUE,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.scenario.parts import Growth
    from skywave_papers.nor2011.judge import Loss
    from skywave_papers.nor2011.setting import Conditions

TABLE_1 = frozenset(f"table1/ssthresh={ssthresh}" for ssthresh in setting.PUBLISHED_SSTHRESH)
"""The values of Table 1."""
FULL_EARLY = "fig3/ssthresh=200"
"""The 100 s of Figure 3."""

SEND_QUEUES = (*range(1, 61), *range(65, 201, 5), *range(220, 501, 20), *range(550, 1001, 50))
"""Send queues of the scan, in packets."""
NS2_SEND_QUEUES = (
    *(1, 2, 3, 4, 5, 8, 10, 12, 15, 16, 17, 18, 20, 25),
    *(28, 29, 30, 33, 34, 40, 50, 75, 100, 200, 1000),
)
"""Those that ns-2 runs too: among them those between which our results change."""


def _runs(
    send_queue: int, queue_packets: int = PAPER_QUEUE, growth: Growth = "ns2-tcplike"
) -> dict[Conditions, Series]:
    """Return both experiments with one choice of what the paper leaves open.

    The keys are the conditions that published values are judged under.
    """
    scenarios = {
        conditions: setting.scenario(
            replace(conditions, send_queue=send_queue), queue_packets=queue_packets, growth=growth
        )
        for conditions in (EXPERIMENT_1, *EXPERIMENT_2)
    }
    return {key: measures.from_results(run) for key, run in run_each(scenarios).items()}


@dataclass(frozen=True)
class Scanned:
    """Both experiments with one send queue, judged by all published values.

    Losses are in % as in Table 1, times those at which the link is first full, in s; both are by
    initial ssthresh in packets.
    """

    send_queue: int
    loss_20: float | None
    loss_50: float | None
    loss_100: float | None
    loss_200: float | None
    full_20_s: float | None
    full_50_s: float | None
    full_100_s: float | None
    full_200_s: float | None
    matches: int
    cells: str
    """The published values that it meets, separated by spaces."""

    @property
    def losses(self) -> tuple[float | None, ...]:
        """The losses, by initial ssthresh."""
        return self.loss_20, self.loss_50, self.loss_100, self.loss_200

    @property
    def full_s(self) -> tuple[float | None, ...]:
        """The times, by initial ssthresh."""
        return self.full_20_s, self.full_50_s, self.full_100_s, self.full_200_s

    @property
    def met(self) -> set[str]:
        """The ids of the values that it meets."""
        return set(self.cells.split())


def scan(send_queue: int) -> Scanned:
    """Run everything with one send queue and judge all published values."""
    return _scanned(send_queue, _runs(send_queue))


def scan_by_ns2(send_queue: int) -> Scanned:
    """Return the same as ``scan`` from runs of ns-2.

    Raises:
        Ns2Error: If ns-2 cannot be run.

    """
    asked = {
        conditions: replace(conditions, send_queue=send_queue)
        for conditions in (EXPERIMENT_1, *EXPERIMENT_2)
    }
    answers = oracle.ask(list(asked.values()))
    return _scanned(send_queue, {key: answers[conditions] for key, conditions in asked.items()})


def _scanned(send_queue: int, runs: Mapping[Conditions, Series]) -> Scanned:
    second = {one: runs[setting.Conditions(one)] for one in setting.PUBLISHED_SSTHRESH}
    loss = {one: series.loss_percent_of_trace_lines() for one, series in second.items()}
    full_s = {one: series.full_s() for one, series in second.items()}
    judged = Tried.of("", LEDGER.met(judge.published(runs)))
    return Scanned(
        send_queue=send_queue,
        loss_20=loss[20],
        loss_50=loss[50],
        loss_100=loss[100],
        loss_200=loss[200],
        full_20_s=full_s[20],
        full_50_s=full_s[50],
        full_100_s=full_s[100],
        full_200_s=full_s[200],
        matches=judged.matches,
        cells=judged.cells,
    )


SCAN = Table(Path(__file__).with_name("send_queues.csv"), Scanned, SEND_QUEUES, scan)
"""The stored outcomes of all send queues."""
NS2_SCAN = Table(
    Path(__file__).with_name("send_queues_ns2.csv"), Scanned, NS2_SEND_QUEUES, scan_by_ns2
)
"""The stored outcomes of ns-2."""


def renew_ns2() -> None:
    """Run ns-2 and replace its stored results: those of the report's runs, and its scan.

    Raises:
        Ns2Error: If ns-2 cannot be run.

    """
    oracle.ORACLE.renew()
    NS2_SCAN.renew()


@dataclass(frozen=True)
class Conflict:
    """Which send queues of a scan meet Table 1, and which the 100 s of Figure 3, in packets.

    Those from ``table_1_from`` on meet Table 1, those up to ``early_up_to`` the 100 s, and no other
    one meets either.
    """

    table_1_from: int
    early_up_to: int

    @classmethod
    def of(cls, scanned: Sequence[Scanned]) -> Conflict:
        """Return the conflict in a scan, whose send queues ascend.

        Raises:
            ValueError: If there is none: one send queue meets both, or those that meet one of them
                are not an end of the scan.

        """
        queues = [row.send_queue for row in scanned]
        table_1 = [row.send_queue for row in scanned if row.met >= TABLE_1]
        early = [row.send_queue for row in scanned if FULL_EARLY in row.met]
        between = queues[len(early) : len(queues) - len(table_1)]
        if not table_1 or not early or early + between + table_1 != queues:
            raise ValueError("the scan of send queues does not have Table 1 and 100 s at its ends")
        return cls(table_1[0], early[-1])


@dataclass(frozen=True)
class Reading:
    """A choice of what the paper leaves open, other than the send queue."""

    label: str
    queue_packets: int = PAPER_QUEUE
    growth: Growth = "ns2-tcplike"
    loss: Loss = Series.loss_percent_of_trace_lines


ARRIVALS = "Table 1 has drops per arrival"
STATED = "Table 1 has drops per arrival, 20-180 s"
ONE_MORE = "the one on the wire does not count"
RFC_4341 = "slow start of RFC 4341"
READINGS = (
    Reading(ARRIVALS, loss=Series.loss_percent),
    Reading(STATED, loss=lambda series: series.loss_percent(*LOSS_WINDOW_S)),
    Reading(ONE_MORE, queue_packets=PAPER_QUEUE + 1),
    Reading(RFC_4341, growth="rfc4341"),
)
RULES = {
    "send queue": (
        "The paper does not mention the sender's queue. The default is that of ns-2, which the "
        "paper used."
    ),
    ARRIVALS: (
        '"the percentage of packet loss or Packet Loss Ratio (PLR)" is usually that of the packets '
        "that arrive at the bottleneck."
    ),
    STATED: '"The measurement of the packet drop percentage are from the simulation time at 20s '
    'to 180s".',
    ONE_MORE: (
        '"queue size of 20 packets": in ns-2 these include the packet in transmission. Here 20 '
        "wait beside it."
    ),
    RFC_4341: (
        '"TCP-like (Floyd & Kohler, 2006a)" is RFC 4341, whose window grows by one packet for two '
        "acknowledged packets. That of ns-2's module grows by one for each."
    ),
}
"""The sentence of the paper behind each reading."""


def attempt(reading: Reading) -> Tried:
    """Run everything with a reading and judge all published values."""
    runs = _runs(PAPER_SEND_QUEUE, reading.queue_packets, reading.growth)
    return Tried.of(reading.label, LEDGER.met(judge.published(runs, reading.loss)))


TABLE = Table(Path(__file__).with_name("tried.csv"), Tried, READINGS, attempt)
"""The stored outcomes of all other readings."""


@dataclass(frozen=True)
class Band:
    """Consecutive send queues of the scan that meet the same values."""

    first: Scanned
    last: Scanned

    @property
    def send_queues(self) -> str:
        """Their range in packets."""
        return f"{self.first.send_queue}-{self.last.send_queue}"

    @property
    def reading(self) -> Tried:
        """What they come to."""
        label = f"send queue of {self.send_queues} packets"
        return Tried(label, self.last.matches, None, None, self.last.cells)


def bands(scanned: Sequence[Scanned]) -> list[Band]:
    """Return the scan in few rows, the longest send queues first."""
    grouped = [list(rows) for _, rows in groupby(scanned, key=lambda row: row.met)]
    return [Band(rows[0], rows[-1]) for rows in reversed(grouped)]


def sections(scanned: Sequence[Scanned]) -> dict[str, Any]:
    """Return the values of the report's section on what the paper leaves open.

    The first band has the longest send queues, and with them the paper's.
    """
    found, by_ns2 = bands(scanned), NS2_SCAN.read()
    most = max(row.matches for row in scanned)
    return {
        "bands": found,
        "scanned": len(scanned),
        "shortest_scanned": scanned[0].send_queue,
        "longest_scanned": scanned[-1].send_queue,
        "most_met": most,
        "most_met_by": [band.send_queues for band in found if band.last.matches == most],
        "conflict": Conflict.of(scanned),
        "ns2_scanned": by_ns2,
        "ns2_conflict": Conflict.of(by_ns2),
        "tried": [*(band.reading for band in found), *TABLE.read()],
        "tried_rules": RULES,
    }
