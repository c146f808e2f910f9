"""The exchanges of a listener, each on its own thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from skywave.cli.net.exchange import Exchange
    from skywave.net import Connection, Listener

LOOK_S = 0.2


class Exchanges:
    """Accepts connections, runs an exchange over each, and passes on its report.

    Interrupts reach the main thread alone, and there only its wait, so that no connection and no
    report is lost.
    """

    def __init__(
        self,
        listener: Listener,
        pool: ThreadPoolExecutor,
        over: Callable[[Connection], Exchange],
        tell: Callable[[dict[str, Any]], None],
        *,
        once: bool,
    ) -> None:
        """Prepare to accept connections, or with ``once`` a single one."""
        self._listener = listener
        self._pool = pool
        self._over = over
        self._tell = tell
        self._telling = threading.Lock()
        self._once = once
        self._is_stopped = False
        self._running: dict[int, Exchange] = {}
        self._ended: SimpleQueue[bool | BaseException] = SimpleQueue()
        self._accepting = threading.Thread(target=self._accept, daemon=True)

    def begin(self) -> None:
        """Begin to accept connections. From then on, whatever happens, stop them."""
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
        except BaseException as error:  # noqa: BLE001  (the main thread raises it)
            self._ended.put(error)

    def _run(self, exchange: Exchange) -> None:
        try:
            document = exchange.run()
            with self._telling:
                self._tell(document)
            self._ended.put(document["ok"])
        except BaseException as error:  # noqa: BLE001  (the main thread raises it)
            self._ended.put(error)
        finally:
            del self._running[id(exchange)]

    def wait(self) -> bool:
        """Wait for an exchange to end; return whether all went well.

        Raises:
            KeyboardInterrupt: What ``interrupt`` was given.
        """
        while True:
            try:
                ended = self._ended.get(timeout=LOOK_S)
            except Empty:
                continue
            if isinstance(ended, BaseException):
                raise ended
            return ended

    def interrupt(self, interrupt: KeyboardInterrupt) -> None:
        """Have ``wait`` raise an interrupt. A handler of signals may call this."""
        self._ended.put(interrupt)

    def stop(self, interrupt: KeyboardInterrupt) -> None:
        """Close the connections of all exchanges and collect their reports."""
        self._is_stopped = True
        self._accepting.join()
        for exchange in list(self._running.values()):
            exchange.stop(interrupt)
        self._pool.shutdown()
