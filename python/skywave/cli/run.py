"""``skywave run``."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

import typer

from skywave import _simulate
from skywave._files import made_directory
from skywave._folders import Kind
from skywave._progress import stage
from skywave.cli.application import command
from skywave.cli.console import JsonOption, prepare_folder, progress_bar
from skywave.cli.scenario import (
    CaptureOption,
    Changes,
    OutOption,
    QlogOption,
    ScenarioFile,
    captures_of,
    qlogs_of,
)
from skywave.cli.status import FAILED
from skywave.cli.summary import present

app = typer.Typer()


@command(app, fails="a packet broke the laws of physics (--verify-physics)")
def run(
    scenario: ScenarioFile,
    changes: Changes,
    out_dir: OutOption = None,
    capture: CaptureOption = None,
    qlog: QlogOption = None,
    verify_physics: Annotated[
        bool,
        typer.Option(
            "--verify-physics",
            help="After the run, verify that no packet vanished, was reordered or travelled faster "
            "than its link allows.",
        ),
    ] = False,
    threads: Annotated[
        int,
        typer.Option(
            min=1,
            max=_simulate.MOST_THREADS,
            metavar="NUMBER",
            help="Run on up to this many threads, each of which simulates a part of the network. "
            "The results are the same for any number. Several help if many packets are in flight "
            "at a time; a warning says if they did not.",
        ),
    ] = 1,
    as_json: JsonOption = False,
) -> None:
    """Simulate a scenario and print totals of its flows and links.

    `skywave realtime run` runs it in real time.
    """
    captures = captures_of(capture)
    if out_dir is not None:
        prepare_folder(out_dir, Kind.RUN)
    experiment = changes.read(scenario)
    changes.warn_about(experiment, scenario)
    with nullcontext() if qlog is None else made_directory(qlog), progress_bar() as show:
        results = _simulate.run(
            experiment,
            progress=stage(show, experiment.name),
            captures=captures,
            qlogs=qlogs_of(qlog, experiment),
            verify_physics=verify_physics,
            threads=threads,
        )
    present(results, out_dir, as_json=as_json, threads=threads)
    if results.violations:
        raise typer.Exit(FAILED)
