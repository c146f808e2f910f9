"""Samples of flows and links, taken out of the tables of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Series:
    """The samples of one flow or link, in the order of the table. A null is NaN."""

    times_s: NDArray[np.float64]
    values: NDArray[np.float64]


class Samples:
    """The columns of a table as numbers."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._columns: dict[str, NDArray[np.float64]] = {}

    def after(self, time_s: float, column: str = "time_s") -> Self:
        """Return those after a time, by the column with their times.

        A sample covers the interval that ends at its time.
        """
        if time_s <= 0:
            return self
        import pyarrow.compute as pc  # noqa: PLC0415  (loaded when there are tables)

        return type(self)(self._table.filter(pc.field(column) > time_s))

    def __getitem__(self, column: str) -> NDArray[np.float64]:
        """Return a column of numbers. A null is NaN."""
        if column not in self._columns:
            import pyarrow as pa  # noqa: PLC0415

            values = self._table[column].cast(pa.float64()).to_numpy()
            self._columns[column] = np.asarray(values, dtype=np.float64)
        return self._columns[column]

    def rows(self, key: str) -> dict[str, NDArray[np.intp]]:
        """Return the rows of each flow or link, where ``key`` is the column with its name.

        The names are in the order in which the table first has them.
        """
        # By numbers of names: a run of thousands of flows has millions of samples.
        encoded = self._table[key].combine_chunks()
        if not hasattr(encoded, "dictionary"):
            encoded = encoded.dictionary_encode()
        numbers = encoded.indices.to_numpy(zero_copy_only=False)
        order = np.argsort(numbers, kind="stable")
        found, starts = np.unique(numbers[order], return_index=True)
        # Of an empty table there is one part, without a name.
        parts = dict(zip(found, np.split(order, starts[1:]), strict=False))
        names = encoded.dictionary.to_pylist()
        firsts = sorted(parts, key=lambda number: int(parts[number][0]))
        return {str(names[number]): parts[number] for number in firsts}


def by_name(table: pa.Table, key: str, column: str) -> dict[str, Series]:
    """Return a column by flow or link, where ``key`` is the column with its name.

    The names are in the order in which the table first has them.
    """
    samples = Samples(table)
    times, values = samples["time_s"], samples[column]
    return {name: Series(times[rows], values[rows]) for name, rows in samples.rows(key).items()}
