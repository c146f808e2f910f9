"""Quantities with units: time, rate and size.

They are created from text (``Rate("2 Mbps")``), print as text, and support arithmetic::

    >>> from skywave.scenario.quantities import Duration, Rate
    >>> Rate("2 Mbps") * Duration("300 ms")
    Bytes('75 kB')
    >>> Duration("1 min") / Duration("300 ms")
    200.0

Values are whole nanoseconds, bits per second and bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

from skywave._core import Bytes, Duration, Rate

__all__ = ["Bytes", "Duration", "Rate", "durations", "sizes"]


def durations(values: Iterable[Duration | str]) -> tuple[Duration, ...]:
    """Parse several durations."""
    return tuple(Duration(value) for value in values)


def sizes(values: Iterable[Bytes | str]) -> tuple[Bytes, ...]:
    """Parse several sizes."""
    return tuple(Bytes(value) for value in values)
