"""``skywave lab``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from skywave.cli.page import BrowserOption, announce, lab_extra

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
    browser: BrowserOption = True,
) -> None:
    r"""Open a page on which scenarios run while you watch them and turn their knobs.

    The page is served to this machine only. Ctrl-C ends it. Needs the extra skywave\[lab].
    """
    with lab_extra():
        from skywave.lab.server import application  # noqa: PLC0415
        from skywave.lab.site import served  # noqa: PLC0415
    from skywave.lab.choices import of_file  # noqa: PLC0415

    first = None if scenario is None else of_file(scenario)
    with served(partial(application, first=first), port=port) as page:
        announce("The laboratory", page.address, browser=browser)
        page.wait()
