"""Samples of flows and links, taken out of the tables of results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from skywave import _core

if TYPE_CHECKING:
    import pyarrow as pa


HELD = ("cwnd_packets", "ssthresh_packets", "srtt_s")
"""The state of a sender, which is sampled whether or not it sends."""
ACTIVITY = ("delivered_packets", "pipe_packets")
"""What is not 0 while a flow has data under way."""
ROUNDING = 1e-6
"""By how much an interval between times in floating point may be off, as a fraction of it."""


def shares(times_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how long the interval of each sample of a run is, as a fraction of a whole interval.

    It is 1, and less only at the end of a run whose duration is not a multiple of the interval.
    """
    found = np.ones(times_s.size)
    end_s = times_s.max(initial=0.0)
    begin_s = times_s.max(where=times_s < end_s, initial=0.0)
    before_s = times_s.max(where=times_s < begin_s, initial=0.0)
    whole_s = min(begin_s - before_s, times_s.min(initial=end_s))
    if end_s - begin_s < whole_s * (1 - ROUNDING):
        found[times_s == end_s] = (end_s - begin_s) / whole_s
    return found


@dataclass(frozen=True)
class Series:
    """The samples of one flow or link, in the order of the table. A null is NaN."""

    times_s: NDArray[np.float64]
    values: NDArray[np.float64]
    shares: NDArray[np.float64]
    """How long the interval of each is: see :func:`shares`."""

    def between(self, from_s: float, to_s: float | None) -> Self:
        """Return the samples of intervals between two times."""
        # A sample is of the interval that ends at its time.
        kept = self.times_s > from_s
        return self._kept(kept if to_s is None else kept & (self.times_s <= to_s))

    def whole(self) -> Self:
        """Return it without the sample of a shorter interval, which differs more by chance."""
        return self._kept(self.shares == 1)

    def active(self) -> Self:
        """Return it from the first to the last value that is not 0."""
        rows = np.flatnonzero((self.values != 0) & ~np.isnan(self.values))
        kept = np.zeros(self.values.size, np.bool_)
        if rows.size:
            kept[rows[0] : rows[-1] + 1] = True
        return self._kept(kept)

    def _kept(self, kept: NDArray[np.bool_]) -> Self:
        return type(self)(self.times_s[kept], self.values[kept], self.shares[kept])


class Samples:
    """The columns of a table as numbers."""

    def __init__(self, table: pa.Table | _core.Table | _Kept) -> None:
        self._table = table if isinstance(table, _core.Table | _Kept) else _Arrow(table)
        self._columns: dict[str, NDArray[np.float64]] = {}
        self._groups: dict[str, Groups] = {}
        self._idle: dict[str, NDArray[np.bool_]] = {}

    @property
    def column_names(self) -> list[str]:
        """The names of all columns."""
        return self._table.column_names

    def after(self, time_s: float, column: str = "time_s") -> Self:
        """Return those after a time, by the column with their times.

        A sample covers the interval that ends at its time.
        """
        return self if time_s <= 0 else type(self)(_Kept(self, self[column] > time_s))

    def shares(self) -> NDArray[np.float64]:
        """Return how long the interval of each is: see :func:`shares`."""
        return shares(self["time_s"])

    def state(self, column: str, key: str) -> NDArray[np.float64]:
        """Return a column of ``HELD``, NaN where a sender lacks the quantity or is idle.

        A sender without a window says 0, and one that has not started or has ended says its initial
        or its last value. It counts from the flow's first data to its last. ``key`` is the column
        with the names of the flows.
        """
        values = self[column]
        return np.where((values == 0) | self._idles(key), np.nan, values)

    def _idles(self, key: str) -> NDArray[np.bool_]:
        """Return which rows are before a flow's first data or after its last."""
        if key not in self._idle:
            groups, names = self.groups(key), self.column_names
            known = [self[name] > 0 for name in ACTIVITY if name in names]
            acts = np.logical_or.reduce(known) if known else np.ones(groups.numbers.size, np.bool_)
            self._idle[key] = ~groups.spanned(acts)
        return self._idle[key]

    def __getitem__(self, column: str) -> NDArray[np.float64]:
        """Return a column of numbers, which cannot be changed. A null is NaN."""
        if column not in self._columns:
            self._columns[column] = np.frombuffer(self._table.numbers(column), np.float64)
        return self._columns[column]

    def groups(self, key: str) -> Groups:
        """Return which flow or link each row belongs to; ``key`` is the column with its name."""
        if key not in self._groups:
            names, numbers = self._table.names(key)
            self._groups[key] = Groups(names, np.frombuffer(numbers, np.int32))
        return self._groups[key]

    def series(self, key: str, column: str, *, while_active: bool = False) -> dict[str, Series]:
        """Return a column by flow or link, where ``key`` is the column with its name.

        The names are in the order in which the table first has them. ``while_active`` leaves out of
        a sender's state what it has none of, and when it does not send (:meth:`state`).
        """
        times, parts = self["time_s"], self.shares()
        values = self.state(column, key) if while_active else self[column]
        return {
            name: Series(times[rows], values[rows], parts[rows])
            for name, rows in self.groups(key).rows().items()
        }


@dataclass(frozen=True)
class Groups:
    """The rows of a table by flow or link, and aggregates of their values.

    All are computed at once: there may be thousands of flows, and runs of a millisecond.
    """

    names: list[str]
    """Some may have no row."""
    numbers: NDArray[np.int32]
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
        return self._named(_core.group_sums(self.numbers, len(self.names), values))

    def means(
        self, values: NDArray[np.float64], weights: NDArray[np.float64] | None = None
    ) -> dict[str, float]:
        """Return the mean of each, weighted if weights are given, ignoring NaN."""
        weights = np.ones(values.size) if weights is None else weights
        return self._named(_core.group_means(self.numbers, len(self.names), values, weights))

    def largest(self, values: NDArray[np.float64]) -> dict[str, float]:
        """Return the largest of each, ignoring NaN."""
        return self._named(_core.group_largest(self.numbers, len(self.names), values))

    def spanned(self, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which rows are from the first marked row of theirs to the last."""
        spans = _core.group_spans(self.numbers, len(self.names), marked.view(np.uint8))
        return np.frombuffer(spans, np.bool_)

    def _named(self, values: list[float]) -> dict[str, float]:
        return dict(zip(self.names, values, strict=True))


class _Kept:
    """Some rows of samples, with the methods of :class:`_core.Table`."""

    def __init__(self, samples: Samples, kept: NDArray[np.bool_]) -> None:
        self._samples, self._kept = samples, kept

    @property
    def column_names(self) -> list[str]:
        return self._samples.column_names

    def numbers(self, column: str) -> NDArray[np.float64]:
        return self._samples[column][self._kept]

    def names(self, column: str) -> tuple[list[str], NDArray[np.int32]]:
        groups = self._samples.groups(column)
        return groups.names, groups.numbers[self._kept]


class _Arrow:
    """An Arrow table, with the methods of :class:`_core.Table`.

    A column's own ``to_numpy`` and ``fill_null`` import pandas if it is installed, which takes a
    second.
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    @property
    def column_names(self) -> list[str]:
        return list(self._table.column_names)

    def numbers(self, column: str) -> NDArray[np.float64]:
        given = self._table[column].combine_chunks()
        values = _array(given).astype(np.float64)
        values[_nulls(given)] = np.nan
        return values

    def names(self, column: str) -> tuple[list[str], NDArray[np.int32]]:
        encoded = self._table[column].combine_chunks()
        if not hasattr(encoded, "dictionary"):
            encoded = encoded.dictionary_encode()
        names = [str(name) for name in encoded.dictionary.to_pylist()]
        return names, _array(encoded.indices).astype(np.int32)


def _array(column: pa.Array) -> NDArray[Any]:
    """Return the numbers of a column. Where it has none, the value has no meaning."""
    numbers = np.frombuffer(column.buffers()[1], dtype=column.type.to_pandas_dtype())
    return numbers[column.offset : column.offset + len(column)]


def _nulls(column: pa.Array) -> NDArray[np.bool_]:
    """Return where a column has no number."""
    validity = column.buffers()[0]
    if validity is None:
        return np.zeros(len(column), dtype=np.bool_)
    bits = np.unpackbits(np.frombuffer(validity, dtype=np.uint8), bitorder="little")
    return np.asarray(bits[column.offset : column.offset + len(column)] == 0)


def by_name(
    table: pa.Table, key: str, column: str, *, while_active: bool = False
) -> dict[str, Series]:
    """Return a column of a table by flow or link, as :meth:`Samples.series` does."""
    return Samples(table).series(key, column, while_active=while_active)


def largest(series: Iterable[Series]) -> float:
    """Return the largest finite value of whole intervals, whatever its sign; 0 without any."""
    values = np.concatenate([np.zeros(0), *(np.abs(one.whole().values) for one in series)])
    return float(np.max(values, where=np.isfinite(values), initial=0.0))
