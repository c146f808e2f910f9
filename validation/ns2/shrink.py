"""Shrinks a case to the smallest that still fails."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from validation.ns2.case import (
    DELAYS_MS,
    INITIAL_WINDOWS,
    QUEUES,
    RATES_KBPS,
    SSTHRESHES,
    WINDOWS,
    Case,
    parameters,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VALUES = {
    "window": WINDOWS,
    "iw": INITIAL_WINDOWS,
    "ssthresh": SSTHRESHES,
    "kbps": RATES_KBPS,
    "ms": DELAYS_MS,
    "queue": QUEUES,
}


def size(case: Case) -> tuple[int, ...]:
    """Return what makes a case small: few drops first, then small parameters, then early drops."""
    values = (getattr(case, name) for name in parameters(case.kind))
    return (len(case.drops), *values, *case.drops)


def shrink(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Return a case that fails, and of which no step makes a smaller one that fails.

    A step leaves one drop out, or gives one parameter a smaller value among those that are drawn.
    ``fails`` tells whether a case fails; it does not hear of ``case``, which does.
    """
    while smaller := next(filter(fails, _smaller(case)), None):
        case = smaller
    return case


def _smaller(case: Case) -> Iterator[Case]:
    for drop in case.drops:
        yield replace(case, drops=tuple(other for other in case.drops if other != drop))
    for name in parameters(case.kind):
        for value in VALUES[name]:
            if value < getattr(case, name):
                yield case.having(name, value)
