"""``skywave lab``."""

from __future__ import annotations

import secrets
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

PORT = 8377


def lab(
    scenario: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SCENARIO]", help="Scenario file to begin with, TOML or JSON (see examples/)."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes a free one.")
    ] = PORT,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
) -> None:
    """Open a page on which scenarios run while you watch them and turn their knobs.

    The page is served to this machine only. Ctrl-C ends it. Needs the extra skywave[lab].
    """
    try:
        from skywave.lab.server import LOOPBACK, application, listening, serve  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("skywave"):
            raise
        raise ValueError(
            f"{error.name} is not installed: pip install 'skywave[lab]' installs it"
        ) from None
    from skywave.lab.choices import of_file  # noqa: PLC0415

    first = None if scenario is None else of_file(scenario)
    bound = listening(port)
    port = bound.getsockname()[1]
    token = secrets.token_urlsafe(24)
    address = f"http://{LOOPBACK}:{port}/?token={token}"

    def ready() -> None:
        sys.stderr.write(f"The laboratory is at {address}\n")
        sys.stderr.flush()
        if browser:
            webbrowser.open(address)

    serve(application(token=token, port=port, first=first), bound, ready=ready)
