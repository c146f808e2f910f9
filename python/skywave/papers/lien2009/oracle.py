"""ns-2's stored answers.

``ns2/periods.csv`` has mean and standard deviation over ns-2's runs of each setting, by period;
``ns2/seconds.csv`` has the throughput of the voice and of the first TCP in single runs.
``validation/ns2/scripts/lien2009_average.py`` made the first from many runs of ``lien2009.tcl``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
import pyarrow.csv

from skywave.papers.lien2009.measures import Spread

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

STORED = Path(__file__).parent / "ns2"


@dataclass(frozen=True)
class Periods:
    """ns-2's answers for one setting, by period."""

    ratio_percent: Spread
    delay_ms: Spread
    loss_percent: Spread


@dataclass(frozen=True)
class Seconds:
    """Throughput in single runs of ns-2, second by second, as it leaves the bottleneck's queue."""

    time_s: NDArray[np.float64]
    voice_kbps: NDArray[np.float64]
    tcp_kbps: NDArray[np.float64]


def periods() -> dict[str, Periods]:
    """Read ns-2's answers by the name of the setting."""
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
    """Return over how many runs of ns-2 the answers for each setting are."""
    (count,) = set(pyarrow.csv.read_csv(STORED / "periods.csv")["n"].to_pylist())
    return int(count)


def remark() -> str:
    """Say where ns-2's values come from."""
    return f"stored answers of ns-2.35, means over {runs()} runs of each setting"


def _spread(rows: pa.Table, name: str) -> Spread:
    mean, sd, count = (
        rows[column].to_numpy(zero_copy_only=False).astype(np.float64)
        for column in (f"{name}_mean", f"{name}_sd", "n")
    )
    # Stored is the deviation of these runs as a population; ours estimate that of single runs.
    return Spread(mean, sd * np.sqrt(count / (count - 1)))


def seconds() -> dict[str, Seconds]:
    """Read ns-2's single runs by the name of the setting."""
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
