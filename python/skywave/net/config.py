"""The configuration of a connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.control import Control

UDP_PORT = 6511
"""The UDP port of DCCP's encapsulation (RFC 6773 section 3.8)."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """The options of a connection. They concern either end unless stated otherwise.

    Defaults are those of RFC 4340 where it has any, and the same as those of Rust's
    ``dccp::Config`` and of the command line. No configuration means ``Config()``.
    """

    ccid: int = 2
    """Congestion control in both directions. Both ends must use the same.

    2 (TCP-like), 3 (TFRC), 4 (TFRC for small packets), 251 (acknowledgements of CCID 2, with a
    control that the sender chooses), or 248, 249 and 250 (VCP, DPCP and TPCP; docs/vcp.md). CCIDs
    from 248 on are specific to Skywave.
    """

    service_codes: tuple[str | int, ...] = (0,)
    """Service Codes (RFC 5595): four characters or a number. A client requests the first, a
    listener accepts all; 0 means none."""

    send_queue: int = 1000
    """Datagrams that may wait to be sent before ``send`` blocks."""

    receive_queue: int = 1000
    """Datagrams that may wait to be read. Further ones are dropped, and the peer is informed."""

    ecn: bool = True
    """Whether packets are ECN-capable and marks are evaluated (RFC 4340 section 12)."""

    checksum_coverage: int = 0
    """Bytes of data that the checksum covers, as CsCov: 0 for all, n > 0 for (n - 1) * 4 bytes;
    at most 15 (RFC 4340 section 9.2)."""

    minimum_checksum_coverage: int = 0
    """The smallest coverage to accept from the peer, as CsCov; 0 accepts only full coverage."""

    data_checksum: bool = False
    """Whether each datagram carries its own CRC-32c (RFC 4340 section 9.3)."""

    connect_timeout_s: float = 180.0
    """Seconds after which ``connect`` gives up if nothing answers."""

    linger_s: float = 30.0
    """Seconds for which ``close`` waits for queued datagrams to leave."""

    control: str | Mapping[str, Mapping[str, object]] | Control | None = None
    """The congestion control of what this end sends: a name (``"cubic"``, ``"module:Class"``), a
    name with parameters (``{"cubic": {"beta": 0.8}}``), or a :class:`skywave.Control`.

    Setting it makes ``ccid`` 251. The peer must use CCID 251 too, which only Skywave implements,
    with or without a control of its own. Neither end needs to know the other's control.
    """


def service_code(text: str) -> str | int:
    """Parse a Service Code: four characters, a number, or ``SC:`` and a number.

    Raises:
        ValueError: If ``text`` is none of these.

    """
    digits = text.removeprefix("SC:")
    if digits.isascii() and digits.isdecimal():
        return int(digits)
    if len(text) == 4 and text.isascii() and text.isprintable():
        return text
    raise ValueError(f'"{text}" is not a Service Code: write four characters ("VOIP") or a number')
