"""Statistics of tables that have one row per run, such as a sweep's.

A *dimension* is a column that was varied, and a *point* is one combination of their values. The
column ``seed`` tells the runs of a point apart; the other columns are measures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skywave.results.columns import find
from skywave.stats.comparison import PAIRED, Test, adjusted, compare_all
from skywave.stats.diagnostics import unchanged_by_seeds
from skywave.stats.intervals import CONFIDENCE, average, median

if TYPE_CHECKING:
    import pyarrow as pa

    from skywave.stats.comparison import Correction

Point = tuple[Any, ...]
"""The values of the dimensions, in their order."""


def by_point(
    table: pa.Table, dimensions: Sequence[str], measure: str
) -> dict[Point, dict[int, float]]:
    """Return the values of a measure by point and seed, in the order of the table.

    A missing value is NaN.

    Raises:
        ValueError: If the table has no such column, or two runs of a point with one seed.
    """
    for name in (*dimensions, "seed", measure):
        if name not in table.column_names:
            raise ValueError(f"{name} is not a column: use {', '.join(table.column_names)}")
    columns = [table[name].to_pylist() for name in dimensions]
    points: dict[Point, dict[int, float]] = {}
    for row, (seed, value) in enumerate(
        zip(table["seed"].to_pylist(), table[measure].to_pylist(), strict=True)
    ):
        point = tuple(column[row] for column in columns)
        runs = points.setdefault(point, {})
        if seed in runs:
            raise ValueError(f"{describe(dimensions, point)}: two runs with seed {seed}")
        runs[seed] = float("nan") if value is None else float(value)
    return points


def describe(dimensions: Sequence[str], point: Point) -> str:
    """Return a point as text: ``packets=10, control=cubic``."""
    return ", ".join(f"{name}={value}" for name, value in zip(dimensions, point, strict=True))


def summarise(
    table: pa.Table,
    dimensions: Sequence[str],
    measures: Sequence[str],
    *,
    confidence: float = CONFIDENCE,
) -> pa.Table:
    """Return a table with one row per point and measure.

    Its columns are the dimensions and ``measure``, ``seeds`` (the number of runs), ``mean`` and
    ``margin`` (:func:`skywave.stats.average`), ``median``, ``median_low`` and ``median_high``
    (:func:`skywave.stats.median`), in the measure's unit.

    Raises:
        ValueError: As :func:`by_point` does.
    """
    found = {measure: by_point(table, dimensions, measure) for measure in measures}
    points: Mapping[Point, Any] = next(iter(found.values()), {})
    rows: list[dict[str, Any]] = []
    for point in points:
        for measure in measures:
            values = list(found[measure][point].values())
            mean, middle = average(values, confidence), median(values, confidence)
            found_here = (mean.value, mean.margin, middle.value, middle.low, middle.high)
            row = (*point, measure, len(values), *found_here)
            rows.append(dict(zip((*dimensions, *_SUMMARY), row, strict=True)))
    return _table(table, dimensions, _SUMMARY, rows)


_SUMMARY = {
    "measure": "string",
    "seeds": "int64",
    **dict.fromkeys(("mean", "margin", "median", "median_low", "median_high"), "float64"),
}
_COMPARISONS = {
    "one": "string",
    "other": "string",
    **dict.fromkeys(("difference", "low", "high", "p", "adjusted_p", "effect"), "float64"),
    "effect_name": "string",
    "test": "string",
    "runs_of_one": "int64",
    "runs_of_other": "int64",
    "significant": "bool",
}
"""Columns and their types."""


def _table(
    given: pa.Table,
    dimensions: Sequence[str],
    columns: Mapping[str, str],
    rows: list[dict[str, Any]],
) -> pa.Table:
    """Return these columns of rows, and the dimensions in the types of the given table."""
    import pyarrow as pa  # noqa: PLC0415  (loaded when there is a table)

    types = {name: given.schema.field(name).type for name in dimensions}
    types |= {name: pa.type_for_alias(type_) for name, type_ in columns.items()}
    return pa.Table.from_pylist(rows, schema=pa.schema(list(types.items())))


def compare_table(
    table: pa.Table,
    dimensions: Sequence[str],
    measure: str,
    by: str,
    *,
    baseline: str | None = None,
    test: Test = "paired-t",
    correction: Correction = "holm",
    confidence: float = CONFIDENCE,
) -> pa.Table:
    """Compare the values of one dimension, ``by``, at each point of the others.

    Each pair of values is compared, or each value with the ``baseline`` (as text). Paired tests use
    the seeds that all values have at a point; ``runs_of_one`` says how many. The p-values are
    adjusted for all comparisons at all points. ``measure`` may lack its unit.

    The table has a row per comparison: the other dimensions, then what a
    :class:`skywave.stats.Comparison` has, with ``low`` and ``high`` as the ends of the interval of
    the ``difference``, and whether it is ``significant``: its adjusted p-value is below 1 -
    ``confidence``. It is not if there is no p-value, since nothing varies.

    Raises:
        ValueError: As :func:`by_point` and :func:`skywave.stats.compare_all` do.
    """
    if by not in dimensions:
        known = ", ".join(dimensions) or "a sweep with one"
        raise ValueError(f"{by} is not a dimension: use {known}")
    place = list(dimensions).index(by)
    groups: dict[Point, dict[str, dict[int, float]]] = {}
    name = find(measure, table.column_names)
    for point, values in by_point(table, dimensions, name).items():
        others = point[:place] + point[place + 1 :]
        groups.setdefault(others, {})[str(point[place])] = values
    if test in PAIRED:
        groups = {others: _with_common_seeds(each) for others, each in groups.items()}
    found = {
        others: compare_all(
            each, baseline=baseline, test=test, correction="none", confidence=confidence
        )
        for others, each in groups.items()
    }
    together = adjusted([one for each in found.values() for one in each], correction)
    points = [others for others, each in found.items() for _ in each]
    left = [name for name in dimensions if name != by]
    rows = [
        {
            **dict(zip(left, others, strict=True)),
            **vars(each),
            "difference": each.difference.value,
            "low": each.difference.low,
            "high": each.difference.high,
            "runs_of_one": each.runs[0],
            "runs_of_other": each.runs[1],
            "significant": each.adjusted_p < 1 - confidence,
        }
        for others, each in zip(points, together, strict=True)
    ]
    return _table(table, left, _COMPARISONS, rows)


def _with_common_seeds(values: Mapping[str, Mapping[int, float]]) -> dict[str, dict[int, float]]:
    common = set.intersection(*(set(each) for each in values.values()))
    return {
        name: {seed: value for seed, value in each.items() if seed in common}
        for name, each in values.items()
    }


def seeds_without_effect(
    table: pa.Table, dimensions: Sequence[str], measures: Sequence[str]
) -> list[str]:
    """Return a warning for the points at which the seed changes no measure.

    One sentence if that is so at every point, otherwise one for each.
    """
    found = [by_point(table, dimensions, measure) for measure in measures]
    if not found:
        return []
    said: dict[Point, str] = {}
    for point, seeds in found[0].items():
        runs = [[values[point][seed] for values in found] for seed in seeds]
        sentence = unchanged_by_seeds(runs)
        if sentence is not None:
            said[point] = sentence
    if len(said) == len(found[0]) and len(set(said.values())) == 1:
        return list(said.values())[:1]
    return [f"{describe(dimensions, point)}: {sentence}" for point, sentence in said.items()]
