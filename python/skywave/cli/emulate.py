"""``skywave emulate``: a program behind an emulated link."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from skywave._core import Duration
from skywave._files import read_text
from skywave.cli.application import command
from skywave.cli.console import JsonOption, SpinOption, StrictOption
from skywave.realtime.link.launch import Request, launch
from skywave.realtime.privileges import LaunchError

app = typer.Typer()


@command(app, strict=True)
def emulate(
    link: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
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
        int, typer.Option(metavar="N", min=0, help="Seed for random losses, jitter and queues.")
    ] = 0,
    spin: SpinOption = False,
    strict: StrictOption = None,
    interval: Annotated[
        Duration | None,
        typer.Option("--interval", "-i", help='Report on the link at this interval, e.g. "1 s".'),
    ] = None,
    capture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Capture the packets that arrive at either end to a pcapng file for Wireshark, "
            "with the link's timestamps.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a program behind an emulated link, in real time (Linux).

    The program runs in its own network namespace, and the link's forward direction leads away from
    it. At the other end is this host, or the program given with --peer. Each program finds the
    other's address in SKYWAVE_PEER (IPv4) and SKYWAVE_PEER6. When the program exits, a report on
    stderr gives the link's counters and the lateness of its packets. With --json the report is on
    stdout, and both programs write to stderr.

    Exits with the status of the program, or 127 if it cannot be started.

    Both programs also run in a process namespace, so their child processes end with them.
    """
    if interval is not None and not interval.seconds:
        raise typer.BadParameter(f'--interval is "{interval}": give a time, such as "1 s"')
    from skywave import _core  # noqa: PLC0415  (not on all systems)

    if not hasattr(_core, "check_emulated_link"):
        raise LaunchError(
            "emulation needs Linux, and the extension built with its default features"
        )
    text = read_text(link)
    _core.check_emulated_link(text, str(link.parent))
    request = Request(
        link=text,
        directory=str(link.parent.absolute()),
        command=tuple(command or [os.environ.get("SHELL", "/bin/sh")]),
        peer=None if peer is None else tuple(shlex.split(peer)),
        seed=seed,
        spin=spin,
        strict_ms=None if strict is None else 1e3 * strict.seconds,
        interval_s=None if interval is None else interval.seconds,
        capture=None if capture is None else str(capture.absolute()),
        as_json=as_json,
    )
    raise typer.Exit(launch(request))
