"""The points of a sweep: its dimensions, the combinations of values, and the scenario of each.

Values that are quantities are numbers in tables, and text where readers see them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from skywave.results.columns import in_units

if TYPE_CHECKING:
    import pyarrow as pa


import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping

from skywave import _arrow, _core
from skywave._errors import ScenarioError
from skywave._members import Member, live
from skywave.scenario import Scenario
from skywave.scenario.experiment import digest_of
from skywave.scenario.labels import Label, Named, alike, label_of
from skywave.scenario.paths import with_each
from skywave.stats.tables import describe

RUN_DIGITS = 32
"""Hexadecimal digits that name a run: 128 bits."""


@dataclass(frozen=True)
class Dimension:
    """A dimension: a field of the scenario, or a parameter of the function that returns it."""

    path: str
    name: str
    """The name of its column: as much of the path's end as tells it from the others."""
    values: tuple[object, ...]
    names: tuple[str | None, ...]
    """The names of values that the user has named."""

    @property
    def labels(self) -> list[Label]:
        """The values as they are shown in tables: by name, and of one type if they are numbers."""
        return alike(
            [
                label_of(value) if name is None else name
                for value, name in zip(self.values, self.names, strict=True)
            ]
        )


def dimensions(
    over: Mapping[str, Iterable[object]], taken: Collection[str] = ()
) -> tuple[Dimension, ...]:
    """Return the dimensions of a sweep. Their names are not among those ``taken``.

    Raises:
        ValueError: If one has no values, or the same twice, or no name is left for it.
    """
    if "seed" in over:
        raise ValueError("seed: give seeds as seeds, not as a dimension")
    found = []
    for path, name in zip(over, _names(list(over), taken), strict=True):
        given = over[path]
        if isinstance(given, str):
            raise ValueError(f"{path}: {given!r} is one text: give a list of values")
        dimension = Dimension(path, name, *_named(given))
        if not dimension.values:
            raise ValueError(f"{path}: no values: give at least one")
        for labels in (dimension.labels, alike([label_of(value) for value in dimension.values])):
            for label in labels:
                if labels.count(label) > 1:
                    raise ValueError(f"{path}: {label} is given twice")
        found.append(dimension)
    return tuple(found)


def _named(given: Iterable[object]) -> tuple[tuple[object, ...], tuple[str | None, ...]]:
    """Return values and their names."""
    if isinstance(given, Mapping):
        given = [Named(name, value) for name, value in given.items()]
    each = [one if isinstance(one, Named) else Named("", one) for one in given]
    return tuple(one.value for one in each), tuple(one.name or None for one in each)


@dataclass(frozen=True)
class Point:
    """One combination of values. It does not depend on the seed."""

    labels: tuple[Label, ...]
    """The values as shown, in the order of the dimensions."""
    text: str
    """The scenario as JSON, without its seed."""
    members: dict[str, type[Member]]
    """The classes of members in Python."""
    digest: str
    """A hash of everything but the seed that determines results."""

    def run_name(self, seed: int) -> str:
        """Return the name of a run: a hash of everything that determines its results."""
        return hashlib.sha256(f"{self.digest} {seed}".encode()).hexdigest()[:RUN_DIGITS]

    def with_seed(self, seed: int) -> str:
        """Return the scenario of a run as JSON."""
        return f'{self.text.removesuffix("}")}, "seed": {json.dumps(seed)}}}'


@dataclass(frozen=True)
class Grid:
    """All points of a sweep: each combination of its dimensions' values."""

    base: Scenario | Callable[..., Scenario]
    """The scenario, or a function of the dimensions' values that returns one."""
    dimensions: tuple[Dimension, ...]

    def __len__(self) -> int:
        return math.prod(len(dimension.values) for dimension in self.dimensions)

    def points(self, salt: object, warm_up_s: float = 0.0) -> Iterator[Point]:
        """Yield the points in order; the last dimension varies fastest.

        Args:
            salt: What else determines results, as JSON.
            warm_up_s: How much of a run does not count, in seconds.

        Raises:
            ScenarioError: If a scenario is wrong; the message names the point and the field.
        """
        for shown, scenario in self._scenarios():
            try:
                members = scenario.members()
                sources = [member.source_hash() for member in members]
                document = scenario.to_dict()
                document.pop("seed", None)
                text, classes = json.dumps(document), live(members)
                complete = json.loads(_core.check_scenario(text, "json", members=classes))
                identity = [digest_of(complete | {"seed": 0}, sources), salt]
            except ScenarioError as error:
                raise self._at(shown, error) from None
            if warm_up_s >= scenario.duration.seconds:
                raise self._at(
                    shown,
                    ValueError(
                        f"a warm-up of {warm_up_s:g} s: the run ends at {scenario.duration}"
                    ),
                )
            digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()
            yield Point(shown, text, classes, digest)

    def _scenarios(self) -> Iterator[tuple[tuple[Label, ...], Scenario]]:
        if isinstance(self.base, Scenario):
            yield from self._set((), self.base)
            return
        labels = itertools.product(*(dimension.labels for dimension in self.dimensions))
        values = itertools.product(*(dimension.values for dimension in self.dimensions))
        for shown, given in zip(labels, values, strict=True):
            made = self.base(
                **{each.path: value for each, value in zip(self.dimensions, given, strict=True)}
            )
            if not isinstance(made, Scenario):
                raise TypeError(f"{self.base!r} returned {type(made).__name__}: return a Scenario")
            yield shown, made

    def _set(
        self, shown: tuple[Label, ...], scenario: Scenario
    ) -> Iterator[tuple[tuple[Label, ...], Scenario]]:
        """Yield the points that begin with these values, which the scenario has already."""
        if len(shown) == len(self.dimensions):
            yield shown, scenario
            return
        dimension = self.dimensions[len(shown)]
        changed = with_each(scenario, dimension.path, dimension.values)
        for label in dimension.labels:
            here = (*shown, label)
            try:
                one = next(changed)
            except ScenarioError as error:
                raise self._at(here, error) from None
            yield from self._set(here, one)

    def _at(self, labels: tuple[Label, ...], error: Exception) -> ScenarioError:
        names = [dimension.name for dimension in self.dimensions[: len(labels)]]
        where = f"with {describe(names, labels)}: " if labels else ""
        return ScenarioError(f"{where}{error}")


def _names(paths: list[str], taken: Collection[str]) -> list[str]:
    """Return for each path the shortest end that no other path has and that is not taken."""
    split = [path.split(".") for path in paths]
    names = []
    for parts in split:
        ends = [parts[-length:] for length in range(1, len(parts) + 1)]
        free = [
            ".".join(end)
            for end in ends
            if sum(other[-len(end) :] == end for other in split) == 1 and ".".join(end) not in taken
        ]
        if not free:
            raise ValueError(f"{'.'.join(parts)}: another column has this name: choose another")
        names.append(free[0])
    return names


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
    for each in dimensions:
        if each.dimension in table.column_names:
            place = table.column_names.index(each.dimension)
            values = [each.numbers[text] for text in table[each.dimension].to_pylist()]
            table = table.set_column(place, each.column, _arrow.floats(values))
    return table
