"""Data that both ends of a connection send and check, and their final reports.

A datagram begins with the number of its connection, which the client draws, and goes on as
:func:`skywave.net.load.datagram`. So a reader knows which connection a datagram was sent on, and
whether it is unaltered, new and in order.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from skywave.net import load

if TYPE_CHECKING:
    from skywave.net import Closed, Stats

PREFIX = 8
"""Bytes for the number of the connection."""
SMALLEST = PREFIX + load.HEADER

Role = Literal["client", "server"]


def datagram(connection: int, index: int, size: int) -> bytes:
    """Return datagram ``index`` of one end of a connection, of at least ``SMALLEST`` bytes."""
    return connection.to_bytes(PREFIX) + load.datagram(index, max(size, SMALLEST) - PREFIX)


@dataclass
class Reader:
    """Checks what one end of a connection reads."""

    connection: int | None = None
    """The number of the connection; a server learns it from the first datagram."""
    is_numbered: bool = True
    """Whether datagrams begin with a number; those of ``skywave send`` do not."""
    check: load.Check = field(default_factory=load.Check)
    strange: int = 0
    """Datagrams of other connections."""

    def take(self, data: bytes) -> None:
        """Check one datagram."""
        if not self.is_numbered:
            self.check.take(data)
            return
        number = int.from_bytes(data[:PREFIX])
        if self.connection is None:
            self.connection = number
        if number != self.connection:
            self.strange += 1
        self.check.take(data[PREFIX:])


@dataclass(frozen=True)
class Report:
    """What one end of a connection says when it is over."""

    role: Role
    connection: int | None
    """Its number; ``None`` if the server has read nothing."""
    ended: str
    """How: by the name of the Reset Code, or what the application did."""
    ccids: tuple[int, int]
    """Of what it sends, and of what it receives."""
    has_reader: bool
    """Whether the peer reads."""
    read_all: bool
    """Whether this end has read until the connection said that there is no more."""
    offered: int
    """Datagrams that the application tried to send. If a call was cancelled, its datagram may have
    been sent."""
    acknowledged: int | None
    """Datagrams that the connection reported as acknowledged (CCID 2)."""
    delivered: int
    """Datagrams that the connection reported as delivered to the application."""
    dropped: int
    """Datagrams that the connection reported as received and dropped."""
    read: int
    """Different datagrams that the application has read."""
    latest: int
    """One more than the highest index among them."""
    altered: int
    duplicates: int
    strange: int
    """Datagrams of other connections, or not ours at all."""

    @classmethod
    def of(
        cls,
        role: Role,
        reader: Reader,
        stats: Stats,
        *,
        ended: str,
        ccids: tuple[int, int],
        offered: int,
        has_reader: bool = True,
        read_all: bool = False,
    ) -> Report:
        """Put together what an end has sent and read, and its connection's counters."""
        check = reader.check
        read = check.received - check.altered - check.duplicates - check.foreign
        return cls(
            role=role,
            connection=reader.connection,
            ended=ended,
            ccids=ccids,
            has_reader=has_reader,
            read_all=read_all,
            offered=offered,
            acknowledged=stats.acknowledged,
            delivered=stats.datagrams_received,
            dropped=stats.datagrams_dropped,
            read=read,
            latest=read + check.missing,
            altered=check.altered,
            duplicates=check.duplicates,
            strange=reader.strange + check.foreign,
        )

    def document(self) -> dict[str, Any]:
        """Return it as JSON can express it."""
        return asdict(self)

    @classmethod
    def parse(cls, document: dict[str, Any]) -> Report:
        """Read what ``document`` has returned."""
        to, back = document["ccids"]
        return cls(**{**document, "ccids": (to, back)})


def name_of(closed: Closed | None) -> str:
    """Return how a connection ended, in words."""
    return "open" if closed is None else closed.name
