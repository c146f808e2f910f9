"""The command line: ``python -m validation.ns2.random``.

It draws cases from a seed, runs each in ns-2 and in Skywave, and prints how many are exact and the
smallest case of each class of difference. Differences are results, not errors. The exit status is
2 if the input is wrong, 1 if ns-2 is missing or fails, and 130 after an interrupt, which prints
what was found until then.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.table import Table
from typer.exceptions import TyperException

from skywave.cli.console import JsonOption, choose, out, print_json, progress_bar
from skywave.papers import ns2
from validation.ns2.case import Case, Kind, draw
from validation.ns2.search import Found, Outcome, judge, search

if TYPE_CHECKING:
    from collections.abc import Callable

    from skywave import Progress
    from validation.ns2.runs import Packet

NS2_FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130
QUIET_S = 2.0
"""How long a run takes before it shows its progress."""

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def compare(
    draws: Annotated[int, typer.Option(min=1, help="Cases of each type of flow.")] = 60,
    seed: Annotated[int, typer.Option(min=0, help="What the cases are drawn from.")] = 1,
    kind: Annotated[
        str | None, typer.Option("--type", help=f"Only this type, of {', '.join(Kind)}.")
    ] = None,
    case: Annotated[
        str | None, typer.Option(help="Compare this case instead, as the output writes it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare random runs with ns-2, packet for packet; see validation/ns2/README.md."""
    kinds = list(Kind) if kind is None else [Kind(choose(kind, list(Kind), "type of flow"))]
    ns2.find()
    if case is not None:
        outcome = judge(Case.parse(case))
        print_json(_document(outcome)) if as_json else _print_outcome(outcome)
        return
    # All types alternate, so an interrupted run has compared about as many of each.
    cases = [draw(kind, seed, index) for index in range(draws) for kind in kinds]
    with progress_bar() as show:
        found = search(cases, judge, _late(show))
    if as_json:
        print_json(_documents(found, kinds))
    else:
        _print(found, kinds)
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)


def _late(show: Callable[[Progress], None]) -> Callable[[Progress], None]:
    begun = time.monotonic()

    def tell(step: Progress) -> None:
        if time.monotonic() - begun > QUIET_S:
            show(step)

    return tell


def _print(found: Found, kinds: list[Kind]) -> None:
    table = Table(title="Runs equal to ns-2's", title_justify="left")
    table.add_column("type")
    for name in ("draws", "exact", "share (%)"):
        table.add_column(name, justify="right")
    for kind in kinds:
        draws, exact = found.of(kind)
        table.add_row(kind, str(draws), str(exact), f"{100 * exact / draws:.1f}" if draws else "-")
    out().print(table)
    for kind_of, outcome in found.smallest.items():
        _line(f"{kind_of} (draws: {found.count(kind_of)})")
        _line(f"  {_packets(outcome)}")
        _line(f"  --case '{outcome.case}'")


def _print_outcome(outcome: Outcome) -> None:
    if outcome.kind is None:
        _line(f"{outcome.case.kind}: exact")
    else:
        _line(str(outcome.kind))
        _line(f"  {_packets(outcome)}")


def _packets(outcome: Outcome) -> str:
    found = outcome.difference
    if found is None:
        return "the same packets"
    return f"packet {found.index}: {_words(found.ours)}; ns-2 {_words(found.theirs)}"


def _words(packet: Packet | None) -> str:
    return f"number {packet.number} at {packet.time_s:.6f} s" if packet else "none"


def _line(text: str) -> None:
    out().print(text, markup=False, highlight=False, soft_wrap=True)


def _documents(found: Found, kinds: list[Kind]) -> dict[str, Any]:
    types = []
    for kind in kinds:
        draws, exact = found.of(kind)
        share = exact / draws if draws else None
        types.append({"type": kind, "draws": draws, "exact": exact, "share": share})
    differences = [
        {**_document(outcome), "draws": found.count(kind)}
        for kind, outcome in found.smallest.items()
    ]
    return {"types": types, "differences": differences, "interrupted": found.interrupted}


def _document(outcome: Outcome) -> dict[str, Any]:
    document: dict[str, Any] = {"case": str(outcome.case), "type": outcome.case.kind}
    document["exact"] = outcome.exact
    if outcome.kind and outcome.difference:
        found = outcome.difference
        document |= {"what": outcome.kind.what, "phase": outcome.kind.phase, "packet": found.index}
        for name, packet in (("skywave", found.ours), ("ns2", found.theirs)):
            document[name] = packet and {"time_s": packet.time_s, "number": packet.number}
    return document


def main() -> NoReturn:
    """Run the command line and end the process with its status."""
    try:
        status = app(standalone_mode=False)
    except TyperException as error:
        _fail(error.format_message(), BAD_INPUT)
    except ValueError as error:
        _fail(str(error), BAD_INPUT)
    except ns2.Ns2Error as error:
        _fail(str(error), NS2_FAILED)
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status == INTERRUPTED:
        sys.stderr.write("interrupted\n")
    sys.exit(status if isinstance(status, int) else 0)


def _fail(message: str, status: int) -> NoReturn:
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    sys.exit(status)


if __name__ == "__main__":
    main()
