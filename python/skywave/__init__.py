"""Skywave: a user-space DCCP transport and a congestion-control laboratory.

Describe an experiment with :class:`Scenario`, run it with :func:`run`, and read Arrow tables::

    from skywave import Dccp, Scenario, run

    scenario = Scenario.dumbbell("dccp", duration="60 s", rate="2 Mbps", delay="50 ms", queue=20)
    results = run(scenario.add_flow("dccp", "s1", "d1", Dccp()))
    print(results.flows)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from skywave._core import CaptureError, ScenarioError
from skywave._simulate import run, run_many
from skywave.control import (
    Ack,
    AckedPacket,
    Context,
    Control,
    Loss,
    LostPacket,
    Mark,
    MarkedPackets,
    Pacing,
    RoundTrip,
    Sent,
    Timeout,
)
from skywave.results import Results
from skywave.scenario import Scenario, parts
from skywave.scenario.parts import *  # noqa: F403
from skywave.scenario.topologies import Aggregate, Hop, parking_lot

if TYPE_CHECKING:
    from skywave.sweeps.cluster import ClusterError
    from skywave.sweeps.runner import sweep
    from skywave.sweeps.table import Sweep, load

__all__ = [
    "Ack",
    "AckedPacket",
    "Aggregate",
    "CaptureError",
    "ClusterError",
    "Context",
    "Control",
    "Hop",
    "Loss",
    "LostPacket",
    "Mark",
    "MarkedPackets",
    "Pacing",
    "Results",
    "RoundTrip",
    "Scenario",
    "ScenarioError",
    "Sent",
    "Sweep",
    "Timeout",
    "load",
    "parking_lot",
    "run",
    "run_many",
    "sweep",
]
__all__ += parts.__all__


_LATER = {
    "ClusterError": "skywave.sweeps.cluster",
    "Sweep": "skywave.sweeps.table",
    "load": "skywave.sweeps.table",
    "sweep": "skywave.sweeps.runner",
}
"""The modules of names that are imported on first use because that is slow."""


def __getattr__(name: str) -> object:
    """Return ``__version__``, or a name that is imported on first use."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415

        return version("skywave")
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
