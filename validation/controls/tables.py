"""The stored curves, and the table of their measures."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from skywave._files import replacing_file
from validation import tables
from validation.controls.cases import CASES
from validation.controls.curves import MEASURES, Curve, difference

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = Path(__file__).parent
OURS, REFERENCE = "simulated", "reference"
"""The names of what is stored."""
COLUMNS = ("control", "time_s", "cwnd_packets", "goodput_mbps")


def lines(control: str, curve: Curve) -> list[list[str]]:
    """Return the lines of a curve in a stored table."""
    columns = zip(curve.times_s, curve.cwnd_packets, curve.goodput_mbps, strict=True)
    return [
        [control, f"{time_s:.1f}", f"{cwnd:.5g}", f"{mbps:.4g}"] for time_s, cwnd, mbps in columns
    ]


def store(curves: Mapping[str, Curve], name: str) -> Path:
    """Store curves by control as CSV; return the path."""
    path = HERE / f"{name}.csv"
    with replacing_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for control, curve in curves.items():
            table.writerows(lines(control, curve))
    return path


def stored(name: str) -> dict[str, Curve]:
    """Return the stored curves by control."""
    path = HERE / f"{name}.csv"
    if not path.exists():
        return {}
    found: dict[str, list[tuple[float, float]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            values = (float(row["cwnd_packets"]), float(row["goodput_mbps"]))
            found.setdefault(row["control"], []).append(values)
    return {control: Curve(*np.array(values).T) for control, values in found.items()}


def digest() -> str:
    """Return a digest of all stored curves."""
    files = [(HERE / f"{name}.csv").read_bytes() for name in (OURS, REFERENCE)]
    return hashlib.sha256(b"".join(files)).hexdigest()


def table() -> str:
    """Return the table of docs/controls.md: ours, the reference's, and the difference."""
    ours, theirs = stored(OURS), stored(REFERENCE)
    rows = []
    for control, case in CASES.items():
        mine, other = ours[control].measures(), theirs[control].measures()
        cells = [
            f"{mine[name]:.4g} / {other[name]:.4g}, {difference(mine[name], other[name])}"
            for name in MEASURES
        ]
        rows.append([control, case.reference, *cells])
    return tables.markdown(["control", "reference", *MEASURES.values()], rows)
