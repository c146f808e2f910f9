"""How far something on the page is, as the page is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Literal

Send = Callable[[bytes | dict[str, object]], Awaitable[None]]
"""Sends a frame as bytes, or a message."""
Clock = Literal["simulated", "real"]
Phase = Literal["running", "paused", "again", "ended", "stopped"]
"""``again``: it runs up to the present once more, because its scenario has changed."""


@dataclass(frozen=True)
class State:
    """The state of a run, or of the connections of a socket."""

    run: str
    clock: Clock
    state: Phase
    time_s: float
    end_s: float | None
    """When it ends; None if nobody knows."""
    epoch: int = 0
    """How often it has begun anew: frames of other epochs do not belong to it."""
    until_s: float = 0.0
    """Up to when it is run again."""
    kept_s: float | None = None
    """How much of the past is shown; None for all."""
    notes: tuple[str, ...] = ()
    """What else there is to say of it, in lines."""

    def message(self) -> dict[str, object]:
        """Return it as the page reads it."""
        return {"type": "state", **asdict(self)}
