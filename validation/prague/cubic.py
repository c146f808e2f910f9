"""One TCP flow with the kernel's CUBIC.

usage: cubic.py sink PORT, or cubic.py source HOST PORT SECONDS
"""

from __future__ import annotations

import socket
import sys
import time


def sink(port: int) -> None:
    """Accept a connection, and read until it ends."""
    with socket.create_server(("", port)) as server:
        there, _ = server.accept()
        with there:
            while there.recv(1 << 16):
                pass


def source(host: str, port: int, seconds: float) -> None:
    """Send as much as the connection takes, for a time."""
    with socket.socket() as flow:
        flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        flow.connect((host, port))
        end = time.monotonic() + seconds
        chunk = bytes(1 << 14)
        while time.monotonic() < end:
            flow.sendall(chunk)


if sys.argv[1] == "sink":
    sink(int(sys.argv[2]))
else:
    source(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
