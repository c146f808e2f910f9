"""Runs experiments on both clocks, several at a time."""

from __future__ import annotations

import signal
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import TYPE_CHECKING

from skywave import Progress, realtime, run
from skywave.scenario import Scenario
from validation.testbed.experiment import Experiment, ExperimentResult, Pair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skywave.results import Results
    from validation.testbed.experiment import Measurement

WORKERS = 20
"""How many runs at a time: a network of a few megabits takes a small part of a processor."""


def run_all(
    experiments: Sequence[Experiment],
    *,
    workers: int = WORKERS,
    virtual_time: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Iterator[ExperimentResult]:
    """Run experiments, and yield each when all of its runs are done.

    Args:
        experiments: The experiments. The longest runs are begun first.
        workers: How many runs at a time.
        virtual_time: Whether they run in guests instead of in real time.
        progress: Called when a run is done, with the seconds that the scenarios last.

    """
    runs = [
        (index, number, scenario)
        for index, experiment in enumerate(experiments)
        for number, scenario in enumerate(experiment.scenarios)
    ]
    runs.sort(key=lambda run: -run[2].duration.seconds)
    total_s = sum(experiment.seconds for experiment in experiments)
    found: dict[int, dict[int, Pair]] = {}
    passed_s = 0.0
    with ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_leave_signals
    ) as pool:
        pending: dict[Future[Pair], tuple[int, int]] = {
            pool.submit(
                _run, scenario.to_json(), experiments[index].find, virtual_time=virtual_time
            ): (
                index,
                number,
            )
            for index, number, scenario in runs
        }
        try:
            while pending:
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    index, number = pending.pop(future)
                    found.setdefault(index, {})[number] = future.result()
                    experiment = experiments[index]
                    passed_s += experiment.scenarios[number].duration.seconds
                    if progress is not None:
                        progress(Progress("runs", passed_s, total_s))
                    if len(found[index]) == len(experiment.scenarios):
                        pairs = [pair for _, pair in sorted(found[index].items())]
                        yield ExperimentResult(experiment, pairs)
        except BaseException:
            # It forgets its processes when it shuts down, and would wait for their runs.
            processes = list((pool._processes or {}).values())  # noqa: SLF001
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
            raise


def in_order(
    done: Iterable[ExperimentResult], experiments: Sequence[Experiment]
) -> list[ExperimentResult]:
    """Return what is done in the order of the experiments."""
    order = {id(experiment): number for number, experiment in enumerate(experiments)}
    return sorted(done, key=lambda one: order[id(one.experiment)])


def _leave_signals() -> None:
    """Leave Ctrl-C to the first process, which ends the others; end with it in any case."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(text: str, find: Callable[[Results], Measurement], *, virtual_time: bool) -> Pair:
    scenario = Scenario.from_text(text, "json")
    in_real_time = realtime.run(scenario, virtual_time=virtual_time)
    simulated = run(scenario)
    return Pair(find(simulated), find(in_real_time.results), in_real_time.accuracy.document())
