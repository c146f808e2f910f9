"""The matrix as a table: means over seeds, one row per measure and cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from skywave._printing import number
from skywave.matrix.axes import CONTROLS, NETWORKS
from skywave.matrix.measures import MEASURES, Values
from skywave.matrix.runs import Run
from skywave.stats import average


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
    return [
        Sample(network, control, measure, run.seed, values[measure])
        for network in NETWORKS
        for control in CONTROLS
        for measure in MEASURES
        for run, values in measured.items()
        if (run.network, run.control) == (network, control) and measure in values
    ]


def rows(measured: Mapping[Run, Values]) -> list[Row]:
    """Return means over seeds."""
    # The late flow is observed from its start to the end of the run.
    bound_s = {run.network: run.duration_s - run.late_s for run in measured if run.kind == "alone"}
    found = []
    for (network, control, measure), each in groupby(
        samples(measured), lambda sample: (sample.network, sample.control, sample.measure)
    ):
        values = [sample.value for sample in each]
        mean = average([bound_s[network] if value is None else value for value in values])
        found.append(
            Row(
                network=network,
                control=control,
                measure=measure,
                unit=MEASURES[measure].unit,
                mean=mean.value,
                margin=None if len(values) == 1 else mean.margin,
                seeds=len(values),
                unreached=values.count(None),
            )
        )
    return found
