"""``skywave lab``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from skywave.cli.application import command
from skywave.cli.console import announce, lab_extra

PORT = 8377
app = typer.Typer()


@command(app)
def lab(
    scenario: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SCENARIO]", help="Scenario file to open, TOML or JSON (see examples/)."
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="Local port to listen on; 0 picks a free one."
        ),
    ] = PORT,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
) -> None:
    r"""Open a page to run scenarios, watch them live and turn their knobs.

    Serves the page on this machine only, until Ctrl-C. Requires the extra skywave\[lab].
    """
    with lab_extra():
        from skywave.lab.server import application  # noqa: PLC0415
        from skywave.lab.site import served  # noqa: PLC0415
    from skywave.lab.choices import of_file  # noqa: PLC0415

    first = None if scenario is None else of_file(scenario)
    with served(partial(application, first=first), port=port) as page:
        announce("The laboratory", page.address, browser=browser)
        page.wait()
