"""``skywave run``, ``skywave check`` and ``skywave schema``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer
from rich.markup import escape
from rich.table import Table

from skywave import _core, simulate
from skywave.cli.console import JsonOption, out, print_json, progress_bar, warn
from skywave.scenario import Scenario, Tcp
from skywave.scenario.experiment import inspect_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skywave.results import Results, Summary

PHYSICS_VIOLATED = 1
MOST_ROUTES = 100
"""The most routes that are printed in text form."""

LEAST_LIMITED = 0.1
"""Share of a flow's time from which on a warning says that its receive window limited it."""
MOST_LIMITED = 10
"""The most flows that have a warning of their own."""

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="Scenario file, TOML or JSON (see examples/).")
]


def run(
    scenario: ScenarioFile,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Write every table as Parquet and CSV, and summary.json."
        ),
    ] = None,
    capture: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LINK=FILE",
            help='Write the packets of a link as pcapng for Wireshark, e.g. "r1->r2=out.pcapng"; '
            "repeatable.",
        ),
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write what the sender of each flow sees as DIR/FLOW.sqlog, for qvis.",
        ),
    ] = None,
    verify_physics: Annotated[
        bool,
        typer.Option(
            "--verify-physics",
            help="After the run, verify that no packet vanished, was reordered or travelled faster "
            "than its link allows. Exit status 1 on a violation.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario and print totals of its flows and links."""
    experiment = Scenario.from_file(scenario)
    captures = _captures(capture or [])
    warn(experiment.inspect().warnings)
    with progress_bar() as show:
        results = simulate.run(
            experiment,
            progress=lambda fraction: show(experiment.name, fraction),
            captures=captures,
            qlogs={} if qlog is None else _qlogs(qlog, experiment),
            verify_physics=verify_physics,
        )
    warn(_limited_by_windows(results.summary, experiment))
    if out_dir is not None:
        results.write(out_dir)
    if as_json:
        print_json(
            {
                **results.summary,
                "fingerprint": results.fingerprint,
                "violations": results.violations,
                "out": None if out_dir is None else str(out_dir),
            }
        )
    else:
        _print_summary(results, out_dir)
    if results.violations:
        raise typer.Exit(PHYSICS_VIOLATED)


def _captures(given: list[str]) -> dict[str, str]:
    captures: dict[str, str] = {}
    for text in given:
        link, separator, file = text.partition("=")
        if not (link and separator and file):
            raise typer.BadParameter(f'"{text}" is not LINK=FILE: write it as "r1->r2=out.pcapng"')
        if link in captures or file in captures.values():
            raise typer.BadParameter(f'"{text}": give each link one file, and each file one link')
        captures[link] = file
    return captures


def _qlogs(directory: Path, experiment: Scenario) -> dict[str, str]:
    """Return the file of each flow. A name may have characters that a file's may not have."""
    directory.mkdir(parents=True, exist_ok=True)
    return {
        flow.name: str(directory / f"{quote(flow.name, safe=' ')}.sqlog")
        for flow in experiment.flows
    }


def check(scenario: ScenarioFile, as_json: JsonOption = False) -> None:
    """Check a scenario without running it, and print it with all defaults and routes.

    The defaults include those that follow from a profile or a control. A warning points out flows
    that have several routes of the same length, and settings that are probably mistakes.
    """
    found = inspect_file(scenario)
    if as_json:
        print_json({"scenario": found.scenario, "routes": found.routes, "warnings": found.warnings})
        return
    console = out()
    console.print(f"{escape(str(scenario))}: valid. With all defaults:", style="bold")
    # Not through rich, which takes a second per thousand lines.
    print_json(found.scenario)
    if len(found.routes) <= MOST_ROUTES:
        console.print("Routes:", style="bold")
        for flow, (forward, back) in found.routes.items():
            ways = f"{' -> '.join(forward)}; back {' -> '.join(back)}"
            console.print(f"  {flow}: {ways}", markup=False, highlight=False, soft_wrap=True)
    else:
        console.print(f"Routes of {len(found.routes):,} flows: see --json")
    warn(found.warnings)


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors and other programs.

    docs/scenario.md describes how an editor uses it.
    """
    print_json(json.loads(_core.scenario_schema()))


def _limited_by_windows(summary: Summary, experiment: Scenario) -> Iterator[str]:
    """Yield a warning for flows that their receive window limited, and not the network."""
    limited = []
    for flow, described in zip(summary["flows"], experiment.flows, strict=True):
        share = flow["receive_window_limited_s"] / max(flow["active_s"], 1e-9)
        if share >= LEAST_LIMITED and isinstance(described.transport, Tcp):
            limited.append((flow["name"], share, described.transport.receive_window))
    for name, share, window in limited[:MOST_LIMITED]:
        field = "max_receive_window" if window is None else "receive_window"
        yield (
            f'flow "{name}" was limited by its receive window for {100 * share:.0f} % of its time: '
            f"raise transport.tcp.{field}"
        )
    if (more := len(limited) - MOST_LIMITED) > 0:
        yield f"{more:,} more flows were limited by their receive windows"


def _print_summary(results: Results, out_dir: Path | None) -> None:
    console = out()
    summary = results.summary
    console.print(
        f"[bold]{escape(summary['name'])}[/]: {summary['duration_s']:g} s simulated, "
        f"{summary['events']:,} events, seed {summary['seed']}, fingerprint {results.fingerprint}"
    )
    console.print(_flow_table(summary))
    console.print(_link_table(summary))
    for violation in results.violations:
        console.print(f"[red]physics:[/] {escape(violation)}", highlight=False)
    if out_dir is not None:
        console.print(f"Tables: {escape(str(out_dir))}", soft_wrap=True)


def _flow_table(summary: Summary) -> Table:
    table = Table(title="Flows (counts are packets)", title_justify="left")
    table.add_column("flow")
    table.add_column("transport")
    for column in (
        "active (s)",
        "goodput (Mbps)",
        "sent",
        "delivered",
        "dropped",
        "resent",
        "timeouts (events)",
    ):
        table.add_column(column, justify="right")
    for flow in summary["flows"]:
        table.add_row(
            escape(flow["name"]),
            flow["transport"],
            f"{flow['active_s']:.2f}",
            f"{flow['goodput_bps'] / 1e6:.3f}",
            f"{flow['packets_sent']:,}",
            f"{flow['delivered_packets']:,}",
            f"{flow['drops']:,}",
            f"{flow['retransmissions']:,}",
            f"{flow['timeouts']:,}",
        )
    return table


def _link_table(summary: Summary) -> Table:
    table = Table(title="Links (counts are packets)", title_justify="left")
    table.add_column("link")
    for column in ("rate (Mbps)", "used (%)", "arrived", "dropped", "marked", "longest queue seen"):
        table.add_column(column, justify="right")
    for link in summary["links"]:
        table.add_row(
            escape(link["name"]),
            f"{link['rate_bps'] / 1e6:g}",
            f"{100 * link['utilisation']:.1f}",
            f"{link['arrivals']:,}",
            f"{link['drops']:,}",
            f"{link['marks']:,}",
            f"{link['queue_max_packets']:,}",
        )
    return table
