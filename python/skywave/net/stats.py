"""Statistics of connections and endpoints."""

from __future__ import annotations

from typing import TypedDict


class Closed(TypedDict):
    """How a connection ended."""

    code: int
    """The Reset Code (RFC 4340 section 5.6); 1 is a normal close."""
    name: str


class Counters(TypedDict):
    """Counters of a connection, or sums of those of several."""

    datagrams_sent: int
    bytes_sent: int
    datagrams_received: int
    bytes_received: int
    datagrams_dropped: int
    """Received, but dropped for lack of room or a wrong checksum; the peer has been informed."""
    datagrams_discarded: int
    """Queued, but never sent: the path turned out not to carry packets of their size, or the
    connection ended first."""
    packets_sent: int
    """Packets of every type, including acknowledgements."""
    packets_received: int
    marks_received: int
    """Packets that a router marked (ECN Congestion Experienced)."""
    duplicates: int
    invalid_packets: int
    """Packets ignored because a check failed (RFC 4340 section 8.5, steps 1 to 7)."""
    mtu_probes_sent: int
    """Packets sent to find out which size the path carries (RFC 8899)."""
    resets_sent: int
    resets_received: int
    timeouts: int


class Stats(Counters):
    """Counters of a connection, and the state of its congestion control.

    CCID 3 and 4 have a rate, all others a window. Fields of the other kind are ``None``. All values
    can be written as JSON.
    """

    queued: int
    """Datagrams waiting to be sent."""
    srtt_s: float | None
    """Smoothed round-trip time, in seconds."""
    cwnd: float | None
    """Congestion window, in packets."""
    ssthresh: float | None
    """Slow-start threshold, in packets; ``None`` while it is unbounded, as at first."""
    pipe: int | None
    """Data packets outstanding."""
    acknowledged: int | None
    """Data packets that the peer has acknowledged."""
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


class EndpointStats(TypedDict):
    """Counters of an endpoint, apart from those of its connections.

    They count since the endpoint was opened, except for those that say "at present".
    """

    connections: int
    """Connections at present, including handshakes and those that are closing."""
    time_waits: int
    """Ended connections whose ports may not be reused at present (TIMEWAIT)."""
    packets_sent: int
    send_calls: int
    """System calls that sent these packets."""
    packets_received: int
    """All packets, valid or not."""
    malformed: int
    """Packets dropped because they are not valid DCCP packets."""
    strays: int
    """Packets that belong to no connection."""
    closing: int
    """Connections that are closed at present, but whose peer has not confirmed it."""
    queued_bytes: int
    """Bytes of data at present in the queues of all connections."""
    too_busy: int
    """Requests refused because the backlog was full, or because of a limit on connections."""
    half_open_dropped: int
    """Half-open handshakes dropped to make room for others."""
    closing_dropped: int
    """Connections reset because too many were closing."""
    cookies_sent: int
    """Requests answered with an Init Cookie, without storing anything."""
    send_errors: int
    """Packets that the system refused to send. A connection sees them as lost."""
    network_errors: int
    """Errors reported by the network (ICMP)."""
    qlog_dropped: int
    """Events that are missing in qlog files."""


class ConnectionSnapshot(TypedDict):
    """A connection of an endpoint at one time."""

    id: int
    """A number that no other connection of the endpoint has, earlier ones included."""
    peer_ip: str
    peer_udp_port: int | None
    """``None`` over IP."""
    peer_port: int
    """The peer's DCCP port."""
    local_ip: str
    local_port: int
    """The DCCP port of this end."""
    service_code: str
    state: str
    """The state by its name in RFC 4340 section 4.3, such as ``OPEN``."""
    ccids: list[int]
    """The CCIDs of the data that this end sends, and of the data that it receives."""
    max_datagram_size: int
    """In bytes."""
    stats: Stats


class Totals(Counters):
    """Sums over all connections that an endpoint has had. They never decrease."""

    connections: int
    lost: int
    """Data packets known to be lost, of connections with a window."""
    marked: int
    """Data packets sent and known to have been marked, of connections with a window."""


class Snapshot(TypedDict):
    """The connections of an endpoint at one time."""

    totals: Totals
    states: dict[str, int]
    """The number of connections in each state."""
    connections: list[ConnectionSnapshot]
    """The oldest ones, oldest first."""
