"""Your own sources, in Python.

A source is a subclass of :class:`Source`. It says when the application of a flow sends datagrams,
and how large they are::

    from collections.abc import Iterator
    from dataclasses import dataclass
    from itertools import count

    from skywave import Source

    @dataclass
    class Video(Source):
        frames_per_s: float = 30.0
        packets: int = 4
        largest: int = 1200

        def datagrams(self) -> Iterator[tuple[float, int]]:
            for frame in count():
                for _ in range(self.packets):
                    yield frame / self.frames_per_s, self.random.randint(800, self.largest)

    scenario.add_flow("video", "s1", "d1", Dccp(), Video(packets=2))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skywave._members import Member, UnusableMemberError, check_by_runs, named

if TYPE_CHECKING:
    from random import Random

__all__ = ["Source", "check"]

LARGEST_DATAGRAM = 65_535 - 20 - 255 * 4
"""What fits into an IPv4 packet with the longest headers, in bytes."""


class Source(Member):
    """The sending application of a flow. A subclass says what it sends, and when.

    Each flow gets its own object, created with the arguments of the object that the scenario has.
    These arguments are its parameters: they must be representable in JSON, and the constructor must
    take them by name, as that of a dataclass does.

    The application does not wait: a datagram that the transport refuses, because its queue is full,
    is lost. An exception, or a datagram out of order or too large, ends the run, and ``run`` raises
    it. :func:`check` tries a source with many seeds.
    """

    largest: int
    """The size of the largest datagram, in bytes. Required: as a class attribute or a parameter."""

    random: Random
    """A generator of its own, seeded from the scenario's seed and the flow. Draw from no other:
    the same seed then gives the same results. It is not there yet in the constructor."""

    @classmethod
    def check_class(cls) -> None:
        """Check that the class has what is required."""
        cls._require("datagrams")

    def check_declared(self) -> None:
        """Check what the object declares."""
        largest = getattr(self, "largest", None)
        if type(largest) is not int or not 1 <= largest <= LARGEST_DATAGRAM:
            raise UnusableMemberError(
                f"{type(self).__name__}.largest is {largest!r}: set it to the size of the largest "
                f"datagram, 1 to {LARGEST_DATAGRAM} bytes"
            )

    def datagrams(self) -> Iterator[tuple[float, int]]:
        """Yield when each datagram is sent and its size. Required.

        The time is in seconds since the start of the flow, and does not decrease; several datagrams
        may have the same. The size is in bytes, without headers, and at most ``largest``. The flow
        ends with the iterator, which may be endless. The next datagram is asked for when the one
        before it has been sent.
        """
        # For direct callers; the core refuses a class without it (`check_class`).
        raise NotImplementedError(f"{type(self).__name__}.datagrams is missing")


def check(source: Source, *, seeds: int = 20) -> None:
    """Check that sources like this one send what they may, and the same for the same seed.

    Raises:
        AssertionError: If not. The message has the seed; the cause is the exception, if any.
        SkywaveError: If the class lacks a method or its parameters are wrong.
        TypeError: If it is not an object of such a class.
        ValueError: If ``seeds`` is below one.
    """
    name, parameters = named(source)
    check_by_runs(source, seeds, {}, {name: parameters})
