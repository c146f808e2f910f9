"""Ctrl-C and SIGTERM: both end a command in order, with a line that names the signal."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import NoReturn

from skywave.cli.status import INTERRUPTED, TERMINATED


def end_at_once_on_signals() -> None:
    """Let Ctrl-C and SIGTERM end the process without an exception, except in :func:`interrupts`.

    Modules that are being imported may swallow an exception, or print it.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _end_at_once)


def _end_at_once(number: int, _: FrameType | None) -> NoReturn:
    is_asked = number == signal.SIGTERM
    with suppress(OSError):
        os.write(2, b"terminated\n" if is_asked else b"interrupted\n")
    os._exit(TERMINATED if is_asked else INTERRUPTED)


@dataclass
class Termination:
    """Whether SIGTERM has asked the process to end."""

    is_asked: bool = False


@contextmanager
def interrupts() -> Iterator[Termination]:
    """Let Ctrl-C and SIGTERM interrupt the main thread; yields an object that tells them apart."""
    termination = Termination()
    if threading.current_thread() is not threading.main_thread():
        yield termination
        return

    def terminate(*_: object) -> NoReturn:
        termination.is_asked = True
        raise KeyboardInterrupt

    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, terminate)}
    # A shell may have it ignored.
    if signal.getsignal(signal.SIGINT) is _end_at_once:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield termination
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
