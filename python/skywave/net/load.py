"""Generated datagrams that the receiver can identify and check."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

MAGIC = b"SKYW"
HEADER = len(MAGIC) + 4


def datagram(index: int, size: int) -> bytes:
    """Return datagram ``index`` of a generated load: magic, index, and bytes derived from both.

    A size below that of the header (8 bytes) truncates it.
    """
    head = MAGIC + (index & 0xFFFF_FFFF).to_bytes(4)
    return (head + hashlib.shake_128(head).digest(max(0, size - HEADER)))[:size]


class Source(Protocol):
    """Datagrams to send, of one size except for the last ones."""

    may_repeat: ClassVar[bool]
    """Whether a receiver can tell what arrives a second time."""

    def __iter__(self) -> Iterator[bytes]:
        """Yield the datagrams that have not been yielded, or have been taken back."""

    def take_back(self, datagrams: Sequence[bytes], size: int) -> None:
        """Take back the last datagrams, and yield their data again, at most ``size`` bytes each.

        Raises:
            ValueError: If that leaves no room for data.
        """


@dataclass
class Load:
    """Generated datagrams without end, a :class:`~skywave.net.load.Source`."""

    size: int
    """Bytes in a datagram."""
    may_repeat: ClassVar[bool] = False
    _next: int = 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield the next datagrams."""
        while True:
            self._next += 1
            yield datagram(self._next - 1, self.size)

    def take_back(self, datagrams: Sequence[bytes], size: int) -> None:
        """Do as :meth:`Source.take_back <skywave.net.load.Source.take_back>` says."""
        self._next -= len(datagrams)
        self.size = size


@dataclass
class Check:
    """Counts the received datagrams of a generated load, and the errors among them."""

    received: int = 0
    """All datagrams, generated or not."""
    size: int = 0
    """Bytes of data in all datagrams."""
    altered: int = 0
    """Generated datagrams with changed content."""
    duplicates: int = 0
    """Generated datagrams that had arrived before."""
    reordered: int = 0
    """Generated datagrams that arrived after a later one."""
    foreign: int = 0
    """Datagrams that were not generated, or are too short to tell."""
    _seen: set[int] = field(default_factory=set, repr=False)
    _latest: int = -1

    def take(self, data: bytes) -> None:
        """Check and count one datagram."""
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
        """Generated datagrams that have not arrived although a later one has."""
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
