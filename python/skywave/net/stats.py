"""Statistics of a connection."""

from __future__ import annotations

from typing import TypedDict


class Closed(TypedDict):
    """How a connection ended."""

    code: int
    """The Reset Code (RFC 4340 section 5.6); 1 is a normal close."""
    name: str


class Stats(TypedDict):
    """Counters of a connection, and the state of its congestion control.

    CCID 3 and 4 have a rate, all others a window. Fields of the other kind are ``None``.
    """

    datagrams_sent: int
    bytes_sent: int
    datagrams_received: int
    bytes_received: int
    datagrams_dropped: int
    """Received, but dropped for lack of room or a wrong checksum; the peer has been informed."""
    datagrams_discarded: int
    """Queued, but never sent: the path turned out not to carry packets of their size."""
    packets_sent: int
    """Packets of every type, including acknowledgements."""
    packets_received: int
    marks_received: int
    """Packets that a router marked (ECN Congestion Experienced)."""
    duplicates: int
    mtu_probes_sent: int
    """Packets sent to find out which size the path carries (RFC 8899)."""
    timeouts: int
    queued: int
    """Datagrams waiting to be sent."""
    srtt_s: float | None
    """Smoothed round-trip time, in seconds."""
    cwnd: float | None
    """Congestion window, in packets."""
    ssthresh: float | None
    """Slow-start threshold, in packets; initially infinite."""
    pipe: int | None
    """Data packets outstanding."""
    lost: int | None
    """Data packets sent and known to be lost."""
    marked: int | None
    """Data packets sent and known to have been marked."""
    rate_bps: int | None
    """X, the allowed sending rate of data, in bits per second."""
    receive_rate_bps: int | None
    """X_recv, the receive rate by the peer's latest report, in bits per second."""
    loss_event_rate: float | None
    """The loss event rate p."""
    loss_events: int | None
