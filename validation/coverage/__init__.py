"""How often confidence intervals hold the true mean: ``python -m validation.coverage``.

Draws values from known distributions, forms intervals as ``skywave.stats`` does, and counts those
that hold the true mean, with a fixed number of seeds and with as many as ``--until`` asks for. It
writes the tables of docs/statistics.md into ``validation/coverage/``, which takes a minute.
"""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.stats
from scipy.special import stdtrit

from skywave.stats import CONFIDENCE, LEAST_SEEDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DIRECTORY = Path(__file__).parent
STUDIES = 20_000
"""Simulated studies per row: the standard error of a coverage of 95 % is 0.15 points."""
BOOTSTRAP_STUDIES = 4_000
BOOTSTRAP_RESAMPLES = 999
AT_ONCE = 500
"""Studies that are held in memory at once."""
SMALL_LEAST = 3
"""The least number of seeds in the column that shows why it is larger."""


@dataclass(frozen=True)
class Distribution:
    """A distribution of values with mean 1 and a coefficient of variation."""

    kind: str
    variation: float

    def draw(self, generator: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
        """Return independent values."""
        if self.kind == "normal":
            return generator.normal(1, self.variation, shape)
        if self.kind == "exponential":
            return generator.exponential(1, shape)
        variance = np.log1p(self.variation**2)
        return generator.lognormal(-variance / 2, np.sqrt(variance), shape)


@dataclass(frozen=True)
class Sequential:
    """The coverage of runs until the margin is below ``bound_percent`` of the mean."""

    distribution: str
    variation_percent: float
    bound_percent: float
    seeds: float
    """The mean number of seeds."""
    covered_percent: float
    least_three_covered_percent: float
    """The same, if three seeds were enough."""
    fixed_covered_percent: float
    """The coverage of the mean number of seeds, fixed before."""


@dataclass(frozen=True)
class Fixed:
    """The coverage of Student's interval and of the BCa bootstrap, for a fixed number of seeds."""

    distribution: str
    variation_percent: float
    seeds: int
    student_covered_percent: float
    bca_covered_percent: float


SEQUENTIAL = (
    *(
        (Distribution(kind, variation), bound)
        for variation, bound in (
            (0.02, 0.02),
            (0.03, 0.02),
            (0.05, 0.02),
            (0.1, 0.02),
            (0.1, 0.05),
            (0.2, 0.1),
            (0.5, 0.1),
        )
        for kind in ("normal", "lognormal")
    ),
    (Distribution("lognormal", 1.0), 0.1),
    (Distribution("exponential", 1.0), 0.2),
    (Distribution("exponential", 1.0), 0.1),
)
FIXED = tuple(
    (Distribution(kind, variation), seeds)
    for kind, variation in (("normal", 0.2), ("lognormal", 0.5), ("exponential", 1.0))
    for seeds in (5, 10, 30, 100)
)


def running(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and margin of the first 1, 2, ... values of each study, a study per row."""
    count = np.arange(1, values.shape[1] + 1)
    mean = np.cumsum(values, axis=1) / count
    # Around the true mean, so that squares do not lose their digits.
    squares = np.cumsum(np.square(values - 1), axis=1) - count * np.square(mean - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(np.maximum(squares, 0) / (count - 1) / count)
        return mean, stdtrit(count - 1, (1 + CONFIDENCE) / 2) * error


def stops(
    mean: NDArray[np.float64], margin: NDArray[np.float64], bound: float, least: int
) -> NDArray[np.int64]:
    """Return after how many seeds each study stops, as :class:`skywave.stats.Target` does."""
    met = margin < bound * np.abs(mean)
    met[:, : least - 1] = False
    if not met.any(axis=1).all():
        raise ValueError("a study did not stop: draw more values")
    first: NDArray[np.int64] = np.argmax(met, axis=1) + 1
    return first


def sequential(
    distribution: Distribution, bound: float, studies: int = STUDIES, seed: int = 1
) -> Sequential:
    """Simulate studies that run until the interval is narrow."""
    most = int(60 + 6 * (2 * distribution.variation / bound) ** 2)
    generator = np.random.default_rng(seed)
    seeds = 0
    covered = dict.fromkeys((LEAST_SEEDS, SMALL_LEAST), 0)
    for _ in range(studies // AT_ONCE):
        mean, margin = running(distribution.draw(generator, (AT_ONCE, most)))
        for least in covered:
            stop = stops(mean, margin, bound, least)
            at = np.arange(AT_ONCE), stop - 1
            covered[least] += int(np.sum(np.abs(mean[at] - 1) <= margin[at]))
            seeds += int(np.sum(stop)) if least == LEAST_SEEDS else 0
    count = round(seeds / studies)
    return Sequential(
        distribution=distribution.kind,
        variation_percent=100 * distribution.variation,
        bound_percent=100 * bound,
        seeds=round(seeds / studies, 1),
        covered_percent=_percent(covered[LEAST_SEEDS], studies),
        least_three_covered_percent=_percent(covered[SMALL_LEAST], studies),
        fixed_covered_percent=_student(distribution, count, studies, generator),
    )


def fixed(
    distribution: Distribution,
    seeds: int,
    studies: int = STUDIES,
    bootstrap_studies: int = BOOTSTRAP_STUDIES,
    seed: int = 1,
) -> Fixed:
    """Simulate studies with a fixed number of seeds."""
    generator = np.random.default_rng(seed)
    student = _student(distribution, seeds, studies, generator)
    held = 0
    for values in distribution.draw(generator, (bootstrap_studies, seeds)):
        interval = scipy.stats.bootstrap(
            (values,),
            np.mean,
            confidence_level=CONFIDENCE,
            n_resamples=BOOTSTRAP_RESAMPLES,
            rng=generator,
        ).confidence_interval
        held += bool(interval.low <= 1 <= interval.high)
    return Fixed(
        distribution=distribution.kind,
        variation_percent=100 * distribution.variation,
        seeds=seeds,
        student_covered_percent=student,
        bca_covered_percent=_percent(held, bootstrap_studies),
    )


def _student(
    distribution: Distribution, seeds: int, studies: int, generator: np.random.Generator
) -> float:
    held = 0
    for _ in range(studies // AT_ONCE):
        mean, margin = running(distribution.draw(generator, (AT_ONCE, seeds)))
        held += int(np.sum(np.abs(mean[:, -1] - 1) <= margin[:, -1]))
    return _percent(held, studies)


def _percent(count: int, of: int) -> float:
    return round(100 * count / of, 1)


def stored(kind: type[Any]) -> list[dict[str, str]]:
    """Return the stored rows of a table, as text."""
    with _file(kind).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _file(kind: type[Any]) -> Path:
    return DIRECTORY / f"{kind.__name__.lower()}.csv"


def store(kind: type[Any], rows: Sequence[Any]) -> None:
    """Store the rows of a table."""
    with _file(kind).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(kind)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {name: _text(value) for name, value in asdict(row).items()} for row in rows
        )


def _text(value: float | str) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
