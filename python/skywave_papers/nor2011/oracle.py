"""ns-2's results: run now if ns-2 is installed, otherwise stored.

``python -m skywave.papers golden nor2011`` runs ns-2 and stores its results.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv

from skywave.papers import ns2
from skywave.papers.ns2 import Oracle, run_all
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
    counts = run_all(runs, lambda conditions: _run_one(conditions, directory), progress)
    by_name = {conditions.name: count for conditions, count in counts.items()}
    text = json.dumps(by_name, indent=2, sort_keys=True) + "\n"
    (directory / _COUNTS).write_text(text, encoding="utf-8")


def _run_one(conditions: Conditions, directory: Path) -> int:
    """Run ns-2 once and return the number of receive events of DCCP data packets."""
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


def _read_all(runs: Sequence[Conditions], directory: Path) -> dict[Conditions, Series]:
    counts = json.loads((directory / _COUNTS).read_text(encoding="utf-8"))
    return {
        conditions: _read(directory / f"{conditions.name}.csv", counts[conditions.name])
        for conditions in runs
    }


def _read(path: Path, receive_events: int) -> Series:
    table = pyarrow.csv.read_csv(path)
    return Series(
        time_s=table["t_s"].to_numpy().astype(np.float64),
        dccp=_flow(table, "dccp"),
        tcp=_flow(table, "tcp"),
        receive_events=receive_events,
    )


def _flow(table: pa.Table, flow: str) -> FlowSeries:
    return FlowSeries(
        throughput_bps=table[f"{flow}_kbps"].to_numpy().astype(np.float64) * 1e3,
        arrivals=table[f"{flow}_arr"].to_numpy().astype(np.int64),
        drops=table[f"{flow}_drop"].to_numpy().astype(np.int64),
    )


def ask(runs: Sequence[Conditions]) -> dict[Conditions, Series]:
    """Run ns-2 and return its results, of any conditions.

    Raises:
        Ns2Error: If ns-2 cannot be run.

    """
    with tempfile.TemporaryDirectory(prefix="skywave-ns2-") as directory:
        _ask(runs, Path(directory), None)
        return _read_all(runs, Path(directory))


ORACLE = Oracle(STORED, ALL_CONDITIONS, _ask, _read_all)
