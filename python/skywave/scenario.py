"""Builders of scenarios: typed mirrors of the schema that the core reads.

A quantity is a text with its unit (``"300 ms"``, ``"2 Mbps"``, ``"500 B"``). A parameter that is
``None`` has the core's default; ``skywave check`` shows a scenario with every default filled in.
Nothing is validated here: the core does, and names the field that is wrong. ``from`` is a word of
Python, so the schema's ``from`` is ``from_`` here.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, TypeVar

from skywave import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@cache
def _fields(kind: type) -> tuple[tuple[str, str], ...]:
    """Return the fields of a part: what they are called here, and in the schema."""
    names = (item.name for item in dataclasses.fields(kind))
    return tuple((name, name.removesuffix("_")) for name in names)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, _Mirror):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


class _Mirror:
    """A part of a scenario; ``TAG`` names its variant where the schema has several."""

    TAG: ClassVar[str | None] = None

    def to_dict(self) -> dict[str, Any]:
        """Return the form that the core reads, without what has its default."""
        kind: type = type(self)
        body = {
            name: _plain(value)
            for attribute, name in _fields(kind)
            if (value := getattr(self, attribute)) is not None
        }
        return body if self.TAG is None else {self.TAG: body}


@dataclass(frozen=True, kw_only=True)
class DropTail(_Mirror):
    """A first-in-first-out queue that drops what does not fit.

    It holds ``packets``, or ``bytes`` (a text with a unit): give one of the two. The packet in
    transmission does not count: an ns-2 ``queue-limit`` of 20 is 19 here.
    """

    TAG: ClassVar[str] = "drop-tail"
    packets: int | None = None
    bytes: str | None = None


@dataclass(frozen=True, kw_only=True)
class Red(_Mirror):
    """RED: drops or marks at random, by the average queue.

    It holds ``packets`` or ``bytes``: give one of the two. Thresholds are in packets (of
    ``mean_packet`` each where ``queue_in_bytes``); without them and without ``weight`` and
    ``time_constant`` they follow from the link, as in ns-2. ``max_p`` is ns-2's ``1/linterm_``.
    """

    TAG: ClassVar[str] = "red"
    packets: int | None = None
    bytes: str | None = None
    min_threshold: float | None = None
    max_threshold: float | None = None
    target_delay: str | None = None
    max_p: float | None = None
    weight: float | None = None
    time_constant: str | None = None
    mean_packet: str | None = None
    gentle: bool | None = None
    wait: bool | None = None
    queue_in_bytes: bool | None = None
    drop_by_bytes: bool | None = None
    ecn: bool | None = None
    mark_p: float | None = None


@dataclass(frozen=True, kw_only=True)
class AdaptiveRed(Red):
    """RED that moves ``max_p`` so that the queue stays half-way between the thresholds."""

    TAG: ClassVar[str] = "adaptive-red"


@dataclass(frozen=True, kw_only=True)
class CoDel(_Mirror):
    """CoDel (RFC 8289): drops or marks what has waited longer than ``target`` for ``interval``.

    It holds ``packets`` or ``bytes``: give one of the two.
    """

    TAG: ClassVar[str] = "codel"
    packets: int | None = None
    bytes: str | None = None
    target: str | None = None
    interval: str | None = None
    ecn: bool | None = None


@dataclass(frozen=True, kw_only=True)
class FqCoDel(_Mirror):
    """FQ-CoDel (RFC 8290): a CoDel queue for each flow, served in turn, ``packets`` in all."""

    TAG: ClassVar[str] = "fq-codel"
    packets: int | None = None
    flows: int | None = None
    quantum: str | None = None
    target: str | None = None
    interval: str | None = None
    ecn: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Pie(_Mirror):
    """PIE (RFC 8033): drops or marks at random, by the delay.

    It holds ``packets`` or ``bytes``: give one of the two.
    """

    TAG: ClassVar[str] = "pie"
    packets: int | None = None
    bytes: str | None = None
    target: str | None = None
    update: str | None = None
    max_burst: str | None = None
    mean_packet: str | None = None
    ecn: bool | None = None
    derandomise: bool | None = None
    cap: bool | None = None


@dataclass(frozen=True, kw_only=True)
class VcpRouter(_Mirror):
    """A VCP router's queue: drop-tail, with its link's load factor written on what leaves.

    It holds ``packets`` or ``bytes``: give one of the two. ``interval`` is t_rho, ``sampling`` t_q,
    ``queue_share`` kappa_q and ``target_utilisation`` gamma. With a ``chain`` of n packets, 2 for
    DPCP and 3 for TPCP, it is a router of MPCP(n), which remembers where the chains of ``flows``
    flows stand.
    """

    TAG: ClassVar[str] = "vcp"
    packets: int | None = None
    bytes: str | None = None
    interval: str | None = None
    sampling: str | None = None
    queue_share: float | None = None
    target_utilisation: float | None = None
    average: Literal["samples", "means"] | None = None
    chain: int | None = None
    flows: int | None = None


@dataclass(frozen=True, kw_only=True)
class SubQueue(_Mirror):
    """A share of a :class:`Weighted` queue's link; without a queue it is unlimited."""

    weight: int
    queue: DropTail | Red | CoDel | FqCoDel | Pie | VcpRouter | None = None


@dataclass(frozen=True, kw_only=True)
class Weighted(_Mirror):
    """Sub-queues that share the link by weight, in the order of the flows' classes."""

    TAG: ClassVar[str] = "weighted"
    queues: tuple[SubQueue, ...]


Queue: TypeAlias = DropTail | Red | CoDel | FqCoDel | Pie | VcpRouter | Weighted
"""A queue discipline; :class:`AdaptiveRed` is a :class:`Red`."""


@dataclass(frozen=True, kw_only=True)
class PacketLoss(_Mirror):
    """Loses the packets with these arrival ordinals at the link, counted from 1."""

    packets: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Bernoulli(_Mirror):
    """Loses packets at random: each packet or bit has an error with this ``probability``."""

    TAG: ClassVar[str] = "bernoulli"
    probability: float
    per: Literal["packet", "bit"] | None = None


@dataclass(frozen=True, kw_only=True)
class GilbertElliott(_Mirror):
    """Loses packets in bursts: a channel that is good or bad, and may change before each packet.

    The probabilities are those of a change, and of an error (of a packet, or of a bit) in either
    state. Without others, all packets are lost while it is bad and none while it is good.
    """

    TAG: ClassVar[str] = "gilbert-elliott"
    good_to_bad: float
    bad_to_good: float
    in_good: float | None = None
    in_bad: float | None = None
    per: Literal["packet", "bit"] | None = None


Loss = PacketLoss | Bernoulli | GilbertElliott


@dataclass(frozen=True, kw_only=True)
class Step(_Mirror):
    """From ``at`` on, a link has this rate and delay; what is None is as it was.

    At ``"0 bps"`` the link is out.
    """

    at: str
    rate: str | None = None
    delay: str | None = None


@dataclass(frozen=True, kw_only=True)
class Trace(_Mirror):
    """How a link's rate and delay change with time: its steps, in order.

    A packet has the rate and delay of the beginning of its transmission. None overtakes another:
    where the delay falls, those that would arrive behind the one ahead, at the link's rate.
    """

    steps: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Back(_Mirror):
    """The way back of a link: what is None is as on the way forward.

    Losses, trace and jitter it has only where they stand here.
    """

    rate: str | None = None
    delay: str | None = None
    queue: Queue | None = None
    loss: Loss | None = None
    trace: Trace | None = None
    jitter: str | None = None


@dataclass(frozen=True, kw_only=True)
class Dumbbell(_Mirror):
    """Hosts ``s1``.. ``sN`` behind router ``r1``, hosts ``d1``.. ``dN`` behind router ``r2``.

    ``access_delays`` are those of pair 1, pair 2 and so on, from the beginning again where there
    are more pairs than delays. The queue is that of the bottleneck, both ways; without one it is
    unlimited. ``loss``, ``trace`` and ``jitter`` are those of the bottleneck, forward; ``back`` is
    its way back, where that differs.
    """

    pairs: int
    rate: str
    delay: str
    access_rate: str
    access_delays: tuple[str, ...]
    queue: Queue | None = None
    loss: Loss | None = None
    trace: Trace | None = None
    jitter: str | None = None
    back: Back | None = None


@dataclass(frozen=True, kw_only=True)
class Link(_Mirror):
    """A link between two nodes, in both directions unless ``one_way``.

    Without a queue it never drops. ``loss``, ``trace`` and ``jitter`` (each packet takes up to so
    much longer, and none overtakes another) are those of the forward direction; ``back`` is the way
    back, where that differs.
    """

    from_: str
    to: str
    rate: str
    delay: str
    queue: Queue | None = None
    loss: Loss | None = None
    trace: Trace | None = None
    jitter: str | None = None
    back: Back | None = None
    one_way: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Vcp(_Mirror):
    """How a VCP sender obeys its routers: ``control="vcp"`` over TCP, ``ccid=248`` over DCCP.

    With a ``chain`` of n packets it is one of MPCP(n); over DCCP the CCID says it, 249 for 2 (DPCP)
    and 250 for 3 (TPCP). ``limits`` keeps VCP's limits of the increases then, ``acts`` says whether
    a digit of a chain is acted on at once. ``interval`` is the routers' t_rho. ``fallback`` lets it
    send as RFC 5681 says where its routers do not speak VCP; without it there must be one that
    does.
    """

    rules: Literal["chen2010", "xia2005"] | None = None
    chain: int | None = None
    limits: bool | None = None
    acts: Literal["at-once", "when-complete"] | None = None
    after_decrease: Literal["ignores-overload", "freezes"] | None = None
    on_loss: Literal["halves", "decreases"] | None = None
    interval: str | None = None
    paces: bool | None = None
    fallback: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Tcp(_Mirror):
    """TCP's parameters; windows are in segments. ``profile`` says whose rules fill the rest.

    ``control`` says how large the window is, ``recovery`` how lost segments are found and sent
    again. Any two go together; the defaults are ``reno`` with ``newreno``, and ``vegas`` with
    ``vegas``. ``ecn`` is RFC 3168.
    """

    TAG: ClassVar[str] = "tcp"
    profile: Literal["rfc", "ns2"] | None = None
    control: Literal["reno", "cubic", "vegas", "vcp"] | None = None
    vcp: Vcp | None = None
    ecn: bool | None = None
    recovery: Literal["tahoe", "reno", "newreno", "sack", "vegas"] | None = None
    segment: str | None = None
    initial_cwnd: int | None = None
    initial_ssthresh: int | None = None
    receive_window: int | None = None
    delayed_ack: str | None = None
    limited_transmit: bool | None = None
    send_jitter: str | None = None
    tick: str | None = None
    tick_phase: str | None = None
    initial_rto: str | None = None
    min_rto: str | None = None


@dataclass(frozen=True, kw_only=True)
class PerRoundTrip(_Mirror):
    """A number of reports in each round-trip time, each of which covers a whole one."""

    TAG: ClassVar[str] = "per-round-trip"
    reports: int


@dataclass(frozen=True, kw_only=True)
class DynamicFeedback(_Mirror):
    """``N = min(max(round(RTT / rtt_ref), 1), RTT X_recv / s)`` reports in a round-trip time.

    (Sarwar et al. 2008, equation 2.) X_recv is measured over ``RTT / N`` (``window="interval"``),
    or over a whole round-trip time.
    """

    TAG: ClassVar[str] = "dynamic"
    rtt_ref: str | None = None
    window: Literal["interval", "round-trip"] | None = None


@dataclass(frozen=True, kw_only=True)
class Tfrc(_Mirror):
    """Parameters of CCID 3 and CCID 4.

    ``segment_size`` makes each packet count as one of this size; without it, s is the mean size of
    what was sent. ``smoothing`` says what the weights of the past in means of the round-trip time
    hold for: a report or a round-trip time. ``receiver_rtt`` is how the receiver comes to know that
    time: from window counters, or by the sender's option (RFC 6323).
    """

    rules: Literal["rfc5348", "rfc3448", "ns2"] | None = None
    segment_size: str | None = None
    oscillation_prevention: bool | None = None
    smoothing: Literal["per-report", "per-round-trip"] | None = None
    feedback: Literal["window-counter"] | PerRoundTrip | DynamicFeedback | None = None
    receiver_rtt: Literal["window-counter", "option"] | None = None


@dataclass(frozen=True, kw_only=True)
class Dccp(_Mirror):
    """DCCP's parameters; windows and the send queue are in packets.

    ``profile`` says whose rules fill the rest; ``tfrc`` has those of CCID 3 and 4, ``vcp`` those of
    CCIDs 248 to 250.
    """

    TAG: ClassVar[str] = "dccp"
    ccid: int | None = None
    profile: Literal["rfc", "ns2"] | None = None
    initial_cwnd: int | None = None
    initial_ssthresh: int | None = None
    growth: Literal["rfc4341", "ns2-tcplike", "per-ack"] | None = None
    tfrc: Tfrc | None = None
    vcp: Vcp | None = None
    send_queue: int | None = None
    short_seqnos: bool | None = None
    ecn: bool | None = None
    ack_ratio: int | None = None
    immediate_acks: bool | None = None
    delayed_ack: str | None = None
    initial_rto: str | None = None
    min_rto: str | None = None


@dataclass(frozen=True, kw_only=True)
class Udp(_Mirror):
    """UDP, which has no parameters. Its packets have 28 B of headers."""

    TAG: ClassVar[str] = "udp"


@dataclass(frozen=True, kw_only=True)
class Ftp(_Mirror):
    """Always has data, or ``size`` in all; ``datagram`` is for transports that carry datagrams."""

    TAG: ClassVar[str] = "ftp"
    size: str | None = None
    datagram: str | None = None


@dataclass(frozen=True, kw_only=True)
class Cbr(_Mirror):
    """Datagrams of one size at a constant rate of application data."""

    TAG: ClassVar[str] = "cbr"
    rate: str
    datagram: str


@dataclass(frozen=True, kw_only=True)
class Talkspurts(_Mirror):
    """Mean lengths of talk and pauses, exponentially distributed; those of ITU-T P.59 if None."""

    talk: str | None = None
    pause: str | None = None


@dataclass(frozen=True, kw_only=True)
class Adapt(_Mirror):
    """How a voice source adapts: it sends only when no datagram waits in the transport.

    Until then it gathers up to ``frames`` frames for one datagram, and gives up the oldest when
    there are more. ``modes`` are the bytes of a frame in each lower mode of the codec; it goes down
    one when it has to wait, and up again when it has not for a while.
    """

    frames: int
    modes: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Voice(_Mirror):
    """A voice call, one way: a ``frame`` every ``interval``, ``frames`` of them in a datagram.

    ``header`` is RTP's. A frame is played if it arrives within ``deadline`` from when it was made;
    ``Results.voice`` counts what becomes of each.
    """

    TAG: ClassVar[str] = "voice"
    frame: str
    interval: str
    frames: int | None = None
    header: str | None = None
    deadline: str | None = None
    talkspurts: Talkspurts | None = None
    adapt: Adapt | None = None


@dataclass(frozen=True, kw_only=True)
class Think(_Mirror):
    """One part of a mixture of think times: log-logistic, with this ``median`` and ``shape``.

    ``probability`` is the share of think times that are of this part; shares add up to 1.
    """

    probability: float
    median: str
    shape: float


@dataclass(frozen=True, kw_only=True)
class FileSize(_Mirror):
    """Lengths of files: log-logistic, ``P{F > f} = 1 / (1 + (f / median)**shape)``."""

    median: str | None = None
    shape: float | None = None


@dataclass(frozen=True, kw_only=True)
class Web(_Mirror):
    """Web traffic: thinks, sends a file over a connection of its own, and thinks again.

    Think times and lengths have the laws of Ott, Lakshman and Wong ("SRED", 1999) unless others
    are given: ``P{T > t}`` is the sum of ``probability / (1 + (t / median)**shape)``. ``datagram``
    is for transports that carry datagrams. ``Results.transfers`` has every file.
    """

    TAG: ClassVar[str] = "web"
    think: tuple[Think, ...] | None = None
    size: FileSize | None = None
    datagram: str | None = None


Transport = Tcp | Dccp | Udp
Source = Ftp | Cbr | Voice | Web


@dataclass(frozen=True, kw_only=True)
class Flow(_Mirror):
    """A flow from one node to another; ``start`` and ``stop`` are those of its application.

    ``class_`` says which sub-queue of a :class:`Weighted` queue serves it.
    It starts up to ``start_jitter`` later, which the seed decides.
    """

    name: str
    from_: str
    to: str
    transport: Transport
    source: Source
    start: str | None = None
    start_jitter: str | None = None
    stop: str | None = None
    class_: int | None = None


@dataclass(frozen=True, kw_only=True)
class Probes(_Mirror):
    """What is measured: samples each ``interval``, of all links and flows or of those named.

    ``windows`` records cwnd, ssthresh and pipe at each change, ``rates`` the X, X_recv, p and R of
    TFRC senders at each report and each change; ``packets`` records every packet everywhere, which
    is large.
    """

    interval: str | None = None
    links: tuple[str, ...] | None = None
    flows: tuple[str, ...] | None = None
    windows: bool | None = None
    rates: bool | None = None
    packets: bool | None = None


@dataclass(kw_only=True)
class Scenario:
    """An experiment: a network, the flows on it, what to measure, for how long.

    ``bottleneck`` is the schema's ``dumbbell``; ``nodes`` and ``links`` come beside it.
    """

    name: str
    duration: str
    description: str | None = None
    seed: int | None = None
    bottleneck: Dumbbell | None = None
    nodes: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    probes: Probes = field(default_factory=Probes)
    verify_wire: bool = False

    @classmethod
    def dumbbell(
        cls,
        name: str,
        *,
        duration: str,
        rate: str,
        delay: str,
        pairs: int = 1,
        queue: Queue | int | None = None,
        loss: Loss | None = None,
        trace: Trace | None = None,
        jitter: str | None = None,
        back: Back | None = None,
        access_rate: str = "1 Gbps",
        access_delays: tuple[str, ...] = ("1 ms",),
        seed: int | None = None,
        probes: Probes | None = None,
    ) -> Self:
        """Begin a scenario on the classic topology.

        ``rate``, ``delay``, ``queue``, ``loss``, ``trace`` and ``jitter`` are those of the
        bottleneck ``r1->r2``; an integer ``queue`` is a drop-tail queue of so many packets.
        ``back`` is what is otherwise on ``r2->r1``.
        """
        bottleneck = Dumbbell(
            pairs=pairs,
            rate=rate,
            delay=delay,
            access_rate=access_rate,
            access_delays=access_delays,
            queue=DropTail(packets=queue) if isinstance(queue, int) else queue,
            loss=loss,
            trace=trace,
            jitter=jitter,
            back=back,
        )
        return cls(
            name=name,
            duration=duration,
            seed=seed,
            bottleneck=bottleneck,
            probes=probes or Probes(),
        )

    def add_flow(
        self,
        name: str,
        from_: str,
        to: str,
        transport: Transport,
        source: Source | None = None,
        *,
        start: str | None = None,
        start_jitter: str | None = None,
        stop: str | None = None,
        class_: int | None = None,
    ) -> Self:
        """Add a flow and return the scenario; without a source it always has data."""
        self.flows.append(
            Flow(
                name=name,
                from_=from_,
                to=to,
                transport=transport,
                source=source or Ftp(),
                start=start,
                start_jitter=start_jitter,
                stop=stop,
                class_=class_,
            )
        )
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the form that the core reads, without what has its default."""
        given = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        given["dumbbell"] = given.pop("bottleneck")
        plain = {name: _plain(value) for name, value in given.items()}
        required = ("name", "duration", "flows")
        return {
            name: value
            for name, value in plain.items()
            if name in required or value not in (None, [], {}, False)
        }

    def to_json(self) -> str:
        """Return the scenario as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def normalised(self) -> dict[str, Any]:
        """Return the scenario with every default filled in.

        Raises:
            ScenarioError: with the field that is wrong.

        """
        document: dict[str, Any] = json.loads(_core.check_scenario(self.to_json(), "json"))
        return document

    @classmethod
    def from_text(
        cls, text: str, syntax: Literal["toml", "json"], directory: str | Path | None = None
    ) -> Self:
        """Read a scenario and check it; trace files that it names stand in ``directory``.

        Raises:
            ScenarioError: with the field that is wrong.

        """
        beside = None if directory is None else str(directory)
        return cls._from_dict(json.loads(_core.check_scenario(text, syntax, beside)))

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a scenario from a file: JSON if its name ends so, else TOML.

        The steps of trace files that it names become part of the scenario.

        Raises:
            ScenarioError: with the field that is wrong.
            OSError: where the file cannot be read.

        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise _core.ScenarioError(f"{path} is not a text file: {error.reason}") from error
        syntax: Literal["toml", "json"] = "json" if path.suffix == ".json" else "toml"
        return cls.from_text(text, syntax, path.parent)

    @classmethod
    def _from_dict(cls, document: Mapping[str, Any]) -> Self:
        given = dict(document)
        given["bottleneck"] = given.pop("dumbbell", None)
        readers: dict[str, Callable[[Any], Any]] = {
            "bottleneck": lambda value: _read(Dumbbell, value) if value else None,
            "links": lambda values: [_read(Link, value) for value in values],
            "flows": lambda values: [_read(Flow, value) for value in values],
            "probes": lambda value: _read(Probes, value),
        }
        return cls(
            **{
                name: readers[name](value) if name in readers else value
                for name, value in given.items()
            }
        )


PartT = TypeVar("PartT", bound=_Mirror)


_TAGGED: dict[str | None, type[_Mirror]] = {
    variant.TAG: variant
    for variant in (
        Tcp,
        Dccp,
        Udp,
        Ftp,
        Cbr,
        Voice,
        Web,
        DropTail,
        Red,
        AdaptiveRed,
        CoDel,
        FqCoDel,
        Pie,
        VcpRouter,
        Weighted,
        Bernoulli,
        GilbertElliott,
        PerRoundTrip,
        DynamicFeedback,
    )
}
"""Variants by their tag, for the keys whose value has one of several forms."""
_LISTS: dict[str, type[_Mirror]] = {"steps": Step, "queues": SubQueue, "think": Think}
_PARTS: dict[str, type[_Mirror]] = {
    "trace": Trace,
    "back": Back,
    "talkspurts": Talkspurts,
    "adapt": Adapt,
    "tfrc": Tfrc,
    "vcp": Vcp,
    "size": FileSize,
}


def _read(mirror: type[PartT], document: Mapping[str, Any]) -> PartT:
    """Read a part from the core's normalised JSON."""
    values: dict[str, Any] = {}
    for key, value in document.items():
        if key in ("transport", "source", "queue", "loss", "feedback") and isinstance(value, dict):
            ((tag, body),) = value.items()
            values[key] = _read(_TAGGED[tag], body) if tag in _TAGGED else _read(PacketLoss, value)
        elif key == "queue":
            # "unlimited" is what there is without a queue.
            continue
        elif key in _PARTS and isinstance(value, dict):
            values[key] = _read(_PARTS[key], value)
        elif key in _LISTS:
            values[key] = tuple(_read(_LISTS[key], item) for item in value)
        else:
            name = f"{key}_" if key in ("from", "class") else key
            values[name] = tuple(value) if isinstance(value, list) else value
    return mirror(**values)
