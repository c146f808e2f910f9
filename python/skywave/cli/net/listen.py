"""``skywave listen``."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Annotated, Any

import typer

from skywave.cli.application import command
from skywave.cli.console import JsonOption, out, print_json
from skywave.cli.interrupts import interrupts_handed_to
from skywave.cli.net import options, place, report
from skywave.cli.net.exchange import CloseOption, Ending, Exchange, ExchangeOptions
from skywave.cli.net.report import live_rate, print_line
from skywave.cli.net.send import DATAGRAM, LARGEST
from skywave.cli.status import FAILED
from skywave.net import Connection, Listener
from skywave.net.file import Assembly
from skywave.net.load import Load

MOST_AT_ONCE = 64
LOOK_S = 0.2

app = typer.Typer()


@command(app, fails="with --once, the connection failed, or the file is not complete")
def listen(
    where: Annotated[
        str,
        typer.Argument(
            metavar="[ADDRESS:]PORT",
            help="DCCP port to listen on, optionally with a local address. Default: all IPv4 and "
            "IPv6 addresses; with --raw, all IPv4 addresses.",
        ),
    ],
    once: Annotated[bool, typer.Option("--once", help="Exit after the first connection.")] = False,
    echo: Annotated[
        bool, typer.Option("--echo", help="Echo each datagram; required by `skywave ping`.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write received data to a file; - for standard output. Reassembles a file from "
            "`skywave send FILE`, and fails if parts are missing. Requires --once.",
        ),
    ] = None,
    take: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Close each connection after receiving N datagrams."),
    ] = None,
    count: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of datagrams to send to each client.")
    ] = 0,
    size: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES",
            min=1,
            max=LARGEST,
            help="Payload bytes per datagram. Default: 1200, or less if the path MTU is smaller.",
        ),
    ] = None,
    gap: options.GapOption = None,
    close: CloseOption = Ending.AWAIT,
    *,
    how: ExchangeOptions,
    service_code: options.ServiceCodeOption = "0",
    session: options.ConnectionOptions,
    socket: options.SocketOptions,
    as_json: JsonOption = False,
) -> None:
    """Accept DCCP connections and count, write or echo the received data.

    Prints a report for each connection when it ends: with --json one object per line, with --once
    --json a single document.

    Ctrl-C and SIGTERM close all connections, print their reports and exit.
    """
    where_ = place.local(where)
    config = session.config(service_code)
    if output is not None and not once:
        raise typer.BadParameter("--output is for one connection: give --once too")
    to_stdout = output == "-"
    with ExitStack() as stack:
        sink = None
        if output is not None:
            to = sys.stdout.buffer if to_stdout else Path(output).open("wb")  # noqa: SIM115
            sink = stack.enter_context(to)
        # The stack unwinds from below: closing the socket first ends the work in the pool.
        pool = stack.enter_context(ThreadPoolExecutor(MOST_AT_ONCE))
        endpoint = stack.enter_context(options.endpoint(where_.host, socket))
        listener = endpoint.listen(where_.port, config=config)
        show = stack.enter_context(live_rate("received", enabled=how.interval is None))
        sys.stderr.write(f"listening on {where_} over {socket.over}\n")
        sys.stderr.flush()

        def exchange_over(connection: Connection) -> Exchange:
            def show_interval(report: dict[str, Any]) -> None:
                if not as_json:
                    print_line(report, name=f"{place.of_peer(connection)}: ", stderr=to_stdout)

            return Exchange(
                connection,
                Load(size or min(DATAGRAM, connection.max_datagram_size)),
                close,
                **how.fields(),
                count=count,
                has_fixed_size=size is not None,
                gap_s=0.0 if gap is None else gap.seconds,
                echo=echo,
                assembly=None if sink is None else Assembly(sink),
                most=take,
                show=show,
                show_interval=show_interval,
            )

        def tell(document: dict[str, Any]) -> None:
            if as_json:
                print_json(document, line=not once)
            else:
                table = report.table(f"From {document['peer']}", document)
                out(stderr=to_stdout, markup=False).print(table)

        exchanges = Exchanges(listener, pool, exchange_over, tell, once=once)
        # A connection may be open before `begin` returns, and an interrupt must not lose it.
        with interrupts_handed_to(exchanges.interrupt):
            exchanges.begin()
            try:
                is_ok = exchanges.wait()
                while not once:
                    exchanges.wait()
            except KeyboardInterrupt as interrupt:
                exchanges.stop(interrupt)
                raise
    if not is_ok:
        raise typer.Exit(FAILED)


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
        """Wait for an exchange to end; return whether all went well. Raise what interrupts it."""
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
