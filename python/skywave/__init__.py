"""Skywave: a user-space DCCP transport and a congestion-control laboratory.

Describe an experiment with :class:`Scenario`, run it with :func:`run`, and read Arrow tables::

    from skywave import Dccp, Scenario, run

    scenario = Scenario.dumbbell("dccp", duration="60 s", rate="2 Mbps", delay="50 ms", queue=20)
    results = run(scenario.add_flow("dccp", "s1", "d1", Dccp()))
    print(results.flows)
"""

from skywave._core import CaptureError, ScenarioError
from skywave.control import (
    Ack,
    AckedPacket,
    Context,
    Control,
    Loss,
    Mark,
    Pacing,
    RoundTrip,
    Sent,
    Timeout,
)
from skywave.results import Results
from skywave.scenario import Scenario, parts
from skywave.scenario.parts import *  # noqa: F403
from skywave.simulate import run, run_many
from skywave.topologies import Aggregate, Hop, parking_lot

__all__ = [
    "Ack",
    "AckedPacket",
    "Aggregate",
    "CaptureError",
    "Context",
    "Control",
    "Hop",
    "Loss",
    "Mark",
    "Pacing",
    "Results",
    "RoundTrip",
    "Scenario",
    "ScenarioError",
    "Sent",
    "Timeout",
    "parking_lot",
    "run",
    "run_many",
]
__all__ += parts.__all__


def __getattr__(name: str) -> str:
    """Return ``__version__``, which is read on first use because that is slow."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415

        return version("skywave")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
