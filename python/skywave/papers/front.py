"""Reproduces all papers, a process for each, with a front page for their reports.

As many run at a time as there are cores. Half of a reproduction is Python code (measures, figures,
files), which uses one core per process; and the style of figures is a setting of the process. Each
worker leads a process group, so Ctrl-C reaches only the parent process. The parent then ends the
workers, along with any ns-2 that they run. On SIGTERM, or if the terminal closes, it does the same.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, NamedTuple

from skywave import papers
from skywave._files import replacing
from skywave._progress import Progress
from skywave.papers import installed
from skywave.papers.cells import Score
from skywave.papers.errors import BrokenPaperError, UnknownPaperError
from skywave.papers.reproduction import TEMPLATES, Reproduction, render
from skywave.report import pages


@dataclass(frozen=True)
class Front:
    """The reproductions of all papers; ``broken`` says by key why others are unusable."""

    papers: Sequence[Reproduction]
    broken: Mapping[str, str] = field(default_factory=dict)

    @property
    def score(self) -> Score:
        """The numbers of all papers."""
        return sum((paper.score for paper in self.papers), Score())

    def to_dict(self) -> dict[str, Any]:
        """Return the document that ``--json`` prints."""
        score = self.score
        return {
            "skywave": version("skywave"),
            "values": score.values,
            "matches": score.matches,
            "claims": score.claims,
            "claims_met": score.claims_met,
            "compared_with_ns2": score.compared,
            "close_to_ns2": score.close,
            "papers": [paper.to_dict() for paper in self.papers],
            "broken": dict(self.broken),
        }

    def html(self) -> str:
        """Return the front page as self-contained HTML."""
        return render("front.html.j2", front=self)


def reproduce_all(
    directory: Path,
    *,
    keys: Sequence[str] | None = None,
    live_ns2: bool = True,
    seeds: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Front:
    """Reproduce every paper into its own directory, and write a front page.

    Args:
        directory: Receives ``report.html``, ``report.json``, and a directory for each paper.
        keys: Keys of the papers. Default: all that are installed. Unusable ones are skipped, and
            the front page says why.
        live_ns2: Whether to run ns-2 if it is installed. Otherwise its stored results are used.
        seeds: The number of seeds for averages of papers that let you choose it. Default: the
            paper's smaller number for this purpose (``Paper.seeds.brief``).
        progress: Called at every step. A stage begins with the paper's key.

    Raises:
        UnknownPaperError: If there are no papers.
        OSError: If the directory cannot be written, or a paper's process ends early. The
            directory's previous contents stay.
    """
    chosen = installed.all_keys() if keys is None else keys
    if not chosen:
        raise UnknownPaperError(installed.known())
    with replacing(directory) as partial:
        works = [Work(key, partial / key, live_ns2, seeds) for key in chosen]
        came_to = reproduce_each(works, progress)
        judged = {key: one for key in chosen if isinstance(one := came_to[key], Reproduction)}
        broken = {key: str(came_to[key]) for key in chosen if key not in judged}
        front = Front(list(judged.values()), broken)
        links = pages.templates(TEMPLATES).get_template("neighbours.html.j2")
        citations = [reproduction.paper for reproduction in front.papers]
        around = zip([None, *citations], citations, [*citations[1:], None], strict=False)
        for previous, citation, following in around:
            report = partial / citation.key / "report.html"
            text = report.read_text(encoding="utf-8")
            linked = links.render(previous=previous, following=following)
            report.write_text(text.replace(pages.NEIGHBOURS, linked), encoding="utf-8")
        pages.write(partial, "report", front.html(), front.to_dict())
    return front


class Work(NamedTuple):
    """A paper to reproduce, and the directory for its report.

    ``seeds`` is the number of seeds if users can choose it; None for the paper's brief number.
    """

    key: str
    directory: Path
    live_ns2: bool
    seeds: int | None


class _Worker(NamedTuple):
    """A process that reproduces a paper."""

    key: str
    process: subprocess.Popen[bytes]
    connection: Connection

    @classmethod
    def start(cls, work: Work) -> _Worker:
        ours, theirs = Pipe()
        with theirs:
            process = subprocess.Popen(
                # With our sys.path, the worker finds the same modules.
                [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                process_group=0,
            )
        ours.send(work)
        return cls(work.key, process, ours)

    def receive(self) -> Reproduction | Progress | BaseException:
        """Return the finished paper, a step, or an error."""
        try:
            message: Reproduction | Progress | BaseException = self.connection.recv()
        except (EOFError, ConnectionError):
            raise ChildProcessError(
                f"{self.key}: its process ended with status {self.process.wait()}; "
                f"run skywave reproduce {self.key} to see why"
            ) from None
        return message

    def signal(self, number: signal.Signals) -> None:
        # Even if the worker has ended, its ns-2 may run. On macOS, an empty group is EPERM.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)


def reproduce_each(
    works: Sequence[Work], progress: Callable[[Progress], None] | None
) -> dict[str, Reproduction | BrokenPaperError]:
    """Reproduce and write papers, as many at a time as there are cores; return their outcomes.

    They start in the given order. Put the longest first.

    Raises:
        ChildProcessError: If a process ends before its paper is finished.
        Exception: Whatever reproducing a paper raised; the others are stopped. An unusable paper
            does not raise.
    """
    came_to: dict[str, Reproduction | BrokenPaperError] = {}
    waiting = list(reversed(works))
    with _endings_interrupt(), _ended_workers() as workers:
        while waiting or workers:
            while waiting and len(workers) < (os.cpu_count() or 1):
                workers.append(_Worker.start(waiting.pop()))
            ready = wait([worker.connection for worker in workers])
            for worker in [one for one in workers if one.connection in ready]:
                match worker.receive():
                    case Progress() as step:
                        if progress is not None:
                            progress(replace(step, stage=f"{worker.key}, {step.stage}"))
                    case Reproduction() | BrokenPaperError() as outcome:
                        came_to[worker.key] = outcome
                        worker.connection.close()
                        worker.process.wait()
                        workers.remove(worker)
                    case BaseException() as error:
                        raise error
    return came_to


@contextmanager
def _ended_workers() -> Iterator[list[_Worker]]:
    """Yield a list for workers. At the end none of them runs; on an exception they are stopped."""
    workers: list[_Worker] = []
    try:
        yield workers
    except BaseException:
        for worker in workers:
            worker.signal(signal.SIGTERM)
            # Nothing reads from it any more, so a worker must not wait to send.
            worker.connection.close()
        try:
            for worker in workers:
                worker.process.wait()
        except BaseException:
            for worker in workers:
                worker.signal(signal.SIGKILL)
                worker.process.wait()
            raise
        raise


@contextmanager
def _endings_interrupt() -> Iterator[None]:
    """Turn signals that would end our process into interrupts, so that no worker outlives it."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    # Ignored signals stay ignored (nohup). Only the main thread can set handlers.
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


def _reproduce(work: Work, progress: Callable[[Progress], None]) -> Reproduction | BaseException:
    try:
        # Import first: some imports swallow interrupts. Until then, there are no files to clean up.
        paper = installed.paper(work.key)
        signal.signal(signal.SIGTERM, _interrupt_once)
        seeds = paper.brief_seeds(work.seeds)
        reproduction = papers.reproduce(
            work.key, live_ns2=work.live_ns2, seeds=seeds, progress=progress
        )
        with installed.faults_named(paper):
            reproduction.write(work.directory)
    except BaseException as error:  # noqa: BLE001  (the parent process raises it)
        error.add_note(f"In the process of {work.key}:\n{traceback.format_exc()}")
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301  (our own)
        except Exception:  # noqa: BLE001  (a class's own pickling may raise anything)
            return RuntimeError("".join(traceback.format_exception(error)))
        return error
    return reproduction.brief()


def _interrupt_once(*_: object) -> None:
    signal.signal(signal.SIGTERM, lambda *_: None)
    raise KeyboardInterrupt


if __name__ == "__main__":
    with suppress(EOFError, ConnectionError, KeyboardInterrupt):
        to_parent = Connection(int(sys.argv[1]))
        to_parent.send(_reproduce(to_parent.recv(), to_parent.send))
    # At once: an interrupt during the interpreter's shutdown would cause errors.
    os._exit(0)
