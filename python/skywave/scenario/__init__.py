"""Scenarios: an experiment is made of parts, and run by :func:`skywave.run`.

The parts are written from the core's schema; :mod:`skywave.scenario.parts` says how they are given.
"""

from skywave.scenario import parts
from skywave.scenario.experiment import Inspection, Scenario
from skywave.scenario.parts import *  # noqa: F403
from skywave.scenario.parts import Course, Feedback, Loss, Queue, Source, Transport

__all__ = ["Course", "Feedback", "Inspection", "Loss", "Queue", "Scenario", "Source", "Transport"]
__all__ += parts.__all__
