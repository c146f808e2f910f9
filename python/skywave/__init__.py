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
    "_errors": (
        "CaptureError",
        "MissingExtraError",
        "NoSocketsError",
        "ScenarioError",
        "SkywaveError",
    ),
    "_progress": ("Progress",),
    "_simulate": ("run", "run_many"),
    "control": (
        "Ack",
        "AckedPacket",
        "Context",
        "Control",
        "Loss",
        "LostPacket",
        "Mark",
        "MarkedPackets",
        "Pacing",
        "RoundTrip",
        "Sent",
        "Timeout",
    ),
    "losses": ("Losses",),
    "queue": ("Conduct", "Head", "Packet", "Queue", "QueueVerdict"),
    "results": ("Results",),
    "scenario": ("Scenario",),
    "scenario.topologies": ("Aggregate", "Hop", "dumbbell", "parking_lot"),
    "source": ("Source",),
    "sweeps.cluster": ("ClusterError",),
    "sweeps.runner": ("sweep",),
    "sweeps.table": ("Sweep",),
}
"""The modules of names; those of ``scenario.parts`` are left out. They are imported on first use: a
command, a worker or a script that needs few of them starts in a fraction of the time."""

_HOMES = {name: module for module, names in _MODULES.items() for name in names}
_ROOMS = ("control", "losses", "queue", "results", "scenario", "source")
"""What ``import skywave`` alone gives access to."""


def _load_core(path: str) -> None:
    """Load an extension with members of a user's own in place of the one of this package.

    Raises:
        ImportError: If it is no such extension.

    """
    import sys  # noqa: PLC0415  (needed with such an extension only)
    from hashlib import blake2b  # noqa: PLC0415
    from importlib.util import module_from_spec, spec_from_file_location  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    name = f"{__name__}._core"
    spec = spec_from_file_location(name, Path(path).absolute())
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise ImportError(f"SKYWAVE_CORE is {path}: give the .so file of an extension")
    core = module_from_spec(spec)
    spec.loader.exec_module(core)
    # Results depend on its members, so each build is an engine of its own.
    digest = blake2b(Path(path).read_bytes(), digest_size=8).hexdigest()
    core.ENGINE = f"{core.ENGINE}+{digest}"  # type: ignore[attr-defined]
    sys.modules[name] = globals()["_core"] = core


if _own_core := os.environ.get("SKYWAVE_CORE"):
    _load_core(_own_core)

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
