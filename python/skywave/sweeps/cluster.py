"""Runs on a cluster, by Dask (``skywave[dask]``)."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from skywave import _core
from skywave._errors import MissingExtraError, SkywaveError
from skywave.sweeps.job import Job, Keep
from skywave.sweeps.store import Failure, Outcome

if TYPE_CHECKING:
    from distributed import Client, Future

TASK_S = 0.5
"""How long a task should take: much longer than Dask needs for it."""
MOST_OF_A_TASK = 100
"""The most runs of a task."""
AHEAD = 3
"""Tasks for each thread of the workers that are submitted, or done but not yet kept."""
CONNECT_S = 10.0
"""How long to wait for the scheduler."""
LOOK_S = 5.0
"""How often to look how many workers there are."""
POLL_S = 0.01
"""How often to look whether a task is done."""
GONE = "the Dask scheduler is gone: start it, and run the sweep again"


class ClusterError(SkywaveError, RuntimeError):
    """A cluster cannot be used. Completed runs are stored."""


@contextmanager
def connected(on: str | Client) -> Iterator[Client]:
    """Yield a client, connected to the scheduler if an address is given.

    Raises:
        MissingExtraError: If Dask is not installed.
        ClusterError: If there is no scheduler.
    """
    try:
        from distributed import Client  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise MissingExtraError("a sweep on a cluster", "dask") from error
    if isinstance(on, Client):
        yield on
        return
    try:
        client = Client(on, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {on}: start one as `dask scheduler`, and workers as "
            f"`dask worker {on}`"
        ) from error
    with client:
        yield client


def do(jobs: Iterable[Job], keep: Keep, client: Client) -> Generator[Failure | None, None, None]:
    """Do the jobs and keep their outcomes; yield for each, in any order, why it failed.

    Outcomes come back to this process, which keeps them: workers need no common file system.

    Raises:
        ClusterError: If the scheduler is lost, or the workers have another version.
        OSError: If an outcome cannot be kept.
    """
    tasks = _Tasks(client, iter(jobs))
    try:
        for batch, outcomes in tasks:
            for job, outcome in zip(batch, outcomes, strict=True):
                keep(job.run, outcome)
                yield outcome if isinstance(outcome, Failure) else None
    finally:
        for batch, outcomes in tasks.stop():
            for job, outcome in zip(batch, outcomes, strict=True):
                keep(job.run, outcome)


def work(engine: str, jobs: bytes) -> list[Outcome | Failure]:
    """Do the jobs of a task, on a worker."""
    import cloudpickle  # noqa: PLC0415

    if engine != _core.ENGINE:
        raise ClusterError(
            f"a worker has version {_core.ENGINE} of the simulator, and here it is {engine}: "
            "install the same on all machines"
        )
    return [job.do() for job in cloudpickle.loads(jobs)]


class _Tasks:
    """The tasks of a sweep: batches of jobs, and their outcomes."""

    def __init__(self, client: Client, jobs: Iterator[Job]) -> None:
        from distributed import as_completed  # noqa: PLC0415

        self._client, self._jobs = client, jobs
        self._completed = as_completed(loop=client.loop)
        self._begun: dict[Future, tuple[Job, ...]] = {}
        self._suspects: list[Job] = []
        self._is_alone = False
        self._size = 1
        self._threads = self._count_threads()
        self._looked_s = time.monotonic()
        self._has_warned = False

    def __iter__(self) -> Iterator[tuple[tuple[Job, ...], list[Any]]]:
        self._submit()
        while self._begun:
            self._look()
            while not self._completed.has_ready():
                time.sleep(POLL_S)
                self._look()
            future = next(self._completed)
            batch = self._begun.pop(future)
            outcomes = self._outcomes(future, batch)
            # Not left to its finalizer, in which Python ignores an interrupt.
            future.release()
            if outcomes:
                self._adapt(outcomes)
                yield batch, outcomes
            self._submit()

    def stop(self) -> Iterator[tuple[tuple[Job, ...], list[Any]]]:
        """Cancel unfinished tasks, and yield finished ones."""
        begun, self._begun = self._begun, {}
        for future, batch in begun.items():
            if future.status == "finished":
                # The scheduler may be gone.
                with suppress(Exception):
                    yield batch, future.result(timeout=10)
        with suppress(Exception):
            self._client.cancel(list(begun))

    def _count_threads(self) -> int:
        # What is submitted while the client tries to connect again never ends if it cannot.
        if self._client.status in {"closing", "closed"}:
            raise ClusterError(GONE)
        try:
            return sum(self._client.nthreads().values())
        except OSError as error:
            raise ClusterError(GONE) from error

    def _look(self) -> None:
        """Look now and then how many threads the workers have; if none, say so: they may come."""
        if time.monotonic() - self._looked_s < LOOK_S:
            return
        self._threads, self._looked_s = self._count_threads(), time.monotonic()
        if self._threads == 0 and not self._has_warned:
            address = self._client.scheduler.address
            warnings.warn(
                f"the Dask cluster has no workers, and the sweep waits for them: start one as "
                f"`dask worker {address}`",
                stacklevel=2,
            )
        self._has_warned = self._threads == 0

    def _submit(self) -> None:
        while len(self._begun) < AHEAD * max(self._threads, 1):
            batch = tuple(islice(self._jobs, self._size))
            if not batch:
                break
            self._begin(batch)
        # Dask blames every task of a worker for its death. Who is alone has done it.
        if not self._begun and self._suspects:
            self._is_alone = True
            self._begin((self._suspects.pop(),))

    def _begin(self, batch: tuple[Job, ...]) -> None:
        future = self._client.submit(work, _core.ENGINE, _pickled(batch), pure=False)
        self._begun[future] = batch
        self._completed.add(future)

    def _outcomes(self, future: Future, batch: tuple[Job, ...]) -> list[Any]:
        """Return the outcomes of a task; none if it has to be done again."""
        from distributed import CancelledError, KilledWorker  # noqa: PLC0415

        try:
            # Of a finished task too, this may fail: its worker may have died with the outcomes.
            return list(future.result())
        except CancelledError as error:
            raise ClusterError(GONE) from error
        except KilledWorker as error:
            reason = str(error)
        except ClusterError:
            raise
        except Exception as error:
            raise ClusterError(f"a worker cannot do a run: {error}") from error
        if not self._is_alone:
            self._suspects += batch
            return []
        # Dask has tried it several times (`distributed.scheduler.allowed-failures`).
        [job] = batch
        return [Failure(job.run, "every worker that did this run has died", reason)]

    def _adapt(self, outcomes: list[Any]) -> None:
        """Adapt the size of tasks to how long runs take."""
        walls_s = [outcome.wall_s for outcome in outcomes if not isinstance(outcome, Failure)]
        if walls_s:
            mean_s = max(sum(walls_s) / len(walls_s), TASK_S / MOST_OF_A_TASK)
            # Not much more at once: the next runs may take longer.
            self._size = max(1, min(2 * self._size, int(TASK_S / mean_s)))


def _pickled(batch: tuple[Job, ...]) -> bytes:
    """Return jobs as bytes that workers can read, and the scheduler does not have to.

    The user's members and measures are sent by value: workers do not have their modules.
    """
    import cloudpickle  # noqa: PLC0415

    given: list[Any] = [*batch[0].measuring.own.values()]
    given += [kind for job in batch for kind in job.members.values()]
    for each in given:
        module = sys.modules.get(each.__module__)
        if module is not None and module.__name__.partition(".")[0] not in {"skywave", "__main__"}:
            cloudpickle.register_pickle_by_value(module)
    pickled: bytes = cloudpickle.dumps(batch)
    return pickled
