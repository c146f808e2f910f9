"""The configurations of a connection and of an endpoint.

Written by ``make schema`` from the core's types and their documentation: do not edit.

Creating one raises ``ValueError`` with the first field that is wrong.
"""

from __future__ import annotations

from os import PathLike  # noqa: TC003 - Part reads the types of fields

from attrs import converters, field, frozen

from skywave import _core
from skywave.control import Control
from skywave.scenario.part import Part, naming_fields
from skywave.scenario.parts import (
    C4,
    Aimd,
    Bbr,
    Cubic,
    Dctcp,
    Htcp,
    Hybla,
    Illinois,
    Prague,
    Reno,
    Tfrc,
    Vcp,
    Vegas,
    Westwood,
)
from skywave.scenario.quantities import Bytes, Duration


class Checked(Part):
    """Options that are checked when they are created, rather than when they are used."""

    def __attrs_post_init__(self) -> None:
        """Check them.

        Raises:
            ValueError: If one is wrong. The text names it.
        """
        _core.check_config(self)


@frozen(kw_only=True, field_transformer=naming_fields)
class Config(Checked):
    """The options of a connection. They concern either end unless stated otherwise.

    Defaults are those of RFC 4340 where it has any. They are the same in Rust (`dccp::Config`), in
    Python and on the command line.

    Attributes:
        ccid: Congestion control in both directions, by CCID: 2 (TCP-like), 3 (TFRC), 4 (TFRC for
            small packets), 251 (acknowledgements of CCID 2, with a control that the sender
            chooses), or another registered CCID; those from 248 on are specific to Skywave. Of 2,
            3, 4 and 251 it is a preference: each end accepts all of them, and if both have a
            preference, the listener's counts (RFC 4340 section 6.3.1). Others may need routers that
            take part, so both ends must ask for them. Absent: the peer's preference, or 2.
        control: The congestion control of what this end sends, by name. Its parameters, if any, are
            in a table of that name next to this field. Setting it makes `ccid` 251, and for what
            this end sends the only CCID that it accepts. Neither end needs to know the other's
            control.
        initial_ssthresh: The initial ssthresh of CCID 2 and of the controls of CCID 251. Absent:
            unbounded. In packets.
        max_ack_ratio: The largest Ack Ratio that a sender under CCID 2 or 251 asks for, at least 2;
            2 keeps it from answering lost acknowledgements (RFC 4341 section 6.1). Absent: an
            eighth of cwnd. In packets.
        tfrc: Parameters of CCID 3 and 4. Absent: those of RFC 5348.
        service_codes: Service Codes (RFC 5595), each four characters or a number. A client requests
            the first, a listener accepts all; 0 means none.
        send_queue: How many datagrams may wait to be sent before sending blocks; at least 1.
        receive_queue: How many datagrams may wait to be read, at least 1. Further ones are dropped,
            and the peer is informed.
        send_queue_bytes: The most data that may wait to be sent; more waits as with `send_queue`.
            An empty queue takes a datagram of any size.
        receive_queue_bytes: The most data that may wait to be read; more is dropped as with
            `receive_queue`. An empty queue takes a datagram of any size.
        ecn: Whether packets are ECN-capable and marks are heeded (RFC 4340 section 12).
        detect_optimistic_acks: Whether to end connections with a receiver that acknowledges packets
            before they have arrived, and so makes a sender too fast. To find out, the sender
            occasionally skips a sequence number. Only receivers under CCID 2, 251 and the like
            report what has arrived.
        checksum_coverage: How much data the checksum covers, as CsCov: 0 for all, n > 0 for (n - 1)
            * 4 bytes; at most 15 (RFC 4340 section 9.2).
        minimum_checksum_coverage: The smallest coverage to accept from the peer, as CsCov; 0
            accepts only full coverage.
        data_checksum: Whether each datagram carries its own CRC-32c (RFC 4340 section 9.3).
        path_mtu_discovery: Whether to find out which size of packets the path carries, and follow
            it down and up (DPLPMTUD, RFC 8899), even where ICMP is filtered.
        connect_timeout: How long a connection attempt waits for an answer before it gives up.
        linger: How long closing waits for queued datagrams to leave and to be acknowledged.
        keepalive: How long to wait without a packet from the peer before sending a keepalive.
            Keepalives find peers that are gone, and keep the bindings of middleboxes alive; those
            for UDP may last no longer than 15 s to 2 min. 0 s: never.
        silence_timeout: How long the peer may leave data or a keepalive unanswered before the
            connection ends. 0 s: forever.
        idle_timeout: How long the connection may carry no data in either direction before it ends.
            0 s: forever.
        aimd: Parameters of the control `aimd`: AIMD(a, b) as in Floyd, Handley and Padhye 2000, "A
            Comparison of Equation-Based and AIMD Congestion Control".
        bbr: Parameters of the control `bbr`.
        c4: Parameters of the control `c4`.
        cubic: Parameters of the control `cubic`.
        dctcp: Parameters of the control `dctcp`: Data Center TCP (RFC 8257), a Reno that responds
            to marks in proportion to the fraction of packets marked.
        htcp: Parameters of the control `htcp`: H-TCP, which grows faster the longer ago the last
            congestion event was, and gives up less where the queue is short compared with the path.
        hybla: Parameters of the control `hybla`: TCP Hybla, which grows on long paths as Reno does
            on a short one.
        illinois: Parameters of the control `illinois`: TCP-Illinois, whose increase and decrease
            follow the queueing delay.
        prague: Parameters of the control `prague`.
        reno: Parameters of the control `reno`.
        vegas: Parameters of the control `vegas`, in queued packets.
        westwood: Parameters of the control `westwood`: TCP Westwood+, a Reno that after a loss
            continues with the window that fills the path at the bandwidth it has measured, instead
            of with half the window.
        vcp: How a VCP sender responds to its routers.
    """

    ccid: int | None = None
    control: str | Control | None = None
    initial_ssthresh: int | None = None
    max_ack_ratio: int | None = None
    tfrc: Tfrc | None = None
    service_codes: tuple[str | int, ...] = (0,)
    send_queue: int = 1000
    receive_queue: int = 1000
    send_queue_bytes: Bytes = field(default=Bytes("4 MB"), converter=Bytes)
    receive_queue_bytes: Bytes = field(default=Bytes("4 MB"), converter=Bytes)
    ecn: bool = True
    detect_optimistic_acks: bool = True
    checksum_coverage: int = 0
    minimum_checksum_coverage: int = 0
    data_checksum: bool = False
    path_mtu_discovery: bool = True
    connect_timeout: Duration = field(default=Duration("180 s"), converter=Duration)
    linger: Duration = field(default=Duration("30 s"), converter=Duration)
    keepalive: Duration = field(default=Duration("120 s"), converter=Duration)
    silence_timeout: Duration = field(default=Duration("30 s"), converter=Duration)
    idle_timeout: Duration = field(default=Duration("0 s"), converter=Duration)
    aimd: Aimd | None = None
    bbr: Bbr | None = None
    c4: C4 | None = None
    cubic: Cubic | None = None
    dctcp: Dctcp | None = None
    htcp: Htcp | None = None
    hybla: Hybla | None = None
    illinois: Illinois | None = None
    prague: Prague | None = None
    reno: Reno | None = None
    vegas: Vegas | None = None
    westwood: Westwood | None = None
    vcp: Vcp | None = None


@frozen(kw_only=True, field_transformer=naming_fields)
class EndpointConfig(Checked):
    """The options of an endpoint. Those of its connections are in `Config` (Rust: `dccp::Config`).

    Attributes:
        send_buffer: Requested size of the socket's send buffer; `None` keeps the system default.
            The system may grant less. Default: 4 MB.
        receive_buffer: Requested size of the socket's receive buffer; `None` keeps the system
            default. The system may grant less (Linux: up to `net.core.rmem_max`). Default: 4 MB.
        send_offload: Whether several packets may be passed to the system as one (GSO). Default:
            yes.
        receive_offload: Whether the system may deliver several packets as one (GRO). It only joins
            packets with the same ECN marks. Default: yes.
        shards: The number of sockets over UDP, each with a task of its own that receives packets
            and runs timers, so that a busy endpoint uses several processors; 0 is one for each
            processor. The connections are distributed by their DCCP ports. It has no effect over
            IP. Default: 1.
        backlog: The most connections per listener that are in their handshake or waiting to be
            accepted; further Requests are answered with a Reset, "Too Busy". At least 1. Default:
            1024.
        half_open: The most half-open handshakes that a listener stores. Beyond that it drops the
            oldest if that has had 4 s to complete, because an honest client takes far less.
            Otherwise it stores nothing for a Request and answers with an Init Cookie, whose return
            creates the connection (RFC 4340 section 8.1.4). A flood of Requests therefore takes no
            memory, and does not lock out clients that return cookies. Default: 256.
        max_connections: The most connections at a time, those in their handshake and those that are
            closing included. Beyond it, Requests are answered with a Reset, "Too Busy", and
            `connect` fails. At least 1. Default: 65,536.
        max_per_address: The most connections accepted from one IPv4 address, or from one IPv6 /64,
            which one host may own. Further Requests are answered with a Reset, "Too Busy". At least
            1. Default: 8,192.
        max_per_prefix: The most connections accepted from one IPv4 /24 or IPv6 /48; otherwise like
            `max_per_address`. At least 1. Default: 16,384.
        max_closing: The most connections that their application has closed or dropped and whose
            peer has not confirmed it. Beyond it, the one that has been closing longest is reset.
            Default: 4,096.
        max_time_waits: The most ended connections whose ports rest (TIMEWAIT). Beyond it, the
            oldest rest ends early; a delayed packet of that connection could then meet a new one on
            the same ports, whose sequence numbers most probably reject it. Default: 16,384.
        max_queued_bytes: The most data that waits in the queues of all connections, to be sent or
            to be read. Beyond it, each queue takes a datagram only if it is empty: sending waits,
            and received data is dropped and reported to the peer with Drop Code 2. The queues of a
            connection are limited by `dccp::Config`. Default: 256 MB.
        reset_strays: Whether packets that belong to no connection are answered with a Reset (RFC
            4340 section 8.3.1). Turn it off if another program on this host uses DCCP over IP on
            addresses for which this endpoint also receives. Default: yes.
        resets_per_second: The most Resets sent per second outside a connection (RFC 4340 section
            8.1.3). Default: 1024.
        qlog: The directory in which each connection gets a qlog file of its packets and its
            congestion control, for qvis (`NUMBER-client.sqlog` or `NUMBER-server.sqlog`); it is
            created if need be. A connection that a peer opens gets its file once the handshake is
            complete. Traffic never waits for the disk: events for which it is too slow, or full,
            are missing in the files, which say so, and are counted in `qlog_dropped`. Default:
            none.
    """

    send_buffer: Bytes | None = field(default=Bytes("4 MB"), converter=converters.optional(Bytes))
    receive_buffer: Bytes | None = field(
        default=Bytes("4 MB"), converter=converters.optional(Bytes)
    )
    send_offload: bool = True
    receive_offload: bool = True
    shards: int = 1
    backlog: int = 1024
    half_open: int = 256
    max_connections: int = 65536
    max_per_address: int = 8192
    max_per_prefix: int = 16384
    max_closing: int = 4096
    max_time_waits: int = 16384
    max_queued_bytes: Bytes = field(default=Bytes("256 MB"), converter=Bytes)
    reset_strays: bool = True
    resets_per_second: int = 1024
    qlog: str | PathLike[str] | None = None
