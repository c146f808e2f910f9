"""``skywave decode``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from skywave import _core
from skywave.cli.console import JsonOption, out, print_json


def decode(
    capture: Annotated[
        Path, typer.Argument(metavar="FILE", help="Capture file, pcapng or classic pcap.")
    ],
    udp_ports: Annotated[
        list[int] | None,
        typer.Option(
            "--udp-port",
            metavar="PORT",
            min=1,
            max=65535,
            help="A further UDP port of DCCP over UDP (RFC 6773), besides 6511; repeatable.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the frames of a capture, one per line: time, protocol, size and contents.

    A packet whose checksum does not match is marked. The usual cause is checksum offload: the
    capture was taken on the sending host, whose network device fills in checksums afterwards.
    """
    frames = _core.decode_capture(capture.read_bytes(), udp_ports or ())
    if as_json:
        print_json({"file": str(capture), "frames": frames})
        return
    console = out()
    for number, frame in enumerate(frames, start=1):
        line = f"{number:5d} {frame['time_s']:.6f} s {frame['protocol']} {frame['bytes']} B"
        console.print(f"{line}  {escape(frame['text'])}", highlight=False, soft_wrap=True)
