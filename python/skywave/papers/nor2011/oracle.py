"""ns-2's answers: run now where ns-2 is installed, else the stored ones.

``python -m skywave.papers.nor2011.oracle`` runs ns-2 and stores its answers anew.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv

from skywave import ns2
from skywave.papers.nor2011.measures import FlowSeries, Series
from skywave.papers.nor2011.setting import ALL_CONDITIONS, Conditions

if TYPE_CHECKING:
    from collections.abc import Callable

STORED = Path(__file__).parent / "ns2"
"""One CSV of 1 s samples a run, as nor2011.tcl writes it, and what it counted in the traces."""
_COUNTS = "receive_events.json"
_RECEIVED = re.compile(r"^traceall whole: .* r (\d+) ", re.MULTILINE)


@dataclass(frozen=True)
class Oracle:
    """ns-2's series of each run, and where they come from."""

    series: dict[Conditions, Series]
    source: Literal["live", "stored"]
    remark: str


def consult(*, live: bool = True, progress: Callable[[int, int], None] | None = None) -> Oracle:
    """Run ns-2, or read the stored answers where it cannot be run or ``live`` is false."""
    try:
        if not live:
            raise ns2.Ns2Error("asked not to run ns-2")
        program = ns2.find()
        with tempfile.TemporaryDirectory(prefix="skywave-ns2-") as directory:
            _run_all(Path(directory), progress)
            series = _read_all(Path(directory))
    except ns2.Ns2Error as reason:
        return Oracle(_read_all(STORED), "stored", f"stored answers of ns-2.35: {reason}")
    return Oracle(series, "live", f"run beside this report: {program}")


def _run_all(directory: Path, progress: Callable[[int, int], None] | None = None) -> None:
    counts: dict[str, int] = {}
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        pending = {
            pool.submit(_run_one, conditions, directory): conditions
            for conditions in ALL_CONDITIONS
        }
        try:
            for done, future in enumerate(as_completed(pending), start=1):
                counts[pending[future].name] = future.result()
                if progress is not None:
                    progress(done, len(pending))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    text = json.dumps(counts, indent=2, sort_keys=True) + "\n"
    (directory / _COUNTS).write_text(text, encoding="utf-8")


def _run_one(conditions: Conditions, directory: Path) -> int:
    """Run ns-2 once; return the receive events of DCCP data packets."""
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


def _read_all(directory: Path) -> dict[Conditions, Series]:
    counts = json.loads((directory / _COUNTS).read_text(encoding="utf-8"))
    return {
        conditions: _read(directory / f"{conditions.name}.csv", counts[conditions.name])
        for conditions in ALL_CONDITIONS
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


if __name__ == "__main__":
    shutil.rmtree(STORED, ignore_errors=True)
    STORED.mkdir()
    _run_all(STORED)
