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
from skywave.results.samples import Samples
from skywave_papers.sarwar2008 import setting
from skywave_papers.sarwar2008.measures import Series
from skywave_papers.sarwar2008.setting import QUEUES, REPORTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skywave._progress import Progress

Agent = Literal["dccp", "tfrc"]
UNLIMITED = 100_000
"""A queue that never fills, in packets."""


@dataclass(frozen=True)
class Run:
    """A run of ns-2 with ``Agent/DCCP/TFRC`` or ``Agent/TFRC``.

    It has ``reports`` reports per round-trip time, the DCCP module always one. ``queue`` is None if
    the link loses one packet at the end of slow start and no other, as in
    :mod:`skywave_papers.sarwar2008.setting`. TFRC starts with RFC 3390's window per round-trip
    time, ns-2's default, or with ``one_packet``.
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
    run_all(runs, lambda run: _run_one(run, directory / f"{run.name}.csv"), progress)


def _run_one(run: Run, path: Path) -> None:
    def simulate(**parameters: object) -> None:
        fixed = {"agent": run.agent, "nfb": run.reports, "rtt": setting.RTT_S, "out": path}
        start = {"initr": 1, "rinit": 1} if run.one_packet else {}
        ns2.run(ns2.command("sarwar2008.tcl", **fixed, **start, **parameters))

    if run.queue is not None:
        simulate(q=run.queue, dur=setting.DURATION_S)
        return
    simulate(q=UNLIMITED, dur=setting.SEARCHED_RTTS * setting.RTT_S, step=0.01)
    # The packet, counted from 0, that is first once X has reached the link's rate, is lost.
    table = Samples(pyarrow.csv.read_csv(path))
    fast = table["sender_rate_kbps"] >= setting.LINK_BPS / 1e3
    simulate(q=UNLIMITED, dur=setting.DURATION_S, drops=int(table["arrivals"][fast][0]))


def _read(runs: Sequence[Run], directory: Path) -> dict[Run, Series]:
    found = {}
    for run in runs:
        table = Samples(pyarrow.csv.read_csv(directory / f"{run.name}.csv"))
        found[run] = Series(
            time_s=table["t_s"],
            rate_bps=table["sender_rate_kbps"] * 1e3,
            throughput_bps=table["link_kbps"] * 1e3,
            arrivals=np.diff(table["arrivals"], prepend=0),
            drops=np.diff(table["queue_drops"], prepend=0),
            reports=np.diff(table["feedback_pkts"], prepend=0),
            report_bytes=np.zeros_like(table["t_s"]),
        )
    return found


ORACLE = Oracle(Path(__file__).parent / "ns2", ALL_RUNS, _ask, _read)
