"""``skywave reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from skywave import papers
from skywave.cli.console import JsonOption, out, print_json, progress_bar

if TYPE_CHECKING:
    from skywave.papers.reproduction import Reproduction


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER", help=f"Which paper: {', '.join(papers.PAPERS)}.", show_default=False
        ),
    ],
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Where the report, figures and series go; out/PAPER if not given.",
        ),
    ] = None,
    live_ns2: Annotated[
        bool,
        typer.Option(
            "--live-ns2/--stored-ns2",
            help="Run ns-2 too where it is installed, or use its stored answers.",
        ),
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Reproduce a paper: run its experiments, judge its published values, write a report."""
    if paper not in papers.PAPERS:
        raise typer.BadParameter(
            f"{paper} is not a known paper; known are {', '.join(papers.PAPERS)}"
        )
    directory = out_dir or Path("out") / paper
    with progress_bar() as show:
        reproduction = papers.reproduce(
            paper,
            live_ns2=live_ns2,
            progress=lambda stage, done, total: show(stage, done / total),
        )
        reproduction.write(directory)
    report = directory / "report.html"
    if as_json:
        print_json({**reproduction.to_dict(), "report": str(report)})
        return
    console = out()
    console.print(_cell_table(reproduction))
    for why, ids in _reasons(reproduction).items():
        console.print(f"[yellow]{', '.join(ids)}:[/] {why}", highlight=False)
    close = sum(comparison.verdict == "match" for comparison in reproduction.comparisons)
    console.print(
        f"Beside ns-2 ({reproduction.ns2.remark}): {close} of {len(reproduction.comparisons)} "
        "quantities within their limit."
    )
    console.print(f"Report: {escape(str(report))}", soft_wrap=True)


def _cell_table(reproduction: Reproduction) -> Table:
    table = Table(title=reproduction.paper.title, title_justify="left")
    table.add_column("value", no_wrap=True)
    for column in ("published", "ours", "ns-2"):
        table.add_column(column, justify="right")
    table.add_column("unit")
    table.add_column("rule")
    table.add_column("verdict", no_wrap=True)
    for cell in reproduction.cells:
        values = (
            "-" if value is None else f"{value:.4g}"
            for value in (cell.published, cell.ours, cell.ns2)
        )
        colour = "green" if cell.verdict == "match" else "red"
        verdict = f"[{colour}]{cell.verdict}[/]"
        table.add_row(cell.id, *values, cell.unit, cell.rule.text, verdict)
    return table


def _reasons(reproduction: Reproduction) -> dict[str, list[str]]:
    """Return why values do not match, each reason once, with the values it holds for."""
    reasons: dict[str, list[str]] = {}
    for cell in reproduction.cells:
        if cell.why:
            reasons.setdefault(cell.why, []).append(cell.id)
    return reasons
