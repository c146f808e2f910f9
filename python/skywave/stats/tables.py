"""Statistics of tables that have one row per run, such as a sweep's.

A *dimension* is a column that was varied, and a *point* is one combination of their values. The
column ``seed`` tells the runs of a point apart; the other columns are measures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skywave.columns import find
from skywave.stats.comparison import Comparison, adjusted, compare_all
from skywave.stats.diagnostics import unchanged_by_seeds
from skywave.stats.intervals import CONFIDENCE, average, median

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from skywave.stats.comparison import Test
    from skywave.stats.correction import Correction

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
    import pyarrow as pa  # noqa: PLC0415  (loaded when there is a table)

    rows: list[dict[str, Any]] = []
    found = {measure: by_point(table, dimensions, measure) for measure in measures}
    points: Mapping[Point, Any] = next(iter(found.values()), {})
    for point in points:
        for measure in measures:
            values = list(found[measure][point].values())
            mean, middle = average(values, confidence), median(values, confidence)
            rows.append(
                {
                    "measure": measure,
                    "seeds": len(values),
                    "mean": mean.mean,
                    "margin": mean.margin,
                    "median": middle.value,
                    "median_low": middle.low,
                    "median_high": middle.high,
                }
            )
    names = ("measure", "seeds", "mean", "margin", "median", "median_low", "median_high")
    kinds = (pa.string(), pa.int64(), *[pa.float64()] * 5)
    columns = {
        name: pa.array([row[name] for row in rows], kind)
        for name, kind in zip(names, kinds, strict=True)
    }
    varied = {
        name: pa.array(
            [point[index] for point in points for _ in measures], table.schema.field(name).type
        )
        for index, name in enumerate(dimensions)
    }
    return pa.table({**varied, **columns})


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
) -> dict[Point, list[Comparison]]:
    """Compare the values of one dimension, ``by``, at each point of the others.

    Returns the comparisons by the values of the other dimensions, in their order: of each pair, or
    of each value with the ``baseline`` (as text). Values are paired by seed in paired tests. The
    p-values are adjusted for all comparisons at all points. ``measure`` may lack its unit.

    Raises:
        ValueError: As :func:`by_point` and :func:`skywave.stats.compare_all` do.

    """
    if by not in dimensions:
        raise ValueError(f"{by} is not a dimension: use {', '.join(dimensions)}")
    place = list(dimensions).index(by)
    groups: dict[Point, dict[str, dict[int, float]]] = {}
    name = find(measure, table.column_names)
    for point, values in by_point(table, dimensions, name).items():
        others = point[:place] + point[place + 1 :]
        groups.setdefault(others, {})[str(point[place])] = values
    found = {
        others: compare_all(
            each, baseline=baseline, test=test, correction="none", confidence=confidence
        )
        for others, each in groups.items()
    }
    together = iter(adjusted([one for each in found.values() for one in each], correction))
    return {others: [next(together) for _ in each] for others, each in found.items()}


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
