"""Dimensions whose values are quantities: numbers in the table, text where readers see them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from skywave.results.columns import in_units

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Quantities:
    """A dimension whose values are quantities of one unit, such as ``5 ms`` and ``1 s``."""

    dimension: str
    """Its name in the plan, where values are as they were given: ``delay``."""
    column: str
    """Its name in the table, with the unit of its numbers: ``delay_s``."""
    unit: str
    numbers: dict[str, float]
    """The values in the unit, by the text that was given."""

    @classmethod
    def of(cls, dimension: str, given: Iterable[object], taken: Collection[str]) -> Self | None:
        """Return a dimension's values as quantities; None if they stay as they were given.

        It does if one is no quantity, if units differ, if two are equal, or if the name with the
        unit is taken.
        """
        numbers: dict[str, float] = {}
        units = set()
        for value in given:
            if not isinstance(value, str):
                return None
            try:
                numbers[value], unit = in_units(value)
            except ValueError:
                return None
            units.add(unit)
        if len(units) != 1 or len(set(numbers.values())) < len(numbers):
            return None
        [unit] = units
        has_unit = dimension.rpartition("_")[2] == unit
        column = dimension if has_unit else f"{dimension}_{unit}"
        if column != dimension and column in taken:
            return None
        return cls(dimension, column, unit, numbers)

    @property
    def labels(self) -> dict[float, str]:
        """The text that was given, by number."""
        return {number: text for text, number in self.numbers.items()}

    def label(self, value: str) -> str:
        """Return how a value was given: an equal quantity or its number. Other text stays."""
        if value in self.numbers:
            return value
        try:
            number, unit = in_units(value)
        except ValueError:
            try:
                number, unit = float(value), self.unit
            except ValueError:
                return value
        return self.labels.get(number, value) if unit == self.unit else value


def with_numbers(table: pa.Table, dimensions: Iterable[Quantities]) -> pa.Table:
    """Return a table with dimensions as numbers, under the names of their columns."""
    import pyarrow as pa  # noqa: PLC0415  (loaded when there is a table)

    for each in dimensions:
        if each.dimension in table.column_names:
            place = table.column_names.index(each.dimension)
            values = [each.numbers[text] for text in table[each.dimension].to_pylist()]
            table = table.set_column(place, each.column, pa.array(values, pa.float64()))
    return table
