"""Scenarios on the real clock, between real sockets (Linux only).

The nodes at which flows begin and end are network namespaces; the links and queues between them are
the simulator's, on the real clock. :func:`run_live` returns the simulator's tables, with a
:class:`Verdict` on their accuracy. :func:`run_both` runs a scenario on both clocks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skywave.realtime.both import Both, run_both
    from skywave.realtime.privileges import LaunchError
    from skywave.realtime.running import Lived, run_live
    from skywave.realtime.verdict import Verdict

__all__ = ["Both", "LaunchError", "Lived", "Verdict", "run_both", "run_live"]

_LATER = {
    "Both": "skywave.realtime.both",
    "LaunchError": "skywave.realtime.privileges",
    "Lived": "skywave.realtime.running",
    "Verdict": "skywave.realtime.verdict",
    "run_both": "skywave.realtime.both",
    "run_live": "skywave.realtime.running",
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
