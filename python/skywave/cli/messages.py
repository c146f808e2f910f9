"""Lines on stderr: errors and warnings."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def warn(messages: Iterable[str]) -> None:
    """Print warnings on stderr, one line each; on a terminal, lines end between words."""
    for message in messages:
        write_line(f"warning: {' '.join(message.split())}")


def write_line(line: str) -> None:
    """Write a line on stderr, broken between words where a terminal ends."""
    if sys.stderr.isatty():
        import shutil  # noqa: PLC0415  (with textwrap, it takes a tenth of the start)
        import textwrap  # noqa: PLC0415

        columns = shutil.get_terminal_size().columns
        line = textwrap.fill(line, columns, break_long_words=False, break_on_hyphens=False)
    # There is no other place for it.
    with suppress(OSError):
        sys.stderr.write(f"{line}\n")


def open_closed_streams() -> None:
    """Open the standard streams that the caller has closed, as a null device.

    Otherwise the next file that is opened would take the place of one of them.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115  (until the end)


@contextmanager
def printed_warnings() -> Iterator[None]:
    """Print the library's warnings as :func:`warn` does; those of others are for tests."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: warn([str(message)])
        yield
