"""Figures of a sweep: a table with one row per run.

A dimension is a column that was varied. Points are means over seeds with their 95 % confidence
intervals (:func:`skywave.stats.average`).
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import NDArray

from skywave._known import listed
from skywave.plots.distributions import box, cdf, check_positive
from skywave.plots.names import MOST_LISTED, Axis, axis_name, texts_of_values
from skywave.plots.panels import (
    MOST_ENTRIES,
    at_size,
    check_log,
    for_all,
    label_x,
    label_y,
    stacked,
)
from skywave.plots.style import TITLE_IN, column_style, heat_map, series_styles, write_in_cell
from skywave.plots.texts import make_room, name_ticks, width_in, wrapped
from skywave.results.columns import Scale, find
from skywave.stats import Estimate, average, by_point

if TYPE_CHECKING:
    import pyarrow as pa


SweepKind = Literal["line", "heat", "cdf", "box"]
MOST_PANELS = 6
"""More would not fit on a page."""
SIMILAR = 5
"""Up to this ratio of their largest values, panels have the same y axis."""
MOST_MINOR_TICKS = 100
"""Of a logarithmic axis; matplotlib shows none if there would be more."""
ROW_IN = 0.3
ROW_LINE_IN = 0.13
"""How high a line of a row's name is."""
ROW_NAME_IN = 1.1
"""The longest line of a row's name."""
BAR_IN = 1.2
"""What is beside the x axis of a heat map and the names of its rows: labels, the bar of colours."""
SEQUENTIAL = "cividis"
"""A colour map from dark to light, also in grey and for colour-blind readers."""
MOST_NUMBERS = 8
"""The most columns whose cells have room for a number."""
CLOSE = 0.2
"""Up to this ratio of their span to the largest, values are too close for an axis from 0."""
CLOSE_NOISE = 1e-6
"""Up to this ratio, they are the same."""
MARGIN = 0.08
"""Space beyond the ends of bars, as a share of what is shown."""
LEAST_BEYOND = 1.1
"""The same of a logarithmic axis, as a factor, at least."""
MOST_BESIDE, SHARE_BESIDE = 0.12, 0.7
"""How far apart the points of a name are: at most, and all together, of the distance of names."""


def of_sweep(
    table: pa.Table,
    dimensions: Sequence[str],
    measures: Sequence[str],
    kind: SweepKind | None = None,
    *,
    measure: str | None = None,
    x: str | None = None,
    by: str | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    paths: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    log: Collection[str] = (),
    size_in: tuple[float, float] | None = None,
) -> Figure:
    """Return a figure of a sweep, as wide as a column of a paper.

    - ``"line"``: means over ``x`` with intervals as bars, a line for each value of ``by``;
    - ``"heat"``: means as colours, over ``x`` and ``by``, which has the rows;
    - ``"cdf"`` and ``"box"``: the distribution over seeds for each value of ``by``.

    By default ``kind`` is a heat map of two dimensions that are both numbers, and lines otherwise.
    ``measure`` is goodput or the first measure, and may lack its unit. ``x`` is the first dimension
    that is a number. ``by`` is one of names rather than numbers, and of these the one with the most
    values. Each combination of the other dimensions has a panel; there are at most six, and ten
    lines or groups in each. ``where`` keeps the runs in which dimensions have these values, or one
    of several, as text or as the figure shows them.

    ``log`` has ``"x"`` and ``"y"`` for the axes that are logarithmic: both of lines, and that of
    the values of a distribution. An x axis of numbers is logarithmic anyhow if its largest is 50
    times its smallest. ``size_in`` is the width and height in inches. By default the figure is as
    wide as a column, and as high as it takes.

    Values are shown by what tells them apart: ``cubic`` for ``tcp control=cubic``. ``labels`` has
    other texts for values, and other names for axes by dimension. ``paths`` has the paths of
    dimensions in the scenario, of which the names of axes are made.

    Raises:
        ValueError: If there is no such kind, measure, dimension or value; the message lists what
            there is. Also if there are too many panels or lines.
    """
    paths, labels = paths or {}, labels or {}
    texts = texts_of_values(table, dimensions, labels)
    table, dimensions = _where(table, dimensions, where or {}, texts)
    name = find(measure, measures) if measure else _first(measures)
    values = by_point(table, dimensions, name)
    axes = {
        dimension: Axis.of(
            dimension,
            [point[index] for point in values],
            texts[dimension],
            axis_name(dimension, paths.get(dimension, dimension)),
            labels.get(dimension),
        )
        for index, dimension in enumerate(dimensions)
    }
    for given in (x, by):
        if given is not None and given not in axes:
            raise ValueError(f"{given} is not a dimension: use one of {listed(given, axes)}")
    if kind is None:
        numeric = [axis.is_numeric for axis in axes.values() if len(axis.values) > 1]
        kind = "cdf" if not axes else "heat" if numeric == [True, True] else "line"
    if kind not in get_args(SweepKind):
        raise ValueError(
            f"{kind} is not a figure of a sweep: use {listed(kind, get_args(SweepKind))}"
        )
    runs = {point: list(seeds.values()) for point, seeds in values.items()}
    check_log(log, {"heat": "", "cdf": "x", "box": "y"}.get(kind, "xy"), kind)
    if kind == "heat":
        draw = partial(_heat, runs, axes, name, x or _default_x(axes, without=by), by)
    elif kind in {"cdf", "box"}:
        draw = partial(_distribution, kind, runs, axes, name, by, is_log=bool(log))
    else:
        draw = partial(_lines, runs, axes, name, x or _default_x(axes, without=by), by, log)
    return at_size(size_in, draw)


_Runs = dict[tuple[Any, ...], list[float]]


def _where(
    table: pa.Table,
    dimensions: Sequence[str],
    where: Mapping[str, str | Sequence[str]],
    texts: Mapping[str, Mapping[str, str]],
) -> tuple[pa.Table, list[str]]:
    """Keep the rows in which dimensions have given values; return the dimensions that are left.

    A dimension with one value has no place in the figure.
    """
    import pyarrow as pa  # noqa: PLC0415  (loaded when there is a table)

    for name, given in where.items():
        if name not in dimensions:
            raise ValueError(f"{name} is not a dimension: use one of {', '.join(dimensions)}")
        rows = [str(each) for each in table[name].to_pylist()]
        there = list(dict.fromkeys(rows))
        meant = {texts[name][value]: value for value in there} | {value: value for value in there}
        values = [given] if isinstance(given, str) else list(given)
        for value in values:
            if value not in meant:
                raise ValueError(f"{name} is never {value}: use one of {', '.join(there)}")
        kept = {meant[value] for value in values}
        table = table.filter(pa.array([value in kept for value in rows]))
    alone = {name for name, given in where.items() if isinstance(given, str) or len(given) == 1}
    return table, [name for name in dimensions if name not in alone]


def _first(measures: Sequence[str]) -> str:
    if not measures:
        raise ValueError("no measures: nothing to plot")
    return next((name for name in measures if name.startswith("goodput")), measures[0])


def _default_x(axes: Mapping[str, Axis], without: str | None) -> str:
    left = [name for name in axes if name != without]
    if not left:
        raise ValueError("no dimension for the x axis: use the kind cdf or box")
    varied = [name for name in left if len(axes[name].values) > 1] or left
    return next((name for name in varied if axes[name].is_numeric), varied[0])


def _varied(axes: Mapping[str, Axis], without: Collection[str | None] = ()) -> list[str]:
    """Return the dimensions that need a place in the figure: those with several values."""
    return [name for name, axis in axes.items() if name not in without and len(axis.values) > 1]


def _default_by(axes: Mapping[str, Axis], x: str | None = None) -> str | None:
    """Return the dimension that tells lines or groups apart."""

    def preference(name: str) -> tuple[bool, bool, int]:
        axis = axes[name]
        return len(axis.values) <= MOST_ENTRIES, not axis.is_numeric, len(axis.values)

    # The last one of equals varies fastest in the table.
    return max(reversed(_varied(axes, {x})), key=preference, default=None)


def _panels(
    runs: _Runs, axes: Mapping[str, Axis], x: str | None, by: str | None
) -> dict[str, _Runs]:
    """Return the points of each panel by its title: by dimensions that have no other place."""
    over = _varied(axes, {x, by})
    places = [list(axes).index(name) for name in over]
    panels: dict[tuple[Any, ...], _Runs] = {}
    for point, values in runs.items():
        panels.setdefault(tuple(point[place] for place in places), {})[point] = values
    if len(panels) > MOST_PANELS:
        raise ValueError(
            f"{len(panels)} panels, by {' and '.join(over)}, are more than {MOST_PANELS}: use "
            f"{_hint(over, axes, x, by)}"
        )
    shown = [axes[name] for name in over]
    # In the order of the axes, as ticks are.
    ranked = sorted(
        panels,
        key=lambda at: [axis.values.index(each) for axis, each in zip(shown, at, strict=True)],
    )
    return {
        ", ".join(axis.named(value) for axis, value in zip(shown, at, strict=True)): panels[at]
        for at in ranked
    }


def _grouped(runs: _Runs, axes: Mapping[str, Axis], by: str | None) -> dict[str, _Runs]:
    """Return the points of each value of ``by``, by its name in the legend."""
    if by is None:
        return {"": runs}
    axis, place = axes[by], list(axes).index(by)
    groups: dict[Any, _Runs] = {}
    for point, values in runs.items():
        groups.setdefault(point[place], {})[point] = values
    # A word speaks for itself, a number does not.
    return {
        axis.texts[str(value)] if isinstance(value, str) else axis.named(value): groups[value]
        for value in axis.values
        if value in groups
    }


def _check_groups(axes: Mapping[str, Axis], x: str | None, by: str | None) -> None:
    """Raise ``ValueError`` if there are more lines or groups than can be told apart."""
    if by is not None and (count := len(axes[by].values)) > MOST_ENTRIES:
        raise ValueError(
            f"{count} lines or groups, by {by}, are more than {MOST_ENTRIES}, which can be told "
            f"apart: use {_hint([by], axes, x, by)}"
        )


def _hint(names: Collection[str], axes: Mapping[str, Axis], x: str | None, by: str | None) -> str:
    """Return advice for dimensions with more values than there is room for."""
    said = _choices(names, axes)
    others = _varied(axes, {x, by})
    fitting = [
        name
        for name in others
        if len(axes[name].values) <= MOST_ENTRIES
        and math.prod(len(axes[each].values) for each in _varied(axes, {x, name})) <= MOST_PANELS
    ]
    if not fitting:
        return said
    return f"{' or '.join(f'--by {shlex.quote(name)}' for name in fitting)}, or {said}"


def _choices(names: Iterable[str], axes: Mapping[str, Axis]) -> str:
    """Say how to choose a value of a dimension, and which there are."""
    values = {name: axes[name].values for name in names}
    options = " or ".join(f"--where {shlex.quote(f'{name}={values[name][0]}')}" for name in values)
    there = []
    for name, known in values.items():
        shown = [str(value) for value in known[:MOST_LISTED]]
        more = ", .." if len(known) > MOST_LISTED else ""
        there.append(f"{name} is one of {', '.join(shown)}{more}")
    return f"{options}; {'; '.join(there)}"


def _distribution(
    kind: str, runs: _Runs, axes: Mapping[str, Axis], measure: str, by: str | None, *, is_log: bool
) -> Figure:
    by = by or _default_by(axes)
    _check_groups(axes, None, by)
    # Values of different points are different distributions, and are not mixed.
    panels = {
        title: {
            name or "all": [value for values in points.values() for value in values]
            for name, points in _grouped(each, axes, by).items()
        }
        for title, each in _panels(runs, axes, None, by).items()
    }
    if kind == "cdf":
        return cdf(panels, measure, is_log=is_log)
    return box(panels, measure, "" if by is None else axes[by].label, is_log=is_log)


def _lines(
    runs: _Runs,
    axes: Mapping[str, Axis],
    measure: str,
    x: str,
    by: str | None,
    log: Collection[str],
) -> Figure:
    if by == x:
        raise ValueError(f"{x} is the x axis already: choose another dimension for the lines")
    by = by or _default_by(axes, x)
    _check_groups(axes, x, by)
    place, axis = list(axes).index(x), axes[x]
    panels = {
        title: {
            name: {point[place]: average(values) for point, values in points.items()}
            for name, points in _grouped(each, axes, by).items()
        }
        for title, each in _panels(runs, axes, x, by).items()
    }
    sizes = [
        _size(one for each in means.values() for one in each.values()) for means in panels.values()
    ]
    scale = Scale.of(measure, _known(max(sizes)))
    is_similar = max(sizes) <= SIMILAR * min(sizes)
    groups = list(_grouped(runs, axes, by))
    looks = dict(zip(groups, series_styles(), strict=False))
    step = min(MOST_BESIDE, SHARE_BESIDE / len(groups))
    places = {name: (index - (len(groups) - 1) / 2) * step for index, name in enumerate(groups)}
    if "x" in log and not (axis.is_numeric and min(axis.positions.values()) > 0):
        raise ValueError(f"{x} is not numbers above 0: it cannot be a logarithmic axis")
    if "y" in log:
        lines = [line for means in panels.values() for line in means.values()]
        check_positive((np.array([one.value for one in line.values()]) for line in lines), measure)
    with column_style():
        figure, drawn = stacked(panels, has_common_y=is_similar)
        for panel, means in zip(drawn, panels.values(), strict=True):
            for name, each in means.items():
                # Beside each other, since equal points of a row of names would cover each other.
                beside = 0.0 if axis.is_numeric else places[name]
                _draw_means(panel, name, each, axis, scale.factor, looks[name], beside)
        label_x(drawn[-1], axis.label)
        label_y(figure, drawn, scale.label)
        if axis.is_logarithmic or "x" in log:
            _scale_logarithmically(drawn[-1], axis)
        if not axis.is_numeric:
            make_room(figure, name_ticks(drawn[-1], axis.ticks))
            drawn[-1].margins(x=0.1)
        ends = [list(_ends(each.values(), scale.factor)) for each in panels.values()]
        for panel, own in zip(drawn, ends, strict=True):
            fit = _fit_log_y if "y" in log else _fit_y
            fit(panel, [end for each in ends for end in each] if is_similar else own)
        for_all(figure, drawn)
    return figure


def _ends(means: Iterable[Mapping[Any, Estimate]], factor: float) -> Iterator[float]:
    """Return the ends of the bars of known means."""
    for each in means:
        for one in each.values():
            if np.isfinite(one.value):
                margin = float(np.nan_to_num(one.margin))
                yield (one.value - margin) / factor
                yield (one.value + margin) / factor


def _fit_y(panel: Axes, ends: Sequence[float]) -> None:
    """Let the y axis begin at 0 and show all of the marks and bars with these ends.

    If they are so close to each other that they would look the same, it begins below them.
    """
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    if low < 0 or high <= 0:
        return
    span = high - low
    if CLOSE_NOISE * high < span < CLOSE * high:
        panel.set_ylim(low - MARGIN * span, high + MARGIN * span)
        return
    # A mark on the axis would be cut in half.
    panel.set_ylim(0 if low > MARGIN * high else -MARGIN * high, (1 + MARGIN) * high)


def _fit_log_y(panel: Axes, ends: Sequence[float]) -> None:
    """Make the y axis logarithmic; a bar that reaches to 0 leaves it at the bottom."""
    panel.set_yscale("log", nonpositive="clip")
    known = [end for end in ends if end > 0]
    if known:
        low, high = min(known), max(known)
        beyond = max(LEAST_BEYOND, (high / low) ** MARGIN)
        panel.set_ylim(low / beyond, high * beyond)


def _draw_means(
    panel: Axes,
    name: str,
    means: Mapping[Any, Estimate],
    axis: Axis,
    factor: float,
    look: Mapping[str, Any],
    beside: float,
) -> None:
    values = [value for value in axis.values if value in means]
    panel.errorbar(
        [axis.positions[value] + beside for value in values],
        [means[value].value / factor for value in values],
        # A single run has no interval.
        yerr=np.nan_to_num([means[value].margin / factor for value in values]),
        label=name,
        capsize=2,
        markersize=3.5,
        # Nothing lies between names.
        **(look if axis.is_numeric else {**look, "linestyle": "none"}),
    )


def _scale_logarithmically(panel: Axes, axis: Axis) -> None:
    """Make the x axis logarithmic, and let ticks between the values show that it is."""
    panel.set_xscale("log")
    if len(axis.values) <= MOST_NUMBERS:
        panel.set_xticks(list(axis.positions.values()), axis.ticks)
    panel.xaxis.set_minor_locator(LogLocator(subs=range(1, 10), numticks=MOST_MINOR_TICKS))
    panel.xaxis.set_minor_formatter(NullFormatter())


def _size(means: Iterable[Estimate]) -> float:
    """Return the largest size of a known mean; -1 if there is none."""
    return max((abs(one.value) for one in means if np.isfinite(one.value)), default=-1.0)


def _known(size: float) -> float:
    if size < 0:
        raise ValueError("the measure has no values: nothing to plot")
    return size


def _heat(runs: _Runs, axes: Mapping[str, Axis], measure: str, x: str, by: str | None) -> Figure:
    others = [name for name in axes if name != x and (len(axes[name].values) > 1 or name == by)]
    if by is None and len(others) != 1:
        raise ValueError(
            f"a heat map shows two dimensions, and {len(_varied(axes))} have several values: give "
            f"x and by (--x and --by), two of {', '.join(axes)}"
        )
    y = by or others[0]
    if x == y:
        raise ValueError(f"{x} is the x axis already: choose another dimension for the rows")
    columns, rows = axes[x], axes[y]
    places = list(axes).index(x), list(axes).index(y)
    panels = {
        title: {tuple(point[place] for place in places): average(each[point]) for point in each}
        for title, each in _panels(runs, axes, x, y).items()
    }
    size = _size(one for each in panels.values() for one in each.values())
    scale = Scale.of(measure, _known(size))
    # The largest value on top, as on any axis.
    order = rows.values[::-1] if rows.is_numeric else rows.values
    shown = {}
    for title, means in panels.items():
        known = {at: one.value / scale.factor for at, one in means.items()}
        cells = [[known.get((column, row), np.nan) for column in columns.values] for row in order]
        shown[title] = np.array(cells)
    return _draw_heat(shown, scale, columns, rows, order)


def _draw_heat(
    shown: Mapping[str, NDArray[np.float64]],
    scale: Scale,
    columns: Axis,
    rows: Axis,
    order: Sequence[Any],
) -> Figure:
    every = np.stack(list(shown.values()))
    norm = Normalize(float(np.nanmin(every)), float(np.nanmax(every)))
    largest = float(np.nanmax(np.abs(every)))
    decimals = max(0, 2 - math.floor(math.log10(largest))) if largest else 0
    with column_style():
        row_names = [wrapped(rows.tick(value), ROW_NAME_IN, "ytick.labelsize") for value in order]
        lines = max(1 + name.count("\n") for name in row_names)
        row_in = max(ROW_IN, ROW_LINE_IN * (lines + 0.5))
        figure, panels = stacked(shown, TITLE_IN + row_in * len(order))
        for panel, values in zip(panels, shown.values(), strict=True):
            heat_map(panel, values, row_names, columns.ticks, norm=norm, colours=SEQUENTIAL)
            if len(columns.values) <= MOST_NUMBERS:
                _write_numbers(panel, values, decimals, norm)
        names_in = max(width_in(name, "ytick.labelsize") for name in row_names)
        make_room(figure, name_ticks(panels[-1], columns.ticks, BAR_IN + names_in))
        label_x(panels[-1], columns.label)
        label_y(figure, panels, rows.label)
        bar = figure.colorbar(ScalarMappable(norm, SEQUENTIAL), ax=panels, pad=0.02)
        bar.set_label(scale.label)
        bar.outline.set_visible(False)
    return figure


def _write_numbers(
    panel: Axes, values: NDArray[np.float64], decimals: int, norm: Normalize
) -> None:
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            ink = "white" if norm(value) < 0.5 else "black"
            write_in_cell(panel, row, column, f"{value:.{decimals}f}", color=ink, fontsize=6)
