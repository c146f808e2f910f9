"""``skywave papers`` and ``skywave reproduce``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from skywave import papers
from skywave._folders import Kind
from skywave._printing import number
from skywave.cli.application import command
from skywave.cli.console import JsonOption, finish, out, prepare_folder, print_json, progress_bar
from skywave.cli.messages import warn
from skywave.cli.status import FAILED
from skywave.papers import LEAST_SEEDS, installed

if TYPE_CHECKING:
    from skywave.papers.cells import Cell, Score
    from skywave.papers.front import Front
    from skywave.papers.reproduction import Reproduction


app = typer.Typer()


@command(app, "papers")
def list_papers(as_json: JsonOption = False) -> None:
    """List the papers that `skywave reproduce` can reproduce."""
    usable, broken = installed.every()
    if as_json:
        titles = {paper.key: paper.citation.title for paper in usable}
        print_json({"papers": titles, "broken": {key: str(why) for key, why in broken.items()}})
        return
    table = Table("paper", "title", "authors", "year", "from")
    for paper in usable:
        title, authors = escape(paper.citation.title), escape(paper.citation.authors)
        origin = installed.distribution(paper.key)
        table.add_row(paper.key, title, authors, f"{paper.citation.year}", origin)
    out().print(table)
    warn(map(str, broken.values()))


@command(app, fails="with --all, a paper is unusable or its code failed")
def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="[PAPER]",
            help="Key of a paper; `skywave papers` lists them.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Reproduce all papers and write a front page.")
    ] = False,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Output directory for the report, figures and series. Default: out/PAPER or "
            "out/all.",
        ),
    ] = None,
    live_ns2: Annotated[
        bool,
        typer.Option(
            "--live-ns2/--stored-ns2",
            help="Also run ns-2, if installed, or compare with its stored results.",
        ),
    ] = True,
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=LEAST_SEEDS,
            max=1000,
            help="Number of seeds to average over, for papers with a configurable number. Default: "
            "set by the paper; smaller with --all.",
        ),
    ] = None,
    why: Annotated[
        bool,
        typer.Option("--why", help="Also print which values and claims do not match, and why."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Reproduce one paper or all: run experiments, judge published values and write a report."""
    if (paper is not None) == every:
        raise typer.BadParameter(f"name one paper, or give --all; {installed.known()}")
    directory = out_dir or Path("out") / (paper or "all")
    prepare_folder(directory, Kind.REPORT if paper else Kind.FRONT)
    report = directory / "report.html"
    if paper is not None:
        with progress_bar() as show:
            reproduction = papers.reproduce(paper, live_ns2=live_ns2, seeds=seeds, progress=show)
            with installed.faults_named(installed.paper(paper)):
                reproduction.write(directory)
        printed = partial(_show, reproduction=reproduction, why=why)
        finish(reproduction.to_dict(), report, as_json=as_json, show=printed)
        return
    from skywave.papers.front import reproduce_all  # noqa: PLC0415  (loads Arrow and Jinja)

    with progress_bar() as show:
        front = reproduce_all(directory, live_ns2=live_ns2, seeds=seeds, progress=show)
    printed = partial(_show_front, front=front, why=why)
    finish(front.to_dict(), report, as_json=as_json, show=printed)
    warn(front.broken.values())
    if front.broken:
        raise typer.Exit(FAILED)


def _show(console: Console, reproduction: Reproduction, *, why: bool) -> None:
    """Print the finding, and a row for each table and figure and for the further claims."""
    table = Table(title=escape(reproduction.paper.title), title_justify="left")
    table.add_column("")
    for column in ("values", "match", "values of ns-2", "match in ns-2"):
        table.add_column(column, justify="right")
    places: dict[str, list[Cell]] = {}
    for cell in reproduction.cells:
        places.setdefault(cell.place, []).append(cell)
    if reproduction.claims:
        places["further claims"] = list(reproduction.claims)
    for place, cells in places.items():
        ours = [cell.verdict for cell in cells]
        theirs = [cell.ns2_verdict for cell in cells if cell.ns2_verdict is not None]
        counts = (len(ours), ours.count("match"), len(theirs), theirs.count("match"))
        table.add_row(escape(place), *map(str, counts))
    if reproduction.finding is not None:
        console.print(f"{escape(reproduction.finding.sentence)}\n", highlight=False)
    console.print(table)
    console.print(
        "A value matches if it meets its rule, which was written before the run. ns-2 has no value "
        "where it lacks the control, queue or measure; its values are judged by the same rules.",
        highlight=False,
    )
    if reproduction.seeds_remark is not None:
        console.print(reproduction.seeds_remark, highlight=False)
    score = reproduction.score
    if score.compared:
        console.print(
            f"Skywave and ns-2 agree in {score.close} of {score.compared} quantities under the "
            f"same settings. ns-2: {escape(reproduction.ns2.remark)}.",
            highlight=False,
        )
    _reasons(console, [reproduction], why=why)


def _reasons(console: Console, reproductions: Sequence[Reproduction], *, why: bool) -> None:
    """Print why values and claims do not match, or how to have that printed."""
    unmatched = [one for one in reproductions if one.reasons]
    if not unmatched:
        return
    if not why:
        console.print("Reasons for the other values are in the report; --why prints them.")
    for reproduction in unmatched if why else ():
        console.print(f"\n[bold]{escape(reproduction.paper.short)}[/]", highlight=False)
        before = ""
        for reason, cells in reproduction.reasons.items():
            console.print(f"\n{escape(_after(reason, before))}", highlight=False)
            before = reason
            for cell in cells:
                numbers = escape(_numbers(cell, is_claim=cell in reproduction.claims))
                what = f"[yellow]{escape(cell.id)}[/], {escape(cell.what)}"
                console.print(Padding(f"{what}: {numbers}", (0, 0, 0, 2)), highlight=False)


def _after(reason: str, before: str) -> str:
    """Return a reason without the part that repeats the one before it."""
    rest = reason.removeprefix(before)
    return reason if rest == reason or not before else f"As above. {rest.lstrip()}"


def _numbers(cell: Cell, *, is_claim: bool) -> str:
    """Return the published value, its rule, our value and ns-2's as text."""
    compared = "reference" if is_claim else "published"
    unit = f" {cell.unit}" if cell.unit else ""
    # Beside ours, "within 10 %" would read as if it were.
    allowed = f"{compared} {number(cell.published)}{unit} (allowed: {cell.rule.text})"
    parts = [allowed, f"ours {number(cell.ours)}{unit}"]
    if cell.ns2 is not None:
        parts.append(f"ns-2 {number(cell.ns2)}{unit}")
    return ", ".join(parts)


def _show_front(console: Console, front: Front, *, why: bool) -> None:
    """Print a row for each paper, and the sum of all."""
    table = Table(show_footer=True)
    values, claims, ns2 = _parts(front.score)
    table.add_column("paper", "all")
    table.add_column("values match", values, justify="right")
    table.add_column("claims hold", claims, justify="right")
    table.add_column("ns-2 agrees (same settings)", ns2, justify="right")
    for paper in front.papers:
        table.add_row(paper.paper.key, *_parts(paper.score))
    console.print(table)
    for paper in front.papers:
        if paper.seeds_remark is not None:
            console.print(f"{paper.paper.key}: {paper.seeds_remark}", highlight=False)
    _reasons(console, front.papers, why=why)


def _parts(score: Score) -> tuple[str, str, str]:
    """Return how many values match, claims hold, and quantities agree with ns-2, of how many."""

    def part(count: int, total: int) -> str:
        return f"{count} of {total}" if total else "-"

    return (
        part(score.matches, score.values),
        part(score.claims_met, score.claims),
        part(score.close, score.compared),
    )
