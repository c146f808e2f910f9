"""Options of commands that run in real time."""

from __future__ import annotations

from typing import Annotated

import typer

from skywave._core import Duration

SpinOption = Annotated[
    bool,
    typer.Option(
        "--spin",
        help="Busy-wait on one processor, so that packets leave within microseconds.",
    ),
]
StrictOption = Annotated[
    Duration | None,
    typer.Option(
        "--strict",
        help="Exit with status 3 if more than 1 % of packets left later than this, e.g. "
        '"1 ms", or if the timing has another warning.',
    ),
]
