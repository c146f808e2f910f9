"""Your own loss models, in Python.

A loss model is a subclass of :class:`Losses`. It decides which arriving packets a link loses,
before they reach its queue::

    from dataclasses import dataclass

    from skywave import Losses

    @dataclass
    class Fading(Losses):
        period_s: float = 2.0
        fade_s: float = 0.1

        def loses(self, now_s: float, size: int) -> bool:
            return now_s % self.period_s < self.fade_s and self.random.random() < 0.5

    scenario = dumbbell(..., loss=Fading(fade_s=0.2))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave._members import Member, check_by_runs, named

if TYPE_CHECKING:
    from random import Random

__all__ = ["Losses", "check"]


class Losses(Member):
    """A loss model. A subclass decides which packets a link loses.

    Each direction of a link gets its own object, created with the arguments of the object that the
    scenario has. These arguments are its parameters: they must be representable in JSON, and the
    constructor must take them by name, as that of a dataclass does.

    An exception, or an answer other than True or False, ends the run, and ``run`` raises it.
    :func:`check` tries a model with many seeds.
    """

    random: Random
    """A generator of its own, seeded from the scenario's seed and the link. Draw from no other:
    the same seed then gives the same results. It is not there yet in the constructor."""

    @classmethod
    def check_class(cls) -> None:
        """Check that the class has what is required."""
        cls._require("loses")

    def loses(self, now_s: float, size: int) -> bool:
        """Return whether the link loses the next packet. Required.

        Called once for each packet that arrives at the link, in order.

        Args:
            now_s: When it arrives, in seconds since the start of the run.
            size: The bytes that it occupies on the link, headers included.
        """
        # For direct callers; the core refuses a class without it (`check_class`).
        raise NotImplementedError(f"{type(self).__name__}.loses is missing")


def check(losses: Losses, *, seeds: int = 20) -> None:
    """Check that loss models like this one answer as they must, and the same for the same seed.

    Raises:
        AssertionError: If not. The message has the seed; the cause is the exception, if any.
        SkywaveError: If the class lacks a method or its parameters are wrong.
        TypeError: If it is not an object of such a class.
        ValueError: If ``seeds`` is below one.
    """
    name, parameters = named(losses)
    source = {"poisson": {"rate": "900 kbps", "datagram": "500 B"}}
    check_by_runs(losses, seeds, {"loss": {name: parameters}}, source)
