"""Your own queue disciplines, in Python.

A discipline is a subclass of :class:`Queue`. It decides which packets a link accepts, marks and
drops, and in which order they leave::

    from dataclasses import dataclass

    from skywave import Conduct, Packet, Queue, QueueVerdict

    @dataclass
    class DropTail(Queue):
        packets: int = 50

        def conduct(self) -> Conduct:
            return Conduct(packets=self.packets)

        def enqueue(self, packet: Packet) -> QueueVerdict:
            return "accept" if packet.packets_ahead < self.packets else "full"

    scenario = dumbbell(..., queue=DropTail(packets=20))

docs/tutorials/own-queue-python.md has an example that marks, and what a call costs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from skywave._core import Head, Packet, check_queue
from skywave._members import Member, UnusableMemberError, least_one, live, named

if TYPE_CHECKING:
    from random import Random

__all__ = ["Conduct", "Head", "Packet", "Queue", "QueueVerdict", "check"]

QueueVerdict: TypeAlias = Literal["accept", "mark", "full", "early"]
"""What a queue decides on an arriving packet.

- ``accept``: It waits, or leaves at once if the link is idle.
- ``mark``: The same, with Congestion Experienced written into its ECN field.
- ``full``: It is dropped, because the queue is full.
- ``early``: It is dropped to slow down its sender, although the queue is not full.
"""


@dataclass(frozen=True, kw_only=True)
class Conduct:
    """What a queue may do, and how much it may hold.

    Each call is held to it, and so is the whole run by ``run(..., verify_physics=True)``.

    Attributes:
        packets: The most packets that wait, or None if their number is not limited. The packet in
            transmission does not count.
        bytes: The most bytes that wait, or None if they are not limited.
        drops_early: Whether it drops packets before it is full, to slow down their senders.
        marks: Whether it marks packets.
        drops_accepted: Whether it drops packets that it has accepted. Only with ``dequeue``.
        fifo: Whether packets leave in order of arrival. Only with ``dequeue`` may they not.
        one_limit: Whether it refuses a packet as full only when the limits above are reached. False
            for sub-queues with limits of their own.
        has_classes: Whether it treats traffic classes differently.
    """

    packets: int | None = None
    bytes: int | None = None
    drops_early: bool = False
    marks: bool = False
    drops_accepted: bool = False
    fifo: bool = True
    one_limit: bool = True
    has_classes: bool = False

    def __post_init__(self) -> None:
        """Check the limits.

        Raises:
            ValueError: If one is not a whole number above zero.
        """
        for name, most in (("packets", self.packets), ("bytes", self.bytes)):
            if most is not None and (type(most) is not int or not 0 < most < 2**63):
                raise ValueError(f"{name} is {most!r}: give a whole number above 0, or None")


class Queue(Member):
    """A queue discipline. A subclass decides what happens to packets.

    Each link gets its own object, created with the arguments of the object that the scenario has.
    These arguments are its parameters: they must be representable in JSON, and the constructor must
    take them by name, as that of a dataclass does.

    A class that defines ``enqueue`` only is a FIFO that decides when a packet arrives; it holds no
    packets. With ``dequeue``, it holds the packets that it has accepted and hands them out: it may
    reorder them, and drop or mark them later (:meth:`Packet.drop`, :meth:`Packet.mark`). That takes
    two calls for each packet instead of one.

    Times are in seconds since the start of the run, and never decrease. There is no timer: what
    depends on the clock is done at the next call. A queue is never asked while it is empty. The
    packet in transmission is no longer in the queue.

    Each answer is held against :meth:`conduct`. A wrong one, or an exception, ends the run, and
    ``run`` raises it. :func:`check` tests the contract with random packets.
    """

    random: Random
    """A generator of its own, seeded from the scenario's seed and the link. Draw from no other:
    the same seed then gives the same results."""

    @classmethod
    def check_class(cls) -> None:
        """Check that the class has what is required."""
        cls._require("conduct", "enqueue")

    def check_declared(self) -> None:
        """Check what the object declares."""
        name = type(self).__name__
        try:
            conduct = self.conduct()
        except Exception as error:
            message = f"{name}.conduct cannot be called: {type(error).__name__}: {error}"
            raise UnusableMemberError(" ".join(message.split())) from error
        if not isinstance(conduct, Conduct):
            raise UnusableMemberError(f"{name}.conduct returned {conduct!r}: return a Conduct")
        holds = type(self).dequeue is not Queue.dequeue
        if not holds and (conduct.drops_accepted or not conduct.fifo):
            what = "drops_accepted" if conduct.drops_accepted else "fifo=False"
            raise UnusableMemberError(
                f"{name} has no method dequeue, so it holds no packets: leave out {what} in conduct"
            )

    def conduct(self) -> Conduct:
        """Return what the queue may do and how much it may hold. Required.

        It depends on the parameters only, and is called when a scenario is read: ``random`` is not
        there yet.
        """
        # For direct callers; the core refuses a class without it (`check_class`).
        raise NotImplementedError(f"{type(self).__name__}.conduct is missing")

    def on_start(self, head: Head) -> None:
        """Start at the head of a link, before the first packet."""

    def enqueue(self, packet: Packet) -> QueueVerdict:
        """Decide on an arriving packet. Required."""
        # For direct callers; the core refuses a class without it (`check_class`).
        raise NotImplementedError(f"{type(self).__name__}.enqueue is missing")

    def dequeue(self, now_s: float) -> Packet | None:
        """Return the next packet for a link that is ready at ``now_s``.

        Called only if a class defines it, and only while packets are waiting. The packet is one
        that ``enqueue`` has accepted and that is still waiting. Return None only after dropping
        all.
        """
        # For direct callers; the core does not call it on a class without it.
        raise NotImplementedError(f"{type(self).__name__}.dequeue is missing")

    def inner_values(self) -> Mapping[str, float]:
        """Return values to record over time, by name with unit, e.g. ``drop_probability``.

        They appear in the table ``queues``. Called only if a class defines it.
        """
        return {}


def check(queue: Queue, *, seeds: int = 20) -> None:
    """Check that queues like this one keep their contract, as the tests do for the built-in ones.

    Offers ``seeds`` sequences of random packets of all kinds to such queues, at the head of a link
    and on their own, and accounts for each packet. The same ones each time.

    Raises:
        AssertionError: If a queue violates the contract. The message has the violation; the cause
            is the queue's exception, if any.
        SkywaveError: If the class lacks a method or its parameters are wrong.
        TypeError: If it is not an object of such a class.
        ValueError: If ``seeds`` is below one.
    """
    name, parameters = named(queue)
    check_queue(name, json.dumps(parameters), live([queue]), least_one("seeds", seeds))
