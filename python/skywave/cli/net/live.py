"""The progress line of a transfer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

REFRESH_S = 0.25


@contextmanager
def live_rate(verb: str, *, enabled: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Show datagrams, bytes and the current rate on stderr, if that is a terminal.

    Yields a function that takes the totals of datagrams and bytes. It may be called for each
    datagram.
    """
    console = Console(stderr=True)
    if not (enabled and console.is_terminal):
        yield lambda _datagrams, _size: None
        return
    start = shown_at = time.monotonic()
    shown_bytes = 0
    with Live(Text(), console=console, transient=True, auto_refresh=False) as live:

        def show(datagrams: int, size: int) -> None:
            nonlocal shown_at, shown_bytes
            now = time.monotonic()
            if now - shown_at < REFRESH_S:
                return
            rate_mbps = 8e-6 * (size - shown_bytes) / (now - shown_at)
            line = (
                f"{now - start:6.1f} s  {verb} {datagrams:,} datagrams, {size / 1e6:,.2f} MB"
                f"  {rate_mbps:,.2f} Mbps"
            )
            live.update(Text(line), refresh=True)
            shown_at, shown_bytes = now, size

        yield show
