"""Transport protocols, with their congestion control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from skywave.scenario.mirror import Mirror

if TYPE_CHECKING:
    from skywave.control import Control


@dataclass(frozen=True, kw_only=True)
class Vcp(Mirror):
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
class Reno(Mirror):
    """The control ``reno`` (RFC 5681), which has no parameters."""


@dataclass(frozen=True, kw_only=True)
class Aimd(Mirror):
    """Parameters of the control ``aimd``: AIMD(a, b), of which ``reno`` is AIMD(1, 1/2).

    ``increase`` is a, in packets per round-trip time; ``decrease`` is b, the fraction of the window
    that a loss takes away.
    """

    increase: float | None = None
    decrease: float | None = None


@dataclass(frozen=True, kw_only=True)
class Cubic(Mirror):
    """Parameters of the control ``cubic`` (RFC 9438).

    ``c`` is C in packets per cubic second; ``beta`` is what remains of cwnd after a loss.
    """

    c: float | None = None
    beta: float | None = None
    fast_convergence: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Vegas(Mirror):
    """Parameters of the control ``vegas``: thresholds in packets that wait in queues.

    cwnd grows below ``alpha`` and shrinks above ``beta``; slow start ends above ``gamma``.
    """

    alpha: float | None = None
    beta: float | None = None
    gamma: float | None = None


@dataclass(frozen=True, kw_only=True)
class Tcp(Mirror):
    """TCP's parameters; windows are in segments. ``profile`` says whose rules fill the rest.

    ``control`` says how large the window is, ``recovery`` how lost segments are found and sent
    again. Any two go together; the defaults are ``reno`` with ``newreno``, and ``vegas`` with
    ``vegas``. ``aimd``, ``cubic``, ``vegas`` and ``vcp`` have the parameters of the control of that
    name; one of your own is a :class:`skywave.Control`. ``ecn`` is RFC 3168.
    """

    TAG: ClassVar[str] = "tcp"
    profile: Literal["rfc", "ns2"] | None = None
    control: str | Control | None = None
    reno: Reno | None = None
    aimd: Aimd | None = None
    cubic: Cubic | None = None
    vegas: Vegas | None = None
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
class PerRoundTrip(Mirror):
    """A number of reports in each round-trip time, each of which covers a whole one."""

    TAG: ClassVar[str] = "per-round-trip"
    reports: int


@dataclass(frozen=True, kw_only=True)
class DynamicFeedback(Mirror):
    """``N = min(max(round(RTT / rtt_ref), 1), RTT X_recv / s)`` reports in a round-trip time.

    (Sarwar et al. 2008, equation 2.) X_recv is measured over ``RTT / N`` (``window="interval"``),
    or over a whole round-trip time.
    """

    TAG: ClassVar[str] = "dynamic"
    rtt_ref: str | None = None
    window: Literal["interval", "round-trip"] | None = None


@dataclass(frozen=True, kw_only=True)
class Tfrc(Mirror):
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
class Dccp(Mirror):
    """DCCP's parameters; windows and the send queue are in packets.

    ``profile`` says whose rules fill the rest; ``tfrc`` has those of CCID 3 and 4, ``vcp`` those of
    CCIDs 248 to 250. CCID 251 takes any ``control``, whose parameters ``aimd``, ``cubic`` or
    ``vegas`` has; one of your own is a :class:`skywave.Control`.
    """

    TAG: ClassVar[str] = "dccp"
    ccid: int | None = None
    control: str | Control | None = None
    reno: Reno | None = None
    aimd: Aimd | None = None
    cubic: Cubic | None = None
    vegas: Vegas | None = None
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
class Udp(Mirror):
    """UDP, which has no parameters. Its packets have 28 B of headers."""

    TAG: ClassVar[str] = "udp"


Transport = Tcp | Dccp | Udp
