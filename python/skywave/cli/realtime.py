"""``skywave realtime``."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from skywave import realtime
from skywave._files import made_directory
from skywave._folders import Kind
from skywave.cli.application import command, group
from skywave.cli.blocks import Column, print_in_blocks
from skywave.cli.console import (
    JsonOption,
    SpinOption,
    StrictOption,
    out,
    prepare_folder,
    print_json,
    progress_bar,
)
from skywave.cli.messages import warn
from skywave.cli.scenario import (
    CaptureOption,
    Changes,
    OutOption,
    QlogOption,
    ScenarioFile,
    captures_of,
    qlogs_of,
)
from skywave.cli.status import NOT_MET
from skywave.cli.summary import present
from skywave.realtime import ClockComparison, RealTimeRun
from skywave.realtime.privileges import acquire
from skywave.realtime.virtual.kernel import find_for
from skywave.scenario import Scenario

app = group("realtime", "Run scenarios between real sockets, in real time or on virtual time.")


@dataclass(frozen=True)
class RealTime:
    """How a scenario runs in real time."""

    dccp_over_udp: Annotated[
        bool, typer.Option("--dccp-over-udp", help="Encapsulate DCCP in UDP (RFC 6773).")
    ] = False
    spin: SpinOption = False
    virtual_time: Annotated[
        bool,
        typer.Option(
            "--virtual-time",
            help="Run in a Linux kernel on virtual time: exact to microseconds, without "
            "privileges, and faster than real time up to about 20 Mbps. Needs the kernel that "
            "`make virtual-kernel` builds.",
        ),
    ] = False
    strict: StrictOption = None

    def check(self) -> None:
        """Check the options, and restart the command in real time where networks can be created."""
        if self.virtual_time and self.spin:
            raise typer.BadParameter(
                "waiting is exact on virtual time, and spinning takes much longer",
                param_hint="--spin",
            )
        if not self.virtual_time:
            acquire()

    def check_kernel(self, scenario: Scenario) -> None:
        """Find the kernel that a scenario needs on virtual time."""
        if self.virtual_time:
            find_for(scenario)

    def judge(self, *runs: RealTimeRun) -> None:
        """Exit with status 3 if a run fails ``--strict``."""
        if self.strict is None:
            return
        for run in runs:
            if failure := run.accuracy.failure(1e3 * self.strict.seconds):
                typer.echo(f"error: {failure}", err=True)
                raise typer.Exit(NOT_MET)


@command(app, strict=True)
def run(
    scenario: ScenarioFile,
    changes: Changes,
    out_dir: OutOption = None,
    capture: CaptureOption = None,
    qlog: QlogOption = None,
    *,
    real_time: RealTime,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario in real time and print totals of its flows and links (Linux).

    Ctrl-C and SIGTERM end the run and print what it measured until then.
    """
    captures = captures_of(capture)
    # Before standard input is read, since the command may restart.
    real_time.check()
    experiment = changes.read(scenario)
    real_time.check_kernel(experiment)
    if out_dir is not None:
        prepare_folder(out_dir, Kind.RUN)
    changes.warn_about(experiment, scenario, in_real_time=True)
    with nullcontext() if qlog is None else made_directory(qlog), progress_bar() as show:
        finished = realtime.run(
            experiment,
            progress=lambda step: show(replace(step, stage=f"{experiment.name}, {step.stage}")),
            captures=captures,
            qlogs=qlogs_of(qlog, experiment),
            dccp_over_udp=real_time.dccp_over_udp,
            spin=real_time.spin,
            virtual_time=real_time.virtual_time,
        )
    present(finished.results, out_dir, finished.accuracy, as_json=as_json)
    if finished.is_interrupted:
        raise KeyboardInterrupt
    real_time.judge(finished)


@command(app, strict=True)
def compare(
    scenario: ScenarioFile,
    changes: Changes,
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of runs on each clock, one per seed.")
    ] = 1,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write a page, its figure and all tables. Replaces the results of an earlier "
            "run; refuses a directory with any other contents.",
        ),
    ] = None,
    *,
    real_time: RealTime,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario both in simulated and in real time, and compare the results (Linux).

    With --seeds 2 or more, marks the measures in which the clocks differ. Ctrl-C and SIGTERM
    stop it; the runs that are complete on both clocks are then compared.
    """
    real_time.check()
    experiment = changes.read(scenario)
    real_time.check_kernel(experiment)
    if out_dir is not None:
        prepare_folder(out_dir, Kind.RUN)
    with progress_bar() as show:
        comparison = realtime.compare(
            experiment,
            runs=seeds,
            progress=show,
            dccp_over_udp=real_time.dccp_over_udp,
            spin=real_time.spin,
            virtual_time=real_time.virtual_time,
        )
    # A disk may be full after all that time.
    try:
        if as_json:
            print_json(comparison.document())
        else:
            _print(comparison)
    finally:
        if out_dir is not None:
            from skywave.realtime.report import write  # noqa: PLC0415  (draws figures)

            write(comparison, out_dir)
    warn(comparison.warnings())
    if out_dir is not None and not as_json:
        typer.echo(f"Page: {out_dir / 'comparison.html'}")
    if comparison.is_interrupted:
        raise KeyboardInterrupt
    real_time.judge(*comparison.real_time)


def _print(comparison: ClockComparison) -> None:
    console = out()
    count = len(comparison.real_time)
    of = f"{count} of {comparison.planned}" if comparison.is_interrupted else f"{count}"
    runs = "run" if comparison.planned == 1 else "runs"
    title = f"{comparison.scenario.name}: {of} {runs} on each clock"
    rows = [row.cells() for row in comparison.rows()]
    clock = comparison.clock.replace(" ", "\N{NO-BREAK SPACE}")

    def column(header: str, key: str, justify: Literal["left", "right"] = "right") -> Column:
        return Column(header, [row[key] for row in rows], justify)

    print_in_blocks(
        console,
        [column("of", "what", "left"), column("measure", "measure", "left")],
        [
            column("simulated", "simulated"),
            column(clock, "real_time"),
            column(f"{clock}\N{NO-BREAK SPACE}/ simulated", "ratio"),
            column("", "differs", "left"),
        ],
        title=title,
    )
    if count == 1:
        console.print(
            "One run on each clock, so no difference is tested: use --seeds 5.", soft_wrap=True
        )
    for cause in comparison.causes():
        console.print(f"known cause: {cause}", markup=False, highlight=False, soft_wrap=True)
    for run in comparison.real_time:
        for line in run.accuracy.lines():
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    if comparison.is_interrupted:
        console.print(f"Run {count + 1} was interrupted, and does not count.", soft_wrap=True)
