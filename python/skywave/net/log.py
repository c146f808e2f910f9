"""What happens to endpoints and connections, in Python's logging: the logger ``skywave.net``.

The core queues its events; a thread here hands them to the logger, so that no packet waits for a
handler. The section "Logs" of docs/sockets.md has the levels and the limits.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import time
import traceback

from skywave import _core

TRACE = 5
"""The level below ``logging.DEBUG``."""

LOGGER = logging.getLogger("skywave.net")
LOGGER.addHandler(logging.NullHandler())
logging.addLevelName(TRACE, "TRACE")

LEVELS = (TRACE, logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
OFF = 255
LOOK_S = 1.0
"""How often the level is looked at."""
AT_EXIT_S = 5.0
"""How long a program that exits waits for handlers."""


def watch() -> None:
    """Have events logged from now on. The core calls it before anything can happen."""
    _core.set_log_level(_level())
    _reader.start()


def _level() -> int:
    return next((level for level in LEVELS if LOGGER.isEnabledFor(level)), OFF)


class _Reader:
    """A thread that hands the core's events to the logger."""

    _thread: threading.Thread | None
    _is_over: bool

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start again, without the objects of another process."""
        # A signal handler may open an endpoint while this one is being opened.
        self._lock = threading.RLock()
        self._thread = None
        self._is_over = False

    def start(self) -> None:
        with self._lock:
            if self._thread is None and not self._is_over:
                thread = threading.Thread(target=self._run, name="skywave-log", daemon=True)
                thread.start()
                # Only now, since an interrupt may come before.
                self._thread = thread

    def stop(self) -> None:
        """Hand over what is left, unless a handler takes too long."""
        with self._lock:
            self._is_over = True
        if self._thread is not None:
            _core.close_log()
            self._thread.join(AT_EXIT_S)
            if self._thread.is_alive():
                sys.stderr.write(
                    f"skywave.net: a handler of logging takes more than {AT_EXIT_S:g} s: "
                    "the last events are lost\n"
                )

    def _run(self) -> None:
        while (news := _core.next_log(LOOK_S)) is not None:
            lost, events = news
            for event in events:
                _log(*event)
            if lost:
                _log(logging.WARNING, time.time(), f"{lost:,} events are lost: logging is too slow")
            if not self._is_over:
                _core.set_log_level(_level())


def _log(level: int, time_s: float, text: str) -> None:
    if not LOGGER.isEnabledFor(level):
        return
    try:
        record = LOGGER.makeRecord(LOGGER.name, level, __name__, 0, text, (), None)
        record.relativeCreated += 1e3 * (time_s - record.created)
        record.created = time_s
        record.msecs = int(time_s % 1 * 1e3)
        LOGGER.handle(record)
    except Exception:  # noqa: BLE001  (a filter or a handler of the program may raise anything)
        if logging.raiseExceptions:
            traceback.print_exc()


_reader = _Reader()
os.register_at_fork(after_in_child=_reader.reset)
atexit.register(_reader.stop)
