"""Functions for guests, which import them by name."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from skywave import Progress

Tell = Callable[[Progress], None]


def greet(name: str, progress: Tell) -> str:
    """Print on both streams, say how far it is, and return a greeting."""
    sys.stdout.write("on stdout\n")
    sys.stderr.write("on stderr\n")
    for done in (1.0, 2.0):
        progress(Progress("greeting", done, 2.0))
    return f"hello {name}"


def refuse(progress: Tell) -> None:
    """Raise an error."""
    raise ValueError("refused")


class UnpicklableError(Exception):
    """An error that cannot be passed on."""

    def __reduce__(self) -> str:
        return "nothing of this name"


def refuse_oddly(progress: Tell) -> None:
    """Raise an error that cannot be passed on."""
    raise UnpicklableError("odd")


def leave(progress: Tell) -> None:
    """End the process."""
    os._exit(7)


def go_on(progress: Tell) -> str:
    """Go on until interrupted, and then return something."""
    try:
        while True:
            time.sleep(0.05)
            progress(Progress("going on", 0.0, 1.0))
    except KeyboardInterrupt:
        return "interrupted"


def ignore(progress: Tell) -> None:
    """Say something once, and then wait for time to pass without sleeping."""
    progress(Progress("ignoring", 0.0, 1.0))
    end_s = time.monotonic() + 600
    while time.monotonic() < end_s:
        pass


def sleep(duration_s: float, progress: Tell) -> float:
    """Sleep, and return how long it took."""
    start_s = time.monotonic()
    time.sleep(duration_s)
    return time.monotonic() - start_s


def fill(mib: int, progress: Tell) -> None:
    """Use this much memory."""
    memory = [bytearray(os.urandom(1 << 20)) for _ in range(mib)]
    progress(Progress("full", float(len(memory)), 1.0))


def crash(progress: Tell) -> None:
    """Crash the guest's kernel."""
    Path("/proc/sysrq-trigger").write_text("c", encoding="ascii")
    time.sleep(60)


def write(file: Path, progress: Tell) -> None:
    """Write a file."""
    file.write_text("written", encoding="utf-8")
