"""The command line, its commands and the status that each of their errors has."""

from __future__ import annotations

import platform
import sys
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from skywave._errors import NoSocketsError, SkywaveError
from skywave._files import is_full
from skywave.cli import status
from skywave.cli.application import print_help
from skywave.cli.console import open_closed_streams, printed_warnings, write_line
from skywave.cli.interrupts import Termination, interrupts
from skywave.cli.status import FAILED, INTERRUPTED, NOT_DONE, READER_GONE, TERMINATED

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        typer.echo(f"skywave {version('skywave')} (Python {platform.python_version()})")
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
    # As `python -m` does: import controls that a scenario names from the current directory.
    if "" not in sys.path and not sys.flags.safe_path:
        sys.path.insert(0, "")
    open_closed_streams()
    termination = Termination()
    try:
        with printed_warnings(), interrupts() as termination:
            ended = app(standalone_mode=False)
            sys.stdout.flush()
    except SystemExit as exit_:
        # So does typer end a command whose output nobody reads any more.
        if isinstance(exit_.__context__, BrokenPipeError):
            sys.exit(READER_GONE)
        raise
    except KeyboardInterrupt:
        ended = INTERRUPTED
    except (TyperException, SkywaveError, ValueError, OSError) as error:
        # A control in Python raised it, and its author needs the traceback.
        if hasattr(error, "__notes__") and not isinstance(error, SkywaveError):
            raise
        write_line(f"error: {' '.join(_message(error).split())}")
        sys.exit(FAILED if _is_failure(error) else NOT_DONE)
    if ended == INTERRUPTED and termination.is_asked:
        ended = TERMINATED
        sys.stderr.write("terminated\n")
    elif ended == INTERRUPTED:
        sys.stderr.write("interrupted\n")
    sys.exit(ended if isinstance(ended, int) else 0)


def _message(error: Exception) -> str:
    if isinstance(error, TyperException):
        return error.format_message()
    if isinstance(error, OSError) and error.strerror and (error.filename or is_full(error)):
        return f"{error.filename or 'the output'}: {error.strerror}"
    return str(error)


def _is_failure(error: Exception) -> bool:
    """Return whether an error is of something that had begun, rather than of its requirements."""

    def is_one(module: str, *names: str) -> bool:
        # Most commands never import it, and need not for an error of another kind.
        there = sys.modules.get(module)
        return there is not None and isinstance(
            error, tuple(getattr(there, name) for name in names)
        )

    if is_one("skywave.net.errors", "AddressInUseError", "NoPermissionError"):
        return False
    return (
        isinstance(error, TimeoutError)
        # Results that there is no room for are lost.
        or (isinstance(error, OSError) and is_full(error))
        or is_one("skywave.net.errors", "NetError")
        or is_one("skywave.sweeps.cluster", "ClusterError")
    )
