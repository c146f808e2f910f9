"""``python -m validation.controls``: run each control beside its reference, and draw both.

Stores ``simulated.csv`` and ``reference.csv``, draws the figures of docs/controls.md, and prints
its table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skywave import cli, run
from skywave.cli.console import progress_bar
from validation.controls import figure, prague, references, tables
from validation.controls.cases import CASES
from validation.controls.curves import Curve
from validation.picoquic.bbr.picoquic import Programs

FIGURES = Path(__file__).parents[2] / "docs" / "figures"

app = typer.Typer(pretty_exceptions_enable=False)


@app.command()
def main(
    picoquic: Annotated[
        tuple[Path, Path, Path] | None,
        typer.Option(
            "--picoquic", help="Trees of picoquic and picotls, and where to put the programs."
        ),
    ] = None,
    udp_prague: Annotated[
        Path | None, typer.Option("--udp-prague", help="Tree in which udp_prague was compiled.")
    ] = None,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Simulate, and keep what is stored of Linux.")
    ] = False,
    stored: Annotated[
        bool, typer.Option("--stored", help="Only draw what is stored, and print the table.")
    ] = False,
) -> None:
    """Run ours in the simulator and Linux's on virtual time, store the curves, and draw them.

    picoquic's and udp_prague's run if their trees are given. Otherwise their curves are kept.
    """
    if not stored:
        theirs = tables.stored(tables.REFERENCE)
        with progress_bar() as show:
            if not simulated:
                theirs |= references.linux(show)
            if picoquic is not None:
                theirs |= references.picoquic(Programs(*(tree.resolve() for tree in picoquic)))
            if udp_prague is not None:
                theirs["prague"] = prague.run(udp_prague, show)
        for case in CASES.values():
            if case.control not in theirs:
                message = f"nothing is stored of the {case.control} of {case.reference}: run it"
                raise typer.BadParameter(message)
        tables.store({control: theirs[control] for control in CASES}, tables.REFERENCE)
        ours = {control: Curve.of(run(case.scenario())) for control, case in CASES.items()}
        tables.store(ours, tables.OURS)
    for name in figure.FIGURES:
        typer.echo(f"wrote {figure.write(figure.draw(name), FIGURES / f'{name}.png')}")
    typer.echo(tables.table())


if __name__ == "__main__":
    cli.run(app)
