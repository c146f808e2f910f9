"""Options of commands that run in real time."""

from __future__ import annotations

from typing import Annotated

import typer

from skywave.realtime.accuracy import STRICT_MS

SpinOption = Annotated[
    bool,
    typer.Option(
        "--spin",
        help="In real time, busy-wait on one processor, so that packets leave within microseconds.",
    ),
]
StrictOption = Annotated[
    bool,
    typer.Option("--strict", help="Exit with status 3 if real-time timing was too inaccurate."),
]
StrictMsOption = Annotated[
    float | None,
    typer.Option(
        metavar="MS",
        min=0.0,
        help=f"With --strict, allowed lateness of 99 % of packets, in ms. Default: {STRICT_MS:g}.",
        show_default=False,
    ),
]


def allowed_ms(strict: bool, strict_ms: float | None) -> float | None:
    """Return the lateness that 99 % of packets may have, in ms; None without ``--strict``.

    Raises:
        typer.BadParameter: If a lateness is given without ``--strict``.

    """
    if strict:
        return STRICT_MS if strict_ms is None else strict_ms
    if strict_ms is not None:
        raise typer.BadParameter("--strict-ms needs --strict: give it too")
    return None
