"""The parts of a scenario, one class for each definition of its schema.

Written by ``make schema`` from the core's types and their documentation: do not edit.

A quantity is given as a text with its unit (``"300 ms"``, ``"2 Mbps"``, ``"500 B"``) or as an
object of :mod:`skywave.quantities`; the attribute holds the object. An attribute that is None is
left out of the scenario: its documentation says what then holds. Nothing is validated here: the
core does that, and names the field that is wrong. ``from`` and ``class`` are keywords of Python, so
they are ``from_`` and ``class_`` here.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from attrs import Factory, converters, define, field, frozen

from skywave.control import Control
from skywave.quantities import Bytes, Duration, Rate, durations, sizes
from skywave.scenario.part import Part

ErrorUnit: TypeAlias = Literal["packet", "bit"]
"""What has an error.

- ``packet``: A packet, whatever its size.
- ``bit``: A bit; one wrong bit loses the packet.
"""

Profile: TypeAlias = Literal["rfc", "ns2"]
"""Whose rules a protocol follows where the RFCs leave a choice or a simulator departs from
them.

- ``rfc``: The RFCs' recommendations.
- ``ns2``: ns-2.35, as shipped; the differences are listed in validation/ns2/README.md.
"""

TcpRecovery: TypeAlias = Literal["tahoe", "reno", "newreno", "sack", "vegas"]
"""TCP's loss recoveries.

- ``tahoe``: Fast retransmit, and slow start from the lost segment on.
- ``reno``: Fast recovery until new data are acknowledged: RFC 5681.
- ``newreno``: Fast recovery until all that was outstanding is acknowledged: RFC 6582.
- ``sack``: Selective acknowledgements: RFC 6675, or ns-2's Sack1.
- ``vegas``: Fast retransmit by a finely measured timeout: ns-2's Vegas.
"""

Growth: TypeAlias = Literal["rfc4341", "ns2-tcplike", "per-ack"]
"""CCID 2's window growth laws.

- ``rfc4341``: RFC 4341 section 5: in slow start one packet for every two that are
  acknowledged.
- ``ns2-tcplike``: ns-2's TCPlike agent: in slow start one packet for every packet that is
  acknowledged, up to the Ack Ratio for each acknowledgement.
- ``per-ack``: As TCP does (RFC 5681 section 3.1): by acknowledgements, however many
  packets one covers. In slow start one packet for each, in congestion avoidance 1/cwnd
  packets. So growth is slower by the Ack Ratio.
"""

TfrcRules: TypeAlias = Literal["rfc5348", "rfc3448", "ns2"]
"""The document whose rules a sender and a receiver follow.

- ``rfc5348``: RFC 5348.
- ``rfc3448``: RFC 3448.
- ``ns2``: RFC 3448 as ns-2.35's DCCP module has it: its mean loss interval counts those
  that have not been seen yet as zero.
"""

Smoothing: TypeAlias = Literal["per-report", "per-round-trip"]
"""What the weights of the past hold for.

- ``per-report``: q for each report.
- ``per-round-trip``: q^(1/N), where there are N reports in a round-trip time.
"""

ObservationWindow: TypeAlias = Literal["interval", "round-trip"]
"""What X_recv is measured over.

- ``interval``: RTT / N, from one report to the next, as the authors have it.
- ``round-trip``: A whole round-trip time (RFC 5348 section 6).
"""

ReceiverRtt: TypeAlias = Literal["window-counter", "option"]
"""How a receiver comes to know the round-trip time.

- ``window-counter``: From the window counters of the packets that arrive (RFC 4342
  section 8.1).
- ``option``: The sender tells it in an option of each data packet (RFC 6323).
"""

QueueAverage: TypeAlias = Literal["samples", "means"]
"""How a VCP router averages its queue.

- ``samples``: Exponential average of samples with weight 1/8 (Chen, Yang and Hong 2010).
- ``means``: Exponential average of interval means with weight 1/4 (the VCP authors' code
  for ns-2).
"""

VcpRules: TypeAlias = Literal["chen2010", "xia2005"]
"""The source of the rules.

- ``chen2010``: Chen, Yang and Hong: additive increase by (R / t_rho)^2, at most 10; no
  pacing.
- ``xia2005``: The VCP authors' code for ns-2: additive increase by (R / 100 ms)^2 with
  linear ends; pacing.
"""

Acts: TypeAlias = Literal["at-once", "when-complete"]
"""When a sender acts on the digits of a chain.

- ``at-once``: On each digit, assuming the worst for missing ones (Li and Yousefi'zadeh
  2009).
- ``when-complete``: Only on complete chains.
"""

AfterDecrease: TypeAlias = Literal["ignores-overload", "freezes"]
"""How a VCP sender behaves after a decrease.

- ``ignores-overload``: Ignores overload for t_rho, then increases additively on overload
  for a round-trip time.
- ``freezes``: Does nothing for t_rho, then increases additively for a round-trip time.
"""

OnLoss: TypeAlias = Literal["halves", "decreases"]
"""A VCP sender's response to a loss.

- ``halves``: It halves cwnd.
- ``decreases``: It counts as another overload.
"""


@frozen(kw_only=True)
class Probes(Part):
    """What is measured."""

    interval: Duration = field(default=Duration("1 s"), converter=Duration)
    """Distance between samples of flows and links."""
    links: tuple[str, ...] = ()
    """Links to sample, as `"r1->r2"`; all where empty."""
    flows: tuple[str, ...] = ()
    """Flows to sample, at their ends and on links; all where empty."""
    windows: bool = False
    """cwnd, ssthresh and pipe at each change."""
    rates: bool = False
    """X, X_recv, p and R of a TFRC sender at each report and each change."""
    packets: bool = False
    """Every packet at every link and endpoint: large."""
    tables: tuple[str, ...] = ()
    """Further tables, by the names of their probes in the [`Registry`](crate::Registry).
    `windows`, `rates` and `packets` may also be named here.
    """


@define(kw_only=True)
class Scenario(Part):
    """An experiment: a network, the flows on it, what to measure, for how long."""

    name: str
    """A short name, for summaries and reports."""
    description: str = ""
    """What the experiment shows."""
    duration: Duration = field(converter=Duration)
    """Simulated time."""
    seed: int = 0
    """Seed of every random stream. Streams are named, so a flow that is added does not change
    the draws of another.
    """
    nodes: list[str] = Factory(list)
    """Nodes, beside those of `dumbbell`."""
    links: list[Link] = Factory(list)
    """Links, beside those of `dumbbell`."""
    bottleneck: Dumbbell | None = field(default=None, metadata={"key": "dumbbell"})
    """Short for the classic topology of two routers."""
    flows: list[Flow] = Factory(list)
    """The flows."""
    probes: Probes = Probes()
    """What is measured."""
    verify_wire: bool = False
    """Encodes and parses every packet on its way and compares it with the typed one."""


@frozen(kw_only=True)
class Unlimited(Part):
    """The unlimited queue has no parameters."""

    TAG: ClassVar[str] = "unlimited"


@frozen(kw_only=True)
class Link(Part):
    """A link between two nodes; both directions unless `one_way`.

    A direction is named after its ends: `r1->r2`. Both have the rate, the delay and the queue
    that stand here, and the forward one the losses, the trace and the jitter; `back` says
    what is otherwise on the way back.
    """

    from_: str = field(metadata={"key": "from"})
    """The node at which the forward direction starts."""
    to: str
    """The node at which it ends."""
    rate: Rate = field(converter=Rate)
    """Rate of each direction."""
    delay: Duration = field(converter=Duration)
    """Propagation delay of each direction."""
    queue: Queue = Unlimited()
    """Queue of each direction."""
    loss: Loss | None = None
    """Losses of the forward direction."""
    trace: Course | None = None
    """How rate and delay of the forward direction change; until its first step they are those
    above.
    """
    jitter: Duration = field(default=Duration("0 s"), converter=Duration)
    """In the forward direction each packet takes up to so much longer, evenly distributed; none
    overtakes another.
    """
    back: Back | None = None
    """The way back, where it differs."""
    one_way: bool = False
    """Whether there is no way back."""


@frozen(kw_only=True)
class PacketLoss(Part):
    """The packets with these arrival ordinals at the link, counted from 1."""

    packets: tuple[int, ...]


@frozen(kw_only=True)
class Bernoulli(Part):
    """Parameters of independent losses."""

    TAG: ClassVar[str] = "bernoulli"
    probability: float
    """Probability of an error, from 0 to 1."""
    per: ErrorUnit = "packet"
    """What has it."""


@frozen(kw_only=True)
class GilbertElliott(Part):
    """Parameters of a channel that is good or bad (Gilbert 1960, Elliott 1963). It begins good
    and may change before each packet.
    """

    TAG: ClassVar[str] = "gilbert-elliott"
    good_to_bad: float
    """Probability that a good channel becomes bad."""
    bad_to_good: float
    """Probability that a bad channel becomes good: a bad spell has 1 / `bad_to_good` packets on
    average.
    """
    in_good: float = 0.0
    """Probability of an error while the channel is good."""
    in_bad: float = 1.0
    """Probability of an error while it is bad."""
    per: ErrorUnit = "packet"
    """What has these errors."""


@frozen(kw_only=True)
class Trace(Part):
    """As listed, in order of time."""

    steps: tuple[Step, ...]


@frozen(kw_only=True)
class TraceFile(Part):
    """As in this file, beside the scenario's: lines of time, rate and delay, separated by commas
    (`10 s, 500 kbps, 600 ms`), in order of time. An empty rate or delay is as it was; a line
    that begins with `#` is a remark. Whoever reads the scenario from a file puts its steps
    here.
    """

    file: str


@frozen(kw_only=True)
class Step(Part):
    """From a time on, a link has this rate and this delay."""

    at: Duration = field(converter=Duration)
    """When it begins."""
    rate: Rate | None = field(default=None, converter=converters.optional(Rate))
    """The rate from then on; as it was where absent. At 0 bps the link is out."""
    delay: Duration | None = field(default=None, converter=converters.optional(Duration))
    """The propagation delay from then on; as it was where absent."""


@frozen(kw_only=True)
class Back(Part):
    """The way back of a link: what is absent is as on the way forward, but losses, trace and
    jitter, which it has only where they stand here.
    """

    rate: Rate | None = field(default=None, converter=converters.optional(Rate))
    """Rate."""
    delay: Duration | None = field(default=None, converter=converters.optional(Duration))
    """Propagation delay."""
    queue: Queue | None = None
    """Queue."""
    loss: Loss | None = None
    """Losses."""
    trace: Course | None = None
    """How rate and delay change."""
    jitter: Duration = field(default=Duration("0 s"), converter=Duration)
    """How much longer a packet may take."""


@frozen(kw_only=True)
class Dumbbell(Part):
    """A dumbbell: hosts `s1`.. `sN` behind router `r1`, hosts `d1`.. `dN` behind router `r2`.

    ::

         s1 ─┐                 ┌─ d1
             r1 ─ bottleneck ─ r2
         s2 ─┘                 └─ d2
    """

    pairs: int
    """Hosts on each side. In pairs."""
    rate: Rate = field(converter=Rate)
    """Rate of the bottleneck."""
    delay: Duration = field(converter=Duration)
    """Propagation delay of the bottleneck."""
    queue: Queue = Unlimited()
    """Queue of the bottleneck, both ways."""
    loss: Loss | None = None
    """Losses of the bottleneck, forward."""
    trace: Course | None = None
    """How rate and delay of the bottleneck change, forward."""
    jitter: Duration = field(default=Duration("0 s"), converter=Duration)
    """At the bottleneck, forward, each packet takes up to so much longer."""
    back: Back | None = None
    """The bottleneck's way back, where it differs."""
    access_rate: Rate = field(converter=Rate)
    """Rate of the access links; their queues are unlimited."""
    access_delays: tuple[Duration, ...] = field(converter=durations)
    """Propagation delays of the access links: of pair 1, pair 2 and so on, from the beginning
    again where there are more pairs than delays. Both sides of a pair have the same.
    """


@frozen(kw_only=True)
class Flow(Part):
    """A flow from one node to another."""

    name: str
    """A name, unique in the scenario."""
    from_: str = field(metadata={"key": "from"})
    """The sending node."""
    to: str
    """The receiving node."""
    start: Duration = field(default=Duration("0 s"), converter=Duration)
    """When the sender's application starts."""
    start_jitter: Duration = field(default=Duration("0 s"), converter=Duration)
    """It starts up to so much later, evenly distributed: runs with other seeds then differ, and
    phase effects average out.
    """
    stop: Duration | None = field(default=None, converter=converters.optional(Duration))
    """When it stops; the end of the run where absent."""
    class_: int = field(default=0, metadata={"key": "class"})
    """The class of traffic of its packets, there and back: which of a link's weighted sub-queues
    serves them.
    """
    route: tuple[str, ...] | None = None
    """The nodes that its packets pass on their way from `from` to `to`, in order, without these
    two. Absent: the route with the fewest links; among equals, the one whose links come
    first.
    """
    route_back: tuple[str, ...] | None = None
    """The nodes on the way back, in order. Absent: those of `route` in reverse order if it is
    given, else the route with the fewest links.
    """
    transport: Transport
    """The transport protocol and its parameters."""
    source: Source
    """The application."""


@frozen(kw_only=True)
class Tcp(Part):
    """TCP's parameters. What is absent is taken from the profile."""

    TAG: ClassVar[str] = "tcp"
    profile: Profile = "rfc"
    """Whose rules."""
    control: str | Control = "reno"
    """The congestion control, by its name in the registry: it runs with every recovery. Its
    parameters stand beside it under that name.
    """
    ecn: bool = False
    """ECN (RFC 3168). A control that uses the same bits in its own way does so whatever stands
    here.
    """
    recovery: TcpRecovery | None = None
    """How lost segments are found and sent again. Absent: the one that goes with the control,
    for most NewReno.
    """
    segment: Bytes = field(default=Bytes("1 kB"), converter=Bytes)
    """Data bytes of a full segment (SMSS)."""
    initial_cwnd: int | None = None
    """Initial window, in segments."""
    initial_ssthresh: int | None = None
    """Initial slow-start threshold, in segments. Both profiles: unbounded."""
    receive_window: int = 1000
    """The receiver's window, in segments."""
    delayed_ack: Duration | None = field(default=None, converter=converters.optional(Duration))
    """Delayed acknowledgements: how long the receiver waits for a second segment. Every segment
    is acknowledged at once where absent.
    """
    limited_transmit: bool = True
    """Limited transmit (RFC 3042)."""
    send_jitter: Duration = field(default=Duration("0 s"), converter=Duration)
    """By up to so much, drawn at random, the sender comes late to what its window lets go, which
    then leaves in one burst: ns-2's `overhead_`.
    """
    tick: Duration | None = field(default=None, converter=converters.optional(Duration))
    """Granularity of the retransmission timer."""
    tick_phase: Duration | None = field(default=None, converter=converters.optional(Duration))
    """How far into a tick the run begins, where there are ticks. ns-2 draws it at random for
    each connection (`boot_time_`); profile `ns2` takes half a tick of ns-2.
    """
    initial_rto: Duration | None = field(default=None, converter=converters.optional(Duration))
    """Retransmission timeout before the first round-trip time sample."""
    min_rto: Duration | None = field(default=None, converter=converters.optional(Duration))
    """Smallest retransmission timeout."""
    aimd: Aimd | None = None
    cubic: Cubic | None = None
    reno: Reno | None = None
    vegas: Vegas | None = None
    """Vegas with its own recovery and, in its ns-2 variant, with its inflation of cwnd."""
    vcp: Vcp | None = None


@frozen(kw_only=True)
class Dccp(Part):
    """DCCP's parameters. What is absent is taken from the profile."""

    TAG: ClassVar[str] = "dccp"
    ccid: int = 2
    """Congestion control by its number in the registry: 2 (TCP-like), 3 (TFRC), 4 (TFRC for
    small packets), 251 (a control of the sender's choice), or another that is registered.
    """
    control: str | Control | None = None
    """The control of CCID 251, by its name in the registry. Its parameters stand beside it under
    that name. Absent: `reno`.
    """
    profile: Profile = "rfc"
    """Whose rules."""
    initial_cwnd: int | None = None
    """Initial congestion window, in packets."""
    initial_ssthresh: int | None = None
    """Initial slow-start threshold, in packets. Both profiles: unbounded."""
    growth: Growth | None = None
    """Window growth law."""
    tfrc: Tfrc | None = None
    """Parameters of CCID 3 and 4."""
    send_queue: int | None = None
    """Datagrams that may wait in the sender; more are refused. `rfc`: 64, `ns2`: 1000. In
    datagrams.
    """
    short_seqnos: bool | None = None
    """Whether 24-bit sequence numbers are used. `rfc`: no; `ns2`: yes, for that module's header
    sizes.
    """
    ecn: bool = True
    """Whether ECN is used."""
    ack_ratio: int = 2
    """Initial Ack Ratio. In packets."""
    immediate_acks: bool | None = None
    """Whether the receiver acknowledges at once when packets are missing or marked (RFC 4340
    section 11.3). `rfc`: yes, `ns2`: no.
    """
    delayed_ack: Duration | None = field(default=None, converter=converters.optional(Duration))
    """Longest delay of an acknowledgement."""
    initial_rto: Duration | None = field(default=None, converter=converters.optional(Duration))
    """Timeout before the first round-trip time sample."""
    min_rto: Duration | None = field(default=None, converter=converters.optional(Duration))
    """Smallest timeout."""
    aimd: Aimd | None = None
    cubic: Cubic | None = None
    reno: Reno | None = None
    vegas: Vegas | None = None
    vcp: Vcp | None = None


@frozen(kw_only=True)
class Tfrc(Part):
    """Parameters of CCID 3 and CCID 4. What is absent is taken from the rules."""

    rules: TfrcRules | None = None
    """Whose rules. Profile `rfc`: RFC 5348's, `ns2`: `ns2`."""
    segment_size: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    """s, where each packet counts as one of this size whatever it carries. Where absent, s is
    the mean size of what was sent (RFC 5348 section 4.1).
    """
    oscillation_prevention: bool | None = None
    """Whether packets leave more slowly while the round-trip time is above its mean (RFC 5348
    section 4.5). Without, the mean follows each sample closely, as that section advises. Both
    rules: yes.
    """
    smoothing: Smoothing | None = None
    """What the weights of the past in means of the round-trip time hold for. Both rules: a
    report.
    """
    feedback: Feedback = "window-counter"
    """When the receiver reports."""
    receiver_rtt: ReceiverRtt = "window-counter"
    """How the receiver comes to know the round-trip time."""


@frozen(kw_only=True)
class PerRoundTrip(Part):
    """Several reports in a round-trip time, each of which covers a whole one."""

    TAG: ClassVar[str] = "per-round-trip"
    reports: int
    """Their number. In reports."""


@frozen(kw_only=True)
class DynamicFeedback(Part):
    """Dynamic feedback: N = min(max(round(RTT / rtt_ref), 1), RTT X_recv / s) reports in a
    round-trip time.
    """

    TAG: ClassVar[str] = "dynamic"
    rtt_ref: Duration = field(default=Duration("100 ms"), converter=Duration)
    """The round-trip time of a path that has one report in it; the authors have 100 ms."""
    window: ObservationWindow = "interval"
    """What X_recv is measured over."""


@frozen(kw_only=True)
class Udp(Part):
    """UDP has no parameters."""

    TAG: ClassVar[str] = "udp"


@frozen(kw_only=True)
class Ftp(Part):
    """Parameters of an FTP source."""

    TAG: ClassVar[str] = "ftp"
    size: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    """The length of the file; without end where absent."""
    datagram: Bytes = field(default=Bytes("1 kB"), converter=Bytes)
    """Datagram size, for transports that carry datagrams."""


@frozen(kw_only=True)
class Cbr(Part):
    """Parameters of a constant-bit-rate source."""

    TAG: ClassVar[str] = "cbr"
    rate: Rate = field(converter=Rate)
    """Rate of application data."""
    datagram: Bytes = field(converter=Bytes)
    """Size of each datagram."""


@frozen(kw_only=True)
class Voice(Part):
    """Parameters of a voice call, one way: a codec makes a frame of so many bytes every
    `interval`, and the receiver plays what arrives in time.
    """

    TAG: ClassVar[str] = "voice"
    frame: Bytes = field(converter=Bytes)
    """Bytes of a coded frame."""
    interval: Duration = field(converter=Duration)
    """How much speech a frame holds, and so how often there is one."""
    frames: int = 1
    """Frames in a datagram. In frames."""
    header: Bytes = field(default=Bytes("12 B"), converter=Bytes)
    """Bytes of each datagram before its frames: RTP's header. A datagram needs 12 bytes in all
    to say what is in it.
    """
    deadline: Duration = field(default=Duration("400 ms"), converter=Duration)
    """How long after it was made a frame is played; what comes later is lost (ITU-T G.114:
    one-way delays above 400 ms are unacceptable for planning).
    """
    talkspurts: Talkspurts | None = None
    """Talk and pause in turn; talks without a pause where absent."""
    adapt: Adapt | None = None
    """Adapts to what the transport takes; sends as ever where absent."""


@frozen(kw_only=True)
class Talkspurts(Part):
    """Lengths of talkspurts and pauses, exponentially distributed."""

    talk: Duration = field(default=Duration("1.004 s"), converter=Duration)
    """Mean length of a talkspurt."""
    pause: Duration = field(default=Duration("1.587 s"), converter=Duration)
    """Mean length of a pause."""


@frozen(kw_only=True)
class Adapt(Part):
    """How a source adapts: it hands the transport a datagram only when none waits there any
    more, and gathers frames until then. So the transport's rate decides how many frames share
    a datagram.
    """

    frames: int
    """Frames that may share a datagram. When more have been gathered, the oldest is given up. In
    frames.
    """
    modes: tuple[Bytes, ...] = field(default=(), converter=sizes)
    """Bytes of a frame in each lower mode of the codec, the best first. The source goes down one
    when the transport makes it wait, and up again when it has not for a while.
    """


@frozen(kw_only=True)
class Think(Part):
    """One part of the mixture of think times: log-logistic."""

    probability: float
    """p: the share of think times that are of this part. Shares add up to 1."""
    median: Duration = field(converter=Duration)
    """pi: the median of this part."""
    shape: float
    """eta: how soon the tail ends; the mean is infinite up to 1."""


@frozen(kw_only=True)
class FileSize(Part):
    """Lengths of files: log-logistic, `P{F > f} = 1 / (1 + (f / pi)^eta)`, rounded up to whole
    bytes.
    """

    median: Bytes = field(default=Bytes("2.19 kB"), converter=Bytes)
    """pi: the median."""
    shape: float = 1.15066
    """eta: how soon the tail ends; the mean is infinite up to 1."""


@frozen(kw_only=True)
class Web(Part):
    """Parameters of a web source: think times, and files in between, each over a connection of
    its own.

    The laws are those of Ott, Lakshman and Wong ("SRED: Stabilized RED", INFOCOM 1999), the
    defaults the parameters of Chen, Yang and Hong 2010, section 4, who do not say units:
    seconds and bytes.
    """

    TAG: ClassVar[str] = "web"
    think: tuple[Think, ...] = (
        Think(probability=0.4953916, median=Duration("1 s"), shape=1.243437),
        Think(probability=0.5046084, median=Duration("24503.2 us"), shape=3.252665),
    )
    """Think times: a mixture, `P{T > t} = sum of p / (1 + (t / pi)^eta)`."""
    size: FileSize = FileSize()
    """File lengths."""
    datagram: Bytes = field(default=Bytes("1 kB"), converter=Bytes)
    """Datagram size, for transports that carry datagrams."""


@frozen(kw_only=True)
class Red(Part):
    """Parameters of RED, as written in a file; the defaults depend on the link. Thresholds are
    in packets, of size `mean_packet` if the queue is measured in bytes.
    """

    TAG: ClassVar[str] = "red"
    packets: int | None = None
    """Capacity in packets; give this or `bytes`."""
    bytes: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    """Capacity in bytes."""
    min_threshold: float | None = None
    """The average queue above which packets are dropped. Default: half of what the link sends in
    `target_delay`, at least 5.
    """
    max_threshold: float | None = None
    """The average queue above which all packets are dropped, or increasingly many if `gentle`.
    Default: three times the minimum.
    """
    target_delay: Duration = field(default=Duration("5 ms"), converter=Duration)
    """The delay from which default thresholds are derived."""
    max_p: float = 0.1
    """The drop probability at the maximum threshold (ns-2's `1/linterm_`); the initial value for
    adaptive RED.
    """
    weight: float | None = None
    """The weight of the average. Give this or `time_constant`, or neither for a time constant of
    ten round-trip times (ns-2's `q_weight_` of -1).
    """
    time_constant: Duration | None = field(default=None, converter=converters.optional(Duration))
    """The time constant of the average."""
    mean_packet: Bytes = field(default=Bytes("500 B"), converter=Bytes)
    """The mean packet size."""
    gentle: bool = True
    """Whether the drop probability rises from `max_p` to 1 between the maximum threshold and
    twice that threshold, instead of jumping.
    """
    wait: bool = True
    """Whether a drop is followed by a minimum number of packets without one."""
    queue_in_bytes: bool = False
    """Whether the queue is measured in bytes."""
    drop_by_bytes: bool = False
    """Whether larger packets are more likely to be dropped."""
    ecn: bool = False
    """Whether randomly chosen packets are marked instead of dropped, if they can be marked."""
    mark_p: float = 0.1
    """The drop probability above which packets are dropped even if they could be marked."""


@frozen(kw_only=True)
class CoDel(Part):
    """Parameters of CoDel, as written in a file."""

    TAG: ClassVar[str] = "codel"
    packets: int | None = None
    """Capacity in packets; give this or `bytes`."""
    bytes: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    """Capacity in bytes."""
    target: Duration = field(default=Duration("5 ms"), converter=Duration)
    """The acceptable standing delay."""
    interval: Duration = field(default=Duration("100 ms"), converter=Duration)
    """How long the delay must exceed the target before anything is dropped."""
    ecn: bool = False
    """Whether to mark packets instead of dropping them, if they can be marked."""


@frozen(kw_only=True)
class DropTail(Part):
    """The capacity of a drop-tail queue, in packets or in bytes.

    The packet in transmission does not count. (An ns-2 `queue-limit` of 20 is 19 here.)
    """

    TAG: ClassVar[str] = "drop-tail"
    packets: int | None = None
    """Capacity in packets."""
    bytes: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    """Capacity in bytes."""


@frozen(kw_only=True)
class FqCoDel(Part):
    """Parameters of FQ-CoDel, as written in a file."""

    TAG: ClassVar[str] = "fq-codel"
    packets: int = 10240
    """Capacity of all queues together, in packets."""
    flows: int = 1024
    """Number of queues that flows are hashed into."""
    quantum: Bytes = field(default=Bytes("1.514 kB"), converter=Bytes)
    """Bytes that each queue may send per round."""
    target: Duration = field(default=Duration("5 ms"), converter=Duration)
    """The acceptable standing delay of each queue."""
    interval: Duration = field(default=Duration("100 ms"), converter=Duration)
    """How long the delay must exceed the target before anything is dropped."""
    ecn: bool = True
    """Whether to mark packets instead of dropping them, if they can be marked."""


@frozen(kw_only=True)
class Pie(Part):
    """Parameters of PIE, as written in a file."""

    TAG: ClassVar[str] = "pie"
    packets: int | None = None
    """Capacity in packets; give this or `bytes`."""
    bytes: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    """Capacity in bytes."""
    target: Duration = field(default=Duration("15 ms"), converter=Duration)
    """The target delay."""
    update: Duration = field(default=Duration("15 ms"), converter=Duration)
    """The period of drop probability updates."""
    max_burst: Duration = field(default=Duration("150 ms"), converter=Duration)
    """How long a burst is allowed without drops."""
    mean_packet: Bytes = field(default=Bytes("1 kB"), converter=Bytes)
    """The mean packet size; nothing is dropped while at most two such packets wait."""
    ecn: bool = False
    """Whether to mark packets instead of dropping them, if they can be marked and drops are
    rare.
    """
    derandomise: bool = False
    """Whether to derandomise drops so that they do not cluster (RFC 8033 section 5.4)."""
    cap: bool = False
    """Whether to limit the increase of a high drop probability (RFC 8033 section 5.5)."""


@frozen(kw_only=True)
class VcpRouter(Part):
    """A drop-tail queue that writes its link's load factor into outgoing packets. The load is
    relative to the link's nominal rate, or to a weighted sub-queue's share of it.
    """

    TAG: ClassVar[str] = "vcp"
    packets: int | None = None
    """Capacity in packets; give this or `bytes`."""
    bytes: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    """Capacity in bytes."""
    interval: Duration = field(default=Duration("200 ms"), converter=Duration)
    """t_rho: the interval between computations of the load factor."""
    sampling: Duration = field(default=Duration("10 ms"), converter=Duration)
    """t_q: the interval between queue samples."""
    queue_share: float = 0.5
    """kappa_q: the fraction of the persistent queue that counts as load."""
    target_utilisation: float = 0.98
    """gamma: the target utilisation."""
    average: QueueAverage = "samples"
    """How the persistent queue is averaged."""
    chain: int = 1
    """The number of packets per load factor: 1 for VCP, n for MPCP(n)."""
    flows: int = 4096
    """The number of flows whose chains a router tracks, if chains have more than one packet.
    Further flows take over other flows' slots.
    """


@frozen(kw_only=True)
class Weighted(Part):
    """Sub-queues in order of the traffic classes they serve; flows set their `class`. Classes
    beyond the last sub-queue share it.
    """

    TAG: ClassVar[str] = "weighted"
    queues: tuple[SubQueue, ...]
    """The sub-queues."""


@frozen(kw_only=True)
class SubQueue(Part):
    """One sub-queue."""

    weight: int
    """Its share of the link while all have packets waiting, relative to the other weights."""
    queue: Queue = Unlimited()
    """Its discipline."""


@frozen(kw_only=True)
class Aimd(Part):
    """Parameters of the control `aimd`: AIMD(a, b) as in Floyd, Handley and Padhye 2000, "A
    Comparison of Equation-Based and AIMD Congestion Control". All else, slow start and
    timeouts included, is as in the control `reno`, which is AIMD(1, 1/2).
    """

    increase: float = 1.0
    """a: packets by which the window grows in a round-trip time of congestion avoidance. Above
    0, at most 10000.
    """
    decrease: float = 0.5
    """b: the fraction of the window that a loss or a mark takes away, so that 1 - b remains.
    From 0.01 to 0.99.
    """


@frozen(kw_only=True)
class Cubic(Part):
    """Parameters of the control `cubic`."""

    c: float = 0.4
    """C of RFC 9438 section 5, in packets per cubic second."""
    beta: float = 0.7
    """beta_cubic: the fraction of the window left after a loss or a mark. Between 0 and 1."""
    fast_convergence: bool = True
    """Fast convergence: whether a window reduced before it regained its previous maximum
    releases bandwidth to others (section 4.7).
    """


@frozen(kw_only=True)
class Reno(Part):
    """Parameters of the control `reno`; there are none."""


@frozen(kw_only=True)
class Vegas(Part):
    """Parameters of the control `vegas`, in queued packets."""

    alpha: float = 1.0
    """Below this, congestion avoidance grows by one packet per round. In packets."""
    beta: float = 3.0
    """Above this, it shrinks by one packet. In packets."""
    gamma: float = 1.0
    """Above this, slow start ends. In packets."""


@frozen(kw_only=True)
class Vcp(Part):
    """How a VCP sender responds to its routers. Omitted parameters are as in `rules`."""

    rules: VcpRules = "chen2010"
    """Which published rules to follow."""
    chain: int | None = None
    """The number of packets per load factor. 1 (the default) is VCP, 2 is DPCP, 3 is TPCP, n is
    MPCP(n). Over DCCP the CCID determines it.
    """
    limits: bool = False
    """Whether VCP's limits on increases also apply to chains of several packets. Default: no."""
    acts: Acts = "at-once"
    """When to act on the digits of a chain."""
    after_decrease: AfterDecrease | None = None
    """The behaviour after a decrease."""
    on_loss: OnLoss | None = None
    """The response to a loss."""
    interval: Duration | None = field(default=None, converter=converters.optional(Duration))
    """t_rho: the routers' interval."""
    paces: bool | None = None
    """Whether to pace small windows with long round-trip times."""
    fallback: bool = False
    """Whether the sender falls back to RFC 5681 if routers do not seem to support VCP. The
    published senders do not, so without it a flow must have a VCP router on its path.
    """


@frozen(kw_only=True)
class AdaptiveRed(Part):
    """RED that adapts its drop probability to keep the average queue near a target (Floyd,
    Gummadi and Shenker 2001).

    Parameters of RED, as written in a file; the defaults depend on the link. Thresholds are
    in packets, of size `mean_packet` if the queue is measured in bytes.
    """

    TAG: ClassVar[str] = "adaptive-red"
    packets: int | None = None
    """Capacity in packets; give this or `bytes`."""
    bytes: Bytes | None = field(default=None, converter=converters.optional(Bytes))
    """Capacity in bytes."""
    min_threshold: float | None = None
    """The average queue above which packets are dropped. Default: half of what the link sends in
    `target_delay`, at least 5.
    """
    max_threshold: float | None = None
    """The average queue above which all packets are dropped, or increasingly many if `gentle`.
    Default: three times the minimum.
    """
    target_delay: Duration = field(default=Duration("5 ms"), converter=Duration)
    """The delay from which default thresholds are derived."""
    max_p: float = 0.1
    """The drop probability at the maximum threshold (ns-2's `1/linterm_`); the initial value for
    adaptive RED.
    """
    weight: float | None = None
    """The weight of the average. Give this or `time_constant`, or neither for a time constant of
    ten round-trip times (ns-2's `q_weight_` of -1).
    """
    time_constant: Duration | None = field(default=None, converter=converters.optional(Duration))
    """The time constant of the average."""
    mean_packet: Bytes = field(default=Bytes("500 B"), converter=Bytes)
    """The mean packet size."""
    gentle: bool = True
    """Whether the drop probability rises from `max_p` to 1 between the maximum threshold and
    twice that threshold, instead of jumping.
    """
    wait: bool = True
    """Whether a drop is followed by a minimum number of packets without one."""
    queue_in_bytes: bool = False
    """Whether the queue is measured in bytes."""
    drop_by_bytes: bool = False
    """Whether larger packets are more likely to be dropped."""
    ecn: bool = False
    """Whether randomly chosen packets are marked instead of dropped, if they can be marked."""
    mark_p: float = 0.1
    """The drop probability above which packets are dropped even if they could be marked."""


Queue: TypeAlias = (
    AdaptiveRed | CoDel | DropTail | FqCoDel | Pie | Red | Unlimited | VcpRouter | Weighted
)
"""A queue discipline: `{ name = { parameters } }`, or its name alone."""

Loss: TypeAlias = PacketLoss | Bernoulli | GilbertElliott
"""Losses that are not the queue's. They come before it: what is lost takes no bandwidth."""

Course: TypeAlias = Trace | TraceFile
"""How a link's rate and delay change with time."""

Transport: TypeAlias = Tcp | Dccp | Udp
"""A transport protocol."""

Feedback: TypeAlias = Literal["window-counter"] | PerRoundTrip | DynamicFeedback
"""When a receiver reports, beside new losses, which are reported at once."""

Source: TypeAlias = Ftp | Cbr | Voice | Web
"""An application."""

__all__ = [
    "Adapt",
    "AdaptiveRed",
    "Aimd",
    "Back",
    "Bernoulli",
    "Cbr",
    "CoDel",
    "Cubic",
    "Dccp",
    "DropTail",
    "Dumbbell",
    "DynamicFeedback",
    "FileSize",
    "Flow",
    "FqCoDel",
    "Ftp",
    "GilbertElliott",
    "Link",
    "PacketLoss",
    "PerRoundTrip",
    "Pie",
    "Probes",
    "Red",
    "Reno",
    "Step",
    "SubQueue",
    "Talkspurts",
    "Tcp",
    "Tfrc",
    "Think",
    "Trace",
    "TraceFile",
    "Udp",
    "Unlimited",
    "Vcp",
    "VcpRouter",
    "Vegas",
    "Voice",
    "Web",
    "Weighted",
]
