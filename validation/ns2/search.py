"""Compares many cases on all processors, and shrinks what differs."""

from __future__ import annotations

import os
from collections import defaultdict
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING

from skywave import Progress
from validation.ns2.case import Case, Kind
from validation.ns2.compare import Class, Difference, classify, difference
from validation.ns2.runs import in_ns2, in_skywave
from validation.ns2.shrink import shrink, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True)
class Outcome:
    """A case, and how the two runs of it differ first, if they do."""

    case: Case
    difference: Difference | None = None
    kind: Class | None = None

    @property
    def exact(self) -> bool:
        """Whether both sent the same packets at the same times."""
        return self.difference is None


@dataclass
class Found:
    """What comparing drawn cases found."""

    outcomes: list[Outcome] = field(default_factory=list)
    smallest: dict[Class, Outcome] = field(default_factory=dict)
    """The smallest case of each class of difference."""
    interrupted: bool = False

    def of(self, kind: Kind) -> tuple[int, int]:
        """Return how many cases of a type were compared, and how many of them were exact."""
        exact = [outcome.exact for outcome in self.outcomes if outcome.case.kind is kind]
        return len(exact), sum(exact)

    def count(self, kind: Class) -> int:
        """Return how many drawn cases differ in this way."""
        return sum(outcome.kind == kind for outcome in self.outcomes)


def judge(case: Case) -> Outcome:
    """Run a case in both simulators and compare.

    Raises:
        Ns2Error: If ns-2 is missing or fails.

    """
    theirs = in_ns2(case)
    found = difference(case, in_skywave(case), theirs)
    return Outcome(case, found, classify(case, found, theirs) if found else None)


def search(
    cases: Iterable[Case],
    judge: Callable[[Case], Outcome],
    progress: Callable[[Progress], None] = lambda _: None,
) -> Found:
    """Judge cases on all processors, and shrink the smallest of each class that differs.

    An interrupt ends the search; what was found until then is
    returned, and cases that were not shrunk yet are as drawn.

    Raises:
        Ns2Error: If ns-2 is missing or fails.

    """
    cases, found, stop = list(cases), Found(), Event()

    def shrunk(outcome: Outcome) -> Outcome:
        last = outcome

        def fails(case: Case) -> bool:
            nonlocal last
            if stop.is_set():
                return False
            other = judge(case)
            if other.kind == outcome.kind:
                last = other
            return other.kind == outcome.kind

        shrink(outcome.case, fails)
        return last

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            drawn = [pool.submit(judge, case) for case in cases]
            for done, future in enumerate(as_completed(drawn), 1):
                progress(Progress("drawn", done, len(drawn)))
                future.result()
            _collect(drawn, found)
            begun = [pool.submit(shrunk, outcome) for outcome in found.smallest.values()]
            for done, other in enumerate(as_completed(begun), 1):
                progress(Progress("shrunk", done, len(begun)))
                outcome = other.result()
                if outcome.kind:
                    found.smallest[outcome.kind] = outcome
        except KeyboardInterrupt:
            stop.set()
            pool.shutdown(cancel_futures=True)
            found.interrupted = True
            if not found.outcomes:
                _collect(drawn, found)
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return found


def _collect(futures: Iterable[Future[Outcome]], found: Found) -> None:
    """Collect the outcomes there are, and the smallest case of each class."""
    done = [future for future in futures if future.done() and not future.cancelled()]
    # Who interrupts us in a terminal interrupts ns-2, too, which then fails.
    found.outcomes = [future.result() for future in done if not future.exception()]
    classes: dict[Class, list[Outcome]] = defaultdict(list)
    for outcome in found.outcomes:
        if outcome.kind:
            classes[outcome.kind].append(outcome)
    found.smallest = {
        kind: min(classes[kind], key=lambda outcome: size(outcome.case))
        for kind in sorted(classes, key=lambda kind: (list(Kind).index(kind.kind), str(kind)))
    }
