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
from skywave.papers.stages import measure_each
from skywave.report.tables import Table
from skywave_papers.nor2011 import judge, measures, oracle, setting
from skywave_papers.nor2011.ledger import LEDGER
from skywave_papers.nor2011.measures import LOSS_WINDOW_S, Series
from skywave_papers.nor2011.setting import PUBLISHED_SSTHRESH, Conditions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave.papers.entries import Reading
    from skywave_papers.nor2011.judge import Runs, Values

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
LOSSES: Mapping[str, Callable[[Series], float]] = {
    "trace-lines": Series.loss_percent_of_trace_lines,
    "arrivals": Series.loss_percent,
    "arrivals-in-window": lambda series: series.loss_percent(*LOSS_WINDOW_S),
}
"""What Table 1 may be."""


def simulate(runs: Sequence[Conditions], **changes: Any) -> dict[Conditions, Series]:
    """Return our results, with changes of what the paper leaves open."""
    plans = {conditions: setting.scenario(conditions, **changes) for conditions in runs}
    return measure_each(plans, lambda _, results: measures.from_results(results))


def measure(reading: Reading) -> Values:
    """Run everything under a reading other than the send queue."""
    changes = dict(reading.changes)
    loss = LOSSES[changes.pop("loss", "trace-lines")]
    return judge.published(simulate(RUNS, **changes), loss)


TABLE = readings.table(LEDGER, Path(__file__).with_suffix(".csv"), measure)


@dataclass(frozen=True)
class SendQueue:
    """Both experiments with one send queue, judged by all published values.

    Losses are in % as in Table 1, times those at which the link is first full, in s; both are by
    initial ssthresh in packets. ``cells`` has the published values that it meets, separated by
    spaces.
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

    @property
    def met(self) -> set[str]:
        """The ids of the values that it meets."""
        return set(self.cells.split())


def scan(send_queue: int, run: Callable[[Sequence[Conditions]], Runs] = simulate) -> SendQueue:
    """Run everything with one send queue and judge all published values."""
    found = run([replace(conditions, send_queue=send_queue) for conditions in RUNS])
    runs = dict(zip(RUNS, found.values(), strict=True))
    second = {ssthresh: runs[Conditions(ssthresh)] for ssthresh in PUBLISHED_SSTHRESH}
    met = LEDGER.met(judge.published(runs))
    return SendQueue(
        send_queue,
        **{f"loss_{one}": series.loss_percent_of_trace_lines() for one, series in second.items()},
        **{f"full_{one}_s": series.full_s() for one, series in second.items()},
        matches=len(met),
        cells=" ".join(met),
    )


SCAN = Table(Path(__file__).with_name("send_queues.csv"), SendQueue, SEND_QUEUES, scan)
NS2_SCAN = Table(
    Path(__file__).with_name("send_queues_ns2.csv"),
    SendQueue,
    NS2_SEND_QUEUES,
    lambda send_queue: scan(send_queue, oracle.ORACLE.run),
)


def renew_ns2() -> None:
    """Run ns-2 and replace its stored results: those of the report's runs, and its scan.

    Raises:
        Ns2Error: If ns-2 cannot be run.

    """
    oracle.ORACLE.renew()
    NS2_SCAN.renew()


def conflict(scanned: Sequence[SendQueue]) -> tuple[int, int]:
    """Return the shortest send queue that meets Table 1, and the longest that meets the 100 s.

    Raises:
        ValueError: If they are not two ends of the scan with none that meets both.
    """
    table_1 = [row.met >= TABLE_1 for row in scanned]
    early = [FULL_EARLY in row.met for row in scanned]
    first, last = table_1.index(True), early.index(False)
    if not all(table_1[first:]) or any(early[last:]) or not 0 < last <= first:
        raise ValueError("Table 1 and the 100 s are not met at two separate ends of the scan")
    return scanned[first].send_queue, scanned[last - 1].send_queue


def bands(scanned: Sequence[SendQueue]) -> list[list[SendQueue]]:
    """Group a scan by the values that are met; the longest send queues, the paper's, are first."""
    return [list(rows) for _, rows in groupby(scanned, key=lambda row: row.met)][::-1]


def results() -> list[ReadingResult]:
    """Return the results of all send queues and of the other readings."""
    scanned = (
        (f"send queue of {band[0].send_queue}-{band[-1].send_queue} packets", band[0].cells.split())
        for band in bands(SCAN.read())
    )
    return [*(ReadingResult.of(label, met) for label, met in scanned), *TABLE.read()]
