"""Packets that no honest peer sends: noise, cut headers, strange types, forged Requests."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator

REQUEST = 0
TYPES = 16
"""Types of packets that the header has room for (RFC 4340 section 5.1)."""
LONG_HEADER = 16
"""Bytes of a generic header with a sequence number of 48 bits."""
LONGEST = 200


def packet(rng: Generator, ports: Sequence[int]) -> bytes:
    """Return a packet; half of those with a header go to one of ``ports``."""
    noise = rng.bytes(int(rng.integers(LONGEST)))
    match rng.integers(4):
        case 0:
            return noise
        case 1:
            return header(rng, ports, int(rng.integers(TYPES)))[: int(rng.integers(LONG_HEADER))]
        case 2:
            return header(rng, ports, int(rng.integers(TYPES))) + noise
        case _:
            # A Service Code, here none, and options at random.
            return header(rng, ports, REQUEST, words=5) + bytes(4) + noise


def header(rng: Generator, ports: Sequence[int], type_: int, words: int | None = None) -> bytes:
    """Return a generic header with a Data Offset of ``words``, or one at random."""
    to = int(rng.choice(ports)) if rng.random() < 0.5 else int(rng.integers(1 << 16))
    return struct.pack(
        "!HHBBHBB6s",
        int(rng.integers(1 << 16)),
        to,
        int(rng.integers(1 << 8)) if words is None else words,
        int(rng.integers(1 << 8)) if rng.random() < 0.1 else 0,
        0,  # UDP has a checksum of its own; over UDP this one is not looked at.
        type_ << 1 | 1,
        0,
        rng.bytes(6),
    )
