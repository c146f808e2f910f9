"""Statistics of connections and endpoints.

Written by ``make schema`` from the core's types and their documentation: do not edit.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Statistics:
    """Values that can be written as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return the values by name, those of inner objects too."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Closed(Statistics):
    """How a connection ended.

    Attributes:
        code: The Reset Code (RFC 4340 section 5.6); 1 is a normal close.
        name: The name of the code.
    """

    code: int
    name: str


@dataclass(frozen=True, kw_only=True)
class EndpointStats(Statistics):
    """Counters of an endpoint, apart from those of its connections.

    They count since the endpoint was opened, except for those that say "at present".

    Attributes:
        connections: Connections at present, including handshakes and those that are closing.
        time_waits: Ended connections whose ports may not be reused at present (TIMEWAIT).
        packets_sent: Packets passed to the system.
        send_calls: System calls that sent packets.
        packets_received: Packets received, valid or not.
        malformed: Packets dropped because they are not valid DCCP packets (RFC 4340 section 8.5,
            step 1).
        strays: Packets that belong to no connection.
        closing: Connections that are closed at present, but whose peer has not confirmed it.
        queued_bytes: Bytes of data at present in the queues of all connections.
        too_busy: Requests refused because the backlog was full, or because of a limit on
            connections.
        half_open_dropped: Half-open handshakes dropped to make room for others.
        closing_dropped: Connections reset because too many were closing.
        cookies_sent: Requests answered with an Init Cookie, without storing anything.
        send_errors: Packets that the system refused to send, for example because the network is
            down or unreachable, the packet is too large for the interface, or a filter forbids it.
            A connection sees them as lost.
        network_errors: Errors reported by the network (ICMP).
        qlog_dropped: Events that are missing in qlog files.
    """

    connections: int
    time_waits: int
    packets_sent: int
    send_calls: int
    packets_received: int
    malformed: int
    strays: int
    closing: int
    queued_bytes: int
    too_busy: int
    half_open_dropped: int
    closing_dropped: int
    cookies_sent: int
    send_errors: int
    network_errors: int
    qlog_dropped: int


@dataclass(frozen=True, kw_only=True)
class Snapshot(Statistics):
    """The connections of an endpoint at one time.

    Attributes:
        totals: Sums over all connections that the endpoint has had.
        states: The number of connections in each state.
        connections: The oldest connections, oldest first.
    """

    totals: Totals
    states: dict[str, int]
    connections: tuple[ConnectionSnapshot, ...]


@dataclass(frozen=True, kw_only=True)
class Totals(Statistics):
    """Sums over all connections that an endpoint has had. They never decrease.

    Attributes:
        datagrams_sent: Datagrams that have left this end.
        bytes_sent: Bytes of data that have left this end.
        datagrams_received: Datagrams that have arrived and had room in the receive queue.
        bytes_received: Bytes of data that have arrived, those of dropped datagrams included.
        datagrams_dropped: Datagrams that have arrived, but were dropped for lack of room in the
            receive queue or a wrong checksum; the peer has been informed.
        datagrams_discarded: Datagrams that were queued, but never sent: the path turned out not to
            carry packets of their size, or the connection ended first.
        packets_sent: Packets sent of every type, including acknowledgements.
        packets_received: Packets received of every type, including acknowledgements.
        marks_received: Packets received that a router marked (ECN Congestion Experienced).
        duplicates: Packets that arrived twice.
        invalid_packets: Packets ignored because a check failed (RFC 4340 section 8.5, steps 1 to
            7).
        mtu_probes_sent: Packets sent to find out which size the path carries (RFC 8899).
        resets_sent: Resets sent.
        resets_received: Resets received.
        timeouts: Transmit timeouts (RFC 4341 section 5), or expirations of the nofeedback timer
            that lowered the rate (RFC 5348 section 4.4).
        connections: Connections that the endpoint has had.
        lost: Data packets sent and known to be lost, of connections with a window.
        marked: Data packets sent and known to have been marked, of connections with a window.
    """

    datagrams_sent: int
    bytes_sent: int
    datagrams_received: int
    bytes_received: int
    datagrams_dropped: int
    datagrams_discarded: int
    packets_sent: int
    packets_received: int
    marks_received: int
    duplicates: int
    invalid_packets: int
    mtu_probes_sent: int
    resets_sent: int
    resets_received: int
    timeouts: int
    connections: int
    lost: int
    marked: int


@dataclass(frozen=True, kw_only=True)
class ConnectionSnapshot(Statistics):
    """A connection of an endpoint at one time.

    Attributes:
        id: A number that no other connection of the endpoint has, earlier ones included.
        peer_ip: The peer's IP address.
        peer_udp_port: The peer's UDP port; `None` over IP.
        peer_port: The peer's DCCP port.
        local_ip: The IP address of this end.
        local_port: The DCCP port of this end.
        service_code: The Service Code, e.g. "SC:VOIP" or "SC=42".
        state: The state by its name in RFC 4340 section 4.3, such as `OPEN`.
        ccids: The CCIDs of the data that this end sends, and of the data that it receives.
        max_datagram_size: The largest size of a datagram, in bytes.
        stats: Counters and the state of congestion control.
    """

    id: int
    peer_ip: str
    peer_udp_port: int | None
    peer_port: int
    local_ip: str
    local_port: int
    service_code: str
    state: str
    ccids: tuple[int, int]
    max_datagram_size: int
    stats: Stats


@dataclass(frozen=True, kw_only=True)
class Stats(Statistics):
    """Counters of a connection, and the state of its congestion control.

    CCID 3 and 4 have a rate, all others a window. Fields of the other kind are `None`.

    Attributes:
        datagrams_sent: Datagrams that have left this end.
        bytes_sent: Bytes of data that have left this end.
        datagrams_received: Datagrams that have arrived and had room in the receive queue.
        bytes_received: Bytes of data that have arrived, those of dropped datagrams included.
        datagrams_dropped: Datagrams that have arrived, but were dropped for lack of room in the
            receive queue or a wrong checksum; the peer has been informed.
        datagrams_discarded: Datagrams that were queued, but never sent: the path turned out not to
            carry packets of their size, or the connection ended first.
        packets_sent: Packets sent of every type, including acknowledgements.
        packets_received: Packets received of every type, including acknowledgements.
        marks_received: Packets received that a router marked (ECN Congestion Experienced).
        duplicates: Packets that arrived twice.
        invalid_packets: Packets ignored because a check failed (RFC 4340 section 8.5, steps 1 to
            7).
        mtu_probes_sent: Packets sent to find out which size the path carries (RFC 8899).
        resets_sent: Resets sent.
        resets_received: Resets received.
        timeouts: Transmit timeouts (RFC 4341 section 5), or expirations of the nofeedback timer
            that lowered the rate (RFC 5348 section 4.4).
        queued: Datagrams waiting to be sent.
        srtt_s: Smoothed round-trip time, in seconds; `None` before the first measurement.
        cwnd: Congestion window, in packets.
        ssthresh: Slow-start threshold, in packets; `None` while it is unbounded, as at first.
        pipe: Data packets outstanding.
        acknowledged: Data packets that the peer has acknowledged.
        lost: Data packets sent and known to be lost.
        marked: Data packets sent and known to have been marked.
        dropped_by_peer: Data packets that have arrived, but whose data the peer says it dropped,
            for example because its application does not keep up (Data Dropped, RFC 4340 section
            11.7).
        rate_bps: X, the allowed sending rate of data, in bits per second.
        receive_rate_bps: X_recv, the receive rate by the peer's latest report, in bits per second.
        loss_event_rate: The loss event rate p.
        loss_events: Loss events in the peer's reports.
    """

    datagrams_sent: int
    bytes_sent: int
    datagrams_received: int
    bytes_received: int
    datagrams_dropped: int
    datagrams_discarded: int
    packets_sent: int
    packets_received: int
    marks_received: int
    duplicates: int
    invalid_packets: int
    mtu_probes_sent: int
    resets_sent: int
    resets_received: int
    timeouts: int
    queued: int
    srtt_s: float | None
    cwnd: float | None
    ssthresh: float | None
    pipe: int | None
    acknowledged: int | None
    lost: int | None
    marked: int | None
    dropped_by_peer: int
    rate_bps: int | None
    receive_rate_bps: int | None
    loss_event_rate: float | None
    loss_events: int | None
