"""ns-2's stored results.

``ns2/periods.csv`` has mean and standard deviation over ns-2's runs of each setting, by period.
``ns2/seconds.csv`` has the throughput of the voice and of the first TCP in single runs.
``python -m skywave.papers golden lien2009`` runs ns-2 and stores its results, which takes some
minutes.
"""

from __future__ import annotations

import csv
import statistics
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
import pyarrow.csv

from skywave._files import replacing
from skywave.papers import ns2
from skywave.papers.ns2 import run_all
from skywave.scenario.quantities import Duration
from skywave_papers.lien2009 import setting
from skywave_papers.lien2009.measures import Spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from skywave_papers.lien2009.setting import Conditions

STORED = Path(__file__).parent / "ns2"
_TCPS = {
    "Tahoe": "Tahoe",
    "Reno": "Reno",
    "NewReno": "Newreno",
    "SACK": "Sack1",
    "Vegas": "Vegas",
}
"""The paper's TCPs, and their names in ns-2."""
_SETTINGS = (
    *setting.TABLES,
    *setting.JITTERED,
    *setting.TABLE_1,
    *setting.UDP,
    *setting.TCP_FIRST,
    setting.LONG_CALL,
)
_COLUMNS = (
    "received",
    "ratio_pct",
    "delay_ms",
    "loss_net_pct",
    "loss_app_pct",
    "loss_app_over300",
    "loss_app_over400",
)
_DRAWN = tuple(
    replace(conditions, scenario=scenario)
    for scenario in (1, 2)
    for conditions in (
        setting.Conditions("NewReno", "udp"),
        setting.Conditions("NewReno"),
        setting.Conditions("Vegas"),
    )
)
"""The single runs that are drawn."""


@dataclass(frozen=True)
class Periods:
    """ns-2's results for one setting, by period."""

    ratio_percent: Spread
    delay_ms: Spread
    loss_percent: Spread


@dataclass(frozen=True)
class Seconds:
    """Throughput behind the bottleneck's queue in a single run of ns-2, by second."""

    time_s: NDArray[np.float64]
    voice_kbps: NDArray[np.float64]
    tcp_kbps: NDArray[np.float64]


def periods() -> dict[str, Periods]:
    """Return ns-2's results by the name of the setting."""
    table = pyarrow.csv.read_csv(STORED / "periods.csv")
    answers = {}
    for name in pc.unique(table["setting"]).to_pylist():
        rows = table.filter(pc.field("setting") == name)
        answers[name] = Periods(
            ratio_percent=_spread(rows, "ratio_pct"),
            delay_ms=_spread(rows, "delay_ms"),
            loss_percent=_spread(rows, "loss_app_pct"),
        )
    return answers


def runs() -> int:
    """Return the number of ns-2's runs of each setting."""
    (count,) = set(pyarrow.csv.read_csv(STORED / "periods.csv")["n"].to_pylist())
    return int(count)


def remark() -> str:
    """Return a description of where ns-2's values come from."""
    return f"stored results of ns-2.35, means over {runs()} runs of each setting"


def _spread(rows: pa.Table, name: str) -> Spread:
    mean, sd, count = (
        rows[column].to_numpy(zero_copy_only=False).astype(np.float64)
        for column in (f"{name}_mean", f"{name}_sd", "n")
    )
    # The file has the population's deviation. Ours estimates that of single runs.
    return Spread(mean, sd * np.sqrt(count / (count - 1)))


def seconds() -> dict[str, Seconds]:
    """Return ns-2's single runs by the name of the setting."""
    table = pyarrow.csv.read_csv(STORED / "seconds.csv")
    answers = {}
    for name in pc.unique(table["setting"]).to_pylist():
        rows = table.filter(pc.field("setting") == name)
        time_s, voice, tcp = (
            rows[column].to_numpy().astype(np.float64)
            for column in ("t_s", "voip_kbps", "tcp1_kbps")
        )
        answers[name] = Seconds(time_s, voice, tcp)
    return answers


def renew() -> None:
    """Run ns-2 and replace the stored results.

    Raises:
        Ns2Error: If ns-2 cannot be run. The stored results stay.

    """
    with replacing(STORED) as partial:
        _write_periods(partial / "periods.csv")
        write_seconds(partial / "seconds.csv")


def _parameters(conditions: Conditions) -> dict[str, object]:
    """Return the script's parameters for a setting."""
    return {
        "tcp": _TCPS[conditions.tcp],
        "voip": conditions.transport,
        "scen": 2 if conditions.scenario == 2 else 1,
        "vint": conditions.interval_s,
        "sb": conditions.send_queue,
        "overhead": Duration(setting.JITTER).seconds if conditions.jitter else 0,
        **({"ntcp": 1, "dur": setting.DURATION_S[3]} if conditions.scenario == 3 else {}),
    }


def _run(
    conditions: Conditions, seed: int, out: Path, **parameters: object
) -> list[dict[str, str]]:
    """Run ns-2 once and return its rows, one per period."""
    given = {**_parameters(conditions), **parameters}
    ns2.run(ns2.command("lien2009.tcl", seed=seed, jit=0.5, out=out, **given))
    return _rows(out)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _write(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def _write_periods(path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="skywave-ns2-") as scratch:
        runs = run_all(
            [(conditions, seed) for conditions in _SETTINGS for seed in setting.SEEDS],
            lambda key: _run(*key, Path(scratch) / f"{key[0].name}-{key[1]}.csv"),
            None,
        )
    heads = [f"{column}_{what}" for column in _COLUMNS for what in ("mean", "sd")]
    _write(
        path,
        ["setting", "period", *heads, "n"],
        [
            [conditions.name, rows[0]["period"], *_summary(rows), len(rows)]
            for conditions in _SETTINGS
            for rows in zip(*(runs[conditions, seed] for seed in setting.SEEDS), strict=True)
        ],
    )


def _summary(rows: Sequence[dict[str, str]]) -> list[str]:
    """Return mean and standard deviation over runs of each column."""
    values = [[float(row[column]) for row in rows] for column in _COLUMNS]
    return [f"{of(value):.2f}" for value in values for of in (statistics.mean, statistics.pstdev)]


def write_seconds(path: Path) -> None:
    """Run ns-2 once for each single run, and write the throughput by second."""
    rows: list[Sequence[object]] = []
    with tempfile.TemporaryDirectory(prefix="skywave-ns2-") as scratch:
        periods, seconds = Path(scratch) / "periods.csv", Path(scratch) / "seconds.csv"
        for conditions in _DRAWN:
            _run(conditions, min(setting.SEEDS), periods, tcpout=seconds)
            rows += [
                [conditions.name, row["t_s"], row["voip_kbps"], row["tcp1_kbps"]]
                for row in _rows(seconds)
            ]
    _write(path, ["setting", "t_s", "voip_kbps", "tcp1_kbps"], rows)
