"""ns-2's results: run now if ns-2 is installed, otherwise stored.

``python -m skywave.papers golden sarwar2008`` runs ns-2 and stores its results.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow.csv

from skywave.papers import ns2
from skywave.papers.ns2 import Oracle, run_all
from skywave_papers.sarwar2008.errors import SEARCHED_S
from skywave_papers.sarwar2008.measures import Series
from skywave_papers.sarwar2008.setting import DURATION_S, LINK_BPS, QUEUES, REPORTS, RTT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from skywave._progress import Progress

Agent = Literal["dccp", "tfrc"]
"""``Agent/DCCP/TFRC`` or ``Agent/TFRC``."""

STORED = Path(__file__).parent / "ns2"
"""One CSV of 1 s samples per run, as written by sarwar2008.tcl."""


@dataclass(frozen=True)
class Run:
    """A run of ns-2 with one of its two TFRCs, and with ``reports`` reports per round-trip time.

    The DCCP module always has one report. ``queue`` is None if the link loses one packet at the
    end of slow start and no other, as in :mod:`skywave_papers.sarwar2008.errors`. TFRC starts with
    RFC 3390's window per round-trip time, ns-2's default, or with ``one_packet``.
    """

    agent: Agent
    reports: int
    queue: int | None
    one_packet: bool = False

    @property
    def name(self) -> str:
        """The name for files."""
        losses = "error" if self.queue is None else f"queue{self.queue}"
        start = "-one-packet" if self.one_packet else ""
        return f"{self.agent}-reports{self.reports}-{losses}{start}"


ALL_RUNS = (
    *(Run("dccp", 1, queue) for queue in QUEUES),
    *(Run("tfrc", reports, queue) for reports in (1, REPORTS) for queue in (*QUEUES, None)),
    *(Run("tfrc", reports, None, one_packet=True) for reports in (1, REPORTS)),
)


def _ask(runs: Sequence[Run], directory: Path, progress: Callable[[Progress], None] | None) -> None:
    run_all(runs, lambda run: _run_one(run, directory), progress)


UNLIMITED = 100_000
"""A queue that never fills, in packets."""


def _run_one(run: Run, directory: Path) -> None:
    path = directory / f"{run.name}.csv"
    if run.queue is not None:
        _simulate(run, path, q=run.queue, dur=DURATION_S)
        return
    _simulate(run, path, q=UNLIMITED, dur=SEARCHED_S, step=0.01)
    hit = _first_at_full_rate(path)
    _simulate(run, path, q=UNLIMITED, dur=DURATION_S, drops=hit)


def _simulate(run: Run, path: Path, **parameters: object) -> None:
    fixed = {"agent": run.agent, "nfb": run.reports, "rtt": RTT_S, "out": path}
    start = {"initr": 1, "rinit": 1} if run.one_packet else {}
    ns2.run(ns2.command("sarwar2008.tcl", **fixed, **start, **parameters))


def _first_at_full_rate(path: Path) -> int:
    """Return the packet, counted from 0, that is first once X has reached the link's rate."""
    table = pyarrow.csv.read_csv(path)
    fast = table["sender_rate_kbps"].to_numpy() >= LINK_BPS / 1e3
    return int(table["arrivals"].to_numpy()[fast][0])


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
