"""``skywave matrix``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from skywave._core import Duration
from skywave._folders import Kind
from skywave.cli.application import command
from skywave.cli.blocks import Column, print_in_blocks
from skywave.cli.console import JsonOption, choose, finish, prepare_folder, progress_bar
from skywave.cli.messages import warn

if TYPE_CHECKING:
    from skywave.matrix.panels import Panel

LEAST_S = 20.0
"""The shortest run. The measures need parts of a run that a shorter one does not have."""
app = typer.Typer()


@command(app)
def matrix(
    controls: Annotated[
        list[str] | None,
        typer.Option(
            "--control",
            metavar="CONTROL",
            help="Run only this control, e.g. tcp-vcp; repeatable. Default: all.",
        ),
    ] = None,
    networks: Annotated[
        list[str] | None,
        typer.Option(
            "--network",
            metavar="NETWORK",
            help="Run only the network of this paper (its key); repeatable. Default: all.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=1000,
            help="Number of seeds per run. Default: as many as in the stored matrix.",
        ),
    ] = None,
    duration: Annotated[
        Duration | None,
        typer.Option(
            help='Duration of each run, e.g. "60 s". Default: set by the network (120 or 300 s).'
        ),
    ] = None,
    out_dir: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="Output directory for the page, tables and heat maps."
        ),
    ] = Path("out/matrix"),
    as_json: JsonOption = False,
) -> None:
    """Run every control on every paper's network and write a page that compares them.

    Measures utilisation, fairness, queue, loss, the time a late flow needs to reach its fair share,
    the share against an equal number of TCP flows, and voice quality. Values are means over seeds
    with confidence intervals.
    """
    from skywave import matrix as of_papers  # noqa: PLC0415  (loads matplotlib)
    from skywave.matrix.axes import (  # noqa: PLC0415
        CONTROLS,
        LEFT_OUT,
        NETWORKS,
    )

    duration_s = None if duration is None else duration.seconds
    if duration_s is not None and duration_s < LEAST_S:
        raise typer.BadParameter(f"{duration} is too short: give at least {LEAST_S:g} s")
    prepare_folder(out_dir, Kind.MATRIX)
    with progress_bar() as show:
        ran = of_papers.run(
            controls=_chosen(controls, CONTROLS, "control"),
            networks=_chosen(networks, NETWORKS, "network"),
            seeds=of_papers.SEEDS if seeds is None else seeds,
            duration_s=duration_s,
            progress=show,
        )
        ran.write(out_dir)

    def show_panels(console: Console) -> None:
        for panel in ran.panels:
            print_panel(console, panel)
        of = "Values of one seed" if ran.seeds == 1 else f"Means over {ran.seeds} seeds"
        console.print(f"{of}; the page has confidence intervals and definitions.")

    finish(ran.to_dict(), out_dir / "matrix.html", as_json=as_json, show=show_panels)
    warn(map(str, LEFT_OUT.values()))


def _chosen(given: Sequence[str] | None, known: Mapping[str, object], what: str) -> list[str]:
    for key in given or ():
        choose(key, known, what)
    return [key for key in known if not given or key in given]


def print_panel(console: Console, panel: Panel) -> None:
    """Print a panel, in several blocks where the terminal is too narrow."""
    texts = {place: cell.text for place, cell in panel.cells.items()}
    print_in_blocks(
        console,
        [Column("control", list(panel.rows.values()), "left")],
        [
            Column(label, [texts.get((control, column), "") for control in panel.rows])
            for column, label in panel.columns.items()
        ],
        title=panel.title,
    )
