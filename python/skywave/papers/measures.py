"""The measurements of a paper's judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TypeAlias, TypeVar

import numpy as np

Row = TypeVar("Row")


@dataclass(frozen=True)
class Measure:
    """A measured value, and conditions of the measurement that only the runs reveal.

    ``value`` is None if the quantity did not occur. If it is a mean over runs, ``sd`` may be the
    standard deviation of single runs, for rules that allow for it.
    """

    value: float | None
    conditions: Mapping[str, str | float] = field(default_factory=dict)
    sd: float | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, value: Value) -> Measure:
        """Return the value as a measure."""
        return value if isinstance(value, Measure) else cls(value)


Value: TypeAlias = Measure | float | None
"""What a test comes to: a measure, or just its value."""


@dataclass(frozen=True)
class Measures:
    """The measurements of all tests of a ledger, by their ids.

    Attributes:
        ours: Our values.
        ns2: Those that ns-2 has too.
        words: What the placeholders of reasons, remarks and findings stand for.
    """

    ours: Mapping[str, Value]
    ns2: Mapping[str, float | None] = field(default_factory=dict)
    words: Mapping[str, object] = field(default_factory=dict)


def difference(one: float | None, other: float | None) -> float | None:
    """Return ``one`` less ``other``; None if either did not occur."""
    return None if one is None or other is None else one - other


def mean(rows: Iterable[Row], of: str | Callable[[Row], float]) -> float:
    """Return the mean of a measure over rows, such as runs with different seeds.

    The measure is a function, or the name of an attribute: ``"series.queue_mean"``.
    """
    measure = attrgetter(of) if isinstance(of, str) else of
    return float(np.mean([measure(row) for row in rows]))


def over_seeds(by_seed: Sequence[Mapping[str, Value]]) -> dict[str, float | None]:
    """Return the means of values over seeds, by test; None if a seed does not give the value."""
    means: dict[str, float | None] = {}
    for test in by_seed[0]:
        values = [Measure.of(seed[test]).value for seed in by_seed]
        given = [value for value in values if value is not None]
        means[test] = float(np.mean(given)) if len(given) == len(values) else None
    return means
