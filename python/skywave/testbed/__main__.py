"""Runs the papers on both clocks: ``python -m skywave.testbed``."""

from __future__ import annotations

import time
from pathlib import Path  # noqa: TC003  (typer reads it)
from typing import TYPE_CHECKING, Annotated

import typer

from skywave.cli.console import progress_bar
from skywave.live.privileges import acquire
from skywave.testbed import calls, load_factor, satellite, schemes, thresholds
from skywave.testbed.report import write
from skywave.testbed.running import WORKERS, run_all

if TYPE_CHECKING:
    from skywave.testbed.experiment import Done

SEEDS = range(1, 4)
DOWNLOADS = range(1, 17)


def main(
    out_dir: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write the page.")],
    paper: Annotated[
        list[str] | None, typer.Option(help="The key of a paper; repeatable. Default: all.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="How many runs at a time.")] = WORKERS,
) -> None:
    """Run the papers' experiments on both clocks, and write a page that compares them."""
    acquire("skywave.testbed")
    experiments = [
        experiment
        for experiment in (
            *load_factor.experiments(SEEDS),
            *satellite.experiments(DOWNLOADS),
            *calls.experiments(SEEDS),
            *thresholds.experiments(),
            *schemes.experiments(SEEDS[:2]),
        )
        if not paper or experiment.paper in paper
    ]
    begun = time.monotonic()
    done: list[Done] = []
    try:
        with progress_bar() as show:
            done.extend(
                run_all(
                    experiments,
                    workers=workers,
                    progress=lambda passed, total: show("real time", passed / total),
                )
            )
    except KeyboardInterrupt:
        typer.echo("interrupted: the page has what is done", err=True)
    order = {id(experiment): number for number, experiment in enumerate(experiments)}
    done.sort(key=lambda one: order[id(one.experiment)])
    if done:
        write(done, time.monotonic() - begun, out_dir)
        typer.echo(f"{time.monotonic() - begun:.0f} s; page: {out_dir / 'testbed.html'}")


if __name__ == "__main__":
    typer.run(main)
