"""The command ``skywave``.

Results go to stdout, as tables or, with ``--json``, as one JSON document. Progress, warnings and
errors go to stderr. An error is one line, ``error: ...``. The exit status is 2 if the input is
wrong, 1 if the network fails, 3 if ``--strict`` is not met, 130 after Ctrl-C, 143 after SIGTERM,
and 141 if the reader of the output has gone, as of a program that SIGPIPE ends.
"""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from skywave._core import CaptureError, ScenarioError
from skywave.bench.measured import BenchError
from skywave.cli import (
    bench,
    compare,
    decode,
    emulate,
    lab,
    matrix,
    net,
    plot,
    reproduce,
    scenario,
    sweep,
    version,
)
from skywave.cli.console import printed_warnings, write_line
from skywave.cli.interrupts import Termination, termination_interrupts
from skywave.papers.installed import PaperError
from skywave.realtime.privileges import LaunchError
from skywave.sweeps.cluster import ClusterError

NETWORK_FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130
READER_GONE = 141
TERMINATED = 143
ON_THE_NETWORK: tuple[type[Exception], ...] = (*net.FAILURES, ClusterError, LaunchError)

app = typer.Typer(
    name="skywave",
    help="DCCP on real networks, and a congestion-control laboratory: run network experiments and "
    "reproduce papers.",
    invoke_without_command=True,
    # Otherwise lines are broken where the source breaks them, and again where the terminal ends.
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        version.version()
        raise typer.Exit


@app.callback()
def _help(
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
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command(name="run")(scenario.run)
app.command(name="check")(scenario.check)
app.command(name="sweep")(sweep.sweep)
app.command(name="schema")(scenario.schema)
app.command(name="compare")(compare.compare)
app.command(name="plot")(plot.plot)
app.command(name="reproduce")(reproduce.reproduce)
app.command(name="emulate")(emulate.emulate)
app.command(name="matrix")(matrix.matrix)
app.command(name="lab")(lab.lab)
app.command(name="bench")(bench.bench)
net.add_to(app)
app.command(name="decode")(decode.decode)
app.command(name="version")(version.version)


def main() -> NoReturn:
    """Run the command line and end the process with its status."""
    run(app)


def run(command: typer.Typer) -> NoReturn:
    """Run a command line as ours, and end the process with its status."""
    # As `python -m` does: import controls that a scenario names from the current directory.
    if "" not in sys.path and not sys.flags.safe_path:
        sys.path.insert(0, "")
    termination = Termination()
    try:
        with printed_warnings(), termination_interrupts() as termination:
            status = command(standalone_mode=False)
    except TyperException as error:
        _fail(error.format_message())
    except (ScenarioError, CaptureError, BenchError, PaperError) as error:
        _fail(str(error))
    except ON_THE_NETWORK as error:
        _fail(str(error), NETWORK_FAILED)
    except (ValueError, OSError) as error:
        # A control in Python raised it, and its author needs the traceback.
        if hasattr(error, "__notes__"):
            raise
        if isinstance(error, ValueError):
            _fail(str(error))
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except SystemExit as ended:
        # So does typer end a command whose output nobody reads any more.
        if isinstance(ended.__context__, BrokenPipeError):
            sys.exit(READER_GONE)
        raise
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status == INTERRUPTED and termination.is_asked:
        status = TERMINATED
        sys.stderr.write("terminated\n")
    elif status == INTERRUPTED:
        sys.stderr.write("interrupted\n")
    sys.exit(status if isinstance(status, int) else 0)


def _fail(message: str, status: int = BAD_INPUT) -> NoReturn:
    write_line(f"error: {' '.join(message.split())}")
    sys.exit(status)
