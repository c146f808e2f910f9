"""``skywave check`` and ``skywave schema``, and the arguments of commands with a scenario."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote

import typer
from rich.markup import escape

from skywave import _core
from skywave._errors import ScenarioError
from skywave.cli.application import command
from skywave.cli.console import JsonOption, out, print_json
from skywave.cli.messages import warn
from skywave.scenario import Scenario
from skywave.scenario.experiment import inspect_file, message_about
from skywave.scenario.paths import parse_value, parse_values, with_field

STANDARD_INPUT = Path("-")
MOST_ROUTES = 100
"""The most routes that are printed in text form."""

ScenarioFile = Annotated[
    Path,
    typer.Argument(
        metavar="SCENARIO",
        help="Scenario file, TOML or JSON (see examples/); - for standard input.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Write all tables as Parquet and CSV, and totals.json. Replaces the results of an "
        "earlier run; refuses a directory with any other contents.",
    ),
]
CaptureOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LINK=FILE",
        help="Capture the packets of a link to a pcapng file for Wireshark, e.g. "
        '"r1->r2=out.pcapng"; repeatable.',
    ),
]
QlogOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Write the sender's events of each flow to DIR/FLOW.sqlog, for qvis."
    ),
]
app = typer.Typer()


@dataclass(frozen=True)
class Changes:
    """Options that change a scenario."""

    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=VALUE",
            help="Override a field, e.g. seed=2, duration='10 s' or \"flows[*].start=5 s\"; "
            "repeatable.",
        ),
    ] = None
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Override the scenario's seed.")
    ] = None

    def read(self, file: Path) -> Scenario:
        """Read a scenario, and change it."""
        experiment = read(file)
        for path, value in fields(self.settings):
            try:
                experiment = with_field(experiment, path, parse_value(value))
            except ScenarioError as error:
                # A name may have a comma.
                if "," not in value or len(parse_values(value)) == 1:
                    raise
                raise ScenarioError(
                    f"{error}; run takes one value of {path}: skywave sweep runs all of {value}"
                ) from None
        return experiment if self.seed is None else experiment.replace(seed=self.seed)

    def warn_about(self, experiment: Scenario, file: Path, *, in_real_time: bool = False) -> None:
        """Print the warnings about a scenario that was read from a file and changed.

        If it runs in real time, omit those that concern simulations only.
        """
        # Reading an unchanged file again gives warnings their line. A pipe has been read.
        again = not self.settings and file.is_file()
        found = inspect_file(file) if again else experiment.inspect()
        left_out = found.simulation_warnings if in_real_time else ()
        warn(warning for warning in found.warnings if warning not in left_out)


@command(app)
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


@command(app)
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors and other programs.

    See docs/scenario.md for use in an editor.
    """
    print_json(json.loads(_core.scenario_schema()))


def fields(settings: list[str] | None) -> list[tuple[str, str]]:
    """Return path and value of each ``--set``."""
    found: dict[str, str] = {}
    for text in settings or []:
        path, separator, value = text.partition("=")
        if not (path and separator):
            raise typer.BadParameter(f'"{text}" is not PATH=VALUE: write it as duration="10 s"')
        if path in found:
            raise typer.BadParameter(f"{path} is set twice")
        found[path] = value
    return list(found.items())


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


def captures_of(given: list[str] | None) -> dict[str, str]:
    """Return the file of each link that ``--capture`` gives."""
    captures: dict[str, str] = {}
    for text in given or ():
        link, separator, file = text.partition("=")
        if not (link and separator and file):
            raise typer.BadParameter(f'"{text}" is not LINK=FILE: write it as "r1->r2=out.pcapng"')
        if link in captures or file in captures.values():
            raise typer.BadParameter(f'"{text}": give each link one file, and each file one link')
        captures[link] = file
    return captures


def qlogs_of(directory: Path | None, experiment: Scenario) -> dict[str, str]:
    """Return the file of each flow. A name may have characters that a file's may not have."""
    if directory is None:
        return {}
    return {
        flow.name: str(directory / f"{quote(flow.name, safe=' ')}.sqlog")
        for flow in experiment.flows
    }
