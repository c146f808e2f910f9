"""Progress, as functions report it to their caller."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

BETWEEN_LINES_S = 10.0
"""The time between two lines on stderr, if there is no terminal for a bar."""


@dataclass(frozen=True)
class Progress:
    """How far work has come, as passed to ``progress=``.

    An exception that ``progress`` raises stops the work.
    """

    stage: str
    """What is being done. Each stage has its own ``done`` and ``total``."""
    done: float
    """How much of it is done, in the unit of ``total``."""
    total: float
    """How much there is: a number of runs, or seconds. It may grow."""

    @property
    def fraction(self) -> float:
        """The share that is done, 0 to 1."""
        return self.done / self.total if self.total else 1.0


def stage(progress: Callable[[Progress], None] | None, name: str) -> Callable[[Progress], None]:
    """Return a function that passes progress on to ``progress`` under the stage ``name``."""

    def tell(step: Progress) -> None:
        if progress is not None:
            progress(replace(step, stage=name))

    return tell


def lines(clock: Callable[[], float] = time.monotonic) -> Callable[[Progress], None]:
    """Return a function that writes a line on stderr, every ten seconds at most."""
    last_s = clock()

    def show(step: Progress) -> None:
        nonlocal last_s
        now_s = clock()
        if now_s - last_s >= BETWEEN_LINES_S:
            last_s = now_s
            sys.stderr.write(f"{step.stage}: {100 * step.fraction:.0f} %\n")
            sys.stderr.flush()

    return show
