"""The tables of the README, from what is stored of picoquic and of ours."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from skywave.stats import Estimate, average
from validation import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HERE = Path(__file__).parent
SINGLE = {
    "goodput_mbps": "goodput (Mbps)",
    "rtt_mean_ms": "mean RTT (ms)",
    "rtt_p95_ms": "RTT, 95th percentile (ms)",
    "queue_drops": "dropped by the queue",
    "time_1mb_s": "until 1 MB (s)",
    "time_80pct_s": "until 80 % of the rate (s)",
}
"""The columns of the table of one flow."""


def store(rows: Sequence[Mapping[str, object]], name: str) -> None:
    """Store a table as CSV."""
    tables.write(HERE / f"{name}.csv", rows)


def stored(name: str) -> list[dict[str, str]]:
    """Return a stored table."""
    return tables.read(HERE / f"{name}.csv")


def single() -> str:
    """Return the table of one flow: ours, picoquic's, and the difference of the means."""
    ours, theirs = stored("skywave_single"), stored("single")
    lines = []
    for network, cc in dict.fromkeys((row["network"], row["cc"]) for row in ours):

        def mine(row: Mapping[str, str], key: tuple[str, str] = (network, cc)) -> bool:
            return (row["network"], row["cc"]) == key and not row.get("options")

        cells = [_cell(ours, theirs, mine, column) for column in SINGLE]
        lines.append([network, cc, *cells])
    return tables.markdown(["network", "control", *SINGLE.values()], lines)


def pairs() -> str:
    """Return the table of two flows."""
    ours, theirs = stored("skywave_pairs"), stored("pairs")
    # Ours takes the place of those without options.
    plain = [
        row
        for first, second in zip(theirs[::2], theirs[1::2], strict=True)
        if not (first["options"] or second["options"])
        for row in (first, second)
    ]
    columns = {
        "share": "share of BBR",
        "goodput_mbps": "goodput of BBR (Mbps)",
        "rtt_mean_ms": "mean RTT of BBR (ms)",
        "queue_drops": "dropped of BBR",
    }
    lines = []
    keys = ("network", "beside", "case")
    for key in dict.fromkeys(tuple(row[name] for name in keys) for row in ours):

        def mine(row: Mapping[str, str], key: tuple[str, ...] = key) -> bool:
            return tuple(row[name] for name in keys) == key and row["cc"] == "bbr"

        lines.append([*key, *(_cell(ours, plain, mine, column) for column in columns)])
    return tables.markdown(["network", "beside", "begins", *columns.values()], lines)


def _cell(
    ours: Sequence[Mapping[str, str]],
    theirs: Sequence[Mapping[str, str]],
    is_mine: Callable[[Mapping[str, str]], bool],
    column: str,
) -> str:
    """Return both means, with their margins where runs differ, and the difference."""
    means = [_mean([row for row in rows if is_mine(row)], column) for rows in (ours, theirs)]
    mine, other = (mean.value for mean in means)
    difference = f", {100 * (mine / other - 1):+.0f} %" if mine and other else ""
    return " / ".join(_text(mean) for mean in means) + difference


def _mean(rows: Sequence[Mapping[str, str]], column: str) -> Estimate:
    """Return the mean over the runs that have a value: NaN is a time that never came."""
    return average([float(row[column]) for row in rows if row[column] != "nan"] or [math.nan])


def _text(mean: Estimate) -> str:
    margin = f" ± {mean.margin:.2g}" if mean.margin > 0.01 * abs(mean.value) else ""
    return f"{mean.value:.4g}{margin}"
