"""Options and sockets shared by the network commands."""

from __future__ import annotations

import json
import logging
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Timer
from typing import Annotated, Any, TypeVar

import typer
from attrs import fields

from skywave import _core
from skywave._core import Duration
from skywave._files import check_writable
from skywave.cli.console import announce, lab_extra
from skywave.cli.messages import warn
from skywave.cli.net import place
from skywave.cli.net.place import Place
from skywave.net import UDP_PORT, AddressInUseError, Config, Connection, Endpoint, EndpointConfig
from skywave.net.log import LOGGER
from skywave.net.metrics import serving
from skywave.net.protocol import service_code

Configured = TypeVar("Configured", Config, EndpointConfig)

ANY = {4: "0.0.0.0", 6: "::"}  # noqa: S104  (all addresses are intended)
CLOSE_S = 5.0
"""How long the connections of a command may take to close in the end."""
UNANSWERED_S = 2.0
"""How long a command waits in silence for the answer to its connection attempt."""

GapOption = Annotated[
    Duration | None, typer.Option("--gap", help='Time between datagrams, e.g. "20 ms".')
]
ServiceCodeOption = Annotated[
    str, typer.Option(metavar="CODE", help='Service Code (RFC 5595), e.g. "VOIP" or 42.')
]


class Level(StrEnum):
    """How much to log."""

    ERROR = "error"
    WARN = "warn"
    INFO = "info"
    DEBUG = "debug"
    TRACE = "trace"


@dataclass(frozen=True)
class ConnectionOptions:
    """Options of a command's connections."""

    ccid: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            max=254,
            help="Congestion control: 2 TCP-like, 3 TFRC, 4 TFRC for small packets, 251 the "
            "sender's choice (Reno). If the two ends differ, the listener's preference wins. "
            "248 VCP, 249 DPCP and 250 TPCP must be set at both ends. Default: the peer's, or "
            "2.",
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="KEY=VALUE",
            help="Set any other connection option, by its name in `Config` of skywave.net, e.g. "
            "ecn=false, control=cubic, tfrc.rules=rfc3448 or 'linger=5 s'; repeatable.",
        ),
    ] = None

    idle_timeout: Annotated[
        Duration | None,
        typer.Option(
            "--idle-timeout",
            help="End a connection that has carried no data in either direction for this long, "
            'e.g. "10 min", even if the peer still responds; "0 s" for never. Default: never.',
        ),
    ] = None
    keepalive: Annotated[
        Duration | None,
        typer.Option(
            "--keepalive",
            help='Probe the peer after this long without a packet, e.g. "15 s" to keep a NAT '
            'binding alive; "0 s" for never. Default: 2 min.',
        ),
    ] = None

    def config(self, service: str) -> Config:
        """Return the configuration of a connection with this Service Code."""
        try:
            document: dict[str, Any] = {"service_codes": [service_code(service)]}
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
        if self.ccid is not None:
            document["ccid"] = self.ccid
        times = {"idle_timeout": self.idle_timeout, "keepalive": self.keepalive}
        document |= {name: time for name, time in times.items() if time is not None}
        _configured(Config, document, None, "--ccid")
        return _configured(Config, document, self.settings, "--option")


@dataclass(frozen=True)
class SocketOptions:
    """Options of a command's socket."""

    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Use IP protocol 33 directly instead of UDP (needs CAP_NET_RAW, e.g. as root).",
        ),
    ] = False
    udp_port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="UDP port for the encapsulation (RFC 6773)."
        ),
    ] = UDP_PORT
    endpoint_settings: Annotated[
        list[str] | None,
        typer.Option(
            "--endpoint-option",
            metavar="KEY=VALUE",
            help="Set any socket option, by its name in `EndpointConfig` of skywave.net, e.g. "
            "backlog=64; repeatable.",
        ),
    ] = None
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve Prometheus metrics of the socket and its connections at this address, "
            "under /metrics.",
        ),
    ] = None
    qlog: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write a qlog file for each connection to DIR, for qvis. Same as "
            "--endpoint-option qlog=DIR.",
        ),
    ] = None
    log: Annotated[
        Level | None,
        typer.Option(
            help="Log connection events to standard error: limits reached (warn), one line per "
            "ended connection (info), states, Resets and ICMP (debug)."
        ),
    ] = None
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Open a page that plots the windows, rates, round-trip times and losses of the "
            "connections live. Requires the extra skywave\\[lab].",
        ),
    ] = False
    browser: Annotated[
        bool | None,
        typer.Option(
            "--browser/--no-browser",
            help="With --watch, open the page in the browser. Default: --browser.",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Refuse an option of the page without the page."""
        if self.browser is not None and not self.watch:
            option = "--browser" if self.browser else "--no-browser"
            raise typer.BadParameter(f"{option} requires --watch")

    @property
    def over(self) -> str:
        """What carries DCCP, in words."""
        return "IP protocol 33" if self.raw else f"UDP port {self.udp_port}"

    @contextmanager
    def page(self, opened: Endpoint) -> Iterator[None]:
        """Serve the page of a socket until the block ends, with ``--watch``."""
        if not self.watch:
            yield
            return
        with lab_extra():
            from skywave.lab.connections import watched  # noqa: PLC0415
        with watched(opened) as address:
            announce("The page", address, browser=self.browser is not False)
            yield


def _configured(
    kind: type[Configured], document: dict[str, Any], settings: Sequence[str] | None, flag: str
) -> Configured:
    """Return the configuration of ``document``, changed by texts ``KEY=VALUE``."""
    for text in settings or ():
        _merge(document, _setting(text, flag), text, flag)
    listed = f"help(skywave.net.{kind.__name__}) in Python lists all"
    try:
        return kind.from_dict(document)
    except KeyError as error:
        meant = _core.suggestion(str(error.args[0]), [option.name for option in fields(kind)])
        raise typer.BadParameter(f"{flag}: there is no option {error}: {listed}{meant}") from error
    except (AttributeError, TypeError) as error:
        raise typer.BadParameter(f"{flag}: an option has the wrong form: {listed}") from error
    except ValueError as error:
        raise typer.BadParameter(f"{flag}: {error}") from error


def _setting(text: str, flag: str) -> dict[str, Any]:
    """Return the table that ``KEY=VALUE`` describes. A value that is not TOML is text."""
    key, separator, value = text.partition("=")
    if not separator:
        raise typer.BadParameter(f'{flag}: "{text}" is not KEY=VALUE, as in {EXAMPLES[flag]}')
    for written in (value, json.dumps(value.strip())):
        try:
            return tomllib.loads(f"{key} = {written}")
        except tomllib.TOMLDecodeError:
            continue
    raise typer.BadParameter(f'{flag}: "{key}" is not a name, or names with dots between them')


def _merge(document: dict[str, Any], more: dict[str, Any], text: str, flag: str) -> None:
    for key, value in more.items():
        present = document.get(key)
        if isinstance(present, dict) and isinstance(value, dict):
            _merge(present, value, text, flag)
        elif isinstance(present, dict) or (isinstance(value, dict) and present is not None):
            raise typer.BadParameter(f'{flag}: "{text}" contradicts an earlier setting of "{key}"')
        else:
            document[key] = value


@contextmanager
def endpoint(host: str, given: SocketOptions, udp_port: int | None = None) -> Iterator[Endpoint]:
    """Open a socket at a host's address, or at all addresses of this host if that is empty.

    Without ``udp_port``, its UDP port is that of the options. Serve its metrics and its page until
    the block ends; then close it and its connections, or after an exception abort them.
    """
    if given.log is not None:
        logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
        LOGGER.setLevel(given.log.upper())
    try:
        where = None if given.metrics is None else place.peer(given.metrics)
    except typer.BadParameter as error:
        raise typer.BadParameter(f"--metrics: {error.message}") from error
    document = {} if given.qlog is None else {"qlog": str(given.qlog)}
    config = _configured(EndpointConfig, document, given.endpoint_settings, "--endpoint-option")
    qlog_flag = "--endpoint-option" if given.qlog is None else "--qlog"
    if config.qlog is not None:
        directory = Path(config.qlog)
        try:
            directory.mkdir(parents=True, exist_ok=True)
            check_writable(directory)
        except OSError as error:
            why = f"{qlog_flag}: {directory} cannot be used: {error.strerror}"
            raise typer.BadParameter(why) from error
    if given.raw:
        opened = Endpoint.raw(host or ANY[4], config=config)
    else:
        udp_port = given.udp_port if udp_port is None else udp_port
        try:
            opened = Endpoint.udp(host, udp_port, config=config)
        except AddressInUseError as error:
            raise AddressInUseError(
                f"UDP port {udp_port} is in use: choose another with --udp-port, here and at the"
                " other end"
            ) from error
    try:
        with nullcontext() if where is None else _serving(opened, where), given.page(opened):
            yield opened
        opened.close(timeout_s=CLOSE_S)
    except BaseException:
        opened.abort()
        raise
    finally:
        if missing := opened.stats().qlog_dropped:
            why = "the disk is full or too slow"
            warn([f"{qlog_flag}: {missing:,} events are missing in {config.qlog}: {why}"])


@contextmanager
def _serving(endpoint: Endpoint, where: Place) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(serving(endpoint, where.host, where.port))
        except OSError as error:
            why = error.strerror or error
            raise typer.BadParameter(f"--metrics: {where} cannot be used: {why}") from error
        yield


def client(target: Place, given: SocketOptions) -> AbstractContextManager[Endpoint]:
    """Open a socket for a connection to ``target``."""
    # A raw socket has one IP version.
    return endpoint(ANY[target.version] if given.raw else "", given, udp_port=0)


def connect(endpoint: Endpoint, target: Place, given: SocketOptions, config: Config) -> Connection:
    """Connect to ``target``; if it does not answer soon, say so on standard error, and go on."""
    patience = config.connect_timeout
    line = (
        f"no answer from {target} yet; giving up after {patience.seconds:g} s"
        " (--option connect_timeout=...)\n"
    )

    def tell() -> None:
        sys.stderr.write(line)
        sys.stderr.flush()

    waiting = Timer(UNANSWERED_S, tell)
    waiting.daemon = True
    waiting.start()
    try:
        return endpoint.connect(target.host, target.port, udp_port=given.udp_port, config=config)
    finally:
        waiting.cancel()


EXAMPLES = {"--option": "initial_ssthresh=20", "--endpoint-option": "backlog=64"}
