"""The matrix as a table: means over seeds, one row per measure and cell."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from skywave._printing import number
from skywave.matrix.controls import CONTROLS
from skywave.matrix.measures import MEASURES, observed_s
from skywave.matrix.networks import NETWORKS
from skywave.stats import average

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa

    from skywave.matrix.measures import Values
    from skywave.matrix.runs import Run


@dataclass(frozen=True)
class Sample:
    """One measure of one run. ``value`` is None if the event did not happen before its end."""

    network: str
    control: str
    measure: str
    seed: int
    value: float | None


@dataclass(frozen=True)
class Row:
    """One measure of one cell.

    ``margin`` is half the width of the mean's 95 % confidence interval, None with one seed. With
    ``unreached`` seeds the measured event did not happen. They count as if it had happened at the
    end of the run, so the mean is a lower bound.
    """

    network: str
    control: str
    measure: str
    unit: str
    mean: float
    margin: float | None
    seeds: int
    unreached: int

    @property
    def text(self) -> str:
        """The mean as printed in a cell."""
        bound = "> " if self.unreached else ""
        return f"{bound}{_number(self.mean)}"

    @property
    def margin_text(self) -> str:
        """The margin, and the number of seeds without the event, as printed in a cell."""
        margin = "" if self.margin is None else f"± {_number(self.margin)}"
        return f"{margin} ({self.unreached} of {self.seeds})" if self.unreached else margin


def _number(value: float) -> str:
    # A cell has no space for more digits.
    return number(value, 3, most_decimals=3)


def samples(measured: Mapping[Run, Values]) -> list[Sample]:
    """Return all measures of all runs, in the order of networks, controls and measures."""
    found = [
        Sample(run.network, run.control, measure, run.seed, value)
        for run, values in measured.items()
        for measure, value in values.items()
    ]
    orders = [list(known) for known in (NETWORKS, CONTROLS, MEASURES)]
    return sorted(
        found,
        key=lambda sample: (
            orders[0].index(sample.network),
            orders[1].index(sample.control),
            orders[2].index(sample.measure),
            sample.seed,
        ),
    )


def rows(measured: Mapping[Run, Values]) -> list[Row]:
    """Return means over seeds."""
    bound_s = {run.network: observed_s(run) for run in measured if run.kind == "alone"}
    cells: dict[tuple[str, str, str], list[float | None]] = {}
    for sample in samples(measured):
        key = (sample.network, sample.control, sample.measure)
        cells.setdefault(key, []).append(sample.value)
    return [_row(*key, values, bound_s[key[0]]) for key, values in cells.items()]


def _row(
    network: str, control: str, measure: str, values: list[float | None], bound_s: float
) -> Row:
    over_seeds = average([bound_s if value is None else value for value in values])
    return Row(
        network=network,
        control=control,
        measure=measure,
        unit=MEASURES[measure].unit,
        mean=over_seeds.value,
        margin=None if len(values) == 1 else over_seeds.margin,
        seeds=len(values),
        unreached=values.count(None),
    )


def arrow(records: Iterable[Row] | Iterable[Sample]) -> pa.Table:
    """Return rows or samples as an Arrow table."""
    import pyarrow as pa  # noqa: PLC0415  (loaded when there is a table to write)

    return pa.Table.from_pylist([asdict(record) for record in records])
