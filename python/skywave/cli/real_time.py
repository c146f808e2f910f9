"""Options of commands that run in real time."""

from __future__ import annotations

from typing import Annotated

import typer

SpinOption = Annotated[
    bool,
    typer.Option(
        "--spin", help="In real time, take a processor: packets leave within microseconds."
    ),
]
StrictOption = Annotated[
    bool,
    typer.Option(
        "--strict", help="Exit with status 3 if what ran in real time cannot be believed."
    ),
]
StrictMsOption = Annotated[
    float,
    typer.Option(
        metavar="MS", min=0.0, help="With --strict, the lateness of 99 % of packets, in ms."
    ),
]
