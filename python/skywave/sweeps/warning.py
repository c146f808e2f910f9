"""Warnings about the values of a sweep."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skywave._printing import number, with_margin
from skywave.results.columns import Scale
from skywave.stats import Target, average, unchanged_by_seeds
from skywave.stats.diagnostics import MOST_NAMED, SHARE_LIMITED, WIDEN, not_before
from skywave.stats.tables import describe
from skywave.sweeps.measures import key_of
from skywave.sweeps.store import Outcome
from skywave.sweeps.values import Values


class SweepWarnings:
    """Collects warnings about a sweep, run by run."""

    def __init__(self, dimensions: Sequence[str], until: str | None) -> None:
        """Collect them for a sweep; ``until`` is its target with the name of a column."""
        self._dimensions = dimensions
        self._target = None if until is None else Target.parse(until)
        self._targeted: dict[tuple[object, ...], list[float]] = defaultdict(list)
        self._points: dict[tuple[object, ...], Runs] = {}
        self._warm_ups: list[tuple[float, str]] = []
        self._warming = 0
        self._limited_flows: set[str] = set()
        self._limited_points: set[tuple[object, ...]] = set()

    def add(self, point: Sequence[object], outcome: Outcome) -> None:
        """Take a run of a point into account."""
        self._points.setdefault(tuple(point), Runs(_comparable(outcome.values))).add(outcome.values)
        warm_ups = _of(outcome.values, "warm_up_s")
        self._warm_ups += warm_ups
        self._warming += bool(warm_ups)
        shares = _of(outcome.values, "receive_window_limited")
        if limited := {name for share, name in shares if share >= SHARE_LIMITED}:
            self._limited_flows |= limited
            self._limited_points.add(tuple(point))
        if self._target is not None:
            value = outcome.values.get(key_of(self._target.measure), float("nan"))
            self._targeted[tuple(point)].append(value)

    def sentences(self) -> list[str]:
        """Return the warnings, one sentence each."""
        return [*self._unchanged(), *self._limited(), *self._warm_up(), *self._imprecise()]

    def _unchanged(self) -> list[str]:
        found = [runs.unchanged() for runs in self._points.values()]
        said = [sentence for sentence in found if sentence is not None]
        if not said:
            return []
        everywhere = len(said) == len(found)
        return [said[0] if everywhere else f"at {len(said)} of {len(found)} points, {said[0]}"]

    def _limited(self) -> list[str]:
        if not self._limited_flows:
            return []
        where = self._where(len(self._limited_points))
        said = f"{where}{_named(self._limited_flows)} was limited by its receive window"
        return [f"{said} for {100 * SHARE_LIMITED:g} % of its time or more: {WIDEN}"]

    def _where(self, number: int) -> str:
        """Return at how many points something is to be said, unless there is only one."""
        return f"at {number} of {len(self._points)} points, " if self._dimensions else ""

    def _imprecise(self) -> list[str]:
        if self._target is None:
            return []
        said = []
        for point, values in self._targeted.items():
            if not self._target.is_met(values):
                where = f"at {describe(self._dimensions, point)}, " if self._dimensions else ""
                said.append(
                    f"{where}{self._target.text} is not met by {len(values)} seeds: "
                    f"{self._reached(self._target, values)}"
                )
        return said

    @staticmethod
    def _reached(target: Target, values: list[float]) -> str:
        """Return mean and margin as tables have them: ``goodput (Mbps) is 2.91±0.26``."""
        found = average(values, target.confidence)
        scale = Scale.of(target.measure, abs(found.value))
        mean, margin = found.value / scale.factor, found.margin / scale.factor
        shown = number(mean) if math.isnan(margin) else with_margin(mean, margin)
        return f"{scale.label} is {shown}"

    def _warm_up(self) -> list[str]:
        if not self._warm_ups:
            return []
        named = _named({flow for _, flow in self._warm_ups})
        end_s = not_before(max(end_s for end_s, _ in self._warm_ups))
        said = f"{self._where(self._warming)}the warm-up is inside the mean goodput of {named}"
        return [f'{said}: leave it out by a warm-up (--warm-up "{end_s} s")']


@dataclass
class Runs:
    """Whether the runs of a point are all like the first."""

    first: list[float]
    number: int = 0
    are_alike: bool = True

    def add(self, values: Values) -> None:
        """Take a run into account."""
        self.number += 1
        if self.are_alike:
            self.are_alike = np.array_equal(self.first, _comparable(values), equal_nan=True)

    def unchanged(self) -> str | None:
        """Return a warning if the seed changes nothing."""
        return unchanged_by_seeds([self.first] * self.number) if self.are_alike else None


def _comparable(values: Values) -> list[float]:
    return [value for (name, _), value in values.items() if name != "warm_up_s"]


def _named(flows: set[str]) -> str:
    first = sorted(flows)[:MOST_NAMED]
    return ", ".join(first) + (
        f" and {len(flows) - len(first)} more" if len(flows) > len(first) else ""
    )


def _of(values: Values, measure: str) -> list[tuple[float, str]]:
    return [(value, of) for (name, of), value in values.items() if name == measure and of]
