"""ns-2's results: run now if ns-2 is installed, otherwise stored.

``python -m skywave.papers golden nor2011`` runs ns-2 and stores its results.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.csv

from skywave.papers import ns2
from skywave.papers.oracle import Oracle, run_all
from skywave_papers.nor2011.measures import FlowSeries, Series
from skywave_papers.nor2011.setting import ALL_CONDITIONS, Conditions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skywave._progress import Progress

STORED = Path(__file__).parent / "ns2"
"""One CSV of 1 s samples per run, as written by nor2011.tcl, and counts from the traces."""
_COUNTS = "receive_events.json"
_RECEIVED = re.compile(r"^traceall whole: .* r (\d+) ", re.MULTILINE)


def _ask(
    runs: Sequence[Conditions], directory: Path, progress: Callable[[Progress], None] | None
) -> None:
    def ask(conditions: Conditions) -> int:
        """Return the number of receive events of DCCP data packets."""
        command = ns2.command(
            "nor2011.tcl",
            ssth=conditions.ssthresh,
            dur=conditions.duration_s,
            sb=conditions.send_queue,
            win=conditions.tcp_window,
            traceall=1,
            out=directory / f"{conditions.name}.csv",
        )
        received = _RECEIVED.search(ns2.run(command))
        if received is None:
            raise ns2.Ns2Error("ns-2 printed no count of receive events")
        return int(received[1])

    counts = {conditions.name: count for conditions, count in run_all(runs, ask, progress).items()}
    text = json.dumps(counts, indent=2, sort_keys=True) + "\n"
    (directory / _COUNTS).write_text(text, encoding="utf-8")


def _read(runs: Sequence[Conditions], directory: Path) -> dict[Conditions, Series]:
    counts = json.loads((directory / _COUNTS).read_text(encoding="utf-8"))
    found = {}
    for conditions in runs:
        rows = pyarrow.csv.read_csv(directory / f"{conditions.name}.csv")
        dccp, tcp = (
            FlowSeries.of(rows, f"{flow}_kbps", f"{flow}_arr", f"{flow}_drop", unit_bps=1e3)
            for flow in ("dccp", "tcp")
        )
        found[conditions] = Series(rows["t_s"].to_numpy(), dccp, tcp, counts[conditions.name])
    return found


ORACLE = Oracle(STORED, ALL_CONDITIONS, _ask, _read)
