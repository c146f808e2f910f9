"""ns-2's stored results.

``ns2/periods.csv`` has mean and standard deviation over ns-2's runs of each setting, by period;
``ns2/seconds.csv`` the throughput of the voice and of the first TCP in single runs.
``python -m skywave.papers golden lien2009`` runs ns-2 and stores its results, in some minutes.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from skywave._files import replacing
from skywave.papers import ns2
from skywave.papers.oracle import run_all
from skywave.results.samples import Samples
from skywave.scenario.quantities import Duration
from skywave_papers.lien2009.measures import Spread
from skywave_papers.lien2009.setting import DURATION_S, IN_NS2, JITTER, SEEDS, Conditions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave_papers.lien2009.measures import Spreads

STORED = Path(__file__).parent / "ns2"
_TCPS = {
    "Tahoe": "Tahoe",
    "Reno": "Reno",
    "NewReno": "Newreno",
    "SACK": "Sack1",
    "Vegas": "Vegas",
}
"""The paper's TCPs, and their names in ns-2."""
_DRAWN = tuple(
    replace(conditions, scenario=scenario)
    for scenario in (1, 2)
    for conditions in (Conditions("NewReno", "udp"), Conditions("NewReno"), Conditions("Vegas"))
)
"""The single runs that are drawn."""


def spreads() -> Spreads:
    """Return the spreads of ns-2's runs."""
    stored = _by_setting("periods.csv")

    def of(conditions: Conditions, what: str) -> Spread:
        rows = stored[conditions.name]
        # The file has the population's deviation. Ours estimates that of single runs.
        scale = np.sqrt(rows["n"] / (rows["n"] - 1))
        return Spread(rows[f"{what}_mean"], rows[f"{what}_sd"] * scale)

    return of


def seconds() -> dict[str, Samples]:
    """Return the throughput behind the bottleneck's queue in single runs, by second."""
    return _by_setting("seconds.csv")


def runs() -> int:
    """Return the number of ns-2's runs of each setting."""
    (count,) = set(pyarrow.csv.read_csv(STORED / "periods.csv")["n"].to_pylist())
    return int(count)


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


def _run(key: tuple[Conditions, int]) -> tuple[pa.Table, pa.Table]:
    """Run ns-2 once and return its results by period and by second."""
    conditions, seed = key
    parameters = {
        "tcp": _TCPS[conditions.tcp],
        "voip": conditions.transport,
        "scen": 2 if conditions.scenario == 2 else 1,
        "vint": conditions.interval_s,
        "sb": conditions.send_queue,
        "overhead": Duration(JITTER).seconds if conditions.jitter else 0,
        **({"ntcp": 1, "dur": DURATION_S[3]} if conditions.scenario == 3 else {}),
    }
    with tempfile.TemporaryDirectory(prefix="skywave-ns2-") as scratch:
        files = Path(scratch) / "periods.csv", Path(scratch) / "seconds.csv"
        out = dict(zip(("out", "tcpout"), files, strict=True))
        ns2.run(ns2.command("lien2009.tcl", seed=seed, jit=0.5, **out, **parameters))
        periods, seconds = map(pyarrow.csv.read_csv, files)
        return periods, seconds


def _write_periods(path: Path) -> None:
    found = run_all([(conditions, seed) for conditions in IN_NS2 for seed in SEEDS], _run, None)
    written = {}
    for conditions in IN_NS2:
        periods = [found[conditions, seed][0] for seed in SEEDS]
        columns = {"period": periods[0]["period"].to_pylist()}
        for what in ("ratio_percent", "delay_ms", "loss_percent"):
            values = list(zip(*(table[what].to_pylist() for table in periods), strict=True))
            columns[f"{what}_mean"] = [round(statistics.mean(one), 2) for one in values]
            columns[f"{what}_sd"] = [round(statistics.pstdev(one), 2) for one in values]
        written[conditions.name] = {**columns, "n": [len(SEEDS)] * len(columns["period"])}
    _write(path, written)


def write_seconds(path: Path) -> None:
    """Run ns-2 once for each run that is drawn, and write the throughput by second."""
    found = run_all([(conditions, min(SEEDS)) for conditions in _DRAWN], _run, None)
    columns = {"time_s": "t_s", "voice_kbps": "voip_kbps", "tcp_kbps": "tcp1_kbps"}
    written = {}
    for conditions in _DRAWN:
        _, seconds = found[conditions, min(SEEDS)]
        written[conditions.name] = {name: seconds[theirs] for name, theirs in columns.items()}
    _write(path, written)


def _write(path: Path, by_setting: Mapping[str, Mapping[str, Sequence[object]]]) -> None:
    """Write the columns of each setting, with its name before them."""
    tables = [
        pa.table({"setting": [name] * len(next(iter(columns.values()))), **columns})
        for name, columns in by_setting.items()
    ]
    pyarrow.csv.write_csv(pa.concat_tables(tables), path)
