"""DualPI2 beside the pseudocode of RFC 9332, and the stored tables of validation/picoquic/dualq."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from validation.picoquic.dualq import __main__ as dualq
from validation.picoquic.dualq import model
from validation.picoquic.dualq.sequences import SEQUENCES, Link, arrivals
from validation.picoquic.dualq.table import OURS, markdown, program

SHORT = Link(10, duration_us=1e6)
"""Enough for the overloads to fill the queues past the target."""


@pytest.fixture(scope="module")
def fates() -> list[str | Path]:
    """Return the command that prints what our queue does."""
    if not shutil.which("cargo"):
        pytest.skip("cargo is not installed")
    example = ("-p", "skywave-path", "--example", "dualpi2_fates")
    subprocess.run(["cargo", "build", "--quiet", "--locked", *example], cwd=ROOT, check=True)
    return [
        Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug/examples" / example[-1]
    ]


ONE_CLASS = [name for name in SEQUENCES if not name.startswith("mixed")]


@pytest.mark.parametrize("name", [*ONE_CLASS, "mixed_constant_90"])
def test_dualpi2_does_what_the_rfc_says(fates: list[str | Path], name: str) -> None:
    """Each packet has the fate, departure and wait of the pseudocode."""
    packets = arrivals(name, SHORT)
    expected = model.run(packets, SHORT.mbps, "rfc9332")
    assert program(fates, packets, SHORT.mbps, *OURS) == expected
    # Other gains do something else, so the comparison can fail.
    if "overload" in name:
        assert program(fates, packets, SHORT.mbps, "15000", "0.3", "6") != expected


def test_dualpi2_schedules_bytes(fates: list[str | Path]) -> None:
    """Where both queues are busy, ours weighs bytes and the model packets: few fates differ."""
    packets = arrivals("mixed_both_overload_150", SHORT)
    expected = [fate.name for fate in model.run(packets, SHORT.mbps, "rfc9332")]
    ours = [fate.name for fate in program(fates, packets, SHORT.mbps, *OURS)]
    for name in ("sent", "marked", "dropped", "tail"):
        assert abs(ours.count(name) - expected.count(name)) <= 3, name


def read(name: str) -> list[dict[str, str]]:
    with (dualq.HERE / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_stored_counts_are_those_of_the_rfc() -> None:
    rfc, ours = read("rfc9332"), read("skywave")
    assert len(rfc) == len(ours) == 26
    for expected, row in zip(rfc, ours, strict=True):
        if not row["sequence"].startswith("mixed") or row["sequence"] == "mixed_constant_90":
            assert row == expected
        else:
            for column in ("sent", "marked", "dropped_aqm", "dropped_tail"):
                assert abs(int(row[column]) - int(expected[column])) <= 2, row
    for row in read("dualq"):  # the list of deviations is complete
        same, packets = row["as_model"].split("/")
        assert same == packets


def test_the_readme_has_the_stored_table() -> None:
    text = (ROOT / "validation/picoquic/README.md").read_text(encoding="utf-8")
    corrected = [row for row in read("dualq") if row["variant"] == "corrected"]
    assert markdown(read("skywave"), read("rfc9332"), corrected) in text
