"""Runs many cases: one process for each kind of guest, which is booted once for all of its cases.

Each process has a namespace of its own, so that raw sockets of one connection's endpoint never see
the packets of another's. Guests on virtual time have one processor and take a few cases each, so
there is a process for each processor.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from itertools import count
from queue import Empty
from typing import TYPE_CHECKING, NoReturn

from skywave import SkywaveError
from validation.linux import virtual
from validation.linux.lab import ATTEMPTS, Result, lab
from validation.linux.machine import lacking
from validation.linux.namespace import LabError
from validation.linux.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.context import SpawnProcess
    from multiprocessing.queues import Queue
    from types import FrameType

    from validation.linux.cases import Case
    from validation.linux.guests import Kind
    from validation.linux.lab import Plan

FIRST_PORT = 33_000
"""Each case and attempt has a port of its own, so that what is late for one is not taken for
another's."""

_INTERRUPTED = threading.Event()

BATCH = 13
"""How many cases a guest on virtual time takes: booting it takes as long as one of them."""


def run(cases: list[Case], plan: Plan, tell: Callable[[Result], None]) -> list[Result]:
    """Run cases and return their results in the same order, telling of each as it ends.

    An interrupt takes everything down before it is raised.
    """
    results: dict[Case, Result] = {}

    def note(result: Result) -> None:
        results[result.case] = result
        tell(result)

    spawn = multiprocessing.get_context("spawn")
    queue: Queue[Result] = spawn.Queue()
    processes = []
    for kind in dict.fromkeys(case.guest for case in cases):
        chosen = [case for case in cases if case.guest == kind]
        reason = lacking(kind)
        if reason:
            for case in chosen:
                note(Result(case, Outcome.SKIPPED, (reason,)))
        else:
            at_a_time = (os.cpu_count() or 1) if kind == "virtual" else 1
            for each in range(at_a_time):
                shares = (kind, chosen[each::at_a_time], plan, queue)
                processes.append(spawn.Process(target=_run_kind, args=shares))
    try:
        # An interrupt would reach them before they ignore it.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        for process in processes:
            process.start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        for result in _results(queue, processes):
            note(result)
    finally:
        for process in processes:
            if process.is_alive():
                process.terminate()
        for process in processes:
            process.join()
    died = ("the runner of this guest died",)
    return [results.get(case, Result(case, Outcome.FAILED, died)) for case in cases]


def _results(queue: Queue[Result], processes: list[SpawnProcess]) -> Iterator[Result]:
    """Yield results until the processes have ended and nothing is left of what they said."""
    while True:
        alive = any(process.is_alive() for process in processes)
        try:
            yield queue.get(timeout=0.1)
        except Empty:
            if not alive:
                return


def _run_kind(kind: Kind, cases: list[Case], plan: Plan, queue: Queue[Result]) -> None:
    """Run the cases of one kind of guest, in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent turns it into SIGTERM
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # for programs that it starts
    signal.signal(signal.SIGTERM, _interrupt)
    numbered = list(zip(count(FIRST_PORT, ATTEMPTS), cases, strict=False))
    try:
        if kind == "virtual":
            _run_on_virtual_time(numbered, plan, queue)
        else:
            _run_booted(kind, numbered, plan, queue)
    except KeyboardInterrupt:
        os._exit(1)  # all is down; what waits in the queue is of no use


def _run_booted(kind: Kind, left: list[tuple[int, Case]], plan: Plan, queue: Queue[Result]) -> None:
    """Run cases in a guest that boots once.

    If it dies, the case during which it did has failed, and it boots again for the rest.
    """
    while left and _parent_lives():
        before = len(left)
        try:
            with lab(kind, plan) as booted:
                while left and _parent_lives():
                    port, case = left[0]
                    queue.put(booted.run(case, port))
                    left.pop(0)
        except LabError as error:
            lost = left if len(left) == before else left[:1]
            for _, case in lost:
                queue.put(Result(case, Outcome.FAILED, (str(error),)))
            left = left[len(lost) :]


def _run_on_virtual_time(cases: list[tuple[int, Case]], plan: Plan, queue: Queue[Result]) -> None:
    """Run cases in guests that take a few each.

    If one dies, those of its cases that have no result run in a guest each.
    """
    batches = [cases[at : at + BATCH] for at in range(0, len(cases), BATCH)]
    while batches and _parent_lives() and not _INTERRUPTED.is_set():
        left = batches.pop(0)
        try:
            for result in virtual.run(left, plan):
                queue.put(result)
                left = [each for each in left if each[1] != result.case]
        except (SkywaveError, LabError, OSError) as error:
            if len(left) > 1:
                batches[:0] = [[each] for each in left]
            elif left:
                queue.put(Result(left[0][1], Outcome.FAILED, (str(error),)))


def _parent_lives() -> bool:
    parent = multiprocessing.parent_process()
    return parent is not None and parent.is_alive()


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - signal's
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # A guest that ends at that moment has no use for it.
    _INTERRUPTED.set()
    raise KeyboardInterrupt
