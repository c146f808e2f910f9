"""Runs scenarios."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping

from skywave import _core
from skywave._errors import ScenarioError
from skywave._files import replacing_files
from skywave._members import live
from skywave._parallel import in_order
from skywave._progress import Progress
from skywave.results import Results
from skywave.scenario import Scenario

MOST_THREADS = 256


def run(
    scenario: Scenario,
    *,
    progress: Callable[[Progress], None] | None = None,
    captures: Mapping[str, str] | None = None,
    qlogs: Mapping[str, str] | None = None,
    verify_physics: bool = False,
    threads: int = 1,
) -> Results:
    """Run a scenario. The same scenario and seed give bit-identical results.

    Args:
        scenario: The scenario.
        progress: Called every 32,768 events with the seconds of the scenario that have passed. An
            exception that it raises stops the run.
        captures: pcapng files to write, by link: ``{"r1->r2": "bottleneck.pcapng"}``.
        qlogs: qlog files to write for qvis, by flow: ``{"f1": "f1.sqlog"}``. They show what the
            sender of the flow sees.
        verify_physics: Whether to replay the run's record through the physics verifier, which lists
            what it finds in ``Results.violations``.
        threads: On how many threads to run, up to 256; each simulates a part of the network. The
            results do not depend on it. More than one helps only if many packets are in flight at
            a time: ``Results.threads`` says whether it did. To run many scenarios, use
            :func:`run_many` or :func:`skywave.sweep`, which give each its own thread.

    Raises:
        ScenarioError: If the scenario is wrong; the message names the field.
        TypeError: If ``scenario`` is not a scenario.
        ValueError: If ``threads`` is not from 1 to 256.
        OSError: If a capture or a qlog file cannot be written; an existing file is unchanged.
        Exception: Whatever a member in Python raised, with a note that names the flow or the link.
    """
    if not isinstance(scenario, Scenario):
        raise TypeError(
            f"expected a Scenario, not {type(scenario).__name__}: "
            "Scenario.from_file(path) reads one from a file"
        )
    if not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"threads: expected 1 to {MOST_THREADS}, not {threads}")
    duration_s = scenario.duration.seconds

    def tell(fraction: float) -> None:
        if progress is not None:
            progress(Progress("simulated", fraction * duration_s, duration_s))

    with replacing_files(captures) as capture_files, replacing_files(qlogs) as qlog_files:
        return Results.of_core(
            _core.run(
                scenario.to_json(),
                progress=tell,
                captures=capture_files,
                qlogs=qlog_files,
                verify_physics=verify_physics,
                threads=threads,
                members=live(scenario.members()),
            )
        )


def run_many(
    scenarios: Iterable[Scenario], *, progress: Callable[[Progress], None] | None = None
) -> Generator[Results, None, None]:
    """Run scenarios on all cores and yield their results, in the same order.

    Runs are begun a few ahead of the results that are taken, so memory holds only these: keep of
    each result what you need. What has been yielded stays yours if a later run fails or Ctrl-C
    interrupts the others. :func:`skywave.sweep` stores results in files and resumes.

    Args:
        scenarios: The scenarios. They are taken one by one, or all at once if there is
            ``progress``.
        progress: Called when a result is yielded, with the numbers of results and of scenarios.

    Raises:
        ScenarioError: If a scenario is wrong; the message has its index and names the field.
        Exception: Whatever a member in Python raised, with a note that names the scenario, and the
            flow or the link. It is raised in place of the results; the runs after it are stopped.
    """
    if progress is None:
        yield from in_order(_run_one, enumerate(scenarios))
        return
    scenarios = list(scenarios)
    for done, results in enumerate(in_order(_run_one, enumerate(scenarios)), start=1):
        progress(Progress("runs", done, len(scenarios)))
        yield results


def _run_one(numbered: tuple[int, Scenario], stop: _core.Stop) -> Results:
    index, scenario = numbered
    text, members = scenario.to_core()
    try:
        return Results.of_core(_core.run(text, members=members, stop=stop))
    except ScenarioError as error:
        raise ScenarioError(f"scenarios[{index}]: {error}") from None
