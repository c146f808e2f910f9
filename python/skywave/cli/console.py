"""What the commands print with."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

WIDTH_OF_A_PIPE = 120

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document in place of tables.")
]


def out() -> Console:
    """Return the console of results; a file or a pipe has room for whole tables."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH_OF_A_PIPE)


def print_json(document: Any, *, line: bool = False) -> None:
    """Print a document on stdout, on one line if it is one of many."""
    sys.stdout.write(json.dumps(document, indent=None if line else 2) + "\n")
    sys.stdout.flush()


def choose(given: str, known: Collection[str], what: str) -> str:
    """Return a key that is given, where it is one of those that are known."""
    if given not in known:
        raise typer.BadParameter(f"{given} is not a known {what}; known are {', '.join(known)}")
    return given


def warn(messages: Iterable[str]) -> None:
    """Tell on stderr, a line each, of what was left out while the rest went on."""
    for message in messages:
        sys.stderr.write(f"warning: {' '.join(message.split())}\n")


def finish(
    document: Mapping[str, Any], report: Path, *, as_json: bool, show: Callable[[Console], None]
) -> None:
    """Print what a command found, and where its report is: one JSON document, or what is shown."""
    if as_json:
        print_json({**document, "report": str(report)})
        return
    console = out()
    show(console)
    console.print(f"Report: {escape(str(report))}", soft_wrap=True)


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float], None]]:
    """Show a bar on stderr; the function takes the name of the stage and the fraction done.

    Where stderr is no terminal, nothing is shown.
    """
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    tasks: dict[str, Any] = {}

    def show(stage: str, fraction: float) -> None:
        if stage not in tasks:
            tasks[stage] = bar.add_task(escape(stage), total=1.0)
        bar.update(tasks[stage], completed=fraction)

    with bar:
        yield show
