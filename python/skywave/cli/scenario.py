"""``skywave run``, ``skywave check`` and ``skywave schema``."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar
from urllib.parse import quote

import typer
from attrs import evolve
from rich.markup import escape

from skywave import _core, _simulate
from skywave._errors import ScenarioError
from skywave._files import made_directory
from skywave._folders import Kind
from skywave._progress import stage
from skywave.cli.blocks import Column, print_in_blocks
from skywave.cli.console import JsonOption, out, prepare_folder, print_json, progress_bar, warn
from skywave.cli.real_time import SpinOption, StrictMsOption, StrictOption, allowed_ms
from skywave.scenario import Scenario
from skywave.scenario.experiment import inspect_file, message_about
from skywave.scenario.paths import parse_value, parse_values, with_field

if TYPE_CHECKING:
    from rich.console import Console

    from skywave.realtime import RunAccuracy
    from skywave.results import Results, Totals

Row = TypeVar("Row")

PHYSICS_VIOLATED = 1
STANDARD_INPUT = Path("-")
MOST_ROUTES = 100
"""The most routes that are printed in text form."""
MOST_ROWS = 100
"""The most flows, and the most links, of a table: laying out more takes longer than simulating."""

ScenarioFile = Annotated[
    Path,
    typer.Argument(
        metavar="SCENARIO",
        help="Scenario file, TOML or JSON (see examples/); - for standard input.",
    ),
]


SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Override a field, e.g. seed=2, duration='10 s' or \"flows[*].start=5 s\"; "
        "repeatable.",
    ),
]
SeedOption = Annotated[int | None, typer.Option(min=0, help="Override the scenario's seed.")]


def run(
    scenario: ScenarioFile,
    settings: SetOption = None,
    seed: SeedOption = None,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write all tables as Parquet and CSV, and totals.json. Replaces the results of "
            "an earlier run; refuses a directory with any other contents.",
        ),
    ] = None,
    capture: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LINK=FILE",
            help="Capture the packets of a link to a pcapng file for Wireshark, e.g. "
            '"r1->r2=out.pcapng"; repeatable.',
        ),
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the sender's events of each flow to DIR/FLOW.sqlog, for qvis.",
        ),
    ] = None,
    verify_physics: Annotated[
        bool,
        typer.Option(
            "--verify-physics",
            help="After the run, verify that no packet vanished, was reordered or travelled faster "
            "than its link allows. Exit with status 1 on a violation.",
        ),
    ] = False,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Run in real time, between real sockets in network namespaces (Linux).",
        ),
    ] = False,
    both: Annotated[
        bool,
        typer.Option(
            "--both", help="Run both in simulated and in real time, and compare the results."
        ),
    ] = False,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="With --both, number of runs on each clock, one per seed. Default: 1.",
            show_default=False,
        ),
    ] = None,
    dccp_over_udp: Annotated[
        bool,
        typer.Option("--dccp-over-udp", help="In real time, encapsulate DCCP in UDP (RFC 6773)."),
    ] = False,
    spin: SpinOption = False,
    strict: StrictOption = False,
    strict_ms: StrictMsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario and print totals of its flows and links.

    Runs in simulated time, unless --live or --both is given.
    """
    on_one_clock = {"--capture": bool(capture), "--qlog": qlog is not None}
    in_real_time = {"--dccp-over-udp": dccp_over_udp, "--spin": spin, "--strict": strict}
    _refuse(live and both, "--live and --both are two things: give one of them")
    _refuse(runs is not None and not both, "--runs needs --both: --seed chooses a single run")
    for option, is_given in in_real_time.items():
        _refuse(is_given and not (live or both), f"{option} needs --live or --both")
    for option, is_given in on_one_clock.items():
        _refuse(
            is_given and both, f"{option} is for runs on one clock: leave it out, or use --live"
        )
    _refuse(
        verify_physics and (live or both),
        "--verify-physics is for simulations: a real clock is late",
    )
    late_ms = allowed_ms(strict, strict_ms)
    captures = _captures(capture or [])
    if live or both:
        from skywave.cli.live import RealClock  # noqa: PLC0415  (not for simulations)
        from skywave.realtime.privileges import acquire  # noqa: PLC0415  (as above)

        # Standard input is still to be read if the command begins anew.
        acquire()
        clock = RealClock(dccp_over_udp, spin, late_ms)
    if out_dir is not None:
        prepare_folder(out_dir, Kind.RUN)
    experiment = _changed(read(scenario), settings, seed)
    if both:
        clock.compare(experiment, runs or 1, out_dir, as_json=as_json)
        return
    with nullcontext() if qlog is None else made_directory(qlog):
        qlogs = {} if qlog is None else _qlogs(qlog, experiment)
        if live:
            finished = clock.run(experiment, captures, qlogs)
        else:
            # Reading an unchanged file again gives errors their line. A pipe has been read.
            again = not settings and scenario.is_file()
            warn((inspect_file(scenario) if again else experiment.inspect()).warnings)
            results = _simulated(experiment, captures, qlogs, verify_physics=verify_physics)
    if live:
        _present(finished.results, out_dir, finished.accuracy, as_json=as_json)
        if finished.is_interrupted:
            raise KeyboardInterrupt
        clock.judge(finished)
        return
    _present(results, out_dir, as_json=as_json)
    if results.violations:
        raise typer.Exit(PHYSICS_VIOLATED)


def _refuse(wrong: bool, message: str) -> None:
    if wrong:
        raise typer.BadParameter(message)


def _simulated(
    experiment: Scenario, captures: dict[str, str], qlogs: dict[str, str], *, verify_physics: bool
) -> Results:
    with progress_bar() as show:
        return _simulate.run(
            experiment,
            progress=stage(show, experiment.name),
            captures=captures,
            qlogs=qlogs,
            verify_physics=verify_physics,
        )


def _present(
    results: Results, out_dir: Path | None, accuracy: RunAccuracy | None = None, *, as_json: bool
) -> None:
    """Print and write results, with the accuracy of a run in real time."""
    # Either may fail after a long run: a pipe that nobody reads, a full disk.
    try:
        if as_json:
            told = (
                {"fingerprint": results.fingerprint, "violations": results.violations}
                if accuracy is None
                else {"accuracy": accuracy.document()}
            )
            directory = None if out_dir is None else str(out_dir)
            print_json({**results.totals, **told, "out": directory})
        else:
            _print_summary(results, accuracy)
    finally:
        if out_dir is not None:
            results.write(out_dir)
    if out_dir is not None and not as_json:
        out().print(f"Tables: {escape(str(out_dir))}", soft_wrap=True)
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
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"standard input is not text in UTF-8 ({error.reason})"
        raise ScenarioError(message) from error
    syntax: Literal["json", "toml"] = "json" if text.lstrip().startswith("{") else "toml"
    try:
        return Scenario.from_text(text, syntax, directory=".")
    except ScenarioError as error:
        raise ScenarioError(message_about("standard input", text, syntax, error)) from None


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
    return {
        flow.name: str(directory / f"{quote(flow.name, safe=' ')}.sqlog")
        for flow in experiment.flows
    }


def check(scenario: ScenarioFile, as_json: JsonOption = False) -> None:
    """Check a scenario without running it, and print it with all defaults and routes.

    The defaults include those set by a profile or a control. Warns about flows with several routes
    of equal length, and about settings that are probably mistakes.
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

    See docs/scenario.md for use in an editor.
    """
    print_json(json.loads(_core.scenario_schema()))


def _print_summary(results: Results, accuracy: RunAccuracy | None) -> None:
    console = out()
    totals = results.totals
    how = (
        f"{totals['duration_s']:g} s simulated, {totals['events']:,} events, "
        f"seed {totals['seed']}, fingerprint {results.fingerprint}"
        if accuracy is None
        else f"{totals['duration_s']:g} s in real time, seed {totals['seed']}"
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
        f"{MOST_ROWS} of {len(rows):,} {what} are shown; --json and --out have all",
        highlight=False,
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
