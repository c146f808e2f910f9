"""The parts of a scenario, one class for each definition of its schema.

Written by ``make schema`` from the core's types and their documentation: do not edit.

A quantity is given as a text with its unit (``"300 ms"``, ``"2 Mbps"``, ``"500 B"``) or as an
object of :mod:`skywave.scenario.quantities`; the attribute holds the object. An attribute that is
None is left out of the scenario: its documentation says what then holds. Nothing is validated here:
the core does that, and names the field that is wrong. ``from`` and ``class`` are keywords of
Python, so they are ``from_`` and ``class_`` here.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from attrs import Factory, converters, define, field, frozen

from skywave import losses, queue, source
from skywave.control import Control
from skywave.scenario.part import Part, naming_fields
from skywave.scenario.quantities import Bytes, Duration, Rate, durations, sizes

NatChecksum: TypeAlias = Literal["adjusted", "recomputed"]
"""How a NAT updates TCP's checksum after it has translated addresses and ports.

- ``adjusted``: By the difference that the translation makes (RFC 3022 section 4.2). A checksum that
  the sender made wrong on purpose stays wrong by the same amount.
- ``recomputed``: From scratch, as with checksum offload. A checksum that was wrong on purpose
  becomes right.
"""

TcpProfile: TypeAlias = Literal["rfc", "ns2", "linux"]
"""The rules that apply where the RFCs leave a choice, or where ns-2 or Linux departs from them.

- ``rfc``: The RFCs' recommendations.
- ``ns2``: ns-2.35, as shipped. validation/ns2/README.md lists the differences.
- ``linux``: Linux, as far as texts describe it. docs/controls.md compares it with the kernel.
"""

EcnFeedback: TypeAlias = Literal["rfc3168", "dctcp", "accurate"]
"""How a TCP receiver reports marks.

- ``rfc3168``: An echo from a mark until the sender answers it (RFC 3168 section 6.1.3).
- ``dctcp``: An echo in the acknowledgements of marked segments only (RFC 8257 section 3.2). Not for
  profile `ns2`.
- ``accurate``: Accurate ECN: counters of marked segments and bytes
  (draft-ietf-tcpm-accurate-ecn-34, which became RFC 9768). Not for profile `ns2`.
"""

TcpRecovery: TypeAlias = Literal["tahoe", "reno", "newreno", "sack", "rack", "vegas"]
"""How TCP recovers from losses.

- ``tahoe``: Fast retransmit, followed by slow start from the lost segment.
- ``reno``: Fast recovery until new data is acknowledged (RFC 5681).
- ``newreno``: Fast recovery until all data outstanding at its start is acknowledged (RFC 6582).
- ``sack``: Selective acknowledgements: RFC 6675 for profile `rfc`, Sack1 for `ns2`.
- ``rack``: RACK-TLP (RFC 8985) with PRR (RFC 6937), as in Linux: losses are found by the sending
  times of segments, even those of retransmissions, and a probe finds losses at the end of a flight.
  The receiver reports duplicates (RFC 2883). Not for profile `ns2`.
- ``vegas``: Fast retransmit based on a fine-grained timeout, as in ns-2's Vegas.
"""

Profile: TypeAlias = Literal["rfc", "ns2"]
"""The rules that apply where the RFCs leave a choice or ns-2 departs from them.

- ``rfc``: The RFCs' recommendations.
- ``ns2``: ns-2.35, as shipped. validation/ns2/README.md lists the differences.
"""

Growth: TypeAlias = Literal["rfc4341", "ns2-tcplike", "per-ack"]
"""How the window of CCID 2 grows.

- ``rfc4341``: RFC 4341 section 5: in slow start, one packet for every two acknowledged.
- ``ns2-tcplike``: ns-2's TCPlike agent: in slow start, one packet for every packet acknowledged, at
  most the Ack Ratio per acknowledgement.
- ``per-ack``: As in TCP (RFC 5681 section 3.1): for each acknowledgement, regardless of how many
  packets it covers, one packet in slow start and 1/cwnd packets in congestion avoidance. Growth is
  slower by a factor of the Ack Ratio.
"""

TfrcRules: TypeAlias = Literal["rfc5348", "rfc3448", "ns2"]
"""The rules a sender and a receiver follow.

- ``rfc5348``: RFC 5348.
- ``rfc3448``: RFC 3448.
- ``ns2``: RFC 3448 as in ns-2.35's DCCP module: the mean loss interval counts intervals that have
  not occurred yet as zero, and there is no history discounting.
"""

Smoothing: TypeAlias = Literal["per-report", "per-round-trip"]
"""How q, the weight of past samples in averages of the round-trip time, is applied.

- ``per-report``: q at each report (RFC 5348 section 4.3).
- ``per-round-trip``: q^(1/N) at each report, with N reports per round-trip time.
"""

ObservationWindow: TypeAlias = Literal["interval", "round-trip"]
"""The measurement window for X_recv.

- ``interval``: RTT / N, the time since the last report, as in the paper.
- ``round-trip``: A whole round-trip time (RFC 5348 section 6).
"""

ReceiverRtt: TypeAlias = Literal["window-counter", "option"]
"""How a receiver learns the round-trip time.

- ``window-counter``: From the window counters of arriving packets (RFC 4342 section 8.1).
- ``option``: From an option that the sender adds to each data packet (RFC 6323).
"""

Reductions: TypeAlias = Literal["per-window", "per-packet"]
"""How often losses reduce a window.

- ``per-window``: Once for all packets lost in a window of data (RFC 4341 section 5).
- ``per-packet``: Once for each lost packet (Chen, Yang and Hong 2010, section 4.1).
"""

QueueAverage: TypeAlias = Literal["samples", "means"]
"""How a VCP router averages its queue.

- ``samples``: Exponential average of samples with weight 1/8 (Chen, Yang and Hong 2010).
- ``means``: Exponential average of interval means with weight 1/4 (the VCP authors' code for ns-2).
"""

ErrorUnit: TypeAlias = Literal["packet", "bit"]
"""What an error hits.

- ``packet``: A packet, regardless of its size.
- ``bit``: A bit. A packet with at least one wrong bit is lost.
"""

Codec: TypeAlias = Literal["g711", "g729a", "g723.1"]
"""A speech codec whose effect on the quality of a call is known (ITU-T G.113 Appendix I).

- ``g711``: G.711 with concealment of lost packets.
- ``g729a``: G.729A.
- ``g723.1``: G.723.1 at 6.3 kbit/s.
"""

C4Rules: TypeAlias = Literal["specification", "picoquic"]
"""Which text [`C4`] follows where the specification and its implementation differ.

- ``specification``: The specification.
- ``picoquic``: picoquic of 17 November 2025. Delays count only for packets sent faster than the
  nominal rate. A push follows a successful one after one era of Cruising. Losses reduce the rate by
  half of beta to all of it, in proportion to the sensitivity. The Initial state paces a quarter
  faster. The end of Recovery forgets the loss and CE rates.
"""

VcpRules: TypeAlias = Literal["chen2010", "xia2005"]
"""The source of the rules.

- ``chen2010``: Chen, Yang and Hong: additive increase by (R / t_rho)^2, at most 10; no pacing.
- ``xia2005``: The VCP authors' code for ns-2: additive increase by (R / 100 ms)^2 with linear ends;
  pacing.
"""

ChainOrder: TypeAlias = Literal["tcp-numbers", "ip-identification"]
"""Where the packets of a TCP flow carry their position in a chain.

- ``tcp-numbers``: In the order of the sequence and acknowledgement numbers, or with chains of more
  than two packets in the checksum (Li and Yousefi'zadeh 2009, sections 3.2 and 5). The default.
- ``ip-identification``: In the lowest bits of the identification field of the IPv4 header, which
  routers can read where IPsec hides the header of TCP (section 5).
"""

Acts: TypeAlias = Literal["at-once", "when-complete"]
"""When a sender acts on the digits of a chain.

- ``at-once``: On each digit, assuming the worst for missing ones (Li and Yousefi'zadeh 2009).
- ``when-complete``: Only on complete chains.
"""

VcpStart: TypeAlias = Literal["by-load-factor", "by-slow-start"]
"""How a VCP sender's connection starts.

- ``by-load-factor``: The load factor controls cwnd at once.
- ``by-slow-start``: In slow start, and after the first loss in congestion avoidance, until a
  round-trip time has passed without loss (Chen, Yang and Hong 2010, section 4.1).
"""

VcpGrowth: TypeAlias = Literal["per-packet", "per-ack"]
"""What cwnd grows for. Equations A3 and A4 of Chen, Yang and Hong leave this open.

- ``per-packet``: Each acknowledged packet, according to its own code.
- ``per-ack``: Each acknowledgement of new packets, however many, according to the largest code
  among them. Growth is slower by a factor of the Ack Ratio, and with delayed acknowledgements of
  TCP by two. Slow start still grows for each packet.
"""

AfterDecrease: TypeAlias = Literal["ignores-overload", "freezes", "increases", "holds"]
"""How a VCP sender behaves after a decrease.

- ``ignores-overload``: Ignores overload for t_rho, then increases additively on overload for a
  round-trip time.
- ``freezes``: Does nothing for t_rho, then increases additively for a round-trip time.
- ``increases``: Increases additively for a round-trip time (Chen, Yang and Hong 2010, appendix).
- ``holds``: Does nothing for a round-trip time, then increases additively for another one (the
  sentence on VCP in Li and Yousefi'zadeh 2009, section 2.2).
"""

OnLoss: TypeAlias = Literal["halves", "decreases", "ignores"]
"""A VCP sender's response to a loss.

- ``halves``: It halves cwnd.
- ``decreases``: It counts as another overload.
- ``ignores``: It leaves cwnd to the load factor. A timeout still sets cwnd to 1.
"""


@frozen(kw_only=True, field_transformer=naming_fields)
class Probes(Part):
    """What to measure.

    Attributes:
        interval: The interval between samples of flows and links. The last one ends with the run,
            and is shorter if the duration is not a multiple of it.
        links: The links to sample, as `"r1->r2"`. Empty: all.
        flows: The flows to sample, at their ends and on links. Empty: all.
        windows: Whether to record cwnd, ssthresh and pipe at each change (table `windows`).
        rates: Whether to record X, X_recv, p and R of TFRC senders at each report and each change
            (table `rates`).
        packets: Whether to record every packet at every link and endpoint (table `packets`). This
            table is large.
        tables: Additional tables, by name. May include `windows`, `rates` and `packets`.
    """

    interval: Duration = field(default=Duration("1 s"), converter=Duration)
    links: tuple[str, ...] = ()
    flows: tuple[str, ...] = ()
    windows: bool = False
    rates: bool = False
    packets: bool = False
    tables: tuple[str, ...] = ()


@define(kw_only=True, field_transformer=naming_fields)
class Scenario(Part):
    """An experiment: a network, the flows on it, what to measure, and for how long.

    Attributes:
        name: A short name, used in summaries and reports.
        description: What the experiment shows.
        duration: The simulated time the run covers, at most 100 years.
        seed: The seed of all random streams. Each stream is named, so adding a flow does not change
            the random numbers of the others.
        nodes: The names of the nodes, in addition to those of `dumbbell`; at most 250,000.
        links: The links, in addition to those of `dumbbell`; at most 250,000.
        dumbbell: Shorthand for the classic topology of two routers. Absent: the network consists of
            `nodes` and `links`.
        flows: The flows; at least one, and at most 100,000.
        probes: What to measure.
        verify_wire: Whether to encode and parse every packet and compare the result with the
            original. The run fails at the first difference.
    """

    name: str
    description: str = ""
    duration: Duration = field(converter=Duration)
    seed: int = 0
    nodes: list[str] = Factory(list)
    links: list[Link] = Factory(list)
    dumbbell: Dumbbell | None = None
    flows: list[Flow] = Factory(list)
    probes: Probes = Probes()
    verify_wire: bool = False


@frozen(kw_only=True, field_transformer=naming_fields)
class Unlimited(Part):
    """The unlimited queue has no parameters."""

    TAG: ClassVar[str] = "unlimited"


@frozen(kw_only=True, field_transformer=naming_fields)
class Link(Part):
    """A link between two nodes, in both directions unless `one_way`.

    A direction is named after its ends: `r1->r2`. Rate, delay, queue and Quick-Start apply to both
    directions; losses, trace, jitter and overtaking only to the forward direction. `back` overrides
    the reverse direction.

    Attributes:
        from_: The node at which the forward direction starts.
        to: The node at which the forward direction ends.
        rate: The rate of each direction.
        delay: The propagation delay of each direction, at most 24 hours.
        queue: The queue of each direction.
        loss: The losses of the forward direction, other than by the queue. Absent: none.
        trace: How rate and delay of the forward direction change over time. Before the first step,
            `rate` and `delay` apply. Absent: they do not change.
        jitter: Maximum random extra delay of each packet in the forward direction, uniformly
            distributed.
        overtaking: Whether packets overtake earlier ones where the delay falls, as when a route
            changes, and by jitter. Otherwise they arrive behind them, spaced by their transmission
            times.
        nat: A NAT in front of both directions of the link. Absent: none.
        quick_start: The share of each direction's `rate`, above 0 and up to 1, that Quick-Start may
            give away (RFC 4782), whatever a trace makes of the rate: a request is approved as long
            as the peak use of the last 3 s and the rates approved in them stay below it. A sender
            gets a rate only if all links of its route, its own included, take part. Absent: the
            link does not take part in Quick-Start.
        back: Settings of the reverse direction that differ. Absent: rate, delay, queue and
            Quick-Start are those of the forward direction, and there are no losses, trace or
            jitter.
        one_way: Whether the link has no reverse direction.
    """

    from_: str = field(metadata={"key": "from"})
    to: str
    rate: Rate = field(converter=Rate)
    delay: Duration = field(converter=Duration)
    queue: Queue = Unlimited()
    loss: LossModel | None = None
    trace: Trace | None = None
    jitter: Duration = field(default=Duration("0 s"), converter=Duration)
    overtaking: bool = False
    nat: Nat | None = None
    quick_start: float | None = None
    back: Back | None = None
    one_way: bool = False


@frozen(kw_only=True, field_transformer=naming_fields)
class PacketLoss(Part):
    """The packets to lose, by order of arrival at the link, counted from 1.

    Attributes:
        packets: The packets to lose, by order of arrival at the link, counted from 1. Order and
            repetitions do not matter; every packet that arrives at the link counts, including
            handshakes.
    """

    packets: tuple[int, ...]


@frozen(kw_only=True, field_transformer=naming_fields)
class TraceSteps(Part):
    """The steps, in order of time.

    Attributes:
        steps: The steps, in order of time. After the last one, its rate and delay hold.
    """

    steps: tuple[Step, ...]


@frozen(kw_only=True, field_transformer=naming_fields)
class TraceFile(Part):
    """The steps in a file; its path is relative to the scenario file.

    Attributes:
        file: The steps in a file; its path is relative to the scenario file. Each line has time,
            rate and delay separated by commas (`10 s, 500 kbps, 600 ms`), in order of time. An
            empty rate or delay stays unchanged. A line of two numbers without units is a time in
            seconds and the rate from then on in Mbit/s (`0.5 1.196`), the format of public traces
            of mobile networks; before the first time, the link has its `rate`. After the last line,
            its rate and delay hold. Lines that start with `#` are comments. When the scenario is
            read from a file, the steps replace this field.
    """

    file: str


@frozen(kw_only=True, field_transformer=naming_fields)
class TraceOpportunities(Part):
    """The times, in milliseconds and in order, at which the link can deliver 1500 bytes, as in a
    trace of Mahimahi (Netravali et al. 2015).

    Attributes:
        opportunities: The times, in milliseconds and in order, at which the link can deliver 1500
            bytes, as in a trace of Mahimahi (Netravali et al. 2015). A time may occur several
            times. A packet uses what is left of an opportunity, and then part of the next one; an
            opportunity without packets is lost. The last time is the length of the trace, after
            which it starts over. The `rate` of the link is then only what its queue assumes.
    """

    opportunities: tuple[int, ...]


@frozen(kw_only=True, field_transformer=naming_fields)
class TraceMahimahi(Part):
    """A Mahimahi file of such times, one per line; its path is relative to the scenario file.

    Attributes:
        mahimahi: A Mahimahi file of such times, one per line; its path is relative to the scenario
            file. After the last time, the trace starts over. When the scenario is read from a file,
            the times replace this field.
    """

    mahimahi: str


@frozen(kw_only=True, field_transformer=naming_fields)
class Step(Part):
    """A change of a link's rate or delay.

    Attributes:
        at: The time of the change.
        rate: The new rate, at which the packet in transmission goes on; the link is down at 0 bps.
            Absent: unchanged.
        delay: The new propagation delay, of packets whose transmission ends later. Absent:
            unchanged.
    """

    at: Duration = field(converter=Duration)
    rate: Rate | None = field(default=None, converter=converters.optional(Rate))
    delay: Duration | None = field(default=None, converter=converters.optional(Duration))


@frozen(kw_only=True, field_transformer=naming_fields)
class Nat(Part):
    """A NAT in front of both directions of a link: what it does to TCP segments besides translating
    addresses and ports, which nothing in a simulation reads. It leaves DCCP and UDP alone.

    Attributes:
        tracking: Whether it tracks connections and drops segments whose sequence or acknowledgement
            number is outside the window, as stateful packet filters do (van Rooij, "Real Stateful
            TCP Packet Filtering in IP Filter", 2000).
        checksum: How it updates TCP's checksum.
    """

    tracking: bool = True
    checksum: NatChecksum = "adjusted"


@frozen(kw_only=True, field_transformer=naming_fields)
class Back(Part):
    """The reverse direction of a link. Rate, delay and queue default to those of the forward
    direction; losses, trace, jitter and overtaking do not.

    Attributes:
        rate: The rate. Absent: as in the forward direction.
        delay: The propagation delay, at most 24 hours. Absent: as in the forward direction.
        queue: The queue. Absent: as in the forward direction.
        loss: The losses other than by the queue. Absent: none.
        trace: How rate and delay change over time. Absent: they do not change.
        jitter: Maximum random extra delay of each packet, uniformly distributed.
        overtaking: Whether packets overtake earlier ones where the delay falls, as when a route
            changes, and by jitter.
    """

    rate: Rate | None = field(default=None, converter=converters.optional(Rate))
    delay: Duration | None = field(default=None, converter=converters.optional(Duration))
    queue: Queue | None = None
    loss: LossModel | None = None
    trace: Trace | None = None
    jitter: Duration = field(default=Duration("0 s"), converter=Duration)
    overtaking: bool = False


@frozen(kw_only=True, field_transformer=naming_fields)
class Dumbbell(Part):
    """A dumbbell: hosts `s1`.. `sN` behind router `r1`, hosts `d1`.. `dN` behind router `r2`.

    ::

         s1 ─┐                 ┌─ d1
             r1 ─ bottleneck ─ r2
         s2 ─┘                 └─ d2

    Attributes:
        pairs: The number of hosts on each side, at most 100,000. In pairs.
        rate: The rate of the bottleneck.
        delay: The propagation delay of the bottleneck, at most 24 hours.
        queue: The queue of the bottleneck in each direction.
        loss: The losses of the bottleneck in the forward direction, other than by the queue.
            Absent: none.
        trace: How rate and delay of the bottleneck change over time in the forward direction.
            Absent: they do not change.
        jitter: Maximum random extra delay of each packet at the bottleneck in the forward
            direction, uniformly distributed.
        overtaking: Whether packets overtake earlier ones where the delay falls, as when a route
            changes, and by jitter. Otherwise they arrive behind them, spaced by their transmission
            times.
        nat: A NAT in front of both directions of the bottleneck. Absent: none.
        quick_start: The share of the rate of each link, above 0 and up to 1, that Quick-Start may
            give away (RFC 4782): a request is approved as long as the peak use of the last 3 s and
            the rates approved in them stay below it. Absent: no link takes part in Quick-Start.
        back: Settings of the bottleneck's reverse direction that differ. Absent: rate, delay and
            queue are those of the forward direction, and there are no losses, trace or jitter.
        access_rate: The rate of the access links. Their queues are unlimited.
        access_delays: The propagation delays of the access links of pairs 1, 2 and so on, the same
            on both sides, at most 24 hours. If there are more pairs than delays, the list repeats.
    """

    pairs: int
    rate: Rate = field(converter=Rate)
    delay: Duration = field(converter=Duration)
    queue: Queue = Unlimited()
    loss: LossModel | None = None
    trace: Trace | None = None
    jitter: Duration = field(default=Duration("0 s"), converter=Duration)
    overtaking: bool = False
    nat: Nat | None = None
    quick_start: float | None = None
    back: Back | None = None
    access_rate: Rate = field(converter=Rate)
    access_delays: tuple[Duration, ...] = field(converter=durations)


@frozen(kw_only=True, field_transformer=naming_fields)
class Flow(Part):
    """A flow from one node to another.

    Attributes:
        name: A name, unique in the scenario.
        from_: The sending node.
        to: The receiving node.
        start: When the sending application starts.
        start_jitter: Maximum random delay of the start, uniformly distributed. It makes runs with
            different seeds differ, so that phase effects average out.
        stop: When the sending application stops. Absent: at the end of the run.
        class_: The traffic class of the flow's packets in both directions, from 0 to 3. It selects
            the sub-queue of weighted queues.
        route: The nodes between `from` and `to` on the forward path, in order, without `from` and
            `to`. Absent: the route with the fewest links; among equals, the one whose links come
            first in the scenario.
        route_back: The nodes on the reverse path, in order, without the ends. Absent: `route`
            reversed if given, otherwise the route with the fewest links.
        transport: The transport protocol and its parameters.
        source: The application.
    """

    name: str
    from_: str = field(metadata={"key": "from"})
    to: str
    start: Duration = field(default=Duration("0 s"), converter=Duration)
    start_jitter: Duration = field(default=Duration("0 s"), converter=Duration)
    stop: Duration | None = field(default=None, converter=converters.optional(Duration))
    class_: int = field(default=0, metadata={"key": "class"})
    route: tuple[str, ...] | None = None
    route_back: tuple[str, ...] | None = None
    transport: Transport
    source: Source


@frozen(kw_only=True, field_transformer=naming_fields)
class Tcp(Part):
    """Parameters of TCP. The meaning of absent parameters depends on `profile`.

    Attributes:
        profile: The rules that apply where the RFCs leave a choice, or where ns-2 or Linux departs
            from them.
        control: The congestion control, by name. Every control works with every recovery. Its
            parameters, if any, are in a table of that name next to this field.
        ecn: Whether to use ECN. Controls that ask for ECN, or use its bits in their own way, ignore
            this.
        ecn_feedback: How the receiver reports marks, if ECN is used. Absent: `accurate` for
            controls that count marks, such as `prague`; with profile `linux`, `dctcp` for those
            whose data carries ECT(0); `rfc3168` for all others.
        recovery: How lost segments are detected and retransmitted. Absent: `rack` for profile
            `linux`; otherwise `rack` for `bbr`, `c4` and `prague`, `sack` for `cubic`, `vegas` for
            `vegas`, and `newreno` for most other controls.
        keep_sacks: Whether SACKs outlive a retransmission timeout, so that only missing segments
            are sent again (RFC 6675 section 5.1); `false` forgets them (RFC 2018 section 5). Used
            only by recovery `sack` of profile `rfc`.
        forward_rto: Whether an unnecessary retransmission timeout is detected and its response
            undone: F-RTO (RFC 5682 section 3). Needs recovery `rack`. Absent: yes for profile
            `linux`.
        rate_limited_increase: Whether cwnd may grow although the application does not use it up, up
            to what the largest FlightSize since the last reduction justifies: twice as much in slow
            start, a segment more otherwise (draft-ietf-ccwg-ratelimited-increase, August 2026).
            Without it cwnd does not grow then (RFC 9438 section 5.8). Absent: yes for profile
            `linux`.
        cwnd_validation: Whether to validate cwnd as in RFC 7661, for applications that pause. While
            less than half of cwnd is used, cwnd does not grow; a pause of an RTO does not reset it
            (as RFC 5681 section 4.1 does), but every five minutes halve it; packets are paced; and
            a loss leaves half of what was used. Not for profile `ns2`, nor for controls that model
            the path, such as `bbr` and `c4`.
        timestamps: Whether segments have timestamps (RFC 7323 section 3), which take 12 B more.
            They time retransmissions too, let the receiver size its window by round trips, and
            protect against old duplicates. Not for profile `ns2`. Absent: yes for profile `linux`.
        segment: The data bytes of a full segment (SMSS).
        initial_cwnd: The initial cwnd. Absent: RFC 3390's 2 to 4 segments, depending on `segment`,
            for profile `rfc`; 10 for `linux` (RFC 6928); 2 for `ns2`.
        initial_ssthresh: The initial ssthresh. Absent: unbounded; `receive_window` for profile
            `ns2`. In segments.
        receive_window: A fixed receive window, at most 1 GiB (RFC 7323 section 2.3). Absent:
            autotuned, by dynamic right-sizing (Fisk and Feng 2001) as in Linux: at first 64 KiB,
            then at least twice what a round trip delivers, and never less than before; 1000 for
            profile `ns2`, whose windows are fixed. In segments.
        max_receive_window: The largest autotuned receive window, at most 1 GiB. Absent: 32 MiB, as
            Linux's `tcp_rmem[2]` since version 6.16.
        delayed_ack: How long the receiver delays the acknowledgement of a single segment to wait
            for a second one. Limited to 500 ms (RFC 5681 section 4.2). Absent: every segment is
            acknowledged at once; for profile `linux`, 40 ms.
        limited_transmit: Whether to use limited transmit (RFC 3042; ns-2's `singledup_` for profile
            `ns2`).
        send_jitter: Maximum random delay before sending data the window permits (ns-2's
            `overhead_`). Afterwards everything the window permits leaves in one burst.
        tick: The granularity of the retransmission timer. Absent: no ticks; 10 ms for profile
            `ns2`.
        tick_phase: The offset of the start of the run within a tick. Used only by profile `ns2`.
            Absent: 5 ms, half a tick of ns-2, which draws it at random for each connection
            (`boot_time_`); 0 s for `vegas`, for which ns-2 does not draw it.
        initial_rto: The RTO before the first round-trip time sample. Absent: 1 s (RFC 6298); 3 s
            for profile `ns2`.
        min_rto: The minimum RTO. Absent: 1 s for profile `rfc` (RFC 6298); 200 ms for `linux` and
            `ns2`.
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
        vegas: Vegas with its own recovery and, in its ns-2 variant, with its inflation of cwnd.
        westwood: Parameters of the control `westwood`: TCP Westwood+, a Reno that after a loss
            continues with the window that fills the path at the bandwidth it has measured, instead
            of with half the window.
        vcp: How a VCP sender responds to its routers.
    """

    TAG: ClassVar[str] = "tcp"
    profile: TcpProfile = "rfc"
    control: str | Control = "reno"
    ecn: bool = False
    ecn_feedback: EcnFeedback | None = None
    recovery: TcpRecovery | None = None
    keep_sacks: bool = True
    forward_rto: bool | None = None
    rate_limited_increase: bool | None = None
    cwnd_validation: bool = False
    timestamps: bool | None = None
    segment: Bytes = field(default=Bytes("1 kB"), converter=Bytes)
    initial_cwnd: int | None = None
    initial_ssthresh: int | None = None
    receive_window: int | None = None
    max_receive_window: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    delayed_ack: Duration | None = field(default=None, converter=converters.optional(Duration))
    limited_transmit: bool = True
    send_jitter: Duration = field(default=Duration("0 s"), converter=Duration)
    tick: Duration | None = field(default=None, converter=converters.optional(Duration))
    tick_phase: Duration | None = field(default=None, converter=converters.optional(Duration))
    initial_rto: Duration | None = field(default=None, converter=converters.optional(Duration))
    min_rto: Duration | None = field(default=None, converter=converters.optional(Duration))
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
class Dccp(Part):
    """Parameters of DCCP. The meaning of absent parameters depends on `profile`.

    Attributes:
        ccid: The congestion control, by CCID: 2 (TCP-like), 3 (TFRC), 4 (TFRC for small packets),
            251 (chosen by the sender in `control`), or another registered CCID.
        control: The control of CCID 251, by name. Its parameters, if any, are in a table of that
            name next to this field. Absent: `reno`.
        profile: The rules that apply where the RFCs leave a choice or ns-2 departs from them.
        initial_cwnd: The initial cwnd. Absent: RFC 3390's 2 to 4 packets, depending on the datagram
            size, for profile `rfc`; 3 for `ns2`.
        initial_ssthresh: The initial ssthresh. Absent: unbounded for profile `rfc`; 65,535 for
            `ns2`. In packets.
        growth: How the window of CCID 2 grows. Absent: `rfc4341` for profile `rfc`; `ns2-tcplike`
            for `ns2`.
        tfrc: Parameters of CCID 3 and 4. Absent: their defaults.
        quick_start: The rate that a sender under CCID 3 or 4 asks for with Quick-Start, headers
            included, with its first datagram and after idle periods (RFC 5634). It is rounded down
            to 80 kbps times a power of two, which is also the least. Absent: no Quick-Start.
        send_queue: The number of datagrams that can wait in the sender; further ones are refused.
            Absent: 64 for profile `rfc`; 1000 for `ns2`.
        short_seqnos: Whether to use 24-bit sequence numbers. Absent: no for profile `rfc`; yes for
            `ns2`, to match the header sizes of ns-2's module.
        ecn: Whether to use ECN. Required by CCIDs that write their own codes into the ECN field.
        detect_optimistic_acks: Whether the sender occasionally skips a sequence number, as on
            sockets, to catch receivers that acknowledge packets before they have arrived. This
            applies to CCIDs whose receivers report what has arrived, such as CCID 2.
        ack_ratio: The initial Ack Ratio (RFC 4340 section 11.3), at least 1. In packets.
        min_ack_ratio: The smallest Ack Ratio that CCID 2's sender asks for, 1 or 2 (RFC 4341
            section 6.1.2). Absent: 2 for profile `rfc`; 1 for `ns2`. In packets.
        max_ack_ratio: The largest Ack Ratio that CCID 2's sender asks for, at least 2; 2 keeps it
            from answering lost acknowledgements. Absent: only the window bounds it. In packets.
        min_acks_per_window: The least number of acknowledgements per window that the Ack Ratio of
            CCID 2's sender leaves, however many are lost; at least 2, which is RFC 4341 section
            6.1.2 to the letter. (An Ack Ratio of 2 is always allowed.) Absent: 8 for profile `rfc`;
            2 for `ns2`. In packets.
        reductions: How often losses reduce the window of CCID 2 and of those based on it. Absent:
            `per-window`.
        immediate_acks: Whether the receiver immediately acknowledges after missing or marked
            packets (RFC 4340 section 11.3). Absent: yes for profile `rfc`; no for `ns2`.
        delayed_ack: The longest delay of an acknowledgement (RFC 4340 section 11.3). Absent: 200
            ms.
        initial_rto: The timeout before the first round-trip time sample. Absent: 1 s for profile
            `rfc` (RFC 6298); 3 s for `ns2`.
        min_rto: The minimum timeout. Absent: 200 ms for profile `rfc`; 1 s for `ns2`.
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

    TAG: ClassVar[str] = "dccp"
    ccid: int = 2
    control: str | Control | None = None
    profile: Profile = "rfc"
    initial_cwnd: int | None = None
    initial_ssthresh: int | None = None
    growth: Growth | None = None
    tfrc: Tfrc | None = None
    quick_start: Rate | None = field(default=None, converter=converters.optional(Rate))
    send_queue: int | None = None
    short_seqnos: bool | None = None
    ecn: bool = True
    detect_optimistic_acks: bool = False
    ack_ratio: int = 2
    min_ack_ratio: int | None = None
    max_ack_ratio: int | None = None
    min_acks_per_window: int | None = None
    reductions: Reductions | None = None
    immediate_acks: bool | None = None
    delayed_ack: Duration | None = field(default=None, converter=converters.optional(Duration))
    initial_rto: Duration | None = field(default=None, converter=converters.optional(Duration))
    min_rto: Duration | None = field(default=None, converter=converters.optional(Duration))
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
class Tfrc(Part):
    """Parameters of CCID 3 and CCID 4. They override those of `rules`.

    Attributes:
        rules: The rules to follow. Absent: `rfc5348` for profile `rfc`; `ns2` for profile `ns2`.
        segment_size: s: the size that every packet counts as, regardless of its content. Absent: s
            is the mean size of the packets sent (RFC 5348 section 4.1).
        oscillation_prevention: Whether to send more slowly while the round-trip time is above its
            average (RFC 5348 section 4.5). If not, the mean round-trip time follows each sample
            closely, as that section recommends. Absent: yes.
        smoothing: Whether averages of the round-trip time are weighted per report or per round-trip
            time. Absent: `per-report`.
        feedback: When the receiver sends reports.
        receiver_rtt: How the receiver learns the round-trip time.
    """

    rules: TfrcRules | None = None
    segment_size: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    oscillation_prevention: bool | None = None
    smoothing: Smoothing | None = None
    feedback: Feedback = "window-counter"
    receiver_rtt: ReceiverRtt = "window-counter"


@frozen(kw_only=True, field_transformer=naming_fields)
class PerRoundTrip(Part):
    """Several reports per round-trip time, each covering a whole one.

    Attributes:
        reports: The number of reports per round-trip time, from 1 to 1000.
    """

    TAG: ClassVar[str] = "per-round-trip"
    reports: int


@frozen(kw_only=True, field_transformer=naming_fields)
class DynamicFeedback(Part):
    """Dynamic feedback: N = min(max(round(RTT / rtt_ref), 1), RTT X_recv / s) reports per
    round-trip time.

    Attributes:
        rtt_ref: The round-trip time at which N is 1; 100 ms in the paper.
        window: The measurement window for X_recv.
    """

    TAG: ClassVar[str] = "dynamic"
    rtt_ref: Duration = field(default=Duration("100 ms"), converter=Duration)
    window: ObservationWindow = "interval"


@frozen(kw_only=True, field_transformer=naming_fields)
class Udp(Part):
    """UDP has no parameters."""

    TAG: ClassVar[str] = "udp"


@frozen(kw_only=True, field_transformer=naming_fields)
class KernelTcp(Part):
    """The TCP of the Linux kernel, for runs in real time and on virtual time. A simulation runs
    `tcp` in its place, with profile `linux` and the same control and segment. The kernel's `bbr` is
    version 1, that of `tcp` version 3.

    The kernel counts duplicates as delivered packets, and reports timeouts since Linux 6.7.

    Attributes:
        control: The congestion control, by its name in the kernel: `cubic`, `reno` or `bbr`, where
            the kernel has it.
        segment: The data bytes of a full segment.
    """

    TAG: ClassVar[str] = "kernel-tcp"
    control: str = "cubic"
    segment: Bytes = field(default=Bytes("1 kB"), converter=Bytes)


@frozen(kw_only=True, field_transformer=naming_fields)
class KernelDccp(Part):
    """The DCCP of the Linux kernel, which had it until version 6.15, for runs in real time and on
    virtual time. A simulation runs `dccp` in its place, with the same CCID and send queue, and
    without ECN, which the kernel's DCCP does not use.

    The kernel reports neither timeouts nor the cwnd of CCID 2: their values are 0.

    Attributes:
        ccid: The congestion control, by CCID: 2 (TCP-like) or 3 (TFRC).
        send_queue: The number of datagrams that can wait in the sender; further ones are refused.
    """

    TAG: ClassVar[str] = "kernel-dccp"
    ccid: int = 2
    send_queue: int = 64


@frozen(kw_only=True, field_transformer=naming_fields)
class Red(Part):
    """Parameters of RED, as written in a file; the defaults depend on the link. Thresholds are in
    packets, of size `mean_packet` if the queue is measured in bytes.

    Attributes:
        packets: Capacity in packets; give this or `bytes`.
        bytes: Capacity in bytes.
        min_threshold: The average queue above which packets are dropped. Default: half of what the
            link sends in `target_delay`, at least 5.
        max_threshold: The average queue above which all packets are dropped, or increasingly many
            if `gentle`. Default: three times the minimum.
        target_delay: The delay from which default thresholds are derived.
        max_p: The drop probability at the maximum threshold (ns-2's `1/linterm_`); the initial
            value for adaptive RED.
        weight: The weight of the average. Give this or `time_constant`, or neither for a time
            constant of ten round-trip times (ns-2's `q_weight_` of -1).
        time_constant: The time constant of the average.
        mean_packet: The mean packet size.
        gentle: Whether the drop probability rises from `max_p` to 1 between the maximum threshold
            and twice that threshold, instead of jumping.
        wait: Whether a drop is followed by a minimum number of packets without one.
        queue_in_bytes: Whether the queue is measured in bytes.
        drop_by_bytes: Whether larger packets are more likely to be dropped.
        ecn: Whether randomly chosen packets are marked instead of dropped, if they can be marked.
        mark_p: The drop probability above which packets are dropped even if they could be marked.
    """

    TAG: ClassVar[str] = "red"
    packets: int | None = None
    bytes: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    min_threshold: float | None = None
    max_threshold: float | None = None
    target_delay: Duration = field(default=Duration("5 ms"), converter=Duration)
    max_p: float = 0.1
    weight: float | None = None
    time_constant: Duration | None = field(default=None, converter=converters.optional(Duration))
    mean_packet: Bytes = field(default=Bytes("500 B"), converter=Bytes)
    gentle: bool = True
    wait: bool = True
    queue_in_bytes: bool = False
    drop_by_bytes: bool = False
    ecn: bool = False
    mark_p: float = 0.1


@frozen(kw_only=True, field_transformer=naming_fields)
class CoDel(Part):
    """Parameters of CoDel, as written in a file.

    Attributes:
        packets: Capacity in packets; give this or `bytes`.
        bytes: Capacity in bytes.
        target: The acceptable standing delay.
        interval: How long the delay must exceed the target before anything is dropped.
        ecn: Whether to mark packets instead of dropping them, if they can be marked.
    """

    TAG: ClassVar[str] = "codel"
    packets: int | None = None
    bytes: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    target: Duration = field(default=Duration("5 ms"), converter=Duration)
    interval: Duration = field(default=Duration("100 ms"), converter=Duration)
    ecn: bool = False


@frozen(kw_only=True, field_transformer=naming_fields)
class DropTail(Part):
    """The capacity of a drop-tail queue, in packets or in bytes.

    The packet in transmission does not count. (An ns-2 `queue-limit` of 20 is 19 here.)

    Attributes:
        packets: Capacity in packets.
        bytes: Capacity in bytes.
    """

    TAG: ClassVar[str] = "drop-tail"
    packets: int | None = None
    bytes: Bytes | None = field(default=None, converter=converters.optional(Bytes))


@frozen(kw_only=True, field_transformer=naming_fields)
class DualPi2(Part):
    """Parameters of DualPI2, as written in a file. The defaults are those of RFC 9332 Appendix A.
    That recommends a capacity of 250 ms at the rate of the link.

    Attributes:
        packets: Capacity of both queues together, in packets; give this or `bytes`.
        bytes: Capacity of both queues together, in bytes; at least `mtu`.
        k: The coupling factor: the marking probability of L4S packets is k times the square root of
            the drop probability of Classic packets (RFC 9332 section 2.1).
        target: The target delay of the Classic queue.
        t_update: The period of updates of the base probability.
        alpha: The change of the base probability per update and second of delay above the target.
            In 1/s.
        beta: The change of the base probability per second by which the delay has grown since the
            last update. In 1/s.
        p_c_max: The drop probability from which on Classic packets are dropped even if they could
            be marked (RFC 9332 Appendix A.2). Default: 1/k^2, at most 1.
        min_th: The delay of the L4S queue above which it marks by itself.
        range: How much longer than `min_th` the delay of the L4S queue must be for all packets to
            be marked; `0 s` makes a step of the ramp.
        th_len: While the L4S queue has at most this many packets, it does not mark by itself.
        mtu: The maximum packet size: the room that a packet needs to be accepted.
        weight: The bytes that the L4S queue sends per byte of the Classic queue while both have
            packets waiting (RFC 9332 section 4.2.2).
        tshift: The maximum extra delay of Classic packets. If given, the scheduler is a
            time-shifted FIFO (RFC 9332 section 4.2.2) instead of weighted round robin, and `weight`
            has no effect.
    """

    TAG: ClassVar[str] = "dualpi2"
    packets: int | None = None
    bytes: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    k: float = 2.0
    target: Duration = field(default=Duration("15 ms"), converter=Duration)
    t_update: Duration = field(default=Duration("16 ms"), converter=Duration)
    alpha: float = 0.16
    beta: float = 3.2
    p_c_max: float | None = None
    min_th: Duration = field(default=Duration("800 us"), converter=Duration)
    range: Duration = field(default=Duration("400 us"), converter=Duration)
    th_len: int = 1
    mtu: Bytes = field(default=Bytes("1.5 kB"), converter=Bytes)
    weight: int = 15
    tshift: Duration | None = field(default=None, converter=converters.optional(Duration))


@frozen(kw_only=True, field_transformer=naming_fields)
class FqCoDel(Part):
    """Parameters of FQ-CoDel, as written in a file.

    Attributes:
        packets: Capacity of all queues together, in packets.
        flows: Number of queues that flows are hashed into.
        quantum: Bytes that each queue may send per round.
        target: The acceptable standing delay of each queue.
        interval: How long the delay must exceed the target before anything is dropped.
        ecn: Whether to mark packets instead of dropping them, if they can be marked.
    """

    TAG: ClassVar[str] = "fq-codel"
    packets: int = 10240
    flows: int = 1024
    quantum: Bytes = field(default=Bytes("1.514 kB"), converter=Bytes)
    target: Duration = field(default=Duration("5 ms"), converter=Duration)
    interval: Duration = field(default=Duration("100 ms"), converter=Duration)
    ecn: bool = True


@frozen(kw_only=True, field_transformer=naming_fields)
class KernelQueue(Part):
    """A queue of the Linux kernel, for runs in real time and on virtual time.

    Drops of packets that it had accepted are known, and counted, when the next packet of their flow
    leaves; until then, the packets count as waiting. It must not reorder packets of a flow.

    Attributes:
        qdisc: The queueing discipline with its options, in the words of `tc`: `codel limit 100`.
        mtu: The longest packet that it takes. Some disciplines derive defaults from it.
        simulated: The queue that a simulation runs in its place. Absent: the scenario cannot be
            simulated.
    """

    TAG: ClassVar[str] = "kernel"
    qdisc: str
    mtu: Bytes = field(default=Bytes("1.5 kB"), converter=Bytes)
    simulated: Queue | None = None


@frozen(kw_only=True, field_transformer=naming_fields)
class Pie(Part):
    """Parameters of PIE, as written in a file.

    Attributes:
        packets: Capacity in packets; give this or `bytes`.
        bytes: Capacity in bytes.
        target: The target delay.
        update: The period of drop probability updates.
        max_burst: How long a burst is allowed without drops.
        mean_packet: The mean packet size; nothing is dropped while at most two such packets wait.
        ecn: Whether to mark packets instead of dropping them, if they can be marked.
        mark_p: The drop probability from which on packets are dropped even if they could be marked
            (RFC 8033 section 5.1).
        derandomise: Whether to derandomise drops so that they do not cluster (RFC 8033 section
            5.4).
        cap: Whether to limit the increase of a high drop probability (RFC 8033 section 5.5).
    """

    TAG: ClassVar[str] = "pie"
    packets: int | None = None
    bytes: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    target: Duration = field(default=Duration("15 ms"), converter=Duration)
    update: Duration = field(default=Duration("15 ms"), converter=Duration)
    max_burst: Duration = field(default=Duration("150 ms"), converter=Duration)
    mean_packet: Bytes = field(default=Bytes("1 kB"), converter=Bytes)
    ecn: bool = False
    mark_p: float = 0.1
    derandomise: bool = False
    cap: bool = False


@frozen(kw_only=True, field_transformer=naming_fields)
class Step2(Part):
    """A FIFO that marks packets while its queue is above a threshold, as switches do for DCTCP (RFC
    8257 section 3.1). Give `threshold` or `threshold_delay`. Packets that cannot be marked are
    dropped only when the queue is full.

    Attributes:
        packets: Capacity in packets; give this or `bytes`.
        bytes: Capacity in bytes.
        threshold: K: a packet that arrives while more packets than these wait is marked. K above a
            seventh of the bandwidth-delay product keeps DCTCP's link busy (RFC 8257 section 3.1).
        threshold_delay: A packet that has waited longer than this is marked when it leaves.
    """

    TAG: ClassVar[str] = "step"
    packets: int | None = None
    bytes: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    threshold: int | None = None
    threshold_delay: Duration | None = field(default=None, converter=converters.optional(Duration))


@frozen(kw_only=True, field_transformer=naming_fields)
class VcpRouter(Part):
    """A drop-tail queue that writes its link's load factor into outgoing packets. The load is
    relative to the link's nominal rate, or to a weighted sub-queue's share of it.

    Attributes:
        packets: Capacity in packets; give this or `bytes`.
        bytes: Capacity in bytes.
        interval: t_rho: the interval between computations of the load factor.
        sampling: t_q: the interval between queue samples.
        queue_share: kappa_q: the fraction of the persistent queue that counts as load.
        target_utilisation: gamma: the target utilisation.
        average: How the persistent queue is averaged.
        chain: The number of packets per load factor: 1 for VCP, n for MPCP(n).
        flows: The number of flows whose chains a router tracks, if chains have more than one
            packet. Further flows take over other flows' slots.
    """

    TAG: ClassVar[str] = "vcp"
    packets: int | None = None
    bytes: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    interval: Duration = field(default=Duration("200 ms"), converter=Duration)
    sampling: Duration = field(default=Duration("10 ms"), converter=Duration)
    queue_share: float = 0.5
    target_utilisation: float = 0.98
    average: QueueAverage = "samples"
    chain: int = 1
    flows: int = 4096


@frozen(kw_only=True, field_transformer=naming_fields)
class Weighted(Part):
    """Sub-queues in order of the traffic classes they serve; flows set their `class`. The last
    sub-queue also serves all higher classes.

    Attributes:
        queues: The sub-queues.
    """

    TAG: ClassVar[str] = "weighted"
    queues: tuple[SubQueue, ...]


@frozen(kw_only=True, field_transformer=naming_fields)
class SubQueue(Part):
    """One sub-queue.

    Attributes:
        weight: Its share of the link while all have packets waiting, relative to the other weights.
        queue: Its discipline.
    """

    weight: int
    queue: Queue = Unlimited()


@frozen(kw_only=True, field_transformer=naming_fields)
class Bernoulli(Part):
    """Independent random losses.

    Attributes:
        probability: The probability of an error, from 0 to 1.
        per: Whether errors hit packets or bits.
    """

    TAG: ClassVar[str] = "bernoulli"
    probability: float
    per: ErrorUnit = "packet"


@frozen(kw_only=True, field_transformer=naming_fields)
class GilbertElliott(Part):
    """A channel that is either good or bad (Gilbert 1960, Elliott 1963). It starts good and may
    change before each packet.

    Attributes:
        good_to_bad: The probability that a good channel becomes bad.
        bad_to_good: The probability that a bad channel becomes good. The mean length of a bad
            period is 1 / `bad_to_good` packets.
        in_good: The probability of an error while the channel is good.
        in_bad: The probability of an error while the channel is bad.
        per: Whether errors hit packets or bits.
    """

    TAG: ClassVar[str] = "gilbert-elliott"
    good_to_bad: float
    bad_to_good: float
    in_good: float = 0.0
    in_bad: float = 1.0
    per: ErrorUnit = "packet"


@frozen(kw_only=True, field_transformer=naming_fields)
class Leo(Part):
    """The link goes over satellites in low Earth orbit. It changes to another one at the end of
    each interval: it is down for a moment, and then has another delay, uniformly distributed
    between a minimum and a maximum. Until the first change, the link has its own `delay`. Packets
    wait in the queue while it is down.

    The defaults resemble Starlink.

    Attributes:
        interval: The time from one change to the next, at least 1 ms.
        outage: How long each change takes; `0 s` if the link is never down.
        min_delay: The minimum delay, in one direction.
        max_delay: The maximum delay, in one direction, at most 24 hours.
        seed: What the delays depend on. The two directions of a link have the same delays at the
            same times if they have the same seed. Absent: they depend on the seed of the scenario,
            and differ.
    """

    TAG: ClassVar[str] = "leo"
    interval: Duration = field(default=Duration("15 s"), converter=Duration)
    outage: Duration = field(default=Duration("140 ms"), converter=Duration)
    min_delay: Duration = field(default=Duration("15 ms"), converter=Duration)
    max_delay: Duration = field(default=Duration("40 ms"), converter=Duration)
    seed: int | None = None


@frozen(kw_only=True, field_transformer=naming_fields)
class Outages(Part):
    """The link fails at random and comes back. Times between failures and lengths of outages are
    exponentially distributed. The link starts up.

    Attributes:
        up: The mean time from the end of an outage to the next one, at least 1 ms.
        down: The mean length of an outage, at least 1 ms. Packets wait in the queue meanwhile.
    """

    TAG: ClassVar[str] = "outages"
    up: Duration = field(converter=Duration)
    down: Duration = field(converter=Duration)


@frozen(kw_only=True, field_transformer=naming_fields)
class Wifi(Part):
    """The link is an access point of Wi-Fi. Its `rate` is that of the medium. It sends packets as
    aggregates (A-MPDUs), and each aggregate waits for access to the medium: a constant time, and a
    random one for the contention with others. The average rate is therefore lower.

    An aggregate has room for as many full packets as each of its limits allows, and at least for
    one; smaller packets fill it by their bytes. Opportunities to send come whether packets wait or
    not, as if the medium were always busy: one without packets is lost.

    Attributes:
        packets: The most packets of an aggregate: those that a Block Ack covers.
        bytes: The most bytes of an aggregate: 65,535 B in 802.11n, 1,048,575 B in 802.11ac.
        time: The longest transmission of an aggregate, such as the limit of a transmission
            opportunity (TXOP). The default is the limit of 802.11ax.
        mtu: The size of a full packet.
        access: The time without data that each aggregate takes: the gaps before and after it (DIFS
            and SIFS), its preamble and the Block Ack. At least 10 us.
        contention: The mean random time until an aggregate gets the medium, nominally, from 1 ms to
            91 ms; `0 s` for none. Each access is deferred for a Poisson-distributed number of
            milliseconds, and some also for a Poisson-distributed number of retransmissions of 7.5
            ms, by which longer means differ from short ones. 7 ms is "bad Wi-Fi".
    """

    TAG: ClassVar[str] = "wifi"
    packets: int = 64
    bytes: Bytes = field(default=Bytes("65.535 kB"), converter=Bytes)
    time: Duration = field(default=Duration("5.484 ms"), converter=Duration)
    mtu: Bytes = field(default=Bytes("1.5 kB"), converter=Bytes)
    access: Duration = field(default=Duration("110 us"), converter=Duration)
    contention: Duration = field(default=Duration("1 ms"), converter=Duration)


@frozen(kw_only=True, field_transformer=naming_fields)
class Cbr(Part):
    """A constant-bit-rate source.

    Attributes:
        rate: The rate of application data.
        datagram: The size of each datagram.
    """

    TAG: ClassVar[str] = "cbr"
    rate: Rate = field(converter=Rate)
    datagram: Bytes = field(converter=Bytes)


@frozen(kw_only=True, field_transformer=naming_fields)
class Ftp(Part):
    """A bulk transfer.

    Attributes:
        size: The length of the file. Absent: unlimited.
        datagram: The size of each datagram. Not used by TCP.
    """

    TAG: ClassVar[str] = "ftp"
    size: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    datagram: Bytes = field(default=Bytes("1 kB"), converter=Bytes)


@frozen(kw_only=True, field_transformer=naming_fields)
class OnOff(Part):
    """Bursts of constant rate, separated by pauses. The lengths of both are random, and the mean
    rate is `rate * on / (on + off)`, where `on` and `off` are the mean lengths.

    Pauses do not count: a datagram leaves each time the flow has spent as long in bursts as a
    datagram takes at `rate`. A flow starts in a pause, so that many flows do not start together.

    In ns-2, this is `Application/Traffic/Exponential` or `/Pareto`, which round a burst to whole
    datagrams, at least one.

    Attributes:
        rate: The rate of application data in a burst.
        datagram: The size of each datagram.
        on: The lengths of bursts (`burst_time_` in ns-2).
        off: The lengths of pauses (`idle_time_` in ns-2).
    """

    TAG: ClassVar[str] = "on-off"
    rate: Rate = field(converter=Rate)
    datagram: Bytes = field(converter=Bytes)
    on: Period
    off: Period


@frozen(kw_only=True, field_transformer=naming_fields)
class Exponential(Part):
    """An exponential distribution: `P{T > t} = exp(-t / mean)`.

    Attributes:
        mean: The mean length, at least 1 µs.
    """

    TAG: ClassVar[str] = "exponential"
    mean: Duration = field(converter=Duration)


@frozen(kw_only=True, field_transformer=naming_fields)
class Pareto(Part):
    """A Pareto distribution: `P{T > t} = (scale / t)^shape` for `t` above `scale`, which is `mean *
    (shape - 1) / shape`.

    Attributes:
        mean: The mean length, at least 1 µs.
        shape: How quickly the tail decays, above 1. The variance is infinite for values up to 2.
            The default is ns-2's.
    """

    TAG: ClassVar[str] = "pareto"
    mean: Duration = field(converter=Duration)
    shape: float = 1.5


@frozen(kw_only=True, field_transformer=naming_fields)
class Poisson(Part):
    """Datagrams of one size at the times of a Poisson process: the intervals between them are
    independent and exponentially distributed.

    In ns-2, this is `Application/Traffic/Exponential` with a `burst_time_` of 0.

    Attributes:
        rate: The mean rate of application data. The mean interval is the time that one datagram
            takes at this rate.
        datagram: The size of each datagram.
    """

    TAG: ClassVar[str] = "poisson"
    rate: Rate = field(converter=Rate)
    datagram: Bytes = field(converter=Bytes)


@frozen(kw_only=True, field_transformer=naming_fields)
class Replay(Part):
    """Datagrams at the times and with the sizes of a trace: `times` and `sizes`, or a file with
    both.

    Attributes:
        times: When each datagram is sent, since the start of the flow, in order. Several may have
            the same time.
        sizes: The size of each datagram.
        file: A file with the times in seconds and the sizes in bytes; its path is relative to the
            scenario file. Its first line is `time_s,bytes`, and each further line is a datagram:
            `0.02,160`. Lines that start with `#` are comments. When the scenario is read from a
            file, `times` and `sizes` replace this field.
        ns2: A file in the binary format of ns-2's `Application/Traffic/Trace`; its path is relative
            to the scenario file. Each record consists of two big-endian integers of 32 bits: the
            time since the datagram before it in microseconds, and the size in bytes. When the
            scenario is read from a file, `times` and `sizes` replace this field.
        repeat: Whether the trace repeats. Its last time is its length, as in ns-2.
    """

    TAG: ClassVar[str] = "replay"
    times: tuple[Duration, ...] = field(default=(), converter=durations)
    sizes: tuple[Bytes, ...] = field(default=(), converter=sizes)
    file: str | None = None
    ns2: str | None = None
    repeat: bool = False


@frozen(kw_only=True, field_transformer=naming_fields)
class Voice(Part):
    """A one-way voice call. A codec makes a frame of `frame` bytes every `interval`, and the
    receiver plays the frames that arrive in time.

    Attributes:
        frame: The size of a coded frame.
        interval: The duration of speech in a frame, and so the interval between frames.
        frames: The number of frames per datagram, from 1 to 100.
        header: The bytes of each datagram before its frames: RTP's header. A datagram needs at
            least 12 bytes in all to describe its content.
        deadline: The playout delay: a frame is played this long after it was made, and not at all
            if it arrives later. (ITU-T G.114: one-way delays above 400 ms are unacceptable for
            planning.)
        codec: The codec, by which the E-model rates the call. It does not change what is sent.
            Absent: the call has no rating.
        talkspurts: Alternating talkspurts and pauses. Absent: talks without pauses.
        adapt: How the source adapts to the transport. Absent: it does not adapt.
    """

    TAG: ClassVar[str] = "voice"
    frame: Bytes = field(converter=Bytes)
    interval: Duration = field(converter=Duration)
    frames: int = 1
    header: Bytes = field(default=Bytes("12 B"), converter=Bytes)
    deadline: Duration = field(default=Duration("400 ms"), converter=Duration)
    codec: Codec | None = None
    talkspurts: Talkspurts | None = None
    adapt: Adapt | None = None


@frozen(kw_only=True, field_transformer=naming_fields)
class Talkspurts(Part):
    """The lengths of talkspurts and pauses, exponentially distributed.

    Attributes:
        talk: The mean length of a talkspurt.
        pause: The mean length of a pause.
    """

    talk: Duration = field(default=Duration("1.004 s"), converter=Duration)
    pause: Duration = field(default=Duration("1.587 s"), converter=Duration)


@frozen(kw_only=True, field_transformer=naming_fields)
class Adapt(Part):
    """How a source adapts: while a datagram waits in the transport, it collects frames; when none
    waits, it hands over the collected frames as the next datagram. The transport's rate thus
    determines the number of frames per datagram.

    Attributes:
        frames: The most frames per datagram, up to 100. Beyond that the oldest collected frame is
            discarded.
        modes: The frame sizes of the codec's lower modes, in descending order. The source switches
            to the next lower mode when the transport makes it wait, at most once per second, and
            back to the next higher one after 5 s without waiting.
    """

    frames: int
    modes: tuple[Bytes, ...] = field(default=(), converter=sizes)


@frozen(kw_only=True, field_transformer=naming_fields)
class Think(Part):
    """One component of the mixture of think times: log-logistic.

    Attributes:
        probability: p: the fraction of think times from this component. The fractions of all
            components add up to 1.
        median: pi: the median of this component.
        shape: eta: how quickly the tail decays. The mean is infinite for values up to 1.
    """

    probability: float
    median: Duration = field(converter=Duration)
    shape: float


@frozen(kw_only=True, field_transformer=naming_fields)
class FileSize(Part):
    """File lengths: log-logistic, `P{F > f} = 1 / (1 + (f / pi)^eta)`, rounded up to whole bytes.

    Attributes:
        median: pi: the median.
        shape: eta: how quickly the tail decays. The mean is infinite for values up to 1.
    """

    median: Bytes = field(default=Bytes("2.19 kB"), converter=Bytes)
    shape: float = 1.15066


@frozen(kw_only=True, field_transformer=naming_fields)
class Web(Part):
    """Web traffic: files separated by think times, each file over its own connection.

    The distributions are those of Ott, Lakshman and Wong ("SRED: Stabilized RED", INFOCOM 1999).
    The defaults are the parameters of Chen, Yang and Hong 2010, section 4, taken as seconds and
    bytes because the paper does not state units.

    Attributes:
        think: Think times: a mixture, `P{T > t} = sum of p / (1 + (t / pi)^eta)`.
        size: File lengths.
        datagram: The size of each datagram. Not used by TCP.
    """

    TAG: ClassVar[str] = "web"
    think: tuple[Think, ...] = (
        Think(probability=0.4953916, median=Duration("1 s"), shape=1.243437),
        Think(probability=0.5046084, median=Duration("24503.2 us"), shape=3.252665),
    )
    size: FileSize = FileSize()
    datagram: Bytes = field(default=Bytes("1 kB"), converter=Bytes)


@frozen(kw_only=True, field_transformer=naming_fields)
class Aimd(Part):
    """Parameters of the control `aimd`: AIMD(a, b) as in Floyd, Handley and Padhye 2000, "A
    Comparison of Equation-Based and AIMD Congestion Control". All else, slow start and timeouts
    included, is as in the control `reno`, which is AIMD(1, 1/2).

    Attributes:
        increase: a: packets by which the window grows in a round-trip time of congestion avoidance.
            Above 0, at most 10000.
        decrease: b: the fraction of the window that a loss or a mark takes away, so that 1 - b
            remains. From 0.01 to 0.99.
    """

    increase: float = 1.0
    decrease: float = 0.5


@frozen(kw_only=True, field_transformer=naming_fields)
class Bbr(Part):
    """Parameters of the control `bbr`.

    Attributes:
        loss_threshold: BBR.LossThresh: the loss rate of a round trip above which a probe for
            bandwidth ends. Between 0 and 1.
        beta: BBR.Beta: the fraction of the short-term limits left after a round trip with a loss.
            Between 0 and 1.
        headroom: BBR.Headroom: the fraction of the data that the path can hold without loss that is
            left free for other flows. From 0 to less than 1.
    """

    loss_threshold: float = 0.02
    beta: float = 0.7
    headroom: float = 0.15


@frozen(kw_only=True, field_transformer=naming_fields)
class C4(Part):
    """Parameters of the control `c4`.

    Attributes:
        beta: The fraction by which losses reduce the nominal rate, and the most by which delays and
            marks do. Between 0 and 1.
        max_jitter: MAX_JITTER: by how much the nominal max RTT may exceed the least round-trip
            time.
        max_delay_threshold: By how much a round-trip time may exceed the nominal max RTT, at most,
            before it counts as congestion; above 0.
        cruising_eras: Round trips between a recovery and the next push; at least 1.
        rules: The text to follow where the specification and its implementation in picoquic differ.
    """

    beta: float = 0.25
    max_jitter: Duration = field(default=Duration("250 ms"), converter=Duration)
    max_delay_threshold: Duration = field(default=Duration("25 ms"), converter=Duration)
    cruising_eras: int = 4
    rules: C4Rules = "specification"


@frozen(kw_only=True, field_transformer=naming_fields)
class Cubic(Part):
    """Parameters of the control `cubic`.

    Attributes:
        c: C of RFC 9438 section 5, in packets per cubic second.
        beta: beta_cubic: the fraction of the window left after a loss or a mark. Between 0 and 1.
        fast_convergence: Fast convergence: whether a window reduced before it regained its previous
            maximum releases bandwidth to others (section 4.7).
        hystart: Whether the first slow start may end before a loss, because delays grow: HyStart++
            (draft-ietf-tcpm-hystartplusplus-04, which became RFC 9406). Absent: HyStart as in Linux
            6.12, by delays and by trains of acknowledgements, for TCP's profile `linux`; neither
            otherwise.
    """

    c: float = 0.4
    beta: float = 0.7
    fast_convergence: bool = True
    hystart: bool | None = None


@frozen(kw_only=True, field_transformer=naming_fields)
class Dctcp(Part):
    """Parameters of the control `dctcp`: Data Center TCP (RFC 8257), a Reno that responds to marks
    in proportion to the fraction of packets marked. It requires routers that mark early, and a
    receiver that reports every mark.

    Attributes:
        gain: g: the weight of the latest round trip in alpha, the average fraction of marked
            packets (RFC 8257 section 4.2). Between 0 and 1.
        initial_alpha: Alpha before the first round trip: 1 in RFC 8257 section 3.3, so that the
            first mark halves the window. From 0 to 1.
    """

    gain: float = 0.0625
    initial_alpha: float = 1.0


@frozen(kw_only=True, field_transformer=naming_fields)
class Htcp(Part):
    """Parameters of the control `htcp`: H-TCP, which grows faster the longer ago the last
    congestion event was, and gives up less where the queue is short compared with the path.

    Attributes:
        low_speed_period: Delta_L: how long after a congestion event the window grows as Reno's. At
            most an hour.
        min_beta: The least fraction of the window that a loss or a mark leaves, above 0, and what
            is left if the path has changed.
        max_beta: The largest fraction that it leaves, below 1, and at least `min_beta`.
        rtt_scaling: Whether growth is in proportion to the round-trip time, so that flows with
            different ones share alike.
        bandwidth_switch: Whether `min_beta` applies after the throughput has changed by more than a
            fifth.
        tick: The resolution of the clock that measures time: round-trip times are rounded up to it.
            At most 1 s. Absent: 10 ms for TCP's profile `linux`, as in the kernel on virtual time
            (4 ms in Debian's); otherwise time is exact.
    """

    low_speed_period: Duration = field(default=Duration("1 s"), converter=Duration)
    min_beta: float = 0.5
    max_beta: float = 0.8
    rtt_scaling: bool = True
    bandwidth_switch: bool = True
    tick: Duration | None = field(default=None, converter=converters.optional(Duration))


@frozen(kw_only=True, field_transformer=naming_fields)
class Hybla(Part):
    """Parameters of the control `hybla`: TCP Hybla, which grows on long paths as Reno does on a
    short one.

    Attributes:
        rtt0: RTT0: the round-trip time of the path on which Reno grows as this window does. On
            shorter paths, it is Reno. Above 0, at most 60 s.
    """

    rtt0: Duration = field(default=Duration("25 ms"), converter=Duration)


@frozen(kw_only=True, field_transformer=naming_fields)
class Illinois(Part):
    """Parameters of the control `illinois`: TCP-Illinois, whose increase and decrease follow the
    queueing delay. Losses decide when the window shrinks.

    Attributes:
        alpha_min: The packets by which the window grows in a round trip when the queue is fullest.
            Above 0, at most `alpha_max`. Absent: 0.1, or 0.3 for TCP's profile `linux`.
        alpha_max: The packets by which it grows when the queue is empty. At most 10000.
        beta_min: The fraction of the window that a loss or a mark takes when the queue is short.
            Above 0, at most `beta_max`.
        beta_max: The fraction that it takes when the queue is long. Below 1.
        window_threshold: The window below which both are Reno's, 1 packet and a half. At least 0.
            Absent: 10, or 15 for TCP's profile `linux`. In packets.
        theta: The round trips with a delay up to d1 after which the window grows by `alpha_max`
            again.
        eta_1: d1, up to which the queue counts as empty, as a fraction of the largest queueing
            delay seen. At least 0, below 1.
        eta_2: d2, up to which `beta_min` applies, as the same fraction. At least 0.
        eta_3: d3, from which on `beta_max` applies. Above `eta_2`, at most 1.
    """

    alpha_min: float | None = None
    alpha_max: float = 10.0
    beta_min: float = 0.125
    beta_max: float = 0.5
    window_threshold: float | None = None
    theta: int = 5
    eta_1: float = 0.01
    eta_2: float = 0.1
    eta_3: float = 0.8


@frozen(kw_only=True, field_transformer=naming_fields)
class Prague(Part):
    """Parameters of the control `prague`.

    Attributes:
        gain: g: the weight of a round's fraction of marked packets in the average alpha. Above 0,
            at most 1.
        initial_alpha: alpha before the first round and after a timeout. From 0 to 1.
        reference_rtt: The round-trip time, at least, for which a flow acts, so that flows with
            shorter ones are no faster.
        transition_rounds: D: rounds for which a flow acts for its real round-trip time.
        max_burst_delay: How long a burst may occupy the bottleneck; a burst of one packet may
            always leave.
        min_rate: The rate below which congestion does not reduce the window; above 0.
        ect0: Whether data has ECT(0) instead of ECT(1), for private networks that use it as DCTCP
            does.
    """

    gain: float = 0.0625
    initial_alpha: float = 0.0
    reference_rtt: Duration = field(default=Duration("25 ms"), converter=Duration)
    transition_rounds: int = 500
    max_burst_delay: Duration = field(default=Duration("250 us"), converter=Duration)
    min_rate: Rate = field(default=Rate("100 kbps"), converter=Rate)
    ect0: bool = False


@frozen(kw_only=True, field_transformer=naming_fields)
class Reno(Part):
    """Parameters of the control `reno`.

    Attributes:
        hystart: Whether the first slow start may end before a loss, because delays grow: HyStart++
            (draft-ietf-tcpm-hystartplusplus-04, which became RFC 9406).
    """

    hystart: bool = False


@frozen(kw_only=True, field_transformer=naming_fields)
class Vegas(Part):
    """Parameters of the control `vegas`, in queued packets.

    Attributes:
        alpha: Below this, congestion avoidance grows by one packet per round. Absent: 1, or 2 for
            TCP's profile `linux`; `beta` if that is less. In packets.
        beta: Above this, it shrinks by one packet. Absent: 3, or 4 for TCP's profile `linux`. In
            packets.
        gamma: Above this, slow start ends. Absent: 1. In packets.
    """

    alpha: float | None = None
    beta: float | None = None
    gamma: float | None = None


@frozen(kw_only=True, field_transformer=naming_fields)
class Westwood(Part):
    """Parameters of the control `westwood`: TCP Westwood+, a Reno that after a loss continues with
    the window that fills the path at the bandwidth it has measured, instead of with half the
    window.

    Attributes:
        filter: The weight of earlier samples of the bandwidth in its estimate: of each of two
            low-pass filters in a row. At least 0 and below 1.
        min_interval: The shortest time over which the bandwidth is measured; a round trip if that
            is longer. At most 60 s.
        tick: The resolution of the clock that measures time: round-trip times are rounded up to it.
            At most 1 s. Absent: 10 ms for TCP's profile `linux`, as in the kernel on virtual time
            (4 ms in Debian's); otherwise time is exact.
    """

    filter: float = 0.875
    min_interval: Duration = field(default=Duration("50 ms"), converter=Duration)
    tick: Duration | None = field(default=None, converter=converters.optional(Duration))


@frozen(kw_only=True, field_transformer=naming_fields)
class Vcp(Part):
    """How a VCP sender responds to its routers. Omitted parameters are as in `rules`.

    Attributes:
        rules: Which published rules to follow.
        chain: The number of packets per load factor. 1 (the default) is VCP, 2 is DPCP, 3 is TPCP,
            n is MPCP(n). Over DCCP the CCID determines it.
        order: Where the packets of a TCP flow carry their position in a chain. Omit it over DCCP,
            where the sequence number determines the position.
        limits: Whether VCP's limits on increases also apply to chains of several packets.
        acts: When to act on the digits of a chain.
        start: How a connection starts.
        growth: Whether cwnd grows for each packet acknowledged or for each acknowledgement. Chains
            of several packets always grow `per-packet`.
        least_cwnd: The smallest cwnd, which a timeout sets too; at least 1. In packets.
        after_decrease: The behaviour after a decrease.
        on_loss: The response to a loss.
        interval: t_rho: the routers' interval.
        paces: Whether to pace small windows with long round-trip times.
        fallback: Whether the sender falls back to RFC 5681 if routers do not seem to support VCP.
            The published senders do not, so without it a flow must have a VCP router on its path.
    """

    rules: VcpRules = "chen2010"
    chain: int | None = None
    order: ChainOrder | None = None
    limits: bool = False
    acts: Acts = "at-once"
    start: VcpStart = "by-load-factor"
    growth: VcpGrowth = "per-packet"
    least_cwnd: int = 1
    after_decrease: AfterDecrease | None = None
    on_loss: OnLoss | None = None
    interval: Duration | None = field(default=None, converter=converters.optional(Duration))
    paces: bool | None = None
    fallback: bool = False


@frozen(kw_only=True, field_transformer=naming_fields)
class AdaptiveRed(Red):
    """RED that adapts its drop probability to keep the average queue near a target (Floyd, Gummadi
    and Shenker 2001).

    Parameters of RED, as written in a file; the defaults depend on the link. Thresholds are in
    packets, of size `mean_packet` if the queue is measured in bytes.
    """

    TAG: ClassVar[str] = "adaptive-red"


Queue: TypeAlias = (
    AdaptiveRed
    | CoDel
    | DropTail
    | DualPi2
    | FqCoDel
    | KernelQueue
    | Pie
    | Red
    | Step2
    | Unlimited
    | VcpRouter
    | Weighted
    | queue.Queue
)
"""A queue discipline: `{ name = { parameters } }`, or its name alone."""

LossModel: TypeAlias = Bernoulli | GilbertElliott | PacketLoss | losses.Losses
"""Losses other than by the queue. They occur before the queue, so lost packets use no bandwidth."""

Trace: TypeAlias = (
    TraceSteps | TraceFile | TraceOpportunities | TraceMahimahi | Leo | Outages | Wifi
)
"""How a link's rate and delay change over time."""

Transport: TypeAlias = Tcp | Dccp | Udp | KernelTcp | KernelDccp
"""A transport protocol."""

Feedback: TypeAlias = Literal["window-counter"] | PerRoundTrip | DynamicFeedback
"""When a receiver sends reports, in addition to those of new losses, which it sends immediately."""

Source: TypeAlias = Cbr | Ftp | OnOff | Poisson | Replay | Voice | Web | source.Source
"""An application."""

Period: TypeAlias = Exponential | Pareto
"""How the lengths of bursts or pauses are distributed."""

__all__ = [
    "C4",
    "Adapt",
    "AdaptiveRed",
    "Aimd",
    "Back",
    "Bbr",
    "Bernoulli",
    "Cbr",
    "CoDel",
    "Cubic",
    "Dccp",
    "Dctcp",
    "DropTail",
    "DualPi2",
    "Dumbbell",
    "DynamicFeedback",
    "Exponential",
    "FileSize",
    "Flow",
    "FqCoDel",
    "Ftp",
    "GilbertElliott",
    "Htcp",
    "Hybla",
    "Illinois",
    "KernelDccp",
    "KernelQueue",
    "KernelTcp",
    "Leo",
    "Link",
    "Nat",
    "OnOff",
    "Outages",
    "PacketLoss",
    "Pareto",
    "PerRoundTrip",
    "Pie",
    "Poisson",
    "Prague",
    "Probes",
    "Red",
    "Reno",
    "Replay",
    "Step",
    "Step2",
    "SubQueue",
    "Talkspurts",
    "Tcp",
    "Tfrc",
    "Think",
    "TraceFile",
    "TraceMahimahi",
    "TraceOpportunities",
    "TraceSteps",
    "Udp",
    "Unlimited",
    "Vcp",
    "VcpRouter",
    "Vegas",
    "Voice",
    "Web",
    "Weighted",
    "Westwood",
    "Wifi",
]
