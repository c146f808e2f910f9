"""Runs on the processors of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave import _parallel
from skywave.sweeps.store import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from skywave._core import Stop
    from skywave.sweeps.job import Job
    from skywave.sweeps.store import Outcome

    Keep = Callable[[str, Outcome | Failure], None]
    """Stores the outcome of a run."""


def do(jobs: Iterable[Job], keep: Keep) -> Generator[Failure | None, None, None]:
    """Do the jobs and keep their outcomes; yield for each, in any order, why it failed.

    Raises:
        OSError: If an outcome cannot be kept.

    """

    def call(job: Job, stop: Stop) -> Failure | None:
        outcome = job.do(stop)
        keep(job.run, outcome)
        return outcome if isinstance(outcome, Failure) else None

    for _, future in _parallel.as_completed(call, jobs):
        yield future.result()
