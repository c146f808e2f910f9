"""Runs of a table, on all cores, on virtual time and in the simulator."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Protocol

from skywave import Progress, ScenarioError, realtime, run
from skywave.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave.results import Results

    Find = Callable[[Results], Mapping[str, float]]

SEEDS = 3
"""How many runs a row has by default: the kernel draws numbers of its own."""


class Row(Protocol):
    """A row of a table."""

    @property
    def name(self) -> tuple[str, str]:
        """What tells it from the other rows."""

    @property
    def draws(self) -> bool:
        """Whether runs with other seeds differ."""

    def scenario(self, seed: int) -> Scenario:
        """Return a run of it."""


@dataclass(frozen=True)
class Measured:
    """The values of a row's runs."""

    name: tuple[str, str]
    guest: Sequence[Mapping[str, float]]
    """On virtual time; empty if only the simulator was asked for."""
    simulated: Sequence[Mapping[str, float]]
    """Simulated; empty if the simulator has no such control."""
    late_s: float
    """The largest 99th percentile of how late packets left the network."""


def measured(
    rows: Sequence[Row],
    find: Find,
    *,
    seeds: int = SEEDS,
    in_guests: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> list[Measured]:
    """Run each row on both clocks, or only simulated, and return what ``find`` finds, in order.

    A row that draws numbers runs once for each seed, another one once.

    ``find`` is a function of a module, since processes take it.
    """
    jobs = [(row, seed) for row in rows for seed in range(1, (seeds if row.draws else 1) + 1)]
    # The longest first, so that none is left over at the end.
    jobs.sort(key=lambda job: -job[0].scenario(job[1]).duration.seconds)
    found: dict[tuple[str, str], list[_Pair]] = {row.name: [] for row in rows}
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        pending = {
            pool.submit(_run, row.scenario(seed).to_json(), find, in_guests): row.name
            for row, seed in jobs
        }
        try:
            for done, future in enumerate(as_completed(pending), start=1):
                found[pending[future]].append(future.result())
                if progress is not None:
                    progress(Progress("runs", done, len(pending)))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [_measured(row.name, found[row.name]) for row in rows]


@dataclass(frozen=True)
class _Pair:
    guest: Mapping[str, float] | None
    simulated: Mapping[str, float] | None
    late_s: float


def _measured(name: tuple[str, str], pairs: Sequence[_Pair]) -> Measured:
    return Measured(
        name,
        [pair.guest for pair in pairs if pair.guest is not None],
        [pair.simulated for pair in pairs if pair.simulated is not None],
        max(pair.late_s for pair in pairs),
    )


def _run(text: str, find: Find, in_guest: bool) -> _Pair:
    scenario = Scenario.from_text(text, "json")
    simulated = None
    try:
        simulated = find(run(scenario))
    except ScenarioError as error:
        if "control" not in str(error):
            raise
    if not in_guest:
        return _Pair(None, simulated, 0.0)
    finished = realtime.run(scenario, virtual_time=True)
    if not finished.is_whole:
        raise KeyboardInterrupt
    return _Pair(find(finished.results), simulated, finished.accuracy.p99_s)
