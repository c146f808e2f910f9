"""What can be chosen about a connection."""

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
    """The options of a connection; the same for both ends unless said otherwise.

    Every value has the default of RFC 4340 where that names one. The defaults are those of Rust's
    ``dccp::Config`` and of the command line: no configuration means ``Config()``.
    """

    ccid: int = 2
    """Congestion control in both directions.

    2 (TCP-like), 3 (TFRC), 4 (TFRC for small packets), 251 (the
    acknowledgements of CCID 2 with a control of the sender's choice),
    or 248, 249 and 250 (VCP, DPCP and TPCP; docs/vcp.md). From 248 on
    they are Skywave's own.

    Both ends must give the same.
    """

    service_codes: tuple[str | int, ...] = (0,)
    """Service Codes (RFC 5595): four characters or a number. A client asks for the first, a
    listener accepts all; 0 means none."""

    send_queue: int = 1000
    """Datagrams that wait to be sent before ``send`` blocks."""

    receive_queue: int = 1000
    """Datagrams that wait to be read before further ones are dropped, and the peer told."""

    ecn: bool = True
    """Whether packets are ECN-capable and marks are read (RFC 4340 section 12)."""

    checksum_coverage: int = 0
    """Bytes of data that the checksum covers, as CsCov: 0 for all, n > 0 for (n - 1) * 4 bytes,
    at most 15 (RFC 4340 section 9.2)."""

    minimum_checksum_coverage: int = 0
    """The smallest coverage that is taken from the peer, as CsCov; 0 takes full coverage only."""

    data_checksum: bool = False
    """Whether datagrams carry a CRC-32c of their own (RFC 4340 section 9.3)."""

    connect_timeout_s: float = 180.0
    """Seconds after which a Request that nobody answers is given up."""

    linger_s: float = 30.0
    """Seconds that ``close`` waits for queued datagrams to leave."""

    control: str | Mapping[str, Mapping[str, object]] | Control | None = None
    """The congestion control of what this end sends: a name (``"cubic"``, ``"module:Class"``), a
    name with parameters (``{"cubic": {"beta": 0.8}}``), or a :class:`skywave.Control`.

    It makes ``ccid`` 251. The peer must give 251 too, which only Skywave knows, with a control of
    its own or none: neither end need know the other's.
    """


def service_code(text: str) -> str | int:
    """Read a Service Code from the command line: four characters, or ``SC:`` or plain digits.

    Raises:
        ValueError: where it is neither.

    """
    digits = text.removeprefix("SC:")
    if digits.isascii() and digits.isdecimal():
        return int(digits)
    if len(text) == 4 and text.isascii() and text.isprintable():
        return text
    raise ValueError(f'"{text}" is no Service Code: write four characters ("VOIP") or a number')
