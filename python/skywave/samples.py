"""Samples of flows and links, taken out of the tables of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Series:
    """The samples of one flow or link, in the order of the table. A null is NaN."""

    times_s: NDArray[np.float64]
    values: NDArray[np.float64]


def by_name(table: pa.Table, key: str, column: str) -> dict[str, Series]:
    """Return a column by flow or link, where ``key`` is the column with its name.

    The names are in the order in which the table first has them.
    """
    times, values = _numbers(table["time_s"]), _numbers(table[column])
    # By numbers of names: a run of thousands of flows has millions of samples.
    encoded = table[key].combine_chunks()
    if not hasattr(encoded, "dictionary"):
        encoded = encoded.dictionary_encode()
    numbers = encoded.indices.to_numpy(zero_copy_only=False)
    order = np.argsort(numbers, kind="stable")
    found, starts = np.unique(numbers[order], return_index=True)
    # Of an empty table there is one part, without a name.
    parts = dict(zip(found, np.split(order, starts[1:]), strict=False))
    names = encoded.dictionary.to_pylist()
    firsts = sorted(parts, key=lambda number: int(parts[number][0]))
    return {
        str(names[number]): Series(times[parts[number]], values[parts[number]]) for number in firsts
    }


def _numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    import pyarrow as pa  # noqa: PLC0415  (loaded when there are tables)

    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
