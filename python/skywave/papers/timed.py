"""Runs of a paper whose duration ``skywave bench standard`` measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skywave.scenario import Scenario


@dataclass(frozen=True)
class TimedRun:
    """A run whose duration is measured.

    ``ns2`` returns the command that runs the same in ns-2 and writes its results to a path. None if
    ns-2 cannot run it.
    """

    scheme: str
    scenario: Scenario
    ns2: Callable[[Path], list[str]] | None = None
