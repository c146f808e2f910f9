"""Quantities as they are written: "5 Mbps", "10 s"."""

from __future__ import annotations

from skywave import _core


def bits_per_second(rate: str) -> int:
    """Read a rate, as "5 Mbps".

    Raises:
        ValueError: where it is none.

    """
    return _core.rate_bps(rate)


def seconds(duration: str) -> float:
    """Read a duration, as "10 s".

    Raises:
        ValueError: where it is none.

    """
    return _core.duration_s(duration)
