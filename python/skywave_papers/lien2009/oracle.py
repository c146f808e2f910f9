"""ns-2's stored results.

``ns2/periods.csv`` has mean and standard deviation over ns-2's runs of each setting, by period;
``ns2/seconds.csv`` the throughput of the voice and of the first TCP in single runs.
``python -m skywave.papers golden lien2009`` runs ns-2 and stores its results, in some minutes.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from skywave._files import replacing
from skywave.papers import ns2
from skywave.papers.ns2 import run_all
from skywave.results.samples import Samples
from skywave.scenario.quantities import Duration
from skywave_papers.lien2009.measures import Spread
from skywave_papers.lien2009.setting import DURATION_S, IN_NS2, JITTER, SEEDS, Conditions

if TYPE_CHECKING:
    from skywave_papers.lien2009.measures import Spreads

STORED = Path(__file__).parent / "ns2"
_TCPS = {"NewReno": "Newreno", "SACK": "Sack1"}
"""The paper's TCPs that ns-2 names otherwise."""
_DRAWN = tuple(
    replace(conditions, scenario=scenario)
    for scenario in (1, 2)
    for conditions in (Conditions("NewReno", "udp"), Conditions("NewReno"), Conditions("Vegas"))
)
"""The single runs that are drawn."""


@cache
def spreads() -> Spreads:
    """Return the spreads of ns-2's runs."""
    stored = _by_setting("periods.csv")

    def of(conditions: Conditions, what: str) -> Spread:
        rows = stored[conditions.name]
        # The file has the population's deviation. Ours estimates that of single runs.
        scale = np.sqrt(rows["n"] / (rows["n"] - 1))
        return Spread(rows[f"{what}_mean"], rows[f"{what}_sd"] * scale)

    return of


def run_count() -> int:
    """Return how many runs of each setting the stored results have."""
    (count,) = {int(n) for rows in _by_setting("periods.csv").values() for n in rows["n"]}
    return count


def seconds() -> dict[str, Samples]:
    """Return the throughput behind the bottleneck's queue in single runs, by second."""
    return _by_setting("seconds.csv")


def _by_setting(file: str) -> dict[str, Samples]:
    """Return the rows of a stored table by the name of the setting."""
    table = pyarrow.csv.read_csv(STORED / file)
    names = pc.unique(table["setting"]).to_pylist()
    return {name: Samples(table.filter(pc.field("setting") == name)) for name in names}


def renew() -> None:
    """Run ns-2 and replace the stored results.

    Raises:
        Ns2Error: If ns-2 cannot be run. The stored results stay.

    """
    with replacing(STORED) as partial:
        _write_periods(partial / "periods.csv")
        write_seconds(partial / "seconds.csv")


def _run(key: tuple[Conditions, int]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Run ns-2 once and return its rows by period and by second."""
    conditions, seed = key
    with tempfile.TemporaryDirectory(prefix="skywave-ns2-") as scratch:
        periods, seconds = (Path(scratch) / name for name in ("periods.csv", "seconds.csv"))
        parameters = {
            "seed": seed,
            "jit": 0.5,
            "tcp": _TCPS.get(conditions.tcp, conditions.tcp),
            "voip": conditions.transport,
            "scen": 2 if conditions.scenario == 2 else 1,
            "vint": conditions.interval_s,
            "sb": conditions.send_queue,
            "overhead": Duration(JITTER).seconds if conditions.jitter else 0,
            **({"ntcp": 1, "dur": DURATION_S[3]} if conditions.scenario == 3 else {}),
            "out": periods,
            "tcpout": seconds,
        }
        ns2.run(ns2.command("lien2009.tcl", **parameters))
        return tuple(pyarrow.csv.read_csv(path).to_pylist() for path in (periods, seconds))


def _write_periods(path: Path) -> None:
    found = run_all([(conditions, seed) for conditions in IN_NS2 for seed in SEEDS], _run, None)
    rows = []
    for conditions in IN_NS2:
        for period in zip(*(found[conditions, seed][0] for seed in SEEDS), strict=True):
            row = {"setting": conditions.name, "period": period[0]["period"]}
            for what in ("ratio_percent", "delay_ms", "loss_percent"):
                values = [one[what] for one in period]
                row[f"{what}_mean"] = round(statistics.mean(values), 2)
                row[f"{what}_sd"] = round(statistics.pstdev(values), 2)
            rows.append({**row, "n": len(period)})
    pyarrow.csv.write_csv(pa.Table.from_pylist(rows), path)


def write_seconds(path: Path) -> None:
    """Run ns-2 once for each run that is drawn, and write the throughput by second."""
    found = run_all([(conditions, min(SEEDS)) for conditions in _DRAWN], _run, None)
    names = {"t_s": "time_s", "voip_kbps": "voice_kbps", "tcp1_kbps": "tcp_kbps"}
    rows = [
        {"setting": conditions.name, **{name: row[theirs] for theirs, name in names.items()}}
        for conditions in _DRAWN
        for row in found[conditions, min(SEEDS)][1]
    ]
    pyarrow.csv.write_csv(pa.Table.from_pylist(rows), path)
