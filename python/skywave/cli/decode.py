"""``skywave decode``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from skywave import _core
from skywave._errors import CaptureError
from skywave.cli.application import command
from skywave.cli.console import JsonOption, out, print_json
from skywave.cli.messages import warn, write_line
from skywave.cli.status import FAILED

USUAL_CAUSE = (
    "the usual cause is checksum offload: captured on the sending host, before its network device"
    " fills in checksums"
)
app = typer.Typer()


@command(app, fails="the capture is corrupt after the frames that were printed")
def decode(
    capture: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Capture file: pcapng or classic pcap, optionally gzipped."
        ),
    ],
    udp_ports: Annotated[
        list[int] | None,
        typer.Option(
            "--extra-udp-port",
            metavar="PORT",
            min=1,
            max=65535,
            help="Additional UDP port to decode as DCCP over UDP (RFC 6773), besides 6511; "
            "repeatable.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the frames of a capture, one per line: time, protocol, size and contents.

    Marks packets with a wrong checksum; --json describes the mismatch. The usual cause is checksum
    offload: the capture was taken on the sending host, before its network device filled in the
    checksums.

    If the capture is truncated or still being written, prints the complete frames, then the error.

    Skips malformed comments, names and counters with a warning.
    """
    console = out()
    frames: list[_core.Frame] = []
    fault: CaptureError | None = None
    decoded: _core.Frames | None = None
    try:
        decoded = _core.decode_capture(capture.read_bytes(), udp_ports or ())
        for frame in decoded:
            frames.append(frame)
            if not as_json:
                line = f"{len(frames):5d} {frame['time_s']:.6f} s {frame['protocol']}"
                text = f"{line} {frame['bytes']} B  {escape(frame['text'])}"
                console.print(text, highlight=False, soft_wrap=True)
    except CaptureError as error:
        fault = error
    skipped = [] if decoded is None else decoded.skipped
    if as_json:
        document = {"file": str(capture), "frames": frames, "skipped": skipped}
        print_json({**document, "error": None if fault is None else str(fault)})
    warn(skipped)
    if wrong := sum(frame["wrong_checksum"] is not None for frame in frames):
        warn([f"{wrong:,} of {len(frames):,} frames have a bad checksum; {USUAL_CAUSE}"])
    if fault is not None and not frames:
        raise fault
    if fault is not None:
        write_line(f"error: {fault}")
        raise typer.Exit(FAILED)
