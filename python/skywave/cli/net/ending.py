"""Descriptions of how connections end, for users of the commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from skywave.cli.console import print_json
from skywave.net import ClosedError, Connection, NetError

LOOK_S = 0.05
NORMAL = 1
"""The Reset Code of a normal close."""
PEER_CLOSED = "the peer closed before everything was sent"


@contextmanager
def failure_as_json(
    document: Callable[[str, bool], dict[str, Any]], *, as_json: bool
) -> Iterator[None]:
    """Print a JSON document also if the network fails in the block, or the user interrupts it.

    ``document`` takes the error, and whether it is an interrupt. What the block raises is raised in
    any case.
    """
    try:
        yield
    except (NetError, TimeoutError) as error:
        if as_json:
            print_json(document(str(error), False))
        raise
    except KeyboardInterrupt:
        if as_json:
            print_json(document("interrupted", True))
        raise


def has_peer_closed(
    connection: Connection,
    error: Exception,
    within_s: float,
    is_over: Callable[[], bool] = lambda: False,
) -> bool:
    """Return whether an error of a connection that this end has not closed says that the peer has.

    If the peer has not confirmed the end yet, it has ``within_s`` seconds to do so, unless
    ``is_over`` says that nobody waits for it any more.
    """
    if not isinstance(error, ClosedError):
        return False
    until = time.monotonic() + within_s
    while connection.closed is None and time.monotonic() < until and not is_over():
        time.sleep(LOOK_S)
    return connection.closed is not None and connection.closed.code == NORMAL
