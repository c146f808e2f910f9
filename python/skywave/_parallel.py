"""Runs on all processors, in threads: the simulator does not need Python's lock."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from skywave._core import Stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
Value = TypeVar("Value")

AHEAD = 4
"""How many items for each processor are begun, or done but not yet taken."""


def processors() -> int:
    """Return the number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@contextmanager
def _pool() -> Iterator[tuple[ThreadPoolExecutor, Stop]]:
    """Yield threads, and a function that stops their runs. On exit, all of them have ended."""
    stop = Stop()
    pool = ThreadPoolExecutor(processors(), thread_name_prefix="skywave-run")
    try:
        yield pool, stop
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def in_order(call: Callable[[Item, Stop], Value], items: Iterable[Item]) -> Iterator[Value]:
    """Yield the result of ``call`` for each item, in order.

    ``call`` runs in other threads and should end when told to stop. Items are taken only a few
    ahead. An exception of a call is raised in its place.
    """
    with _pool() as (pool, stop):
        begun: deque[Future[Value]] = deque()
        for item in items:
            begun.append(pool.submit(call, item, stop))
            if len(begun) >= AHEAD * processors():
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


def as_completed(
    call: Callable[[Item, Stop], Value], items: Iterable[Item]
) -> Iterator[tuple[Item, Future[Value]]]:
    """Yield each item with its outcome, as soon as there is one; else as :func:`in_order`."""
    with _pool() as (pool, stop):
        items = iter(items)
        begun: dict[Future[Value], Item] = {}
        # Cheaper than `wait`, which registers with each future anew.
        done: SimpleQueue[Future[Value]] = SimpleQueue()
        while True:
            for item in islice(items, AHEAD * processors() - len(begun)):
                future = pool.submit(call, item, stop)
                begun[future] = item
                future.add_done_callback(done.put)
            if not begun:
                return
            future = done.get()
            yield begun.pop(future), future
