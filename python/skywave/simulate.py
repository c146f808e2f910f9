"""Runs scenarios."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING

from skywave import _core
from skywave._files import replacing_file
from skywave.control import live
from skywave.results import Results
from skywave.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def run(
    scenario: Scenario,
    *,
    progress: Callable[[float], None] | None = None,
    captures: Mapping[str, str] | None = None,
    qlogs: Mapping[str, str] | None = None,
    verify_physics: bool = False,
) -> Results:
    """Run a scenario. The same scenario and seed give bit-identical results.

    Args:
        scenario: The scenario.
        progress: Called with the fraction done, 0 to 1, every 32,768 events. An exception that it
            raises stops the run.
        captures: pcapng files to write, by link: ``{"r1->r2": "bottleneck.pcapng"}``.
        qlogs: qlog files to write for qvis, by flow: ``{"f1": "f1.sqlog"}``. They show what the
            sender of the flow sees.
        verify_physics: Whether to replay the run's record through the physics verifier, which lists
            what it finds in ``Results.violations``.

    Raises:
        ScenarioError: If the scenario is wrong; the message names the field.
        TypeError: If ``scenario`` is not a scenario.
        OSError: If a capture or a qlog file cannot be written; an existing file is unchanged.
        Exception: Whatever a control in Python raised, with a note that names the flow.

    """
    if not isinstance(scenario, Scenario):
        raise TypeError(
            f"expected a Scenario, not {type(scenario).__name__}: "
            "Scenario.from_file(path) reads one from a file"
        )
    with ExitStack() as files:

        def partial(named: Mapping[str, str] | None) -> dict[str, str]:
            """Return files to write instead: none that is not whole stays behind."""
            return {
                name: str(files.enter_context(replacing_file(file)))
                for name, file in (named or {}).items()
            }

        return Results(
            _core.run(
                scenario.to_json(),
                progress=progress,
                captures=partial(captures),
                qlogs=partial(qlogs),
                verify_physics=verify_physics,
                controls=live(scenario.controls()),
            )
        )


def run_many(
    scenarios: Iterable[Scenario], *, progress: Callable[[int, int], None] | None = None
) -> list[Results]:
    """Run scenarios on all cores and return their results in the same order.

    Args:
        scenarios: The scenarios.
        progress: Called with the number of finished runs and the number of all runs.

    Raises:
        ScenarioError: If a scenario is wrong; the message names the field.
        Exception: Whatever a control in Python raised, with a note that names the scenario and the
            flow. The other runs end first; if several fail, the first in order is raised.

    """
    scenarios = list(scenarios)
    # `to_json` would indent, which takes half of the time.
    texts = [json.dumps(scenario.to_dict()) for scenario in scenarios]
    controls = live(control for scenario in scenarios for control in scenario.controls())
    return [Results(run) for run in _core.run_many(texts, progress=progress, controls=controls)]
