"""How connections end, in words for those who use the commands."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from skywave.net import ClosedError

if TYPE_CHECKING:
    from skywave.net import Connection

LOOK_S = 0.05
NORMAL = 1
"""The Reset Code of a normal close."""
PEER_CLOSED = "the peer closed before everything was sent"


def is_normal(connection: Connection) -> bool:
    """Return whether a connection has ended by a normal close, of either end."""
    return connection.closed is not None and connection.closed["code"] == NORMAL


def has_peer_closed(connection: Connection, error: Exception, within_s: float) -> bool:
    """Return whether an error of a connection that this end has not closed says that the peer has.

    A close of which the peer has still to confirm the end has ``within_s`` seconds.
    """
    if not isinstance(error, ClosedError):
        return False
    until = time.monotonic() + within_s
    while connection.closed is None and time.monotonic() < until:
        time.sleep(LOOK_S)
    return is_normal(connection)
