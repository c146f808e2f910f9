"""ns-2's results: run now if ns-2 is installed, otherwise stored.

``python -m skywave.papers golden sarwar2008`` runs ns-2 and stores its results.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow.csv

from skywave import ns2
from skywave.papers.oracle import Oracle, run_all
from skywave.papers.sarwar2008.measures import Series
from skywave.papers.sarwar2008.setting import DURATION_S, QUEUES, REPORTS, RTT_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from skywave.papers.oracle import RunsDone

Agent = Literal["dccp", "tfrc"]
"""``Agent/DCCP/TFRC`` or ``Agent/TFRC``."""

STORED = Path(__file__).parent / "ns2"
"""One CSV of 1 s samples per run, as written by sarwar2008.tcl."""


@dataclass(frozen=True)
class Run:
    """A run of ns-2 with one of its two TFRCs, and with ``reports`` reports per round-trip time.

    The DCCP module always has one report.
    """

    agent: Agent
    reports: int
    queue: int

    @property
    def name(self) -> str:
        """The name for files."""
        return f"{self.agent}-reports{self.reports}-queue{self.queue}"


ALL_RUNS = (
    *(Run("dccp", 1, queue) for queue in QUEUES),
    *(Run("tfrc", reports, queue) for reports in (1, REPORTS) for queue in QUEUES),
)


def _ask(runs: Sequence[Run], directory: Path, progress: RunsDone | None) -> None:
    run_all(runs, lambda run: _run_one(run, directory), progress)


def _run_one(run: Run, directory: Path) -> None:
    ns2.run(
        ns2.command(
            "sarwar2008.tcl",
            agent=run.agent,
            nfb=run.reports,
            q=run.queue,
            rtt=RTT_S,
            dur=DURATION_S,
            out=directory / f"{run.name}.csv",
        )
    )


def _read_all(runs: Sequence[Run], directory: Path) -> dict[Run, Series]:
    return {run: _read(directory / f"{run.name}.csv") for run in runs}


def _read(path: Path) -> Series:
    table = pyarrow.csv.read_csv(path)
    column = {name: table[name].to_numpy().astype(np.float64) for name in table.column_names}

    def each_second(name: str) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = np.diff(column[name].astype(np.int64), prepend=0)
        return counts

    return Series(
        time_s=column["t_s"],
        rate_bps=column["sender_rate_kbps"] * 1e3,
        throughput_bps=column["link_kbps"] * 1e3,
        arrivals=each_second("arrivals"),
        drops=each_second("queue_drops"),
        reports=each_second("feedback_pkts"),
        report_bytes=None,
    )


ORACLE = Oracle(STORED, ALL_RUNS, _ask, _read_all)
