"""Captures of the wire by tcpdump, judged by tshark."""

from __future__ import annotations

import hashlib
import signal
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.linux.namespace import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from validation.linux.namespace import Namespace

FILTER = "ip proto 33 or ip6 proto 33"

TYPES = (
    "Request",
    "Response",
    "Data",
    "Ack",
    "DataAck",
    "CloseReq",
    "Close",
    "Reset",
    "Sync",
    "SyncAck",
)
"""Packet types by number (RFC 4340 section 5.1)."""

CARRIERS = ("Request", "Response", "Data", "DataAck")
"""Types whose data is the application's. A Sync may be padded to find out the path's MTU (RFC 4340
sections 5.7 and 14.1)."""

GUESSER = "netperfmeter"
"""The one dissector that guesses at what DCCP's datagrams hold; ours hold random bytes."""

GOOD_CHECKSUM = "1"

# Severities of tshark's expert information (epan/proto.h).
CHAT = 0x200000
NOTE = 0x400000
WARN = 0x600000

ALLOWED_NOTES: dict[str, str] = {}
"""Expert notes that a right connection may have, by message, each with the reason."""

FIELDS = (
    "frame.number",
    "frame.time_epoch",
    "ip.src",
    "ipv6.src",
    "dccp.type",
    "dccp.reset_code",
    "dccp.seq_raw",
    "dccp.ack_raw",
    "dccp.checksum.status",
    "_ws.expert.severity",
    "_ws.expert.message",
    "_ws.malformed",
    "dccp.option_reserved",
    "dccp.option_unknown",
    "data.data",
)


@dataclass(frozen=True)
class Packet:
    """A captured packet, as tshark reads it."""

    number: int
    source: str
    type: str
    reset_code: int | None = None
    digest: str | None = None
    """First 16 digits of the datagram's SHA-256; ``None`` without a datagram."""
    complaints: tuple[str, ...] = ()
    """What is wrong with it."""
    time_s: float = 0.0
    sequence: int | None = None
    """The number as on the wire, of 24 or 48 bits."""
    acknowledges: int | None = None
    """The same of its Acknowledgement Number."""


@contextmanager
def capture(space: Namespace, device: str, file: Path) -> Iterator[None]:
    """Write the DCCP packets that pass a device of the namespace into a file, as they pass."""
    options = ["-U", "--immediate-mode", "-n", "-Z", "root", "-s", "0"]
    process = subprocess.Popen(
        space.command("tcpdump", *options, "-i", device, "-w", file, FILTER),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        said = []
        for line in process.stderr or ():
            said.append(line)
            if "listening on" in line:
                break
        else:
            raise LabError(f"tcpdump: {''.join(said).strip()}")
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def read(file: Path, port: int) -> list[Packet]:
    """Return the packets of a capture that come from or go to a DCCP port."""
    command = [
        *("tshark", "-n", "-r", str(file), "-o", "dccp.check_checksum:TRUE"),
        *("--disable-protocol", GUESSER),
        # A malformed packet may have no port left to filter by.
        *("-Y", f"dccp.port == {port} or _ws.malformed or not dccp"),
        *("-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=|"),
        *(word for field in FIELDS for word in ("-e", field)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"tshark: {done.stderr.strip()[:500]}")
    return [_packet(line.split("\t")) for line in done.stdout.splitlines()]


def _packet(fields: list[str]) -> Packet:
    row = dict(zip(FIELDS, fields, strict=True))
    type_ = TYPES[int(row["dccp.type"])] if row["dccp.type"] else "unreadable"
    data = bytes.fromhex(row["data.data"].replace(":", "")) if type_ in CARRIERS else b""
    return Packet(
        number=int(row["frame.number"]),
        source=row["ip.src"] or row["ipv6.src"],
        type=type_,
        reset_code=_number(row["dccp.reset_code"]),
        digest=hashlib.sha256(data).hexdigest()[:16] if data else None,
        complaints=tuple(_complaints(row)),
        time_s=float(row["frame.time_epoch"]),
        sequence=_number(row["dccp.seq_raw"]),
        acknowledges=_number(row["dccp.ack_raw"]),
    )


def _number(text: str) -> int | None:
    return int(text) if text else None


def _complaints(row: dict[str, str]) -> Iterator[str]:
    if row["dccp.checksum.status"] != GOOD_CHECKSUM:
        yield "its checksum is wrong"
    if row["_ws.malformed"]:
        yield f"malformed: {row['_ws.malformed']}"
    for option in ("reserved", "unknown"):
        if row[f"dccp.option_{option}"]:
            yield f"{option} option"
    messages = row["_ws.expert.message"].split("|")
    severities = row["_ws.expert.severity"].split("|")
    for severity, message in zip(severities, messages, strict=False):
        if severity and int(severity) > CHAT and message not in ALLOWED_NOTES:
            yield f"expert {'note' if int(severity) == NOTE else 'warning'}: {message}"
