"""Scenarios on the real clock, between real sockets (Linux only).

The nodes at which flows begin and end are network namespaces; the links and queues between them are
the simulator's, on the real clock. :func:`run_live` returns the simulator's tables, with a
:class:`Verdict` on how far they can be believed. :func:`run_both` runs a scenario on both clocks.
"""

from skywave.live.both import Both, run_both
from skywave.live.running import Lived, run_live
from skywave.live.verdict import Verdict

__all__ = ["Both", "Lived", "Verdict", "run_both", "run_live"]
