"""Scenarios: experiments for :func:`skywave.run`, built from parts.

The classes of the parts are generated from the core's schema; :mod:`skywave.scenario.parts`
describes their conventions.
"""

from skywave.scenario import parts
from skywave.scenario.experiment import Inspection, Scenario
from skywave.scenario.parts import *  # noqa: F403
from skywave.scenario.parts import Feedback, LossModel, Queue, Source, Trace, Transport
from skywave.scenario.topologies import Aggregate, Hop, dumbbell, parking_lot

__all__ = [
    "Aggregate",
    "Feedback",
    "Hop",
    "Inspection",
    "LossModel",
    "Queue",
    "Scenario",
    "Source",
    "Trace",
    "Transport",
    "dumbbell",
    "parking_lot",
]
__all__ += parts.__all__
