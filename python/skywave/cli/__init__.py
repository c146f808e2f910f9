"""The command ``skywave``.

Results go to stdout, as tables or, with ``--json``, as one JSON document. Progress, warnings and
errors go to stderr. An error is one line, ``error: ...``. ``status`` has the exit statuses.

``commands`` has the command line. It is imported only after signals are taken care of.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from skywave._errors import SkywaveError

if TYPE_CHECKING:
    from skywave.cli.commands import COMMANDS, app, command_line, run

    __all__ = ["COMMANDS", "app", "command_line", "main", "run"]

_OF_COMMANDS = ("COMMANDS", "app", "command_line", "run")


def __getattr__(name: str) -> object:
    """Return a name of ``commands``, which is imported on first use."""
    if name in _OF_COMMANDS:
        return getattr(import_module("skywave.cli.commands"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> NoReturn:
    """Run the command line and end the process with its status."""
    from skywave.cli.interrupts import end_at_once_on_signals  # noqa: PLC0415  (before all else)

    end_at_once_on_signals()
    from skywave.cli import ending  # noqa: PLC0415  (as above)

    try:
        if sys.argv[1:] == ["--version"]:
            from skywave.cli import version  # noqa: PLC0415  (as above)
        else:
            from skywave.cli import commands  # noqa: PLC0415  (takes most of the start)
    except SkywaveError as error:  # SKYWAVE_CORE names no extension
        ending.end_with(partial(_refuse, error))
    if sys.argv[1:] == ["--version"]:
        ending.end_with(version.print_version)
    commands.main()


def _refuse(error: SkywaveError) -> NoReturn:
    raise error
