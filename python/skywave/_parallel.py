"""Runs on all processors, in threads: the simulator does not need Python's lock."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from queue import SimpleQueue
from typing import TypeVar

from skywave._core import Stop

Item = TypeVar("Item")
Value = TypeVar("Value")

PATIENCE_S = 2.0
"""How long a run may take to stop. Rust takes milliseconds; a callback may never return."""
THREADS = "skywave-run"
"""The names of the threads begin so."""
AHEAD = 4
"""How many items for each processor are begun, or done but not yet taken."""


def processors() -> int:
    """Return the number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@contextmanager
def _pool() -> Iterator[tuple[ThreadPoolExecutor, Stop]]:
    """Yield threads, and what stops their runs. On exit, all that can be ended have ended."""
    stop, threads = Stop(), list[threading.Thread]()
    pool = ThreadPoolExecutor(
        processors(),
        thread_name_prefix=THREADS,
        initializer=lambda: threads.append(threading.current_thread()),
    )
    try:
        yield pool, stop
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
        _end(threads)


def _end(threads: list[threading.Thread]) -> None:
    """Wait for threads to end, and interrupt those that a callback in Python holds.

    A callback that sleeps, or waits for a lock, cannot be interrupted: its thread is left alone.
    """
    _join(threads)
    for thread in threads:
        if thread.is_alive() and thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt)
            )
    _join(threads)


def _join(threads: list[threading.Thread]) -> None:
    until = time.monotonic() + PATIENCE_S
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))


def are_held() -> bool:
    """Return whether threads are left that a callback holds: they keep the process from ending."""
    return any(thread.name.startswith(THREADS) for thread in threading.enumerate())


def in_order(call: Callable[[Item, Stop], Value], items: Iterable[Item]) -> Iterator[Value]:
    """Yield the result of ``call`` for each item, in order.

    ``call`` runs in other threads and should end when stopped. Items are taken only a few
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
