"""``skywave run``, ``skywave check`` and ``skywave schema``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import quote

import typer
from attrs import evolve
from rich.markup import escape
from rich.table import Table

from skywave import ScenarioError, _core, simulate
from skywave.cli.console import JsonOption, out, print_json, progress_bar, warn
from skywave.cli.real_time import SpinOption, StrictMsOption, StrictOption
from skywave.scenario import Scenario
from skywave.scenario.experiment import inspect_file
from skywave.sweeps.paths import parse_value, parse_values
from skywave.sweeps.points import with_field

if TYPE_CHECKING:
    from skywave.live import Verdict
    from skywave.results import Results, Summary

PHYSICS_VIOLATED = 1
STANDARD_INPUT = Path("-")
MOST_ROUTES = 100
"""The most routes that are printed in text form."""

ScenarioFile = Annotated[
    Path,
    typer.Argument(
        metavar="SCENARIO", help="Scenario file, TOML or JSON (see examples/); - is standard input."
    ),
]


SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Another value of a field, e.g. dumbbell.rate='5 Mbps' or "
        '"flows[*].transport.tcp.control=cubic"; repeatable.',
    ),
]
SeedOption = Annotated[int | None, typer.Option(min=0, help="Another seed than the scenario's.")]


def run(
    scenario: ScenarioFile,
    settings: SetOption = None,
    seed: SeedOption = None,
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
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Run it in real time, between real sockets in network namespaces (Linux).",
        ),
    ] = False,
    both: Annotated[
        bool, typer.Option("--both", help="Run it on both clocks, and compare them.")
    ] = False,
    runs: Annotated[
        int, typer.Option(min=1, help="With --both, the runs on each clock, with as many seeds.")
    ] = 1,
    dccp_over_udp: Annotated[
        bool, typer.Option("--dccp-over-udp", help="In real time, DCCP travels in UDP (RFC 6773).")
    ] = False,
    spin: SpinOption = False,
    strict: StrictOption = False,
    strict_ms: StrictMsOption = 1.0,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario and print totals of its flows and links.

    In simulated time, unless --live or --both says otherwise.
    """
    experiment = _changed(read(scenario), settings, seed)
    captures = _captures(capture or [])
    qlogs = {} if qlog is None else _qlogs(qlog, experiment)
    if live or both:
        if verify_physics:
            raise typer.BadParameter("--verify-physics is for simulations: a real clock is late")
        if both and (captures or qlogs):
            raise typer.BadParameter("--both writes no captures and no logs: use --live")
        from skywave.cli.live import RealClock  # noqa: PLC0415  (not needed by simulations)

        clock = RealClock(dccp_over_udp, spin, strict_ms if strict else None)
        if both:
            clock.compare(experiment, runs, out_dir, as_json=as_json)
            return
        lived = clock.run(experiment, captures, qlogs)
        _present(lived.results, out_dir, lived.verdict, as_json=as_json)
        clock.judge(lived)
        return
    warn(experiment.inspect().warnings)
    with progress_bar() as show:
        results = simulate.run(
            experiment,
            progress=lambda fraction: show(experiment.name, fraction),
            captures=captures,
            qlogs=qlogs,
            verify_physics=verify_physics,
        )
    _present(results, out_dir, as_json=as_json)
    if results.violations:
        raise typer.Exit(PHYSICS_VIOLATED)


def _present(
    results: Results, out_dir: Path | None, verdict: Verdict | None = None, *, as_json: bool
) -> None:
    """Write and print results. A verdict says how far those of the real clock can be believed."""
    if out_dir is not None:
        results.write(out_dir)
    if as_json:
        told = (
            {"fingerprint": results.fingerprint, "violations": results.violations}
            if verdict is None
            else {"emulator": verdict.document()}
        )
        directory = None if out_dir is None else str(out_dir)
        print_json({**results.summary, **told, "out": directory})
    else:
        _print_summary(results, out_dir, verdict)
    warn(results.warnings())


def fields(settings: list[str] | None) -> list[tuple[str, str]]:
    """Return path and value of each ``--set``.

    Raises:
        typer.BadParameter: If one has no value, or a path is given twice.

    """
    found: dict[str, str] = {}
    for text in settings or []:
        path, separator, value = text.partition("=")
        if not (path and separator):
            raise typer.BadParameter(f'"{text}" is not PATH=VALUE: write it as duration="10 s"')
        if path in found:
            raise typer.BadParameter(f"{path} is set twice")
        found[path] = value
    return list(found.items())


def _changed(experiment: Scenario, settings: list[str] | None, seed: int | None) -> Scenario:
    for path, value in fields(settings):
        try:
            experiment = with_field(experiment, path, parse_value(value))
        except ScenarioError as error:
            # A name may have a comma.
            if "," not in value or len(parse_values(value)) == 1:
                raise
            raise ScenarioError(
                f"{error}; run takes one value of {path}: skywave sweep runs all of {value}"
            ) from None
    return experiment if seed is None else evolve(experiment, seed=seed)


def read(file: Path) -> Scenario:
    """Read a scenario from a file, or from standard input: TOML, or JSON if it begins with {."""
    if file != STANDARD_INPUT:
        return Scenario.from_file(file)
    try:
        text = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise ScenarioError(f"standard input is not text: {error.reason}") from error
    try:
        syntax: Literal["json", "toml"] = "json" if text.lstrip().startswith("{") else "toml"
        return Scenario.from_text(text, syntax, directory=".")
    except ScenarioError as error:
        # A syntax error names no field, so it needs the name of the file.
        if not str(error).startswith("not "):
            raise
        raise ScenarioError(f"standard input is {error}") from None


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
    is_file = scenario != STANDARD_INPUT
    found = inspect_file(scenario) if is_file else read(scenario).inspect()
    if as_json:
        print_json({"scenario": found.scenario, "routes": found.routes, "warnings": found.warnings})
        return
    console = out()
    name = escape(str(scenario)) if is_file else "standard input"
    console.print(f"{name}: valid. With all defaults:", style="bold")
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


def _print_summary(results: Results, out_dir: Path | None, verdict: Verdict | None = None) -> None:
    console = out()
    summary = results.summary
    how = (
        f"{summary['duration_s']:g} s simulated, {summary['events']:,} events, "
        f"seed {summary['seed']}, fingerprint {results.fingerprint}"
        if verdict is None
        else f"{summary['duration_s']:g} s in real time, seed {summary['seed']}"
    )
    console.print(f"[bold]{escape(summary['name'])}[/]: {how}")
    console.print(_flow_table(summary))
    console.print(_link_table(summary))
    for violation in results.violations:
        console.print(f"[red]physics:[/] {escape(violation)}", highlight=False)
    for line in () if verdict is None else verdict.lines():
        console.print(line, markup=False, highlight=False, soft_wrap=True)
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
