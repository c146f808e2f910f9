"""Hold raw sockets for DCCP that read nothing, until standard input ends.

While one is open, the host's kernel does not answer DCCP with ICMP "protocol unreachable": a
guest's packets to a port where nobody is yet, or any more, meet silence. ``namespace`` starts this
file by itself, inside a namespace.
"""

from __future__ import annotations

import socket
import struct
import sys
from ctypes import addressof, create_string_buffer

DCCP = 33
"""IP protocol number (RFC 4340 section 5)."""

SO_ATTACH_FILTER = 26


def main() -> None:
    """Open the sockets, say so, and wait."""
    nothing = create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))  # BPF: ret 0
    program = struct.pack("HxxxxxxQ", 1, addressof(nothing))  # struct sock_fprog, 64 bits
    held = [
        socket.socket(family, socket.SOCK_RAW, DCCP) for family in (socket.AF_INET, socket.AF_INET6)
    ]
    for each in held:
        each.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
    sys.stdout.write("silent\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
