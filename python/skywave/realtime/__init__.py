"""Scenarios in real time, between real sockets (Linux only).

The nodes at which flows begin and end are network namespaces; the links and queues between them are
the simulator's, in real time. :func:`run` returns the simulator's tables and a
:class:`RunAccuracy`. :func:`compare` runs a scenario in simulated and in real time. Both can do so
on virtual time, in a guest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skywave.realtime.accuracy import RunAccuracy
    from skywave.realtime.comparison import ClockComparison, compare
    from skywave.realtime.privileges import LaunchError
    from skywave.realtime.running import RealTimeRun, run
    from skywave.realtime.virtual.guest import GuestError

__all__ = [
    "ClockComparison",
    "GuestError",
    "LaunchError",
    "RealTimeRun",
    "RunAccuracy",
    "compare",
    "run",
]

_LATER = {
    "ClockComparison": "skywave.realtime.comparison",
    "GuestError": "skywave.realtime.virtual.guest",
    "LaunchError": "skywave.realtime.privileges",
    "RealTimeRun": "skywave.realtime.running",
    "RunAccuracy": "skywave.realtime.accuracy",
    "compare": "skywave.realtime.comparison",
    "run": "skywave.realtime.running",
}
"""The modules of names that are imported on first use: an emulated link needs none of them."""


if not TYPE_CHECKING:  # with it, any name would pass for one that is there

    def __getattr__(name: str) -> object:
        """Return a name that is imported on first use."""
        if name in _LATER:
            return getattr(import_module(_LATER[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return what :func:`dir` shows: the names that are imported on first use, too."""
    return sorted({*globals(), *__all__})
