"""``skywave run --live`` and ``skywave run --both``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import typer

from skywave import realtime
from skywave.cli.blocks import Column, print_in_blocks
from skywave.cli.console import out, print_json, progress_bar, warn
from skywave.realtime.accuracy import TOO_INACCURATE
from skywave.realtime.report import cells, document, write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skywave.realtime import ClockComparison, RealTimeRun
    from skywave.scenario import Scenario


@dataclass(frozen=True)
class RealClock:
    """How a scenario runs on the real clock."""

    dccp_over_udp: bool
    spin: bool
    strict_ms: float | None
    """The lateness that 99 % of packets may have, in ms; None without ``--strict``."""

    def run(
        self, experiment: Scenario, captures: Mapping[str, str], qlogs: Mapping[str, str]
    ) -> RealTimeRun:
        """Run a scenario."""
        with progress_bar() as show:
            return realtime.run(
                experiment,
                progress=lambda step: show(replace(step, stage=f"{experiment.name}, {step.stage}")),
                captures=captures,
                qlogs=qlogs,
                dccp_over_udp=self.dccp_over_udp,
                spin=self.spin,
            )

    def judge(self, *runs: RealTimeRun) -> None:
        """Exit with status :data:`TOO_INACCURATE` if a run fails ``--strict``."""
        if self.strict_ms is None:
            return
        for run in runs:
            if failure := run.accuracy.failure(self.strict_ms):
                typer.echo(f"error: {failure}", err=True)
                raise typer.Exit(TOO_INACCURATE)

    def compare(
        self, experiment: Scenario, runs: int, out_dir: Path | None, *, as_json: bool
    ) -> None:
        """Run a scenario on both clocks, and print what they have in common."""
        with progress_bar() as show:
            comparison = realtime.compare(
                experiment,
                runs=runs,
                progress=show,
                dccp_over_udp=self.dccp_over_udp,
                spin=self.spin,
            )
        # A disk may be full after all that time.
        try:
            if as_json:
                print_json(document(comparison))
            else:
                _print(comparison)
        finally:
            if out_dir is not None:
                write(comparison, out_dir)
        warn(comparison.warnings())
        if out_dir is not None and not as_json:
            typer.echo(f"Page: {out_dir / 'comparison.html'}")
        if comparison.is_interrupted:
            raise KeyboardInterrupt
        self.judge(*comparison.real_time)


def _print(comparison: ClockComparison) -> None:
    console = out()
    count = len(comparison.real_time)
    of = f"{count} of {comparison.planned}" if comparison.is_interrupted else f"{count}"
    runs = "run" if comparison.planned == 1 else "runs"
    title = f"{comparison.scenario.name}: {of} {runs} on each clock"
    rows = [cells(row) for row in comparison.rows()]

    def column(header: str, key: str, justify: Literal["left", "right"] = "right") -> Column:
        return Column(header, [row[key] for row in rows], justify)

    print_in_blocks(
        console,
        [column("of", "what", "left"), column("measure", "measure", "left")],
        [
            column("simulated", "simulated"),
            column("real\N{NO-BREAK SPACE}time", "real_time"),
            column("real\N{NO-BREAK SPACE}time\N{NO-BREAK SPACE}/ simulated", "ratio"),
            column("", "differs", "left"),
        ],
        title=title,
    )
    if count == 1:
        console.print(
            "One run on each clock, so no difference is tested: use --runs 5.", soft_wrap=True
        )
    for cause in comparison.causes():
        console.print(f"known cause: {cause}", markup=False, highlight=False, soft_wrap=True)
    for run in comparison.real_time:
        for line in run.accuracy.lines():
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    if comparison.is_interrupted:
        console.print(f"Run {count + 1} was interrupted, and does not count.", soft_wrap=True)
