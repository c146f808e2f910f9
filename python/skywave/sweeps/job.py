"""One run of a sweep, as a worker does it, and many on the processors of this machine."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass

from skywave import _core, _parallel
from skywave._members import Member
from skywave.scenario.quantities import Duration
from skywave.sweeps.measures import MeasurementPlan
from skywave.sweeps.store import Failure, Outcome
from skywave.sweeps.values import Start

Keep = Callable[[str, Outcome | Failure], None]
"""Stores the outcome of a run."""


@dataclass(frozen=True)
class Job:
    """A run to be done."""

    run: str
    """Its name, a hash of what follows."""
    text: str
    """The scenario as JSON."""
    members: dict[str, type[Member]]
    """The classes of members in Python."""
    measuring: MeasurementPlan
    is_first: bool = False
    """Whether it has the first seed of its point."""

    def do(self, stop: _core.Stop | None = None) -> Outcome | Failure:
        """Run the scenario and measure it."""
        begun = time.perf_counter()
        try:
            measuring = self.measuring
            run = _core.run(self.text, members=self.members, stop=stop, tables=measuring.tables)
            starts = self._starts() if measuring.warm_up_s > 0 else ()
            values = measuring.values(run, starts, is_first=self.is_first)
        except (KeyboardInterrupt, SystemExit):
            raise
        # A fault of the simulator is a panic, which is no Exception.
        except BaseException as error:  # noqa: BLE001
            notes = getattr(error, "__notes__", [])
            reason = " ".join(": ".join([type(error).__name__, str(error), *notes]).split())
            return Failure(self.run, reason, traceback.format_exc())
        return Outcome(values, run.fingerprint, time.perf_counter() - begun)

    def _starts(self) -> list[Start]:
        flows = json.loads(self.text)["flows"]
        # What a scenario leaves out is zero.
        times = [
            [Duration(flow.get(name, "0 s")).seconds for name in ("start", "start_jitter")]
            for flow in flows
        ]
        return [Start(start_s, start_s + jitter_s) for start_s, jitter_s in times]


def do(jobs: Iterable[Job], keep: Keep) -> Generator[Failure | None, None, None]:
    """Do the jobs and keep their outcomes; yield for each, in any order, why it failed."""

    def call(job: Job, stop: _core.Stop) -> Failure | None:
        outcome = job.do(stop)
        keep(job.run, outcome)
        return outcome if isinstance(outcome, Failure) else None

    for _, future in _parallel.as_completed(call, jobs):
        yield future.result()
