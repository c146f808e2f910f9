"""An experiment on both clocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skywave.stats import average

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from skywave.results import Results
    from skywave.scenario import Scenario
    from skywave.stats import Estimate

    Series = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class Measure:
    """A quantity of an experiment: its name, its unit, and what the paper says of it."""

    title: str
    unit: str
    published: str = ""
    """As the paper has it; empty if it has none."""
    missing: str = "never"
    """What it means if a run has no value."""


@dataclass(frozen=True)
class Measurement:
    """The values and series of one run."""

    values: Mapping[str, float]
    """By the key of the measure. What did not happen is NaN."""
    series: Mapping[str, Series]
    """Times in seconds and values, for figures."""


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper: runs that differ in their seeds only."""

    paper: str
    """The key of its paper."""
    section: str
    """What of the paper it is, such as ``"Figure 3"``."""
    label: str
    """Its conditions in words."""
    scenarios: Sequence[Scenario]
    find: Callable[[Results], Measurement]
    """It is sent to another process, so it is no lambda."""
    measures: Mapping[str, Measure]

    @property
    def seconds(self) -> float:
        """How long its runs take one after the other."""
        return sum(scenario.duration.seconds for scenario in self.scenarios)


@dataclass(frozen=True)
class Pair:
    """One run on both clocks."""

    simulated: Measurement
    sockets: Measurement
    accuracy: Mapping[str, object]
    """The report on the timing of the run between sockets."""

    @property
    def clock(self) -> str:
        """The clock of the run between sockets."""
        return "virtual time" if self.accuracy["virtual_time"] else "real time"

    @property
    def p99_s(self) -> float:
        """The 99th percentile of how late packets left the network, in seconds."""
        lateness = self.accuracy["lateness"]
        return float(lateness["p99_s"]) if isinstance(lateness, dict) else 0.0


@dataclass(frozen=True)
class ExperimentResult:
    """The runs of an experiment."""

    experiment: Experiment
    pairs: Sequence[Pair]

    def simulated(self, key: str) -> Estimate:
        """Return the mean of a measure over the simulated runs."""
        return average([pair.simulated.values[key] for pair in self.pairs])

    def sockets(self, key: str) -> Estimate:
        """Return the mean of a measure over the runs between sockets."""
        return average([pair.sockets.values[key] for pair in self.pairs])
