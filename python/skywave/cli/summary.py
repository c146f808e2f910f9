"""The results of a run, for a terminal, as JSON and in a directory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.markup import escape

from skywave.cli.blocks import Column, print_in_blocks
from skywave.cli.console import out, print_json
from skywave.cli.messages import warn

if TYPE_CHECKING:
    from skywave.realtime import RunAccuracy
    from skywave.results import Results, Totals

Row = TypeVar("Row")

MOST_ROWS = 100
"""The most flows, and the most links, of a table: laying out more takes longer than simulating."""


def present(
    results: Results,
    out_dir: Path | None,
    accuracy: RunAccuracy | None = None,
    *,
    as_json: bool,
    threads: int = 1,
) -> None:
    """Print and write results, with the accuracy of a run between sockets.

    If several threads were asked for, also print how they were used.
    """
    # Either may fail after a long run: a pipe that nobody reads, a full disk.
    try:
        if as_json:
            more = (
                {"fingerprint": results.fingerprint, "violations": results.violations}
                if accuracy is None
                else {"accuracy": accuracy.document()}
            )
            used = {"threads": results.threads} if threads > 1 else {}
            directory = None if out_dir is None else str(out_dir)
            print_json({**results.totals, **more, **used, "out": directory})
        else:
            _print_summary(results, accuracy)
    finally:
        if out_dir is not None:
            results.write(out_dir)
    if out_dir is not None and not as_json:
        out().print(f"Tables: {escape(str(out_dir))}", soft_wrap=True)
    warn(results.warnings())
    if threads > 1 and results.threads is not None and results.threads["obstacle"] is not None:
        warn([f"--threads {threads} did not help: {results.threads['obstacle']}"])


def _print_summary(results: Results, accuracy: RunAccuracy | None) -> None:
    console = out()
    totals = results.totals
    how = (
        f"{totals['duration_s']:g} s simulated, {totals['events']:,} events, "
        f"seed {totals['seed']}, fingerprint {results.fingerprint}"
        if accuracy is None
        else f"{totals['duration_s']:g} s {accuracy.on_clock}, seed {totals['seed']}"
    )
    console.print(f"[bold]{escape(totals['name'])}[/]: {how}")
    _print_flows(console, totals)
    _print_links(console, totals)
    for violation in results.violations:
        console.print(f"[red]physics:[/] {escape(violation)}", highlight=False)
    for line in () if accuracy is None else accuracy.lines():
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _first(console: Console, rows: list[Row], what: str) -> list[Row]:
    """Return the rows to print, and say how many there are if that is not all."""
    if len(rows) <= MOST_ROWS:
        return rows
    console.print(
        f"{MOST_ROWS} of {len(rows):,} {what} are shown; --json and --out have all", highlight=False
    )
    return rows[:MOST_ROWS]


def _print_flows(console: Console, totals: Totals) -> None:
    flows = _first(console, totals["flows"], "flows")
    print_in_blocks(
        console,
        [Column("flow", [flow["name"] for flow in flows], "left")],
        [
            Column("transport", [flow["transport"] for flow in flows], "left"),
            Column("active (s)", [f"{flow['active_s']:.2f}" for flow in flows]),
            Column("goodput (Mbps)", [f"{flow['goodput_bps'] / 1e6:.3f}" for flow in flows]),
            Column("sent", [f"{flow['packets_sent']:,}" for flow in flows]),
            Column("delivered", [f"{flow['delivered_packets']:,}" for flow in flows]),
            Column("dropped", [f"{flow['drops']:,}" for flow in flows]),
            Column("resent", [f"{flow['retransmissions']:,}" for flow in flows]),
            Column("timeouts (events)", [f"{flow['timeouts']:,}" for flow in flows]),
        ],
        title="Flows (counts are packets)",
    )


def _print_links(console: Console, totals: Totals) -> None:
    links = totals["links"]
    if len(links) > MOST_ROWS:
        links = sorted(links, key=lambda link: (-link["drops"], -link["arrivals"]))
    links = _first(console, links, "links, by drops and arrivals,")
    print_in_blocks(
        console,
        [Column("link", [link["name"] for link in links], "left")],
        [
            Column("rate (Mbps)", [f"{link['rate_bps'] / 1e6:g}" for link in links]),
            Column("used (%)", [f"{100 * link['utilisation']:.1f}" for link in links]),
            Column("arrived", [f"{link['arrivals']:,}" for link in links]),
            Column("dropped", [f"{link['drops']:,}" for link in links]),
            Column("marked", [f"{link['marks']:,}" for link in links]),
            Column("longest queue seen", [f"{link['queue_max_packets']:,}" for link in links]),
        ],
        title="Links (counts are packets)",
    )
