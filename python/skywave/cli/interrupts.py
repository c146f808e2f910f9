"""Ctrl-C and SIGTERM: both end a command in an orderly way."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType


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


@contextmanager
def interrupts_handed_to(take: Callable[[KeyboardInterrupt], None]) -> Iterator[None]:
    """Hand the first interrupt to ``take``, instead of raising it wherever the main thread is.

    Where that is cannot be foreseen: in the middle of a wait, ``threading`` itself then fails with
    another error. ``take`` notes the interrupt, or raises it where the block expects that. What the
    block has not raised by its end is raised there. Later interrupts are raised at once.
    """
    taken: list[KeyboardInterrupt] = []
    before = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM)
        if callable(handler := signal.getsignal(number))
    }

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def hand_over(number: int, frame: FrameType | None) -> None:
        restore()
        try:
            before[signal.Signals(number)](number, frame)
        except KeyboardInterrupt as interrupt:
            taken.append(interrupt)
            take(interrupt)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    for number in before:
        signal.signal(number, hand_over)
    try:
        yield
    finally:
        restore()
    if taken:
        raise taken[0]
