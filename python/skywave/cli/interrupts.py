"""Ctrl-C and SIGTERM: both end a command in an orderly way."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Termination:
    """Whether SIGTERM has asked the process to end."""

    is_asked: bool = False


@contextmanager
def termination_interrupts() -> Iterator[Termination]:
    """Let SIGTERM interrupt the main thread as Ctrl-C does; yields what tells them apart."""
    termination = Termination()
    if threading.current_thread() is not threading.main_thread():
        yield termination
        return

    def terminate(*_: object) -> NoReturn:
        termination.is_asked = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield termination
    finally:
        signal.signal(signal.SIGTERM, before)
