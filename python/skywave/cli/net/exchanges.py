"""The exchanges of a listener, each on a thread of its own."""

from __future__ import annotations

import threading
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import ThreadPoolExecutor

    from skywave.cli.net.exchange import Exchange
    from skywave.net import Connection, Listener

LOOK_S = 0.2


class Exchanges:
    """Accepts connections, runs an exchange over each, and hands out what they report.

    Interrupts reach the main thread alone, so it does nothing but wait.
    """

    def __init__(
        self,
        listener: Listener,
        pool: ThreadPoolExecutor,
        over: Callable[[Connection], Exchange],
        *,
        once: bool,
    ) -> None:
        """Begin to accept connections, or with ``once`` a single one."""
        self._listener = listener
        self._pool = pool
        self._over = over
        self._once = once
        self._is_stopped = False
        self._running: dict[int, Exchange] = {}
        self._ended: SimpleQueue[dict[str, Any] | Exception] = SimpleQueue()
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        try:
            while not self._is_stopped:
                with suppress(TimeoutError):
                    exchange = self._over(self._listener.accept(timeout_s=LOOK_S))
                    self._running[id(exchange)] = exchange
                    self._pool.submit(self._run, exchange)
                    if self._once:
                        return
        except Exception as error:  # noqa: BLE001  (the main thread raises it)
            self._ended.put(error)

    def _run(self, exchange: Exchange) -> None:
        try:
            self._ended.put(exchange.run())
        except Exception as error:  # noqa: BLE001  (the main thread raises it)
            self._ended.put(error)
        finally:
            del self._running[id(exchange)]

    def next(self) -> dict[str, Any]:
        """Wait for an exchange to end, and return its report. Interrupts come through."""
        while True:
            try:
                return self._taken(self._ended.get(timeout=LOOK_S))
            except Empty:
                continue

    def stop(self, interrupt: KeyboardInterrupt) -> Iterator[dict[str, Any]]:
        """Let all exchanges close their connections, and yield their reports."""
        self._is_stopped = True
        self._accepting.join()
        for exchange in list(self._running.values()):
            exchange.stop(interrupt)
        self._pool.shutdown()
        while not self._ended.empty():
            yield self._taken(self._ended.get())

    def _taken(self, ended: dict[str, Any] | Exception) -> dict[str, Any]:
        if isinstance(ended, Exception):
            raise ended
        return ended
