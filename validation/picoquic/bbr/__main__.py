"""``python -m validation.picoquic.bbr``: run the flows, and store the tables.

Simulates ours (``skywave_single.csv``, ``skywave_pairs.csv``) and prints the tables of the README.
With ``--picoquic`` it first runs picoquic's (``single.csv``, ``pairs.csv``).
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import typer

from skywave import cli
from validation.picoquic.bbr import picoquic, simulated, tables

app = typer.Typer(pretty_exceptions_enable=False)


@app.command()
def main(
    trees: Annotated[
        tuple[Path, Path, Path] | None,
        typer.Option(
            "--picoquic", help="Trees of picoquic and picotls, and where to put the programs."
        ),
    ] = None,
    stored: Annotated[
        bool, typer.Option("--stored", help="Only print the tables of what is stored.")
    ] = False,
) -> None:
    """Run the flows, store what is measured, and print the tables."""
    if trees is not None:
        flows = picoquic.Programs(*(tree.resolve() for tree in trees))
        tables.store(picoquic.single(flows), "single")
        tables.store(picoquic.pairs(flows), "pairs")
    if not stored:
        with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
            for name, jobs in (
                ("skywave_single", simulated.single()),
                ("skywave_pairs", simulated.pairs(tables.stored("pairs"))),
            ):
                measured = pool.map(simulated.rows, jobs)
                tables.store([row for rows in measured for row in rows], name)
    typer.echo(f"{tables.single()}\n\n{tables.pairs()}")


if __name__ == "__main__":
    cli.run(app)
