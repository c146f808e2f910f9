"""Figures of a sweep: a table with one row per run.

A dimension is a column that was varied. Points are means over seeds with their 95 % confidence
intervals (:func:`skywave.stats.average`).
"""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from skywave.columns import Column, Scale, find, in_units
from skywave.plots.distributions import box, cdf
from skywave.plots.legends import MOST_ENTRIES, above
from skywave.plots.names import axis_name, short_labels
from skywave.plots.style import COLUMN_IN, column_style, heat_map, series_styles, write_in_cell
from skywave.plots.ticks import name_ticks
from skywave.stats import average, by_point

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from skywave.stats import Average

SweepKind = Literal["line", "heat", "cdf", "box"]
HEIGHT_IN = 2.4
ROW_IN = 0.3
HEAT_AXIS_IN = 2.0
"""About how long the x axis of a heat map is, beside names of rows and the bar of colours."""
SEQUENTIAL = "cividis"
"""A colour map from dark to light, also in grey and for colour-blind readers."""
MOST_NUMBERS = 8
"""The most columns whose cells have room for a number."""
MOST_LISTED = 12
"""The most values of a dimension that a message lists."""
LOGARITHMIC = 50
"""From this ratio of largest to smallest value on, an axis is logarithmic."""


def of_sweep(
    table: pa.Table,
    dimensions: Sequence[str],
    measures: Sequence[str],
    kind: SweepKind | None = None,
    *,
    measure: str | None = None,
    x: str | None = None,
    by: str | None = None,
    y: str | None = None,
    where: Mapping[str, str] | None = None,
    paths: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
) -> Figure:
    """Return a figure of a sweep, as wide as a column of a paper.

    - ``"line"``: means over ``x`` with intervals as bars, a line for each value of ``by``;
    - ``"heat"``: means as colours, over ``x`` and ``y``, which is another name of ``by``;
    - ``"cdf"`` and ``"box"``: the distribution over seeds for each value of ``by``.

    By default ``kind`` is a heat map of two dimensions that are both numbers, and lines otherwise.
    ``measure`` is goodput or the first measure, and may lack its unit. ``x`` is the first dimension
    that is a number; without ``by``, all other dimensions tell lines or groups apart. ``where``
    keeps the runs in which dimensions have these values, as text.

    Values are shown by what tells them apart: ``cubic`` for ``tcp control=cubic``. ``labels`` has
    other texts for values, and other names for axes by dimension. ``paths`` has the paths of
    dimensions in the scenario, of which the names of axes are made.

    Raises:
        ValueError: If there is no such kind, measure, dimension or value; the message lists what
            there is. Also if dimensions are left over that a figure cannot show, or if there are
            too many lines.

    """
    if by is not None and y is not None:
        raise ValueError("y is another name of by: give one of them")
    by = by if y is None else y
    named = _Names.of(table, dimensions, paths or {}, labels or {})
    table, dimensions = _where(table, dimensions, where or {})
    name = find(measure, measures) if measure else _first(measures)
    values = by_point(table, dimensions, name)
    axes = {
        dimension: _Axis.of(dimension, [point[index] for point in values], named)
        for index, dimension in enumerate(dimensions)
    }
    for given in (x, by):
        if given is not None and given not in axes:
            known = ", ".join(axes) or "none"
            raise ValueError(f"{given} is not a dimension: use one of {known}")
    if kind is None:
        numeric = [axis.is_numeric for axis in axes.values() if len(axis.values) > 1]
        kind = "cdf" if not axes else "heat" if numeric == [True, True] else "line"
    if kind not in get_args(SweepKind):
        raise ValueError(f"{kind} is not a figure of a sweep: use {', '.join(get_args(SweepKind))}")
    runs = {point: list(seeds.values()) for point, seeds in values.items()}
    if kind in {"cdf", "box"}:
        return _distribution(kind, runs, axes, name, by, named)
    x = x or _default_x(axes, without=by)
    if kind == "heat":
        return _heat(runs, axes, name, x, by, named)
    return _lines(runs, axes, name, x, by, named)


@dataclass(frozen=True)
class _Names:
    """What the figure calls dimensions and their values."""

    titles: dict[str, str]
    """The names that the user gives to dimensions."""
    axes: dict[str, str]
    """The names of all dimensions, without the unit of quantities."""
    values: dict[str, dict[str, str]]
    """By dimension, and by the value as text."""

    @classmethod
    def of(
        cls,
        table: pa.Table,
        dimensions: Sequence[str],
        paths: Mapping[str, str],
        labels: Mapping[str, str],
    ) -> _Names:
        """Name what a table has.

        Raises:
            ValueError: If ``labels`` has one for what is neither a dimension nor a value.

        """
        given = {
            name: list(dict.fromkeys(map(str, table[name].to_pylist()))) for name in dimensions
        }
        there = [*dimensions, *(value for values in given.values() for value in values)]
        for label in labels:
            if label not in there:
                shown = ", ".join(there[:MOST_LISTED]) + (
                    ", .." if len(there) > MOST_LISTED else ""
                )
                raise ValueError(f"{label} is no dimension or value: use one of {shown or 'none'}")
        return cls(
            {name: labels[name] for name in dimensions if name in labels},
            {name: axis_name(name, paths.get(name, name)) for name in dimensions},
            {
                name: {
                    value: labels.get(value, text) for value, text in short_labels(values).items()
                }
                for name, values in given.items()
            },
        )

    def value(self, dimension: str, value: object) -> str:
        """Return the text for a value."""
        return self.values[dimension][str(value)]


@dataclass(frozen=True)
class _Axis:
    """A dimension as an axis: numbers and quantities to scale, other values in a row."""

    label: str
    values: list[Any]
    positions: dict[Any, float]
    is_numeric: bool
    names: Mapping[str, str]
    """The texts of values that are not numbers."""

    @classmethod
    def of(cls, name: str, given: Sequence[Any], named: _Names) -> _Axis:
        axis = cls._of(name, list(dict.fromkeys(given)), named)
        return replace(axis, label=named.titles.get(name, axis.label))

    @classmethod
    def _of(cls, name: str, values: list[Any], named: _Names) -> _Axis:
        label, names = named.axes[name], named.values[name]
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            values.sort()
            if Column.of_name(name).unit:
                scale = Scale.of(name, max(map(abs, values)))
                positions = {each: each / scale.factor for each in values}
                return cls(scale.label, values, positions, True, names)
            return cls(label, values, {value: float(value) for value in values}, True, names)
        quantities = {value: _quantity(value) for value in values}
        units = {unit for _, unit in quantities.values()}
        if len(units) == 1 and "" not in units:
            [unit] = units
            values.sort(key=lambda value: quantities[value][0])
            scale = Scale.of(
                f"{label.removesuffix(f' ({unit})')}_{unit}",
                max(size for size, _ in quantities.values()),
            )
            positions = {value: quantities[value][0] / scale.factor for value in values}
            return cls(scale.label, values, positions, True, names)
        positions = {value: float(index) for index, value in enumerate(values)}
        return cls(label, values, positions, False, names)

    @property
    def is_logarithmic(self) -> bool:
        smallest = min(self.positions.values())
        return (
            self.is_numeric
            and smallest > 0
            and max(self.positions.values()) / smallest >= LOGARITHMIC
        )

    @property
    def ticks(self) -> list[str]:
        return [self.tick(value) for value in self.values]

    def tick(self, value: Any) -> str:
        return f"{self.positions[value]:g}" if self.is_numeric else self.names[str(value)]


def _quantity(value: Any) -> tuple[float, str]:
    try:
        return in_units(str(value))
    except ValueError:
        return 0.0, ""


_Runs = dict[tuple[Any, ...], list[float]]


def _where(
    table: pa.Table, dimensions: Sequence[str], where: Mapping[str, str]
) -> tuple[pa.Table, list[str]]:
    """Keep the rows in which dimensions have given values; return the dimensions that are left."""
    import pyarrow as pa  # noqa: PLC0415  (loaded when there is a table)

    for name, value in where.items():
        if name not in dimensions:
            raise ValueError(f"{name} is not a dimension: use one of {', '.join(dimensions)}")
        texts = [str(each) for each in table[name].to_pylist()]
        if value not in texts:
            known = ", ".join(dict.fromkeys(texts))
            raise ValueError(f"{name} is never {value}: use one of {known}")
        table = table.filter(pa.array([text == value for text in texts]))
    return table, [name for name in dimensions if name not in where]


def _first(measures: Sequence[str]) -> str:
    if not measures:
        raise ValueError("no measures: nothing to plot")
    return next((name for name in measures if name.startswith("goodput")), measures[0])


def _default_x(axes: Mapping[str, _Axis], without: str | None) -> str:
    left = [name for name in axes if name != without]
    if not left:
        raise ValueError("no dimension for the x axis: use the kind cdf or box")
    varied = [name for name in left if len(axes[name].values) > 1] or left
    return next((name for name in varied if axes[name].is_numeric), varied[0])


def _grouped(
    runs: _Runs,
    dimensions: Sequence[str],
    by: str | None,
    named: _Names,
    without: str | None = None,
    most: float = MOST_ENTRIES,
) -> dict[str, _Runs]:
    """Return the points of each value of ``by``, or of each combination of all but ``without``.

    A dimension with a single value needs no place. There are at most ``most`` groups.
    """
    known = {
        name: list(dict.fromkeys(point[place] for point in runs))
        for place, name in enumerate(dimensions)
    }
    varied = [name for name in dimensions if name != without and len(known[name]) > 1]
    names = varied if by is None else [by]
    left_over = [name for name in varied if name not in names]
    if left_over:
        raise ValueError(
            f"the figure has no place for {', '.join(left_over)}: choose a value of each, "
            f"{_choices(left_over, known)}"
        )
    count = len({tuple(point[dimensions.index(name)] for name in names) for point in runs})
    if count > most:
        raise ValueError(
            f"{count} lines or groups cannot be told apart: choose values until there are at most "
            f"{most}, {_choices(names, known)}"
        )
    places = [dimensions.index(name) for name in names]
    groups: dict[str, _Runs] = {}
    for point, values in runs.items():
        texts = [named.value(dimensions[place], point[place]) for place in places]
        said = [
            f"{named.titles.get(dimensions[place], dimensions[place])} {text}"
            for place, text in zip(places, texts, strict=True)
        ]
        # A word speaks for itself, a number does not.
        if len(places) == 1 and isinstance(point[places[0]], str):
            said = texts
        groups.setdefault(", ".join(said), {})[point] = values
    return groups


def _choices(names: Iterable[str], values: Mapping[str, Sequence[Any]]) -> str:
    """Say how to choose a value of each dimension, and which there are."""
    options = " ".join(f"--where {shlex.quote(f'{name}={values[name][0]}')}" for name in names)
    there = []
    for name in names:
        shown = [str(value) for value in values[name][:MOST_LISTED]]
        more = ", .." if len(values[name]) > MOST_LISTED else ""
        there.append(f"{name} is one of {', '.join(shown)}{more}")
    return f"as in {options}; {'; '.join(there)}"


def _distribution(
    kind: str,
    runs: _Runs,
    axes: Mapping[str, _Axis],
    measure: str,
    by: str | None,
    named: _Names,
) -> Figure:
    # Values of different points are different distributions, and are not mixed.
    grouped = _grouped(runs, list(axes), by, named)
    groups = {
        name or "all": [value for values in points.values() for value in values]
        for name, points in grouped.items()
    }
    if kind == "cdf":
        return cdf(groups, measure)
    what = by or (next(iter(axes)) if len(axes) == 1 else None)
    return box(groups, measure, "" if what is None else axes[what].label)


def _lines(
    runs: _Runs,
    axes: Mapping[str, _Axis],
    measure: str,
    x: str,
    by: str | None,
    named: _Names,
) -> Figure:
    if by == x:
        raise ValueError(f"{x} is the x axis already: choose another dimension for the lines")
    place, axis = list(axes).index(x), axes[x]
    groups = _grouped(runs, list(axes), by, named, without=x)
    means = {
        name: {point[place]: average(values) for point, values in points.items()}
        for name, points in groups.items()
    }
    scale = Scale.of(measure, _largest(one for each in means.values() for one in each.values()))
    with column_style():
        figure = Figure(figsize=(COLUMN_IN, HEIGHT_IN), layout="constrained")
        panel = figure.subplots()
        for (name, each), look in zip(means.items(), series_styles(), strict=False):
            values = [value for value in axis.values if value in each]
            panel.errorbar(
                [axis.positions[value] for value in values],
                [each[value].mean / scale.factor for value in values],
                # A single run has no interval.
                yerr=np.nan_to_num([each[value].margin / scale.factor for value in values]),
                label=name,
                capsize=2,
                markersize=3.5,
                # Nothing lies between names.
                **(look if axis.is_numeric else {**look, "linestyle": "none"}),
            )
        panel.set_xlabel(axis.label)
        panel.set_ylabel(scale.label)
        if axis.is_logarithmic:
            panel.set_xscale("log")
            panel.minorticks_off()
            if len(axis.values) <= MOST_NUMBERS:
                panel.set_xticks(list(axis.positions.values()), axis.ticks)
        if not axis.is_numeric:
            name_ticks(panel, axis.ticks)
            panel.margins(x=0.1)
        if panel.get_ylim()[0] > 0:
            panel.set_ylim(bottom=0)
        above(panel)
    return figure


def _largest(means: Iterable[Average]) -> float:
    sizes = [abs(one.mean) for one in means if np.isfinite(one.mean)]
    if not sizes:
        raise ValueError("the measure has no values: nothing to plot")
    return max(sizes)


def _heat(
    runs: _Runs,
    axes: Mapping[str, _Axis],
    measure: str,
    x: str,
    by: str | None,
    named: _Names,
) -> Figure:
    others = [name for name in axes if name != x and (len(axes[name].values) > 1 or name == by)]
    if by is None and len(others) != 1:
        varied = [name for name in axes if len(axes[name].values) > 1]
        raise ValueError(
            f"a heat map shows two dimensions, and {len(varied)} have several values: give x and y "
            f"(--x and --y), two of {', '.join(axes)}"
        )
    y = by or others[0]
    if x == y:
        raise ValueError(f"{x} is the x axis already: choose another dimension for the rows")
    # Raises if a dimension is left over.
    _grouped(runs, list(axes), y, named, without=x, most=math.inf)
    columns, rows = axes[x], axes[y]
    places = list(axes).index(x), list(axes).index(y)
    means: dict[tuple[Any, Any], Average] = {
        (point[places[0]], point[places[1]]): average(values) for point, values in runs.items()
    }
    scale = Scale.of(measure, _largest(means.values()))
    # The largest value on top, as on any axis.
    order = rows.values[::-1] if rows.is_numeric else rows.values
    shown = np.full((len(order), len(columns.values)), np.nan)
    for row, of_row in enumerate(order):
        for column, of_column in enumerate(columns.values):
            if (of_column, of_row) in means:
                shown[row, column] = means[of_column, of_row].mean / scale.factor
    return _draw_heat(shown, scale, columns, rows, order)


def _draw_heat(
    shown: NDArray[np.float64], scale: Scale, columns: _Axis, rows: _Axis, order: Sequence[Any]
) -> Figure:
    norm = Normalize(float(np.nanmin(shown)), float(np.nanmax(shown)))
    with column_style():
        height_in = max(HEIGHT_IN, 0.8 + ROW_IN * len(order))
        figure = Figure(figsize=(COLUMN_IN, height_in), layout="constrained")
        panel = figure.subplots()
        heat_map(
            panel,
            shown,
            [rows.tick(value) for value in order],
            columns.ticks,
            norm=norm,
            colours=SEQUENTIAL,
        )
        name_ticks(panel, columns.ticks, HEAT_AXIS_IN)
        if len(columns.values) <= MOST_NUMBERS:
            largest = float(np.nanmax(np.abs(shown)))
            decimals = max(0, 2 - math.floor(math.log10(largest))) if largest else 0
            for (row, column), value in np.ndenumerate(shown):
                if np.isfinite(value):
                    ink = "white" if norm(value) < 0.5 else "black"
                    write_in_cell(
                        panel, row, column, f"{value:.{decimals}f}", color=ink, fontsize=6
                    )
        panel.set_xlabel(columns.label)
        panel.set_ylabel(rows.label)
        bar = figure.colorbar(ScalarMappable(norm, SEQUENTIAL), ax=panel, pad=0.02)
        bar.set_label(scale.label)
        bar.outline.set_visible(False)
    return figure
