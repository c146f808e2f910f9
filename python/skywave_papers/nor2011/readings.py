"""What the paper leaves open, judged by all of its values: the send queue, and other readings.

``python -m skywave.papers stored nor2011`` runs and stores what our simulator gives, and ``python
-m skywave.papers golden nor2011`` what ns-2 gives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skywave.papers import readings
from skywave.papers.readings import ReadingResult
from skywave.papers.stages import run_each
from skywave.report.tables import Table
from skywave_papers.nor2011 import judge, measures, oracle, setting
from skywave_papers.nor2011.ledger import LEDGER
from skywave_papers.nor2011.measures import LOSS_WINDOW_S, Series
from skywave_papers.nor2011.setting import PAPER_SEND_QUEUE, PUBLISHED_SSTHRESH, Conditions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers.entries import Reading
    from skywave_papers.nor2011.judge import Loss, Values

TABLE_1 = frozenset(f"table1/ssthresh={ssthresh}" for ssthresh in PUBLISHED_SSTHRESH)
FULL_EARLY = "fig3/ssthresh=200"
"""The 100 s of Figure 3."""
RUNS = (setting.EXPERIMENT_1, *setting.EXPERIMENT_2)
"""The conditions that published values are judged under."""
SEND_QUEUES = (*range(1, 61), *range(65, 201, 5), *range(220, 501, 20), *range(550, 1001, 50))
"""Send queues of the scan, in packets."""
NS2_SEND_QUEUES = (
    *(1, 2, 3, 4, 5, 8, 10, 12, 15, 16, 17, 18, 20, 25),
    *(28, 29, 30, 33, 34, 40, 50, 75, 100, 200, 1000),
)
"""Those that ns-2 runs too: among them those between which our results change."""
LOSSES: Mapping[str, Loss] = {
    "trace-lines": Series.loss_percent_of_trace_lines,
    "arrivals": Series.loss_percent,
    "arrivals-in-window": lambda series: series.loss_percent(*LOSS_WINDOW_S),
}
"""What Table 1 may be."""


def _runs(send_queue: int, **changes: Any) -> dict[Conditions, Series]:
    """Return both experiments with one choice of what the paper leaves open."""
    scenarios = {
        conditions: setting.scenario(replace(conditions, send_queue=send_queue), **changes)
        for conditions in RUNS
    }
    return {key: measures.from_results(run) for key, run in run_each(scenarios).items()}


def measure(reading: Reading) -> Values:
    """Run everything under a reading other than the send queue."""
    changes = dict(reading.changes)
    loss = LOSSES[changes.pop("loss", "trace-lines")]
    return judge.published(_runs(PAPER_SEND_QUEUE, **changes), loss)


TABLE = readings.table(LEDGER, Path(__file__).with_suffix(".csv"), measure)


@dataclass(frozen=True)
class SendQueue:
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


def scan(send_queue: int) -> SendQueue:
    """Run everything with one send queue and judge all published values."""
    return _judged(send_queue, _runs(send_queue))


def scan_by_ns2(send_queue: int) -> SendQueue:
    """Return the same as ``scan`` from runs of ns-2.

    Raises:
        Ns2Error: If ns-2 cannot be run.

    """
    asked = {conditions: replace(conditions, send_queue=send_queue) for conditions in RUNS}
    answers = oracle.ask(list(asked.values()))
    return _judged(send_queue, {key: answers[conditions] for key, conditions in asked.items()})


def _judged(send_queue: int, runs: Mapping[Conditions, Series]) -> SendQueue:
    losses = {
        f"loss_{one}": runs[Conditions(one)].loss_percent_of_trace_lines()
        for one in PUBLISHED_SSTHRESH
    }
    full_s = {f"full_{one}_s": runs[Conditions(one)].full_s() for one in PUBLISHED_SSTHRESH}
    met = LEDGER.met(judge.published(runs))
    return SendQueue(send_queue, **losses, **full_s, matches=len(met), cells=" ".join(met))


SCAN = Table(Path(__file__).with_name("send_queues.csv"), SendQueue, SEND_QUEUES, scan)
NS2_SCAN = Table(
    Path(__file__).with_name("send_queues_ns2.csv"), SendQueue, NS2_SEND_QUEUES, scan_by_ns2
)


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
    def of(cls, scanned: Sequence[SendQueue]) -> Conflict:
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
class Band:
    """Consecutive send queues of the scan that meet the same values."""

    first: SendQueue
    last: SendQueue

    @property
    def send_queues(self) -> str:
        """Their range in packets."""
        return f"{self.first.send_queue}-{self.last.send_queue}"

    @property
    def result(self) -> ReadingResult:
        """Their result as that of a reading."""
        met = self.last.cells.split()
        return ReadingResult.of(f"send queue of {self.send_queues} packets", met)


def bands(scanned: Sequence[SendQueue]) -> list[Band]:
    """Return the scan in few rows, the longest send queues, and with them the paper's, first."""
    grouped = [list(rows) for _, rows in groupby(scanned, key=lambda row: row.met)]
    return [Band(rows[0], rows[-1]) for rows in reversed(grouped)]


def results() -> list[ReadingResult]:
    """Return the results of all send queues and of the other readings."""
    return [*(band.result for band in bands(SCAN.read())), *TABLE.read()]


def sections() -> dict[str, Any]:
    """Return what the report needs of the scans."""
    ours, by_ns2 = SCAN.read(), NS2_SCAN.read()
    return {
        "bands": bands(ours),
        "scan": ours,
        "conflict": Conflict.of(ours),
        "ns2_scan": by_ns2,
        "ns2_conflict": Conflict.of(by_ns2),
    }
