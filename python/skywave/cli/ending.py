"""How a command ends: with a status, and with a line if it has not done its work."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from skywave._errors import SkywaveError
from skywave._files import is_full
from skywave.cli.interrupts import Termination, interrupts
from skywave.cli.messages import open_closed_streams, printed_warnings, write_line
from skywave.cli.status import FAILED, INTERRUPTED, NOT_DONE, READER_GONE, TERMINATED


def end_with(call: Callable[[], object]) -> NoReturn:
    """Do what a command does, and end the process with its status, or that of its error."""
    # As `python -m` does: import controls that a scenario names from the current directory.
    if "" not in sys.path and not sys.flags.safe_path:
        sys.path.insert(0, "")
    open_closed_streams()
    termination = Termination()
    try:
        with printed_warnings(), interrupts() as termination:
            ended = call()
            sys.stdout.flush()
    except SystemExit as exit_:
        # So does typer end a command whose output nobody reads any more.
        if isinstance(exit_.__context__, BrokenPipeError):
            sys.exit(READER_GONE)
        raise
    except KeyboardInterrupt:
        ended = INTERRUPTED
    except _expected() as error:
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
    if ended in (INTERRUPTED, TERMINATED) and _runs_are_held():
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(ended)
    sys.exit(ended if isinstance(ended, int) else 0)


def _runs_are_held() -> bool:
    """Return whether a callback in Python, such as one that sleeps, holds a thread of a sweep."""
    parallel = sys.modules.get("skywave._parallel")
    return parallel is not None and parallel.are_held()


def _expected() -> tuple[type[Exception], ...]:
    """Return the errors that are one line. Typer's only exist if it has been imported."""
    typer = sys.modules.get("typer.exceptions")
    return (SkywaveError, ValueError, OSError, *([] if typer is None else [typer.TyperException]))


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and (error.filename or is_full(error)):
        return f"{error.filename or 'the output'}: {error.strerror}"
    # Of typer's errors, it has the name of the option.
    return str(getattr(error, "format_message", error.__str__)())


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
