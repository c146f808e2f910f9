"""Shared code of commands that open a page."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from skywave._errors import MissingExtraError

BrowserOption = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
]


@contextmanager
def lab_extra() -> Iterator[None]:
    """Raise a one-line error if an import fails for lack of the extra ``skywave[lab]``."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("skywave"):
            raise
        raise MissingExtraError("the page of skywave lab", "lab") from None


def announce(what: str, address: str, *, browser: bool) -> None:
    """Print the address of a page, and open it in the browser."""
    sys.stderr.write(f"{what} is at {address}\n")
    sys.stderr.flush()
    if browser:
        webbrowser.open(address)
