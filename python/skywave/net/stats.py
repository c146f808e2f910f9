"""What a connection says of itself."""

from __future__ import annotations

from typing import TypedDict


class Closed(TypedDict):
    """How a connection ended."""

    code: int
    """The Reset Code (RFC 4340 section 5.6); 1 is a normal close."""
    name: str


class Stats(TypedDict):
    """Counters of a connection, and the state of its congestion control.

    The state is that of a window (CCID 2) or of a rate (CCID 3 and 4); the other's is ``None``.
    """

    datagrams_sent: int
    bytes_sent: int
    datagrams_received: int
    bytes_received: int
    datagrams_dropped: int
    """Received, but dropped for want of room or for their checksum; the peer has been told."""
    packets_sent: int
    """Of every type, acknowledgements too."""
    packets_received: int
    marks_received: int
    """Packets that a router had marked (ECN Congestion Experienced)."""
    duplicates: int
    timeouts: int
    queued: int
    """Datagrams that wait to be sent."""
    srtt_s: float | None
    """Smoothed round-trip time, in seconds."""
    cwnd: float | None
    """Congestion window, in packets."""
    ssthresh: float | None
    """Slow-start threshold, in packets; infinite at first."""
    pipe: int | None
    """Data packets outstanding."""
    lost: int | None
    """Data packets sent and known to be lost."""
    marked: int | None
    """Data packets sent and known to have been marked."""
    rate_bps: int | None
    """X, the rate at which data may leave, in bits per second."""
    receive_rate_bps: int | None
    """X_recv, the rate at which it arrived by the peer's latest report."""
    loss_event_rate: float | None
    """p."""
    loss_events: int | None
