"""Output shared by the commands: tables, JSON, warnings, progress and pages."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from skywave import _json
from skywave._core import Duration
from skywave._errors import MissingExtraError
from skywave._files import is_full
from skywave._folders import Kind, check_folder
from skywave._known import listed
from skywave._progress import Progress, lines

WIDTH_OF_A_PIPE = 120

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of tables.")
]


SpinOption = Annotated[
    bool,
    typer.Option(
        "--spin", help="Busy-wait on one processor, so that packets leave within microseconds."
    ),
]
StrictOption = Annotated[
    Duration | None,
    typer.Option(
        "--strict",
        help="Exit with status 3 if more than 1 % of packets left later than this, e.g. "
        '"1 ms", or if the timing has another warning.',
    ),
]


def out(*, stderr: bool = False, markup: bool = True) -> Console:
    """Return the console for results.

    A file or a pipe gets text of 120 columns, or of as many as the environment's ``COLUMNS`` says.

    Without ``markup`` it prints texts as they are. Texts from outside need that: in an IPv6
    address, brackets look like markup, and numbers between colons like an emoji.
    """
    console = Console(stderr=stderr)
    width = None if has_width(console) else WIDTH_OF_A_PIPE
    return Console(stderr=stderr, width=width, markup=markup, emoji=False, highlight=markup)


def has_width(console: Console) -> bool:
    """Return whether a terminal or the user has set how wide lines may be."""
    return console.is_terminal or os.environ.get("COLUMNS", "").isdigit()


def print_json(document: Any, *, line: bool = False) -> None:
    """Print a document on stdout, on a single line if ``line``."""
    sys.stdout.write(_json.text(document, indent=None if line else 2) + "\n")
    sys.stdout.flush()


def choose(given: str, known: Collection[str], what: str) -> str:
    """Return ``given`` if it is one of the ``known`` keys; ``what`` names their kind in errors."""
    if given not in known:
        raise typer.BadParameter(f"{given} is not a known {what}: use {listed(given, known)}")
    return given


def finish(
    document: Mapping[str, Any], report: Path, *, as_json: bool, show: Callable[[Console], None]
) -> None:
    """Print a command's results and the path of its report, as JSON or as ``show`` prints them."""
    if as_json:
        print_json({**document, "report": str(report)})
        return
    console = out()
    show(console)
    console.print(f"Report: {escape(str(report))}", soft_wrap=True)


def prepare_folder(directory: Path, kind: Kind) -> None:
    """Check that results can be written into a folder, and say so if they replace older ones.

    Raises:
        typer.BadParameter: If there is no room.
        OSError: If they cannot for another reason, or the folder is that of something else.
    """
    try:
        replaces = check_folder(directory, kind)
    except OSError as error:
        if is_full(error):
            # Nothing is lost yet.
            raise typer.BadParameter(f"--out {directory}: {error.strerror}") from error
        raise
    if replaces:
        sys.stderr.write(f"{directory} has {kind.value}: replaced at the end\n")


@contextmanager
def progress_bar(
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Callable[[Progress], None]]:
    """Show a progress bar on stderr, or a line every ten seconds if stderr is not a terminal.

    Yields the function for ``progress=``.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lines(clock)
        return
    from rich import progress  # noqa: PLC0415  (slow to import, and few need it)

    bar = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TextColumn("{task.percentage:>3.0f} %"),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left:"),
        progress.TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    tasks: dict[str, Any] = {}

    def show(step: Progress) -> None:
        if step.stage not in tasks:
            tasks[step.stage] = bar.add_task(escape(step.stage), total=1.0)
        bar.update(tasks[step.stage], completed=step.fraction)

    with bar:
        yield show


@contextmanager
def lab_extra() -> Iterator[None]:
    """Raise a one-line error if an import fails for lack of the extra ``skywave[lab]``."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("skywave"):
            raise
        raise MissingExtraError("the page of skywave lab", "lab") from None


def announce(what: str, address: str, *, browser: bool) -> None:
    """Print the address of a page, and open it in the browser."""
    sys.stderr.write(f"{what} is at {address}\n")
    sys.stderr.flush()
    if browser:
        import webbrowser  # noqa: PLC0415  (few commands open a page)

        webbrowser.open(address)
