"""Samples of flows and links, taken out of the tables of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from numpy.typing import NDArray


HELD = ("cwnd_packets", "ssthresh_packets", "srtt_s")
"""The state of a sender, which is sampled whether or not it sends."""
ACTIVITY = ("delivered_packets", "pipe_packets")
"""What is not 0 while a flow has data under way."""


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
            values = self._table[column].to_numpy()
            self._columns[column] = np.asarray(values, dtype=np.float64)
        return self._columns[column]

    def groups(self, key: str) -> Groups:
        """Return which flow or link each row belongs to; ``key`` is the column with its name."""
        encoded = self._table[key].combine_chunks()
        if not hasattr(encoded, "dictionary"):
            encoded = encoded.dictionary_encode()
        names = [str(name) for name in encoded.dictionary.to_pylist()]
        return Groups(names, encoded.indices.to_numpy(zero_copy_only=False).astype(np.intp))


@dataclass(frozen=True)
class Groups:
    """The rows of a table by flow or link, and what follows from their values.

    All are computed at once: there may be thousands of flows, and runs of a millisecond.
    """

    names: list[str]
    """Some may have no row."""
    numbers: NDArray[np.intp]
    """Of each row, the index of its name."""

    def rows(self) -> dict[str, NDArray[np.intp]]:
        """Return the rows of each, in the order in which the table first has them."""
        order = np.argsort(self.numbers, kind="stable")
        found, starts = np.unique(self.numbers[order], return_index=True)
        # Of an empty table there is one part, without a name.
        parts = dict(zip(found, np.split(order, starts[1:]), strict=False))
        firsts = sorted(parts, key=lambda number: int(parts[number][0]))
        return {self.names[number]: parts[number] for number in firsts}

    def sums(self, values: NDArray[np.float64]) -> dict[str, float]:
        """Return the sum of each; 0 without rows."""
        return self._named(self._sums(values))

    def means(
        self, values: NDArray[np.float64], weights: NDArray[np.float64] | None = None
    ) -> dict[str, float]:
        """Return the mean of each, weighted if weights are given, without what is NaN."""
        known = ~np.isnan(values)
        weights = known.astype(np.float64) if weights is None else np.where(known, weights, 0.0)
        total, of = self._sums(np.where(known, values, 0.0) * weights), self._sums(weights)
        return self._named(np.divide(total, of, out=np.full_like(of, np.nan), where=of > 0))

    def largest(self, values: NDArray[np.float64]) -> dict[str, float]:
        """Return the largest of each, without what is NaN."""
        found = np.full(len(self.names), np.nan)
        np.fmax.at(found, self.numbers, values)
        return self._named(found)

    def _sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.bincount(self.numbers, weights=values, minlength=len(self.names))
        return np.asarray(found, dtype=np.float64)

    def _named(self, values: NDArray[np.float64]) -> dict[str, float]:
        return dict(zip(self.names, values.tolist(), strict=True))


def by_name(table: pa.Table, key: str, column: str) -> dict[str, Series]:
    """Return a column by flow or link, where ``key`` is the column with its name.

    The names are in the order in which the table first has them.
    """
    samples = Samples(table)
    times, values = samples["time_s"], samples[column]
    return {
        name: Series(times[rows], values[rows]) for name, rows in samples.groups(key).rows().items()
    }


def while_active(every: Mapping[str, Series], table: pa.Table, key: str) -> dict[str, Series]:
    """Return the state of senders without what they have none of, and when they do not send.

    A sender without a window says 0, and one that has not started or has ended says its initial or
    its last value.
    """
    acts = {name: np.zeros(len(one.values), np.bool_) for name, one in every.items()}
    known = [column for column in ACTIVITY if column in table.column_names]
    for column in known:
        for name, one in by_name(table, key, column).items():
            acts[name] |= np.nan_to_num(one.values) > 0
    found = {}
    for name, one in every.items():
        values = np.where(one.values == 0, np.nan, one.values)
        if known:
            rows = np.flatnonzero(acts[name])
            first, last = (rows[0], rows[-1]) if rows.size else (len(values), 0)
            values[:first] = np.nan
            values[last + 1 :] = np.nan
        found[name] = Series(one.times_s, values)
    return found
