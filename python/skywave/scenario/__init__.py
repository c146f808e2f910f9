"""Builders of scenarios: typed mirrors of the schema that the core reads.

A quantity is a text with its unit (``"300 ms"``, ``"2 Mbps"``, ``"500 B"``). A parameter that is
``None`` has the core's default; ``skywave check`` shows a scenario with every default filled in.
Nothing is validated here: the core does, and names the field that is wrong. ``from`` is a word of
Python, so the schema's ``from`` is ``from_`` here.
"""

from skywave.scenario.experiment import Scenario
from skywave.scenario.flows import Flow, Probes
from skywave.scenario.networks import (
    Back,
    Bernoulli,
    Dumbbell,
    GilbertElliott,
    Link,
    Loss,
    PacketLoss,
    Step,
    Trace,
)
from skywave.scenario.queues import (
    AdaptiveRed,
    CoDel,
    DropTail,
    FqCoDel,
    Pie,
    Queue,
    Red,
    SubQueue,
    VcpRouter,
    Weighted,
)
from skywave.scenario.sources import (
    Adapt,
    Cbr,
    FileSize,
    Ftp,
    Source,
    Talkspurts,
    Think,
    Voice,
    Web,
)
from skywave.scenario.transports import (
    Aimd,
    Cubic,
    Dccp,
    DynamicFeedback,
    PerRoundTrip,
    Reno,
    Tcp,
    Tfrc,
    Transport,
    Udp,
    Vcp,
    Vegas,
)

__all__ = [
    "Adapt",
    "AdaptiveRed",
    "Aimd",
    "Back",
    "Bernoulli",
    "Cbr",
    "CoDel",
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
    "Link",
    "Loss",
    "PacketLoss",
    "PerRoundTrip",
    "Pie",
    "Probes",
    "Queue",
    "Red",
    "Reno",
    "Scenario",
    "Source",
    "Step",
    "SubQueue",
    "Talkspurts",
    "Tcp",
    "Tfrc",
    "Think",
    "Trace",
    "Transport",
    "Udp",
    "Vcp",
    "VcpRouter",
    "Vegas",
    "Voice",
    "Web",
    "Weighted",
]
