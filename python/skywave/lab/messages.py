"""Messages to a page: greetings, the progress of its runs, and errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from skywave.lab.reading import PageError

Send = Callable[[bytes | dict[str, object]], Awaitable[None]]
"""Sends a frame as bytes, or a message."""
Clock = Literal["simulated", "real_time"]
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
    """How often it has restarted: frames of other epochs do not belong to it."""
    until_s: float = 0.0
    """Up to when it is run again."""
    kept_s: float | None = None
    """How much of the past is shown; None for all."""
    notes: tuple[str, ...] = ()
    """What else there is to say of it, in lines."""
    inaccuracy: str | None = None
    """Why its timing was too inaccurate; None if it was accurate, or is not known yet."""

    def message(self) -> dict[str, object]:
        """Return it as the page reads it."""
        return {"type": "state", **asdict(self)}


def hello(
    shows: Literal["scenarios", "connections"],
    title: str,
    *,
    session: str = "",
    no_real_time: str | None = None,
    meanings: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, object]:
    """Return the first message to a page.

    ``session`` names it in the addresses of downloads. ``no_real_time`` says why runs in real time
    are unavailable. ``meanings`` has those of columns, by table.
    """
    return {
        "type": "hello",
        "session": session,
        "shows": shows,
        "title": title,
        "no_real_time": no_real_time,
        "meanings": meanings or {},
    }


def error(run: str, fault: PageError) -> dict[str, object]:
    """Return the error of a message, a scenario or a run; ``run`` may be empty."""
    return {
        "type": "error",
        "run": run,
        "field": fault.field,
        "message": fault.message,
        "line": fault.line,
        "column": fault.column,
    }
