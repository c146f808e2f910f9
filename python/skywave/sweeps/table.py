"""The results of a sweep as one table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from skywave import _arrow
from skywave._files import replacing_file
from skywave._known import listed
from skywave.results.columns import Column
from skywave.scenario.labels import without_common
from skywave.stats import CONFIDENCE
from skywave.stats.comparison import Correction, Test
from skywave.stats.tables import describe
from skywave.sweeps.measures import COLUMNS, MEASURES, MeasureRequest, column_name, key_of
from skywave.sweeps.points import Quantities, with_numbers
from skywave.sweeps.store import Failure, Outcome, Store
from skywave.sweeps.warning import SweepWarnings

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import xarray as xr
    from matplotlib.figure import Figure

    from skywave.plots.sweeps import SweepKind

MEANING = b"meaning"


class _Runs:
    """The requested values of the runs of a plan."""

    def __init__(
        self,
        store: Store,
        plan: pa.Table,
        dimensions: Sequence[str],
        until: str | None,
        asked: Sequence[MeasureRequest],
    ) -> None:
        self.outcomes: dict[int, Outcome] = {}
        """By the row of the plan."""
        self.failures: list[Failure] = []
        self.warnings = SweepWarnings(dimensions, until)
        self.stored: dict[tuple[str, str], bool] = {}
        """What is stored of any run, measures and what they are of: whether it was asked for."""
        names = (*dimensions, "seed")
        rows = zip(*(plan[name].to_pylist() for name in ("run", *names)), strict=True)
        for index, (run, *point) in enumerate(rows):
            outcome = store.read(run)
            if outcome is not None:
                self.warnings.add(point[:-1], outcome)
                for key in outcome.values.keys() - self.stored.keys():
                    self.stored[key] = any(column.matches(*key) for column in asked)
                values = {key: value for key, value in outcome.values.items() if self.stored[key]}
                self.outcomes[index] = Outcome(values, outcome.fingerprint, outcome.wall_s)
            elif (failure := store.failure(run)) is not None:
                self.failures.append(replace(failure, where=describe(names, tuple(point))))


class Sweep:
    """The results of a sweep: a table with a row for each run that is done.

    Its columns are ``run`` (a hash of everything that determines the results), the swept
    dimensions, ``seed``, the measures, ``fingerprint`` (a hash of every event) and ``wall_s`` (how
    long the run took).
    """

    def __init__(self, directory: Path, measures: Iterable[str] | None = None) -> None:
        """Read the contents of a folder. Use :meth:`load`."""
        import pyarrow as pa  # noqa: PLC0415  (loaded when there are tables to hold)

        store = Store(directory)
        plan, about = store.read_plan()
        self.directory: Path = directory
        """The folder."""
        names = [each["name"] for each in about["dimensions"]]
        taken = {*COLUMNS, *MEASURES, *about["own_measures"], *names}
        labels = {name: plan[name].unique().to_pylist() for name in names}
        self._named = {name for each in about["dimensions"] for name in each.get("names", ())}
        quantities = (
            Quantities.of(name, values, taken)
            for name, values in labels.items()
            if self._named.isdisjoint(values)
        )
        self._quantities = {each.column: each for each in quantities if each is not None}
        self._short = {
            name: without_common(str(value) for value in values if value not in self._named)
            for name, values in labels.items()
        }
        columns = {each.dimension: each.column for each in self._quantities.values()}
        self.dimensions: tuple[str, ...] = tuple(columns.get(name, name) for name in names)
        """The names of the swept dimensions, which are columns.

        If all values of one are quantities of a unit, its name ends in the unit, and its values are
        numbers: ``delay_s`` has 0.05 for ``50 ms``.
        """
        self.paths: dict[str, str] = {
            columns.get(each["name"], each["name"]): each["path"] for each in about["dimensions"]
        }
        """The paths of the swept fields in the scenario, by dimension."""
        self.engine: str = about["engine"]
        """The version of the simulator that made the results, and a hash of its sources."""
        self.warm_up_s: float = about["warm_up_s"]
        """What was sampled until then does not count, in seconds."""
        self.planned: int = plan.num_rows
        """The number of runs that belong to the sweep."""
        wanted = about["measures"] if measures is None else measures
        asked = [MeasureRequest.parse(each, about["own_measures"]) for each in wanted]
        runs = _Runs(store, plan, names, about["until"], asked)
        found = dict.fromkeys(
            column_name(*key) for outcome in runs.outcomes.values() for key in outcome.values
        )
        if runs.outcomes:
            _check_found(asked, found, runs.stored)
        self.measures: tuple[str, ...] = _ordered(asked, found)
        """The names of the columns of measures."""
        self.failures: list[Failure] = runs.failures
        """The runs that have failed. Running the sweep again retries them."""
        not_run = self.planned - len(runs.outcomes) - len(self.failures)
        self._warnings = runs.warnings.sentences()
        if not_run:
            self._warnings.insert(0, f"{not_run:,} of {self.planned:,} runs are not done yet")
        table = plan.take(_arrow.integers(runs.outcomes))
        for name in self.measures:
            key = key_of(name)
            values = [outcome.values.get(key) for outcome in runs.outcomes.values()]
            table = table.append_column(
                pa.field(name, pa.float64(), metadata={MEANING: _meaning(name)}),
                _arrow.floats(values),
            )
        outcomes = runs.outcomes.values()
        table = table.append_column(
            "fingerprint", _arrow.strings([outcome.fingerprint for outcome in outcomes])
        ).append_column("wall_s", _arrow.floats([outcome.wall_s for outcome in outcomes]))
        self._given = names, table.replace_schema_metadata()
        self.table: pa.Table = with_numbers(self._given[1], self._quantities.values())
        """The table."""

    @classmethod
    def load(cls, directory: str | Path, measures: Iterable[str] | None = None) -> Self:
        """Return the results of a sweep's completed runs.

        Args:
            directory: The output directory of :func:`skywave.sweep` or ``skywave sweep``.
            measures: The measures to have as columns, such as ``"goodput"``, ``"goodput[voice]"``
                or ``"utilisation[*]"``. Every measure is stored, so this needs no new run. Default:
                those that the sweep requested.

        Raises:
            OSError: If the directory contains no sweep.
            ValueError: If there is no such measure; the message lists those that exist.
        """
        return cls(Path(directory), measures)

    def __repr__(self) -> str:
        dimensions = ", ".join(self.dimensions) or "seeds only"
        done = f"{self.table.num_rows} of {self.planned} runs"
        if self.failures:
            done += f", {len(self.failures)} failed,"
        return f"<Sweep of {dimensions}: {done} in {str(self.directory)!r}>"

    @property
    def missing(self) -> int:
        """The number of runs that are not done."""
        return self.planned - int(self.table.num_rows)

    def write_csv(self, file: str | Path) -> None:
        """Write the table as CSV. Measures that a run does not have are empty.

        Raises:
            OSError: If it cannot be written. The file is then unchanged.
        """
        import pyarrow as pa  # noqa: PLC0415  (loaded when there are tables to hold)
        import pyarrow.compute as pc  # noqa: PLC0415
        import pyarrow.csv  # noqa: PLC0415

        columns = [
            pc.if_else(pc.is_nan(column), pa.nulls(len(column), column.type), column)
            if pa.types.is_floating(column.type)
            else column
            for column in self.table.columns
        ]
        table = pa.table(columns, names=self.table.column_names)
        with replacing_file(file) as partial:
            pyarrow.csv.write_csv(table, partial)

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas data frame (requires the extra ``skywave[pandas]``)."""
        return self.table.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a polars data frame (requires the extra ``skywave[polars]``)."""
        import polars as pl  # noqa: PLC0415  (an extra)

        frame = pl.from_arrow(self.table)
        assert isinstance(frame, pl.DataFrame)  # noqa: S101  (a table is never a series)
        return frame

    def warnings(self) -> list[str]:
        """Return warnings about the values, one sentence each."""
        return list(self._warnings)

    def compare(
        self,
        measure: str,
        by: str,
        *,
        baseline: str | None = None,
        test: Test = "paired-t",
        correction: Correction = "holm",
        confidence: float = CONFIDENCE,
    ) -> pa.Table:
        """Compare the values of the dimension ``by`` at each point of the other dimensions.

        :func:`skywave.stats.compare_table` describes the arguments and the columns. Quantities may
        be given as in :meth:`plot`.

        Raises:
            ValueError: If a name is unknown, or there are too few runs.
        """
        from skywave.stats import compare_table  # noqa: PLC0415  (slow to import)

        dimensions, table = self._given
        found = compare_table(
            table,
            dimensions,
            measure,
            self.short_name(by),
            baseline=None if baseline is None else self._given_value(by, baseline),
            test=test,
            correction=correction,
            confidence=confidence,
        )
        return with_numbers(found, self._quantities.values())

    def short_name(self, dimension: str) -> str:
        """Return the name of a dimension without its unit: ``delay`` for ``delay_s``."""
        found = self._quantities.get(dimension)
        return dimension if found is None else found.dimension

    def label(self, dimension: str, value: object) -> str:
        """Return the label of a value: ``50 ms`` for 0.05, as it was given.

        The label of a scenario part omits fields that all values share: ``red`` for
        ``red packets=50`` beside ``drop-tail packets=50``.
        """
        given = self._given_value(dimension, value)
        return self._short.get(self.short_name(dimension), {}).get(given, given)

    def _given_value(self, dimension: str, value: object) -> str:
        """Return a value as the plan has it, by any equal quantity or by its label."""
        text, name = str(value), self.short_name(dimension)
        for each in self._quantities.values():
            if name == each.dimension:
                return each.label(text)
        short = self._short.get(name, {})
        if text in short:
            return text
        return next((given for given, label in short.items() if label == text), text)

    def summary(self) -> pa.Table:
        """Return a row for each point and measure: mean and median over seeds, with intervals.

        :func:`skywave.stats.summarise` describes the columns.
        """
        from skywave.stats import summarise  # noqa: PLC0415  (slow to import)

        return summarise(self.table, self.dimensions, self.measures)

    def plot(
        self,
        kind: SweepKind | None = None,
        *,
        measure: str | None = None,
        x: str | None = None,
        by: str | None = None,
        where: Mapping[str, str | Sequence[str]] | None = None,
        labels: Mapping[str, str] | None = None,
        log: Collection[str] = (),
        size_in: tuple[float, float] | None = None,
        out: Sequence[str | Path] = (),
    ) -> Figure:
        """Return a figure of the sweep, and write it to the files ``out`` (PDF, SVG or PNG).

        :func:`skywave.plots.of_sweep` describes the other arguments. A dimension of quantities may
        be named without its unit, and its value be any equal one: ``{"delay": "50 ms"}`` is
        ``{"delay_s": "0.05"}``.

        Raises:
            ValueError: If a name is unknown; the message lists those that there are.
            OSError: If a file cannot be written.
        """
        from skywave import plots  # noqa: PLC0415  (loads matplotlib)

        dimensions, table = self._given
        chosen = (where or {}).items()
        found = {value for name in dimensions for value in table[name].to_pylist()}
        texts = {name: name for name in self._named & found}
        figure = plots.of_sweep(
            table,
            dimensions,
            self.measures,
            kind,
            measure=measure,
            x=None if x is None else self.short_name(x),
            by=None if by is None else self.short_name(by),
            where={
                self.short_name(name): self._given_value(name, given)
                if isinstance(given, str)
                else [self._given_value(name, each) for each in given]
                for name, given in chosen
            },
            paths={self.short_name(name): path for name, path in self.paths.items()},
            labels=texts | {self.short_name(name): text for name, text in (labels or {}).items()},
            log=log,
            size_in=size_in,
        )
        plots.write(figure, out)
        return figure

    def to_xarray(self) -> xr.Dataset:
        """Return the measures by dimension and seed (requires the extra ``skywave[xarray]``).

        Numbers are in ascending order, and other values in the order in which they were given.
        Pending runs are NaN. ``attrs`` hold units, with which xarray labels axes.
        """
        import numpy as np  # noqa: PLC0415
        import xarray as xr  # noqa: PLC0415  (an extra)

        axes = [*self.dimensions, "seed"]
        columns = {axis: self.table[axis].to_pylist() for axis in axes}
        coordinates = {axis: list(dict.fromkeys(columns[axis])) for axis in axes}
        for found in coordinates.values():
            if all(type(value) in {int, float} for value in found):
                found.sort()
        places = {
            axis: {value: index for index, value in enumerate(values)}
            for axis, values in coordinates.items()
        }
        where = tuple(
            np.array([places[axis][value] for value in columns[axis]], dtype=np.int64)
            for axis in axes
        )
        variables: dict[str, Any] = {}
        for name in self.measures:
            values = np.full([len(coordinates[axis]) for axis in axes], np.nan)
            values[where] = self.table[name].to_numpy()
            about = {"meaning": _meaning(name), "units": Column.of_name(name).unit}
            variables[name] = (axes, values, about)
        units = {axis: each.unit for axis, each in self._quantities.items()}
        return xr.Dataset(
            variables,
            coords={
                axis: (axis, values, {"units": units[axis]} if axis in units else {})
                for axis, values in coordinates.items()
            },
        )


def _check_found(
    asked: Iterable[MeasureRequest], found: Collection[str], stored: Iterable[tuple[str, str]]
) -> None:
    """Raise ``ValueError`` if no run has a requested measure of one flow or link."""
    for each in asked:
        if each.of not in {"", "*"} and column_name(each.measure, each.of) not in found:
            there = sorted(of for measure, of in stored if measure == each.measure and of)
            kind = MEASURES[each.measure].of
            raise ValueError(f"there is no {kind} {each.of}: use {listed(each.of, there)}")


def _ordered(asked: list[MeasureRequest], found: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the columns in the order in which they were asked for."""
    names: list[str] = []
    for column in asked:
        if column.of == "*":
            names += [name for name in found if name.startswith(f"{column.measure}[")]
        else:
            names.append(column_name(column.measure, column.of))
    return tuple(dict.fromkeys(names))


def _meaning(column: str) -> str:
    name, bracket, _ = column.partition("[")
    measure = MEASURES.get(name)
    if measure is None:
        return "a measure of the user's"
    if bracket or measure.of == "run":
        return measure.meaning
    return f"{measure.meaning}; of the run, {measure.whole}"
