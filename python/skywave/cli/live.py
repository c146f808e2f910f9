"""``skywave run --live`` and ``skywave run --both``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.table import Table

from skywave.cli.console import out, print_json, progress_bar
from skywave.emulate.report import FAILED
from skywave.live import run_both, run_live
from skywave.live.privileges import acquire
from skywave.live.report import cells, document, write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skywave.live import Both, Lived
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
    ) -> Lived:
        """Run a scenario."""
        acquire()
        with progress_bar() as show:
            return run_live(
                experiment,
                progress=lambda fraction: show(f"{experiment.name}, in real time", fraction),
                captures=captures,
                qlogs=qlogs,
                dccp_over_udp=self.dccp_over_udp,
                spin=self.spin,
            )

    def judge(self, *lived: Lived) -> None:
        """End with status 3 if a run cannot be believed."""
        if self.strict_ms is None:
            return
        for run in lived:
            if broken := run.verdict.broken(self.strict_ms):
                typer.echo(f"error: {broken}", err=True)
                raise typer.Exit(FAILED)

    def compare(
        self, experiment: Scenario, runs: int, out_dir: Path | None, *, as_json: bool
    ) -> None:
        """Run a scenario on both clocks, and print what they have in common."""
        acquire()
        with progress_bar() as show:
            both = run_both(
                experiment,
                runs=runs,
                progress=show,
                dccp_over_udp=self.dccp_over_udp,
                spin=self.spin,
            )
        if out_dir is not None:
            write(both, out_dir)
        if as_json:
            print_json(document(both))
        else:
            _print(both, out_dir)
        self.judge(*both.lived)


def _print(both: Both, out_dir: Path | None) -> None:
    console = out()
    count = len(both.lived)
    title = f"{both.scenario.name}: {count} run{'s' if count != 1 else ''} on each clock"
    table = Table(title=escape(title), title_justify="left")
    for name in ("of", "measure"):
        table.add_column(name)
    for name in ("simulated", "lived", "lived / simulated"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in both.rows():
        table.add_row(*(escape(text) for text in cells(row).values()))
    console.print(table)
    for run in both.lived:
        for line in run.verdict.lines():
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    if out_dir is not None:
        page = out_dir / "both.html"
        console.print(f"Page: {page}", markup=False, highlight=False, soft_wrap=True)
