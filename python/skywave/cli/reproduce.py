"""``skywave reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from skywave import papers
from skywave.cli.console import JsonOption, finish, out, print_json, progress_bar, warn
from skywave.papers import installed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from skywave.papers.cells import Cell
    from skywave.papers.front import Front
    from skywave.papers.reproduction import Judgement


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="[PAPER]", help="Key of a paper; --list shows all keys.", show_default=False
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Reproduce all papers, with a front page.")
    ] = False,
    listed: Annotated[
        bool, typer.Option("--list", help="List the papers without running any.")
    ] = False,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Directory for report, figures and series. Default: out/PAPER or out/all.",
        ),
    ] = None,
    live_ns2: Annotated[
        bool,
        typer.Option(
            "--live-ns2/--stored-ns2",
            help="Run ns-2 too, if installed, or compare with its stored results.",
        ),
    ] = True,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=papers.LEAST_SEEDS,
            max=1000,
            help="Number of seeds for averages, for papers that let you choose it. Default: the "
            "paper's own number, or a smaller one with --all.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Reproduce a paper, or all: run experiments, judge published values and write a report."""
    if (paper is not None) + every + listed != 1:
        raise typer.BadParameter(f"name one paper, or give --all or --list; {installed.known()}")
    if listed:
        _list(as_json=as_json)
    elif paper is None:
        _all(out_dir or Path("out") / "all", live_ns2=live_ns2, seeds=seeds, as_json=as_json)
    else:
        _one(paper, out_dir or Path("out") / paper, live_ns2=live_ns2, seeds=seeds, as_json=as_json)


def _list(*, as_json: bool) -> None:
    usable, broken = installed.every()
    if as_json:
        print_json(
            {
                "papers": {paper.key: paper.citation.title for paper in usable},
                "broken": {key: str(why) for key, why in broken.items()},
            }
        )
        return
    table = Table("paper", "title", "authors", "year", "from")
    for paper in usable:
        citation = paper.citation
        table.add_row(
            paper.key,
            escape(citation.title),
            escape(citation.authors),
            f"{citation.year}",
            installed.distribution(paper.key),
        )
    out().print(table)
    warn(map(str, broken.values()))


def _one(paper: str, directory: Path, *, live_ns2: bool, seeds: int | None, as_json: bool) -> None:
    with progress_bar() as show:
        reproduction = papers.reproduce(
            paper,
            live_ns2=live_ns2,
            seeds=seeds,
            progress=lambda stage, done, total: show(stage, done / total),
        )
        reproduction.write(directory)
    finish(
        reproduction.to_dict(),
        directory / "report.html",
        as_json=as_json,
        show=lambda console: _show(console, reproduction),
    )


def _show(console: Console, judgement: Judgement) -> None:
    console.print(_cell_table(judgement.paper.title, judgement.cells))
    if judgement.claims:
        console.print(_cell_table("Further claims", judgement.claims))
    if judgement.seeds_remark is not None:
        console.print(judgement.seeds_remark, highlight=False)
    for why, ids in judgement.reasons.items():
        console.print(f"[yellow]{', '.join(ids)}:[/] {escape(why)}", highlight=False)
    if judgement.comparisons:
        console.print(
            f"Compared with ns-2 ({judgement.ns2.remark}): {judgement.close} of "
            f"{len(judgement.comparisons)} quantities within their limits."
        )


def _all(directory: Path, *, live_ns2: bool, seeds: int | None, as_json: bool) -> None:
    from skywave.papers.front import reproduce_all  # noqa: PLC0415  (loads Arrow and Jinja)

    with progress_bar() as show:
        front = reproduce_all(
            directory,
            live_ns2=live_ns2,
            seeds=seeds,
            progress=lambda key, stage, done, total: show(f"{key}, {stage}", done / total),
        )
    finish(
        front.to_dict(),
        directory / "report.html",
        as_json=as_json,
        show=lambda console: _show_front(console, front),
    )
    warn(front.broken.values())


def _show_front(console: Console, front: Front) -> None:
    console.print(_front_table(front))
    for paper in front.papers:
        if paper.seeds_remark is not None:
            console.print(f"{paper.paper.key}: {paper.seeds_remark}", highlight=False)
    for paper in front.papers:
        for why, ids in paper.reasons.items():
            console.print(
                f"[yellow]{paper.paper.key} {', '.join(ids)}:[/] {escape(why)}", highlight=False
            )
    console.print(f"{front.matches} of {front.values} published values match.")
    if front.claims:
        console.print(f"{front.claims_met} of {front.claims} further claims hold.")


def _front_table(front: Front) -> Table:
    table = Table()
    table.add_column("paper", no_wrap=True)
    table.add_column("title")
    for column in ("values", "match", "mismatch", "further claims", "within ns-2's limit"):
        table.add_column(column, justify="right")
    for paper in front.papers:
        values, matches = len(paper.cells), paper.matches
        close = f"{paper.close} of {len(paper.comparisons)}"
        counts = (str(count) for count in (values, matches, values - matches))
        claims = f"{paper.claims_met} of {len(paper.claims)}"
        table.add_row(paper.paper.key, paper.paper.title, *counts, claims, close)
    return table


def _cell_table(title: str, cells: Sequence[Cell]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("value", no_wrap=True)
    for column in ("published", "ours", "ns-2"):
        table.add_column(column, justify="right")
    table.add_column("unit")
    table.add_column("rule")
    table.add_column("verdict", no_wrap=True)
    for cell in cells:
        values = (
            "-" if value is None else f"{value:.4g}"
            for value in (cell.published, cell.ours, cell.ns2)
        )
        colour = "green" if cell.verdict == "match" else "red"
        verdict = f"[{colour}]{cell.verdict}[/]"
        table.add_row(cell.id, *values, cell.unit, cell.rule.text, verdict)
    return table
