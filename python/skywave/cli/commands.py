"""The command line, its commands and the status that each of their errors has."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from skywave._errors import NoSocketsError
from skywave.cli import status
from skywave.cli.application import print_help
from skywave.cli.ending import end_with
from skywave.cli.version import print_version

COMMANDS = {
    "run": "run",
    "check": "scenario",
    "schema": "scenario",
    "realtime": "realtime",
    "sweep": "sweep",
    "compare": "compare",
    "plot": "plot",
    "papers": "reproduce",
    "reproduce": "reproduce",
    "matrix": "matrix",
    "emulate": "emulate",
    "lab": "lab",
    "bench": "bench",
    "listen": "net.listen",
    "send": "net.send",
    "ping": "net.ping",
    "perf": "net.perf",
    "decode": "decode",
}
"""All commands in the order of ``--help``, with the modules of ``skywave.cli`` that define them."""


def command_line(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """Return the command line with these commands; only their modules are imported."""
    app = typer.Typer(
        name="skywave",
        help="DCCP on real networks, and a congestion-control laboratory: run network experiments "
        "and reproduce papers.",
        invoke_without_command=True,
        # Otherwise lines are broken where the source breaks them, and again where the terminal
        # ends.
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog=status.ALL,
    )
    app.callback()(_main)
    for module in dict.fromkeys(COMMANDS[name] for name in names):
        _add(app, module)
    return app


def _add(app: typer.Typer, module: str) -> None:
    try:
        app.add_typer(import_module(f"skywave.cli.{module}").app)
    except NoSocketsError:
        whatever_is_given = {"ignore_unknown_options": True, "allow_extra_args": True}
        name = module.rpartition(".")[2]
        app.command(name=name, context_settings=whatever_is_given)(_without_sockets)


def _without_sockets() -> None:
    """Not available: this build of Skywave has no sockets."""
    raise NoSocketsError


def __getattr__(name: str) -> typer.Typer:
    """Return ``app``, the command line with all commands."""
    if name == "app":
        return command_line()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _print_version(asked: bool) -> None:
    if asked:
        print_version()
        raise typer.Exit


def _main(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version of Skywave.",
        ),
    ] = False,
) -> None:
    print_help(context)


def main() -> NoReturn:
    """Run the command line and end the process with its status."""
    asked = sys.argv[1] if len(sys.argv) > 1 else ""
    if asked in COMMANDS:
        run(command_line([asked]))
    # What is in front of a command, or in its place, may need all of them: --help, a suggestion.
    run(command_line([] if asked == "--version" else COMMANDS))


def run(app: typer.Typer) -> NoReturn:
    """Run a command line as ours, and end the process with its status."""
    end_with(partial(app, standalone_mode=False))
