"""The command line: ``python -m validation.soak``."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.table import Table

from skywave.cli.console import JsonOption, out, print_json
from skywave.scenario.quantities import Duration
from validation.soak import figure, results
from validation.soak.outcome import Judgement, Outcome, judge, passes
from validation.soak.plan import Plan
from validation.soak.runner import Soak, SoakError

if TYPE_CHECKING:
    from validation.soak.outcome import Evidence

FAILED = 1
INTERRUPTED = 130
TELL_S = 60.0
COLOURS = {Outcome.PASSED: "green", Outcome.FAILED: "red", Outcome.SKIPPED: "yellow"}

app = typer.Typer(
    help="Sockets under hostile traffic for hours: see validation/soak/README.md.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def run(
    duration: Annotated[str, typer.Option(help="How long connections are opened.")] = "1 h",
    tail: Annotated[
        str, typer.Option(help="How long it is quiet then; handshakes last for 8 min.")
    ] = "9 min",
    keepalive: Annotated[
        str, typer.Option(help="Of every connection, as in skywave.net.Config.")
    ] = "2 min",
    silence_timeout: Annotated[str, typer.Option(help="The same.")] = "30 s",
    rate: Annotated[float, typer.Option(help="Connections in a second.")] = Plan.rate,
    shards: Annotated[int, typer.Option(help="Sockets of the server's endpoint.")] = Plan.shards,
    seed: Annotated[int, typer.Option(help="Of all that is drawn at random.")] = Plan.seed,
    directory: Annotated[
        Path, typer.Option("--out", help="Folder for what was measured, and the figure.")
    ] = Path("out/soak"),
    as_json: JsonOption = False,
) -> None:
    """Run a soak and judge it; status 1 if it fails.

    Ctrl-C ends it early; what was measured until then is kept and judged, with status 130.
    """
    plan = Plan(
        duration_s=Duration(duration).seconds,
        tail_s=Duration(tail).seconds,
        keepalive_s=Duration(keepalive).seconds,
        silence_s=Duration(silence_timeout).seconds,
        rate=rate,
        shards=shards,
        seed=seed,
    )
    directory.mkdir(parents=True, exist_ok=True)
    evidence, faults = asyncio.run(_soak(plan, directory))
    judgements = judge(evidence)
    document = results.write(directory, evidence, judgements, faults)
    figure.draw(directory)
    if as_json:
        print_json(document)
    else:
        _print(judgements, faults)
    if not passes(judgements):
        raise typer.Exit(FAILED)
    if not evidence.is_whole:
        raise typer.Exit(INTERRUPTED)


@app.command()
def plot(
    directory: Annotated[Path, typer.Argument(help="Where a soak has left its results.")],
) -> None:
    """Draw the figure of a soak anew."""
    typer.echo(figure.draw(directory))


async def _soak(plan: Plan, directory: Path) -> tuple[Evidence, list[str]]:
    soak = Soak(plan, directory)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, soak.stop)
    evidence = await soak.run(_tell, TELL_S)
    return evidence, soak.account.faults


def _tell(soak: Soak) -> None:
    """Print how far a soak is."""
    plan, totals = soak.plan, soak.account.totals
    left_s = max(0.0, plan.duration_s + plan.tail_s - soak.elapsed_s)
    words = [f"{soak.elapsed_s / 60:.0f} min, {left_s / 60:.0f} min left"]
    for name, samples in soak.samples.items():
        if samples:
            last = samples[-1]
            words.append(
                f"{name} {last.anonymous_bytes / 1e6:.1f} MB, {last.descriptors} descriptors, "
                f"{last.connections:,} of {last.opened:,} connections"
            )
    words.append(
        f"{totals['offered']:,} datagrams sent, {totals['read']:,} read, {totals['faults']} faults"
    )
    sys.stderr.write("; ".join(words) + "\n")


def _print(judgements: list[Judgement], faults: list[str]) -> None:
    table = Table(title="Outcome of the soak", title_justify="left")
    table.add_column("rule")
    table.add_column("measured", justify="right")
    table.add_column("bound", justify="right")
    table.add_column("")
    for each in judgements:
        reason = f" ({each.reason})" if each.reason else ""
        table.add_row(
            each.rule,
            f"{each.value:,.4g}",
            f"{each.bound:,.4g} {each.unit}",
            f"[{COLOURS[each.outcome]}]{each.outcome}[/]{reason}",
        )
    out().print(table)
    for fault in faults:
        out(markup=False).print(f"fault: {fault}", soft_wrap=True)


def main() -> NoReturn:
    """Run the command line and end the process with its status."""
    try:
        app()
    except SoakError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(FAILED)
    sys.exit(0)


if __name__ == "__main__":
    main()
