"""Generated datagrams that can be told apart and checked at the other end."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

MAGIC = b"SKYW"
HEADER = len(MAGIC) + 4


def datagram(index: int, size: int) -> bytes:
    """Return datagram ``index`` of a generated load: magic, index, and bytes that follow from it.

    Shorter than the header (8 bytes), it is cut off.
    """
    head = MAGIC + (index & 0xFFFF_FFFF).to_bytes(4)
    return (head + hashlib.shake_128(head).digest(max(0, size - HEADER)))[:size]


@dataclass
class Check:
    """What has arrived of a generated load."""

    received: int = 0
    """Datagrams, of whatever content."""
    size: int = 0
    """Bytes of data in them."""
    altered: int = 0
    """Generated datagrams whose content is not what was sent."""
    duplicates: int = 0
    """Generated datagrams that had come before."""
    reordered: int = 0
    """Generated datagrams that came after a later one."""
    foreign: int = 0
    """Datagrams that were not generated, or are too short to tell."""
    _seen: set[int] = field(default_factory=set, repr=False)
    _latest: int = -1

    def take(self, data: bytes) -> None:
        """Count one datagram and check it."""
        self.received += 1
        self.size += len(data)
        if len(data) < HEADER or not data.startswith(MAGIC):
            self.foreign += 1
            return
        index = int.from_bytes(data[len(MAGIC) : HEADER])
        if data != datagram(index, len(data)):
            self.altered += 1
        elif index in self._seen:
            self.duplicates += 1
        else:
            self._seen.add(index)
            self.reordered += index < self._latest
            self._latest = max(self._latest, index)

    @property
    def missing(self) -> int:
        """Generated datagrams before the latest that have not come."""
        return self._latest + 1 - len(self._seen)

    def as_dict(self) -> dict[str, int]:
        """Return the counts."""
        return {
            "datagrams": self.received,
            "bytes": self.size,
            "missing": self.missing,
            "altered": self.altered,
            "duplicates": self.duplicates,
            "reordered": self.reordered,
            "foreign": self.foreign,
        }
