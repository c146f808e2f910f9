"""Papers side by side: reproduced by processes of their own, on all cores.

Half of a reproduction is Python (measures, figures, files), which one process does on one core; and
the style of figures is the whole process's. Each worker is the leader of a process group: a Ctrl-C
reaches ours alone, which then ends theirs, with the ns-2 that they may be running. A SIGTERM and a
terminal that closes end ours likewise.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from typing import TYPE_CHECKING

from skywave import papers
from skywave.papers import installed
from skywave.papers.installed import BrokenPaperError
from skywave.papers.reproduction import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    Message = Judgement | tuple[str, int, int] | BaseException
    """A paper that is done, a step of it, or why it failed."""
    Outcome = Judgement | BrokenPaperError
    """What a paper comes to: it may turn out to be one that cannot be used."""


@dataclass(frozen=True)
class Work:
    """One of all papers to reproduce, and the directory that its report goes to.

    ``seeds`` is over how many its averages are where it leaves that open; its brief number if None.
    """

    key: str
    directory: Path
    live_ns2: bool
    seeds: int | None


@dataclass
class _Worker:
    """A process that reproduces one paper after the other; ``key`` is that of the present one."""

    process: subprocess.Popen[bytes]
    connection: Connection
    key: str = ""

    def begin(self, work: Work) -> None:
        """Hand it a paper."""
        self.key = work.key
        self.connection.send(work)

    def receive(self) -> Message:
        """Return what it says of its paper."""
        try:
            message: Message = self.connection.recv()
        except (EOFError, ConnectionError):
            raise ChildProcessError(
                f"{self.key}: its process ended with status {self.process.wait()}; "
                f"skywave reproduce {self.key} does it alone"
            ) from None
        return message


def reproduce_each(
    works: Sequence[Work], progress: Callable[[str, str, int, int], None] | None
) -> dict[str, Outcome]:
    """Reproduce and write papers, as many at a time as there are cores; return what they came to.

    They are begun in the order in which they are given: the longest is best first.

    Raises:
        ChildProcessError: where a process ends before its paper is done.
        Exception: what reproducing a paper raised; the others are stopped. A paper that cannot be
            used at all is no reason for that.

    """
    came_to: dict[str, Outcome] = {}
    waiting = list(reversed(works))
    with _endings_interrupt(), _workers(min(len(works), os.cpu_count() or 1)) as workers:
        busy = {worker.connection: worker for worker in workers}
        for worker in workers:
            worker.begin(waiting.pop())
        while busy:
            ready = wait(list(busy))
            for worker in [one for one in busy.values() if one.connection in ready]:
                match worker.receive():
                    case (stage, done, total):
                        if progress is not None:
                            progress(worker.key, stage, done, total)
                    case Judgement() | BrokenPaperError() as outcome:
                        came_to[worker.key] = outcome
                        if waiting:
                            worker.begin(waiting.pop())
                        else:
                            del busy[worker.connection]
                    case BaseException() as error:
                        raise error
    return came_to


@contextmanager
def _workers(count: int) -> Iterator[list[_Worker]]:
    """Start workers; they leave when nothing comes any more, and are stopped at an exception."""
    workers: list[_Worker] = []
    try:
        while len(workers) < count:
            workers.append(_start())
        yield workers
    except BaseException:
        _signal(workers, signal.SIGTERM)
        raise
    finally:
        _join(workers)


@contextmanager
def _endings_interrupt() -> Iterator[None]:
    """Take what would end our process for an interrupt: then no worker outlives it."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    # What is ignored stays so (nohup). Handlers are the main thread's.
    heard = {
        number: handler
        for number in (signal.SIGTERM, signal.SIGHUP)
        if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None)
        and threading.current_thread() is threading.main_thread()
    }
    for number in heard:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)


def _start() -> _Worker:
    ours, theirs = Pipe()
    with theirs:
        process = subprocess.Popen(
            # It finds what we find.
            [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            process_group=0,
        )
    return _Worker(process, ours)


def _join(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        # Nobody reads any more: what is being sent must not wait for that.
        worker.connection.close()
    try:
        for worker in workers:
            worker.process.wait()
    except BaseException:
        _signal(workers, signal.SIGKILL)
        for worker in workers:
            worker.process.wait()
        raise


def _signal(workers: Sequence[_Worker], number: signal.Signals) -> None:
    for worker in workers:
        # Whether the worker lives or not: its ns-2 may. Where none does, macOS forbids to ask.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(worker.process.pid, number)


def _serve(connection: Connection) -> None:
    """Reproduce what comes until nothing comes any more."""
    while True:
        try:
            work: Work = connection.recv()
        except (EOFError, ConnectionError):
            return
        connection.send(_reproduce(work, connection))


def _reproduce(work: Work, connection: Connection) -> Judgement | BaseException:
    def step(stage: str, done: int, total: int) -> None:
        connection.send((stage, done, total))

    try:
        # First, for an interrupt does not get out of all that an import does.
        paper = installed.paper(work.key)
        _has_files.set()
        reproduction = papers.reproduce(
            work.key,
            live_ns2=work.live_ns2,
            seeds=paper.brief_seeds(work.seeds),
            progress=step,
        )
        reproduction.write(work.directory)
    except BaseException as error:  # noqa: BLE001  (raised by the process that asked)
        error.add_note(f"In the process of {work.key}:\n{traceback.format_exc()}")
        return _that_travels(error)
    finally:
        _has_files.clear()
    return reproduction.judgement


def _that_travels(error: BaseException) -> BaseException:
    """Return an error, or one with its text where it cannot be handed to another process."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  (our own)
    except Exception:  # noqa: BLE001  (a class's own pickling may raise anything)
        return RuntimeError("".join(traceback.format_exception(error)))
    return error


_has_files = threading.Event()
"""Whether there may be something to clear away."""


def _stop(*_: object) -> None:
    """Leave whatever runs as an interrupt does, with its files cleared away, and only once."""
    if not _has_files.is_set():
        _leave()
    signal.signal(signal.SIGTERM, lambda *_: None)
    raise KeyboardInterrupt


def _leave() -> None:
    """Leave at once: what an interpreter does at its end does not bear being interrupted."""
    os._exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    with suppress(ConnectionError, KeyboardInterrupt), Connection(int(sys.argv[1])) as to_us:
        _serve(to_us)
    _leave()
