"""Calls functions in guests."""

from __future__ import annotations

import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from skywave._progress import Progress
from skywave.realtime.privileges import LaunchError
from skywave.realtime.virtual import inside
from skywave.realtime.virtual.guest import Guest, GuestError, booted

Answer = TypeVar("Answer")

MEMORY_MIB = 2048
"""The guest's memory by default."""
PATIENCE_S = 60.0
"""How long a guest may show no progress by default."""
LOOK_S = 0.05
"""How often the host looks for progress."""
STOPPING_S = 10.0
"""How long an interrupted function may take to return."""


def call(
    function: Callable[..., Answer],
    kernel: Path,
    *,
    progress: Callable[[Progress], None] | None = None,
    memory_mib: int = MEMORY_MIB,
    patience_s: float = PATIENCE_S,
    writable: Iterable[str | Path] = (),
    **arguments: Any,
) -> Answer:
    """Call a function in a guest, and return what it returns or raise what it raises.

    Ctrl-C interrupts the function by raising ``KeyboardInterrupt`` from its ``progress``. A second
    one ends the guest.

    Args:
        function: A function of a module. It is given ``progress``, which it calls.
        kernel: The guest's kernel.
        progress: Called with what the function passes to its ``progress``.
        memory_mib: The guest's memory, which is allocated only as it is used.
        patience_s: Give up on the guest after this many seconds of real time without progress. It
            always gets at least a minute to start.
        writable: Directories in which the function may write.
        arguments: The function's other arguments. They are pickled, and so is the answer.

    Raises:
        LaunchError: If the guest cannot be booted.
        GuestError: If it crashed, ran out of memory, or made no progress.
        Exception: Whatever the function raised.
    """
    with shared_folder() as folder:
        try:
            (folder / inside.CALL).write_bytes(pickle.dumps((function, arguments)))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise LaunchError(f"cannot send this to the guest: {error}") from error
        program = [sys.executable, "-m", inside.__name__, str(folder)]
        with booted(kernel, program, folder, memory_mib=memory_mib, writable=writable) as guest:
            _wait(guest, progress, patience_s)
        outcome = folder / inside.OUTCOME
        if not outcome.exists():
            raise guest.failure()
        answer: Answer
        answer, error_inside = pickle.loads(outcome.read_bytes())  # noqa: S301  (it is ours)
    if error_inside is not None:
        raise error_inside
    return answer


@contextmanager
def shared_folder() -> Iterator[Path]:
    """Yield a temporary directory that a guest can see, and delete it after the block."""
    # A guest has devices of its own, so it sees no folder in /dev/shm.
    in_devices = Path(tempfile.gettempdir()).is_relative_to("/dev")
    place = "/tmp" if in_devices else None  # noqa: S108  (a name is chosen for each call)
    with tempfile.TemporaryDirectory(prefix="skywave-guest-", dir=place) as made:
        yield Path(made).resolve()


def _wait(guest: Guest, progress: Callable[[Progress], None] | None, patience_s: float) -> None:
    """Wait for the end of a guest, pass on its progress, and interrupt it by Ctrl-C."""
    stop = guest.folder / inside.STOP
    steps = _Steps(guest.folder / inside.PROGRESS)
    has_ended = False
    while not has_ended:
        try:
            has_ended = guest.has_ended(LOOK_S)
            for step in steps.new():
                if progress is not None and not stop.exists():
                    progress(step)
            if not has_ended and stop.exists() and steps.age_s > STOPPING_S:
                raise KeyboardInterrupt
            patience = patience_s if steps.last is not None else max(patience_s, PATIENCE_S)
            if not has_ended and steps.age_s > patience:
                raise _stuck(steps, patience)
        except KeyboardInterrupt:
            if stop.exists():
                raise
            stop.touch()
            steps.restart()


def _stuck(steps: _Steps, patience_s: float) -> GuestError:
    if steps.last is None:
        return GuestError(f"the guest did not start within {patience_s:g} s")
    return GuestError(
        f'the guest made no progress in stage "{steps.last.stage}" for {patience_s:g} s of real '
        "time: does a control, queue or program wait without sleeping? Virtual time hardly passes "
        "then"
    )


class _Steps:
    """The progress of a call."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._at = 0
        self._since_s = time.monotonic()
        self.last: Progress | None = None

    @property
    def age_s(self) -> float:
        """How long ago there was any."""
        return time.monotonic() - self._since_s

    def restart(self) -> None:
        """Count its age from now on."""
        self._since_s = time.monotonic()

    def new(self) -> Iterator[Progress]:
        """Yield what was not there at the last call."""
        if not self._file.exists():
            return
        with self._file.open("rb") as file:
            file.seek(self._at)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._at += len(whole) + len(newline)
        for line in whole.decode().splitlines():
            stage, done, total = line.split("\t")
            self.last = Progress(stage, float(done), float(total))
            self._since_s = time.monotonic()
            yield self.last
