"""Skywave: a user-space DCCP transport and a congestion-control laboratory.

Describe an experiment as a :class:`Scenario`, run it with :func:`run`, and read Arrow tables::

    from skywave import Dccp, dumbbell, run

    scenario = dumbbell("dccp", duration="60 s", rate="2 Mbps", delay="50 ms", queue=20)
    scenario.add_flow("dccp", "s1", "d1", Dccp())
    results = run(scenario)
    print(results.flows)
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skywave._errors import CaptureError as CaptureError
    from skywave._errors import MissingExtraError as MissingExtraError
    from skywave._errors import NoSocketsError as NoSocketsError
    from skywave._errors import ScenarioError as ScenarioError
    from skywave._errors import SkywaveError as SkywaveError
    from skywave._progress import Progress as Progress
    from skywave._simulate import run as run
    from skywave._simulate import run_many as run_many
    from skywave.control import Ack as Ack
    from skywave.control import AckedPacket as AckedPacket
    from skywave.control import Context as Context
    from skywave.control import Control as Control
    from skywave.control import Loss as Loss
    from skywave.control import LostPacket as LostPacket
    from skywave.control import Mark as Mark
    from skywave.control import MarkedPackets as MarkedPackets
    from skywave.control import Pacing as Pacing
    from skywave.control import RoundTrip as RoundTrip
    from skywave.control import Sent as Sent
    from skywave.control import Timeout as Timeout
    from skywave.losses import Losses as Losses
    from skywave.queue import Conduct as Conduct
    from skywave.queue import Head as Head
    from skywave.queue import Packet as Packet
    from skywave.queue import Queue as Queue
    from skywave.queue import QueueVerdict as QueueVerdict
    from skywave.results import Results as Results
    from skywave.scenario import Scenario as Scenario
    from skywave.scenario.parts import *  # noqa: F403
    from skywave.scenario.topologies import Aggregate as Aggregate
    from skywave.scenario.topologies import Hop as Hop
    from skywave.scenario.topologies import dumbbell as dumbbell
    from skywave.scenario.topologies import parking_lot as parking_lot
    from skywave.source import Source as Source
    from skywave.sweeps.cluster import ClusterError as ClusterError
    from skywave.sweeps.runner import sweep as sweep
    from skywave.sweeps.table import Sweep as Sweep

    __version__: str

_MODULES = {
    "_errors": "CaptureError MissingExtraError NoSocketsError ScenarioError SkywaveError",
    "_progress": "Progress",
    "_simulate": "run run_many",
    "control": "Ack AckedPacket Context Control Loss LostPacket Mark MarkedPackets Pacing "
    "RoundTrip Sent Timeout",
    "losses": "Losses",
    "queue": "Conduct Head Packet Queue QueueVerdict",
    "results": "Results",
    "scenario": "Scenario",
    "scenario.topologies": "Aggregate Hop dumbbell parking_lot",
    "source": "Source",
    "sweeps.cluster": "ClusterError",
    "sweeps.runner": "sweep",
    "sweeps.table": "Sweep",
}
"""The modules of names; those of ``scenario.parts`` are left out. They are imported on first use: a
command, a worker or a script that needs few of them starts in a fraction of the time."""

_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}
_ROOMS = ("control", "losses", "queue", "results", "scenario", "source")
"""What ``import skywave`` alone gives access to."""


if _path := os.environ.get("SKYWAVE_CORE"):
    sys.meta_path.insert(0, import_module("skywave._own_core").OwnCore(_path))

if not TYPE_CHECKING:  # with it, any name would pass for one that is there

    def __getattr__(name: str) -> object:
        """Return ``__version__``, or a name that is imported on first use."""
        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415

            return version("skywave")
        if name == "__all__":
            return __dir__()
        if name in _ROOMS:
            return import_module(f"skywave.{name}")
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name not in _HOMES and name not in _parts():
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = import_module(f"skywave.{_HOMES.get(name, 'scenario.parts')}")
        globals()[name] = found = getattr(home, name)
        return found


def __dir__() -> list[str]:
    return sorted({*_HOMES, *_parts()})


def _parts() -> list[str]:
    from skywave.scenario import parts  # noqa: PLC0415

    return parts.__all__
