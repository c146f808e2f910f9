"""``skywave emulate``: a program behind an emulated link."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from skywave._files import read_text
from skywave.cli.real_time import SpinOption, StrictMsOption, StrictOption, allowed_ms
from skywave.realtime.link.launch import launch
from skywave.realtime.link.request import Request
from skywave.realtime.privileges import LaunchError


def emulate(
    link: Annotated[
        Path,
        typer.Argument(
            exists=True,
            dir_okay=False,
            help="Link description in TOML: the fields of a scenario link, without from and to.",
        ),
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND ...]", help="Program to run. Default: a shell.", show_default=False
        ),
    ] = None,
    peer: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Program to run at the far end. Default: this host (requires root).",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed for random losses, jitter and queues.")
    ] = 0,
    spin: SpinOption = False,
    strict: StrictOption = False,
    strict_ms: StrictMsOption = None,
    live: Annotated[bool, typer.Option("--live", help="Print a status line every second.")] = False,
    capture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Capture the packets that arrive at either end to a pcapng file for Wireshark, "
            "with the link's timestamps.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON on stderr.")
    ] = False,
) -> None:
    """Run a program behind an emulated link, in real time (Linux).

    The program runs in its own network namespace, and the link's forward direction leads away from
    it. At the other end is this host, or the program given with --peer. Each program finds the
    other's address in SKYWAVE_PEER (IPv4) and SKYWAVE_PEER6. When the program exits, a report on
    stderr gives the link's counters and the lateness of its packets.

    Both programs also run in a process namespace, so their child processes end with them.
    """
    from skywave import _core  # noqa: PLC0415  (not on all systems)

    if not hasattr(_core, "check_emulated_link"):
        raise LaunchError(
            "emulation needs Linux, and the extension built with its default features"
        )
    late_ms = allowed_ms(strict, strict_ms)
    text = read_text(link)
    _core.check_emulated_link(text, str(link.parent))
    request = Request(
        link=text,
        directory=str(link.parent.absolute()),
        command=tuple(command or [os.environ.get("SHELL", "/bin/sh")]),
        peer=None if peer is None else tuple(shlex.split(peer)),
        seed=seed,
        spin=spin,
        strict_ms=late_ms,
        live=live,
        capture=None if capture is None else str(capture.absolute()),
        as_json=as_json,
    )
    raise typer.Exit(launch(request))
