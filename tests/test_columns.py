"""Columns and samples: names, units, and the order of a table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from skywave.results.columns import Column, Scale, find, in_units
from skywave.results.samples import by_name, shares


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("goodput_bps", Column("goodput", "bps", "")),
        ("goodput_bps[a_s b]", Column("goodput", "bps", "a_s b")),
        ("utilisation[r1->r2]", Column("utilisation", "", "r1->r2")),
        ("queue_max_packets", Column("queue_max", "packets", "")),
        ("loss", Column("loss", "", "")),
    ],
)
def test_names_of_columns_are_taken_apart(name: str, column: Column) -> None:
    assert Column.of_name(name) == column
    assert find(column.short, ["x", name]) == name


def test_names_that_could_be_two_are_errors() -> None:
    with pytest.raises(ValueError, match="queue_packets or queue_bytes"):
        find("queue", ["queue_packets", "queue_bytes"])


@pytest.mark.parametrize(
    ("name", "largest", "label", "factor"),
    [
        ("goodput_bps", 2.5e6, "goodput (Mbps)", 1e6),
        ("goodput_bps[file]", 999, "goodput of file (bps)", 1),
        ("delay_mean_s", 0.02, "mean delay (ms)", 1e-3),
        ("delay_mean_s", 0.0, "mean delay (µs)", 1e-6),
        ("delivered_bytes", 5e9, "delivered (GB)", 1e9),
        ("queue_packets", 5, "queue (packets)", 1),
        ("loss", 0.01, "loss rate", 1),
    ],
)
def test_axes_have_units_of_the_size_of_their_values(
    name: str, largest: float, label: str, factor: float
) -> None:
    assert Scale.of(name, largest) == Scale(label, factor)


def test_quantities_in_the_units_of_columns() -> None:
    assert in_units("100 kbps") == (1e5, "bps")
    assert in_units("5 ms") == (0.005, "s")
    assert in_units("2 kB") == (2000, "bytes")
    assert in_units("3 packets") == (3, "packets")
    for text in ("5", "five ms", "many packets", ""):
        with pytest.raises(ValueError, match=r"."):
            in_units(text)


def test_samples_by_name_in_the_order_of_the_table() -> None:
    names = ["b", "a", "b", "a"]
    values = [1, None, 3, 4]
    for column in (pa.array(names), pa.array(names).dictionary_encode()):
        table = pa.table({"time_s": [1.0, 1.0, 2.0, 2.0], "flow": column, "value": values})
        found = by_name(pa.concat_tables([table, table.slice(0, 1)]), "flow", "value")
        assert list(found) == ["b", "a"]
        assert list(found["b"].values) == [1, 3, 1]
        assert list(found["b"].times_s) == [1, 2, 1]
        assert np.isnan(found["a"].values[0])
    assert by_name(table.slice(0, 0), "flow", "value") == {}


def test_the_last_sample_of_a_run_may_be_of_a_shorter_interval() -> None:
    def of(*times_s: float) -> list[float]:
        return list(shares(np.array(times_s)))

    assert of() == []
    assert of(0.7, 0.7) == [1, 1]
    assert of(1, 1, 2, 2) == [1, 1, 1, 1]
    assert of(1, 2, 2.25, 2.25) == [1, 1, 0.25, 0.25]
    assert of(1, 1.5) == [1, 0.5]
    # 0.1 has no exact form in floating point.
    assert of(*(0.1 * number for number in range(1, 1000))) == [1] * 999
