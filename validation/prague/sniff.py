"""Write when IP packets leave this namespace, by the kernel's stamps, on the monotonic clock.

usage: sniff.py FILE SECONDS

FILE gets a line for each outgoing IPv4 packet: seconds, length, its first 48 bytes in hexadecimal.
"""

from __future__ import annotations

import socket
import struct
import sys
import time
from pathlib import Path
from typing import TextIO

ETH_P_ALL = 3
SO_TIMESTAMPNS = 35
HEAD = 48


def day_less_monotonic_ns() -> int:
    """Return by how much the clock of the day, which may be set, is ahead of the monotonic one."""
    while True:
        before, day, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        if after - before < 20_000:
            return day - (before + after) // 2


def sniff(out: TextIO, seconds: float) -> None:
    """Write a line for each packet that leaves within a time."""
    end = time.monotonic() + seconds
    ahead_ns, renew = day_less_monotonic_ns(), 0.0
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL)) as raw:
        raw.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        raw.settimeout(0.2)
        while (now := time.monotonic()) < end:
            if now > renew:
                ahead_ns, renew = day_less_monotonic_ns(), now + 0.1
            try:
                data, ancillary, _, address = raw.recvmsg(2048, 128)
            except TimeoutError:
                continue
            if address[2] != socket.PACKET_OUTGOING or data[0] >> 4 != 4:
                continue
            whole, nanoseconds = struct.unpack("qq", ancillary[0][2])
            stamp_s = (whole * 10**9 + nanoseconds - ahead_ns) / 1e9
            out.write(f"{stamp_s:.9f} {len(data)} {data[:HEAD].hex()}\n")


with Path(sys.argv[1]).open("w", encoding="utf-8") as lines:
    sniff(lines, float(sys.argv[2]))
