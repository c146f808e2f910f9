"""Runs the papers on both clocks: ``python -m validation.testbed``."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skywave import cli
from skywave._folders import Kind
from skywave.cli.blocks import Column, print_in_blocks
from skywave.cli.console import choose, out, prepare_folder, progress_bar
from skywave.realtime.privileges import acquire
from validation.testbed import calls, load_factor, satellite, schemes, thresholds
from validation.testbed.report import lines, write
from validation.testbed.running import WORKERS, in_order, run_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.testbed.experiment import ExperimentResult

SEEDS = range(1, 4)
DOWNLOADS = range(1, 17)

app = typer.Typer(pretty_exceptions_enable=False)


@app.command()
def main(
    out_dir: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write the page.")],
    paper: Annotated[
        list[str] | None, typer.Option(help="The key of a paper; repeatable. Default: all.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="How many runs at a time. Default: 20, or all cores.")
    ] = None,
    virtual_time: Annotated[
        bool, typer.Option("--virtual-time", help="Run in guests instead of in real time.")
    ] = False,
) -> None:
    """Run the papers' experiments on both clocks, and write a page that compares them."""
    experiments = [
        *load_factor.experiments(SEEDS),
        *satellite.experiments(DOWNLOADS),
        *calls.experiments(SEEDS),
        *thresholds.experiments(),
        *schemes.experiments(SEEDS[:2]),
    ]
    papers = list(dict.fromkeys(experiment.paper for experiment in experiments))
    chosen = [choose(key, papers, "paper") for key in paper or papers]
    prepare_folder(out_dir, Kind.TESTBED)
    if not virtual_time:
        acquire("validation.testbed")
    at_a_time = workers or ((os.cpu_count() or 1) if virtual_time else WORKERS)
    experiments = [experiment for experiment in experiments if experiment.paper in chosen]
    begun = time.monotonic()
    found: list[ExperimentResult] = []
    try:
        with progress_bar() as show:
            found.extend(
                run_all(
                    experiments,
                    workers=at_a_time,
                    virtual_time=virtual_time,
                    progress=show,
                )
            )
    finally:
        # After an interrupt, the page has what is done.
        if found:
            wall_s = time.monotonic() - begun
            done = in_order(found, experiments)
            _print(done)
            write(done, wall_s, out_dir)
            typer.echo(f"{wall_s:.0f} s; page: {out_dir / 'testbed.html'}")


def _print(all_done: Sequence[ExperimentResult]) -> None:
    rows = [line for done in all_done for line in lines(done)]
    print_in_blocks(
        out(),
        [
            Column("of", [f"{row.section}, {row.label}" for row in rows], "left"),
            Column("measure", [row.measure for row in rows], "left"),
        ],
        [
            Column("published", [row.published for row in rows]),
            Column("simulated", [row.simulated for row in rows]),
            Column(all_done[0].pairs[0].clock, [row.sockets for row in rows]),
        ],
    )


if __name__ == "__main__":
    cli.run(app)
