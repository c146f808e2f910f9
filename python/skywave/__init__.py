"""Skywave: a user-space DCCP transport and a congestion-control laboratory.

Describe an experiment with :class:`Scenario`, run it with :func:`run`, read Arrow tables::

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
from skywave.scenario import (
    Adapt,
    AdaptiveRed,
    Aimd,
    Back,
    Bernoulli,
    Cbr,
    CoDel,
    Cubic,
    Dccp,
    DropTail,
    Dumbbell,
    DynamicFeedback,
    FileSize,
    Flow,
    FqCoDel,
    Ftp,
    GilbertElliott,
    Link,
    PacketLoss,
    PerRoundTrip,
    Pie,
    Probes,
    Red,
    Reno,
    Scenario,
    Step,
    SubQueue,
    Talkspurts,
    Tcp,
    Tfrc,
    Think,
    Trace,
    Udp,
    Vcp,
    VcpRouter,
    Vegas,
    Voice,
    Web,
    Weighted,
)
from skywave.simulate import run, run_many
from skywave.topologies import Aggregate, Hop, parking_lot

__all__ = [
    "Ack",
    "AckedPacket",
    "Adapt",
    "AdaptiveRed",
    "Aggregate",
    "Aimd",
    "Back",
    "Bernoulli",
    "CaptureError",
    "Cbr",
    "CoDel",
    "Context",
    "Control",
    "Cubic",
    "Dccp",
    "DropTail",
    "Dumbbell",
    "DynamicFeedback",
    "FileSize",
    "Flow",
    "FqCoDel",
    "Ftp",
    "GilbertElliott",
    "Hop",
    "Link",
    "Loss",
    "Mark",
    "Pacing",
    "PacketLoss",
    "PerRoundTrip",
    "Pie",
    "Probes",
    "Red",
    "Reno",
    "Results",
    "RoundTrip",
    "Scenario",
    "ScenarioError",
    "Sent",
    "Step",
    "SubQueue",
    "Talkspurts",
    "Tcp",
    "Tfrc",
    "Think",
    "Timeout",
    "Trace",
    "Udp",
    "Vcp",
    "VcpRouter",
    "Vegas",
    "Voice",
    "Web",
    "Weighted",
    "parking_lot",
    "run",
    "run_many",
]


def __getattr__(name: str) -> str:
    """Look up ``__version__`` when it is asked for: that is slow beside the rest."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415

        return version("skywave")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
