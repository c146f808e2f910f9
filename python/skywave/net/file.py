"""A file in datagrams, each of which says where its part belongs.

DCCP delivers a datagram once or not at all, and perhaps out of order. With these headers the
receiver puts each part in its place, and knows whether it has the whole file.
"""

from __future__ import annotations

import io
import os
import stat
import struct
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, ClassVar

HEAD = struct.Struct(">4sQQ")
"""Magic, offset of the part, size of the file."""
MAGIC = b"SKYF"
UNKNOWN = 2**64 - 1
"""The size of a file that has not been read to its end."""
LARGEST = 2**63 - 1


class _Reader:
    """Reads a file, and data that has been put back."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._back = io.BytesIO()

    def read(self, size: int) -> bytes:
        """Return ``size`` bytes, or fewer at the end."""
        data = self._back.read(size)
        return data + self._source.read(size - len(data)) if len(data) < size else data

    def put_back(self, data: bytes) -> None:
        """Read these bytes next."""
        self._back = io.BytesIO(data + self._back.read())


class Parts:
    """The parts of a file that is sent, a :class:`~skywave.net.load.Source`.

    A part of a pipe does not know the size of the whole, so an empty part with the size follows the
    last one.
    """

    may_repeat: ClassVar[bool] = True

    def __init__(self, source: BinaryIO, size: int) -> None:
        """Divide a file, from where it stands, into datagrams of at most ``size`` bytes.

        Raises:
            ValueError: If that leaves no room for data.
        """
        self._room = self._room_in(size)
        self._source = _Reader(source)
        self._size = _size(source)
        self._offset = 0
        self.is_complete = False
        """Whether the last part has been taken."""

    def __iter__(self) -> Iterator[bytes]:
        while data := self._source.read(self._next()):
            part = HEAD.pack(MAGIC, self._offset, UNKNOWN if self._size is None else self._size)
            self._offset += len(data)
            self.is_complete = self._offset == self._size
            yield part + data
        if not self.is_complete:
            # A file that has become shorter ends here too, and its receiver misses the rest.
            size = self._offset if self._size is None else self._size
            self.is_complete = self._offset == size
            yield HEAD.pack(MAGIC, self._offset, size)

    def take_back(self, datagrams: Sequence[bytes], size: int) -> None:
        """Do as :meth:`Source.take_back <skywave.net.load.Source.take_back>` says."""
        self._room = self._room_in(size)
        data = b"".join(datagram[HEAD.size :] for datagram in datagrams)
        self._source.put_back(data)
        self._offset -= len(data)
        self.is_complete = False

    @staticmethod
    def _room_in(size: int) -> int:
        if size <= HEAD.size:
            raise ValueError(
                f"a datagram of a file needs more than {HEAD.size} bytes, which say where its part"
                " belongs"
            )
        return size - HEAD.size

    def _next(self) -> int:
        return self._room if self._size is None else min(self._room, self._size - self._offset)


class Bare:
    """A file that is sent without headers, a :class:`~skywave.net.load.Source`.

    It is for receivers that do not know the headers.
    """

    may_repeat: ClassVar[bool] = False

    def __init__(self, source: BinaryIO, size: int) -> None:
        self._source = _Reader(source)
        self._size = size
        self.is_complete = False
        """Whether the last datagram has been taken."""

    def __iter__(self) -> Iterator[bytes]:
        while data := self._source.read(self._size):
            yield data
        self.is_complete = True

    def take_back(self, datagrams: Sequence[bytes], size: int) -> None:
        """Do as :meth:`Source.take_back <skywave.net.load.Source.take_back>` says."""
        self._source.put_back(b"".join(datagrams))
        self._size = size
        self.is_complete = False


def _size(source: BinaryIO) -> int | None:
    """Return how much is left to read of a regular file; None of anything else."""
    try:
        status = os.fstat(source.fileno())
        return status.st_size - source.tell() if stat.S_ISREG(status.st_mode) else None
    except OSError:
        return None


class Assembly:
    """Writes arriving data. Parts of a file go to their places, other datagrams are appended."""

    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink
        self._may_seek = sink.seekable()
        self._size: int | None = None
        self._spans: list[tuple[int, int]] = []
        """What has arrived: disjoint, in order, from the first byte to behind the last."""
        self._has_parts = False
        self._is_in_order = True

    def take(self, data: bytes) -> None:
        """Write one datagram."""
        part = self._part(data)
        if part is None:
            self._sink.write(data)
            return
        self._has_parts = True
        offset, size, content = part
        if size != UNKNOWN:
            self._size = size
        end = offset + len(content)
        if self._may_seek:
            self._sink.seek(offset)
        else:
            written = self._spans[-1][1] if self._spans else 0
            if self._is_in_order and offset < written:
                # A sender repeats what a path may have refused, in smaller parts.
                content = content[written - offset :]
            elif content and offset != written:
                self._is_in_order = False
        self._sink.write(content)
        self._add(offset, end)

    def _part(self, data: bytes) -> tuple[int, int, bytes] | None:
        """Return offset, size of the file and content; None if this is no part of the file."""
        if len(data) < HEAD.size or not data.startswith(MAGIC):
            return None
        _, offset, size = HEAD.unpack_from(data)
        content = data[HEAD.size :]
        known = size if self._size is None else self._size
        most = LARGEST if known == UNKNOWN else known
        arrived = self._spans[-1][1] if self._spans else 0
        fits = max(arrived, offset + len(content)) <= most <= LARGEST
        return (offset, size, content) if fits and size in (known, UNKNOWN) else None

    def _add(self, start: int, end: int) -> None:
        spans = self._spans
        # What arrives is nearly always next to the end.
        behind = len(spans)
        while behind and spans[behind - 1][0] > end:
            behind -= 1
        first = behind
        while first and spans[first - 1][1] >= start:
            first -= 1
            start, end = min(start, spans[first][0]), max(end, spans[first][1])
        spans[first:behind] = [(start, end)]

    def as_dict(self) -> dict[str, Any] | None:
        """Return a report on the parts of the file that arrived; None if none did."""
        if not self._has_parts:
            return None
        arrived = sum(end - start for start, end in self._spans)
        return {
            "bytes": arrived,
            "size": self._size,
            "missing": None if self._size is None else self._size - arrived,
            "whole": self.fault() is None,
        }

    def fault(self) -> str | None:
        """Return the fault of the file; None if it is complete, or there is none."""
        if not self._has_parts:
            return None
        if self._size is None:
            return "the end of the file is missing"
        missing = self._size - sum(end - start for start, end in self._spans)
        if missing:
            return f"{missing:,} of {self._size:,} bytes of the file are missing"
        if not self._is_in_order:
            return "parts of the file came out of order, which a pipe cannot mend"
        return None
