"""A thread of the client that uses the blocking API, one connection after another."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from skywave.net import Config, NetError
from validation.soak.ends import Reader, Report, datagram, name_of
from validation.soak.plan import CCIDS, CLOSE_S, HOST, SIZE, ports
from validation.soak.process import complain, say

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    import numpy as np

    from skywave import net

PAUSE_S = 0.5
"""The mean time between two connections."""


class Blocking:
    """Connections in a thread, until it is told to be quiet."""

    def __init__(
        self,
        endpoint: net.Endpoint,
        relay: int,
        limits: dict[str, str],
        numbers: Iterator[int],
        rng: np.random.Generator,
        quiet: threading.Event,
    ) -> None:
        self._endpoint = endpoint
        self._relay = relay
        self._limits = limits
        self._numbers = numbers
        self._rng = rng
        self._quiet = quiet

    def run(self) -> None:
        """Open one connection after another."""
        try:
            while not self._quiet.wait(self._rng.exponential(PAUSE_S)):
                self._live()
        except Exception as error:  # noqa: BLE001 - whatever it is, the soak has failed
            complain(error)

    def _live(self) -> None:
        reader = Reader(next(self._numbers))
        config = Config(ccid=int(self._rng.choice(CCIDS)), **self._limits)  # type: ignore[arg-type]
        port = int(self._rng.choice(ports("reads")))
        with suppress(NetError, TimeoutError):
            connection = self._endpoint.connect(HOST, port, udp_port=self._relay, config=config)
            offered = self._send(connection, reader)
            self._read(connection, reader, limit_s=float(self._rng.exponential(0.2)))
            with suppress(NetError, TimeoutError):
                connection.close(timeout_s=CLOSE_S)
            self._read(connection, reader, limit_s=None)
            report = Report.of(
                "client",
                reader,
                connection.stats(),
                ended=name_of(connection.closed),
                ccids=connection.ccids,
                offered=offered,
                read_all=True,
            )
            say({"report": report.document()})

    def _send(self, connection: net.Connection, reader: Reader) -> int:
        """Send some datagrams; return how many."""
        assert reader.connection is not None  # noqa: S101 - drawn above
        offered = 0
        with suppress(NetError):
            for index in range(int(self._rng.exponential(20))):
                offered += 1
                size = int(self._rng.integers(SIZE))
                connection.send(datagram(reader.connection, index, size))
        return offered

    def _read(self, connection: net.Connection, reader: Reader, limit_s: float | None) -> None:
        """Read until nothing has come for this long, or to the end."""
        with suppress(NetError, TimeoutError):
            while (data := connection.recv(timeout_s=limit_s)) is not None:
                reader.take(data)
