"""The fates of the packets of a sequence, as a program prints them, and their counts."""

from __future__ import annotations

import csv
import math
import subprocess
from typing import TYPE_CHECKING

from validation import tables
from validation.picoquic.dualq.model import BUFFER_US, Fate
from validation.picoquic.dualq.sequences import Arrival, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

COLUMNS = {
    "arrived": "arrived",
    "sent": "sent",
    "marked": "marked",
    "dropped_aqm": "dropped",
    "wait_mean_us": "mean wait (us)",
    "wait_p99_us": "99th percentile (us)",
}
"""Those of the table of the README; nothing is dropped for want of room."""
OURS = ("15000", "0.15", "3")
"""Arguments of our program: picoquic's period of updates (us) and gains (Hz)."""


def program(
    command: Sequence[str | Path], packets: Sequence[Arrival], mbps: int, *arguments: str
) -> list[Fate]:
    """Return the fates that a program prints for arrivals.

    Raises:
        subprocess.CalledProcessError: The program failed.
    """
    done = subprocess.run(
        [*command, f"{mbps}000000", str(BUFFER_US), *arguments],
        input=text(packets),
        capture_output=True,
        text=True,
        check=True,
    )
    return [
        Fate(row["fate"], int(row["departure_us"]), int(row["wait_us"]))
        for row in csv.DictReader(done.stdout.splitlines())
    ]


def counts(packets: Sequence[Arrival], fates: Sequence[Fate], kind: str) -> Mapping[str, object]:
    """Return the counts and waits of a class of packets: cells of a row of the tables."""
    mine = [fate for packet, fate in zip(packets, fates, strict=True) if packet.kind == kind]
    names = [fate.name for fate in mine]
    waits_us = sorted(fate.wait_us for fate in mine if fate.departure_us)
    return {
        "class": kind,
        "arrived": len(mine),
        "sent": len(waits_us),
        "marked": names.count("marked"),
        "dropped_aqm": names.count("dropped"),
        "dropped_tail": names.count("tail"),
        "wait_mean_us": f"{sum(waits_us) / len(waits_us):.1f}",
        "wait_p99_us": waits_us[math.ceil(0.99 * len(waits_us)) - 1],
        "wait_max_us": waits_us[-1],
    }


def markdown(
    ours: Sequence[Mapping[str, str]],
    rfc: Sequence[Mapping[str, str]],
    corrected: Sequence[Mapping[str, str]],
) -> str:
    """Return the README's table: ours, the model if it differs, and picoquic's after a slash."""
    lines = []
    for rows in zip(ours, rfc, corrected, strict=True):
        cells = []
        for column in COLUMNS:
            mine, model, picoquic = (row[column] for row in rows)
            text = mine if mine == model else f"{mine} (model: {model})"
            cells.append(text if picoquic == mine else f"{text} / {picoquic}")
        lines.append([*(rows[0][name] for name in ("sequence", "rate_mbps", "class")), *cells])
    return tables.markdown(["sequence", "Mbps", "class", *COLUMNS.values()], lines)
