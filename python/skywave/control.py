"""Your own congestion controls, in Python.

A control is a subclass of :class:`Control`. It decides how much data may be in flight and how fast
to send it. It runs over TCP with any recovery, over DCCP as CCID 251, and on sockets
(:mod:`skywave.net`)::

    from dataclasses import dataclass

    from skywave import Ack, Control, Loss, Tcp, Timeout

    @dataclass
    class Gentle(Control):
        gain: float = 0.5

        def on_ack(self, ack: Ack) -> None:
            self.cwnd += self.gain * ack.newly_acked / self.cwnd

        def on_loss(self, loss: Loss) -> None:
            self.cwnd = max(self.cwnd / 2, 1)

        def on_timeout(self, timeout: Timeout) -> None:
            self.cwnd = 1

    transport = Tcp(control=Gentle(gain=0.25))

docs/control.md has the full contract, the two calling rates, and what a call costs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import ClassVar, Literal

from skywave._core import (
    Ack,
    AckedPacket,
    Context,
    Loss,
    LostPacket,
    Mark,
    MarkedPackets,
    Pacing,
    RoundTrip,
    Sent,
    Timeout,
    check_control,
)
from skywave._members import Member, UnusableMemberError, least_one, live, named

__all__ = [
    "Ack",
    "AckedPacket",
    "Context",
    "Control",
    "Loss",
    "LostPacket",
    "Mark",
    "MarkedPackets",
    "Pacing",
    "RoundTrip",
    "Sent",
    "Timeout",
    "check",
]


class Control(Member):
    """A congestion control. A subclass decides by setting ``cwnd``, ``ssthresh`` and ``pacing``.

    Each connection gets its own object, created with the arguments of the object that was given to
    the transport. These arguments are the control's parameters: they must be representable in JSON,
    and the constructor must take them by name, as that of a dataclass does.

    The three attributes are read after each method call. Windows are in packets (full-size segments
    for TCP), finite and above zero, and need not be integers. Only ``on_ack``, ``on_round_trip``
    and ``on_packet_acked`` may raise cwnd, except that ``on_spurious_loss`` may restore at most
    what the last loss took. After any other call cwnd is at most the larger of its previous value
    and 2; the packets in flight may exceed it. Calls come in any order, at times that never
    decrease.
    :func:`check` tests this contract.

    An exception in a method ends the run, and ``run`` raises it. On a socket it resets the
    connection, and the next call on the connection raises it.
    """

    every: ClassVar[Literal["ack", "round-trip"]] = "ack"
    """How often the control is called: ``"ack"`` calls ``on_ack`` for every acknowledgement,
    ``"round-trip"`` calls ``on_round_trip`` once per round-trip time, which costs much less. Either
    way, losses, marks and timeouts are reported at once."""

    delivery_rate: ClassVar[bool] = False
    """Whether to measure the delivery rate for ``on_ack``. ``on_round_trip`` always has it."""

    sack: ClassVar[bool] = False
    """Whether TCP recovers with selective acknowledgements if ``Tcp.recovery`` is absent: ``sack``
    instead of ``newreno``."""

    ecn: ClassVar[Literal["ect0", "ect1"] | None] = None
    """The ECN code point of data, which also switches ECN on: ``"ect0"`` for routers that mark
    where they would drop (RFC 3168), ``"ect1"`` for those that mark early and often (RFC 9331).
    ``None`` leaves ECN to the transport's own settings."""

    paced: ClassVar[bool] = False
    """Whether packets are spread over the round trip, 1.25 times as fast as cwnd per smoothed
    round-trip time (RFC 9002 section 7.7), as long as ``pacing`` is ``None``."""

    cwnd: float
    """Congestion window, in packets; initially that of the connection's settings."""

    ssthresh: float = math.inf
    """Slow-start threshold, in packets; infinite if unset. Only the control acts on it."""

    pacing: Pacing | None = None
    """How to spread packets over time; ``None`` to send as soon as cwnd permits."""

    @classmethod
    def check_class(cls) -> None:
        """Check that the class has what is required."""
        called = {"ack": "on_ack", "round-trip": "on_round_trip"}
        if cls.every not in called:
            raise UnusableMemberError(
                f'{cls.__name__}.every is {cls.every!r}: use "ack" or "round-trip"'
            )
        cls._require(called[cls.every], "on_loss", "on_timeout")

    def on_start(self, context: Context) -> None:
        """Start the connection. ``cwnd`` and ``ssthresh`` already have their initial values."""

    def on_sent(self, sent: Sent) -> None:
        """Handle the sending of a data packet. Called only if a class defines it."""

    def on_packet_acked(self, packet: AckedPacket) -> None:
        """Handle a packet acknowledged for the first time. Called only if a class defines it.

        The calls for the packets of an acknowledgement precede ``on_ack``.
        """

    def on_packet_lost(self, packet: LostPacket) -> None:
        """Handle a packet found lost. Called only if a class defines it.

        Each transmission is reported at most once, before the ``on_loss`` or ``on_timeout`` that it
        causes. Losses found later in the same window of data cause no such call.
        """

    def on_packets_marked(self, marked: MarkedPackets) -> None:
        """Handle the marks that an acknowledgement reports. Called only if a class defines it.

        Unlike ``on_mark``, it is called each time, before ``on_ack`` and the ``on_mark`` that it
        may cause. DCCP and Accurate ECN report each marked packet once. TCP's other receivers
        repeat a mark until the sender answers (RFC 3168 section 6.1.3); what they acknowledge until
        then counts as marked.
        """

    def on_ack(self, ack: Ack) -> None:
        """Handle an acknowledgement. Required, and called, if ``every`` is ``"ack"``."""
        # For direct callers; the core refuses a class that lacks what it calls (`check_class`).
        raise NotImplementedError(f"{type(self).__name__}.on_ack is missing")

    def on_round_trip(self, report: RoundTrip) -> None:
        """Handle all acknowledgements of a round-trip time.

        Required, and called, if ``every`` is ``"round-trip"``.
        """
        # For direct callers; the core refuses a class that lacks what it calls (`check_class`).
        raise NotImplementedError(f"{type(self).__name__}.on_round_trip is missing")

    def on_loss(self, loss: Loss) -> None:
        """Handle lost packets. Required. Called at most once per window of data."""
        # For direct callers; the core refuses a class that lacks what it calls (`check_class`).
        raise NotImplementedError(f"{type(self).__name__}.on_loss is missing")

    def on_mark(self, mark: Mark) -> None:
        """Handle marked packets, none of which was lost. Called at most once per window of data.

        By default, calls ``on_loss`` with no packet lost (RFC 3168 section 5).
        """
        self.on_loss(Loss(now_s=mark.now_s, in_flight=mark.in_flight, lost=0))

    def on_timeout(self, timeout: Timeout) -> None:
        """Handle an expired retransmission timer (TCP) or timeout of the CCID. Required."""
        # For direct callers; the core refuses a class that lacks what it calls (`check_class`).
        raise NotImplementedError(f"{type(self).__name__}.on_timeout is missing")

    def on_spurious_loss(self, now_s: float) -> None:
        """Handle the finding that all packets of the last loss or timeout arrived after all.

        Over TCP, called only for timeouts, by F-RTO (``Tcp.forward_rto``).
        """

    def on_restart(self, now_s: float) -> None:
        """Handle a restart of the sender after an idle period (RFC 5681 section 4.1)."""

    def on_receiver_overload(self, now_s: float, dropped: int) -> None:
        """Handle overload of the receiving host, which is independent of the network.

        Leave slow start, and reduce cwnd by the packets ``dropped`` there (RFC 4341 section 5.2).
        """

    def limit_cwnd(self, limit: float) -> None:
        """Lower cwnd to at most ``max(limit, 1)`` packets. ssthresh does not change."""
        self.cwnd = min(self.cwnd, max(limit, 1.0))

    def inner_values(self) -> Mapping[str, float]:
        """Return values to record over time, by name with unit, e.g. ``queueing_delay_s``.

        They appear in the table ``controls``.
        """
        return {}


def check(control: Control, *, cases: int = 256) -> None:
    """Check that controls like this one keep their contract, as the tests do for the built-in ones.

    Tries ``cases`` random sequences of up to 200 calls, the same ones each time.

    Raises:
        AssertionError: If the control violates the contract. The message has the violation and the
            shortest sequence of calls found that reproduces it; the cause is the control's
            exception, if any.
        SkywaveError: If the class lacks a method or its parameters are wrong.
        TypeError: If it is not an object of such a class.
        ValueError: If ``cases`` is below one.
    """
    name, parameters = named(control)
    check_control(name, json.dumps(parameters), live([control]), least_one("cases", cases))
