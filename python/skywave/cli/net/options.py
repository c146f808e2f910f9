"""Options and sockets shared by the network commands."""

from __future__ import annotations

import json
import logging
import sys
import tomllib
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

import typer
from attrs import fields

from skywave import _core
from skywave._files import check_writable
from skywave.cli.console import warn
from skywave.cli.net import place
from skywave.cli.page import announce, lab_extra
from skywave.net import (
    UDP_PORT,
    AddressInUseError,
    Config,
    Endpoint,
    EndpointConfig,
    NetError,
)
from skywave.net.log import LOGGER
from skywave.net.metrics import serving
from skywave.net.protocol import service_code
from skywave.scenario.quantities import Duration, Rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from skywave.cli.net.place import Place
    from skywave.net import Connection

Configured = TypeVar("Configured", Config, EndpointConfig)

ANY = {4: "0.0.0.0", 6: "::"}  # noqa: S104  (all addresses are intended)
CLOSE_S = 5.0
"""How long the connections of a command may take to close in the end."""
UNANSWERED_S = 2.0
"""How long a command waits in silence for the answer to its connection attempt."""

RawOption = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Use IP protocol 33 directly instead of UDP (needs CAP_NET_RAW, e.g. as root).",
    ),
]
UdpPortOption = Annotated[
    int,
    typer.Option(
        metavar="PORT", min=0, max=65535, help="UDP port for the encapsulation (RFC 6773)."
    ),
]
CcidOption = Annotated[
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
]
ServiceCodeOption = Annotated[
    str,
    typer.Option(metavar="C", help='Service Code (RFC 5595), e.g. "VOIP" or 42.'),
]
IdleTimeoutOption = Annotated[
    str | None,
    typer.Option(
        "--idle-timeout",
        metavar="DURATION",
        help="End a connection that has carried no data in either direction for this long, "
        'e.g. "10 min", even if the peer still responds; "0 s" for never. Default: never.',
    ),
]
KeepaliveOption = Annotated[
    str | None,
    typer.Option(
        "--keepalive",
        metavar="DURATION",
        help='Probe the peer after this long without a packet, e.g. "15 s" to keep a NAT '
        'binding alive; "0 s" for never. Default: 2 min.',
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set any other connection option, by its name in `Config` of skywave.net, e.g. "
        "ecn=false, control=cubic, tfrc.rules=rfc3448 or 'linger=5 s'; repeatable.",
    ),
]
SetEndpointOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set-endpoint",
        metavar="KEY=VALUE",
        help="Set any socket option, by its name in `EndpointConfig` of skywave.net, e.g. "
        "backlog=64; repeatable.",
    ),
]

MetricsOption = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Serve Prometheus metrics of the socket and its connections at this address, "
        "under /metrics.",
    ),
]

WatchOption = Annotated[
    bool,
    typer.Option(
        "--watch",
        help="Open a page that plots the windows, rates, round-trip times and losses of the "
        "connections live. Requires the extra skywave\\[lab].",
    ),
]

WatchBrowserOption = Annotated[
    bool | None,
    typer.Option(
        "--browser/--no-browser",
        help="With --watch, open the page in the browser. Default: --browser.",
    ),
]

QlogOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Write a qlog file for each connection to DIR, for qvis. Same as --set-endpoint "
        "qlog=DIR.",
    ),
]


class Level(StrEnum):
    """How much to log."""

    ERROR = "error"
    WARN = "warn"
    INFO = "info"
    DEBUG = "debug"
    TRACE = "trace"


LogOption = Annotated[
    Level | None,
    typer.Option(
        help="Log connection events to standard error: limits reached (warn), one line per "
        "ended connection (info), states, Resets and ICMP (debug).",
    ),
]


@dataclass(frozen=True)
class Watch:
    """Whether a socket has a page, and whether the browser opens it."""

    is_on: bool
    browser: bool

    @classmethod
    def of(cls, watch: bool, browser: bool | None) -> Self:
        """Return what the options say.

        Raises:
            typer.BadParameter: If they speak of a page that is not there.

        """
        if browser is not None and not watch:
            option = "--browser" if browser else "--no-browser"
            raise typer.BadParameter(f"{option} requires --watch")
        return cls(watch, browser is not False)

    @contextmanager
    def page(self, opened: Endpoint) -> Iterator[None]:
        """Serve the page of a socket until the block ends, if it has one."""
        if not self.is_on:
            yield
            return
        with lab_extra():
            from skywave.lab.connections import watched  # noqa: PLC0415
        with watched(opened) as address:
            announce("The page", address, browser=self.browser)
            yield


NOT_WATCHED = Watch(is_on=False, browser=False)


@dataclass(frozen=True)
class SocketOptions:
    """The options of a command's socket.

    Attributes:
        raw: Whether it uses IP protocol 33 directly.
        settings: Texts ``KEY=VALUE`` of ``--set-endpoint``.
        metrics: The address at which its metrics are served.
        qlog: The directory of its qlog files.
        log: The level of its log on standard error.
        watch: Whether its page is served.

    """

    raw: bool
    settings: Sequence[str] | None = None
    metrics: str | None = None
    qlog: Path | None = None
    log: Level | None = None
    watch: Watch = NOT_WATCHED


def config(
    ccid: int | None,
    code: str,
    settings: Sequence[str] | None = None,
    *,
    idle_timeout: str | None = None,
    keepalive: str | None = None,
) -> Config:
    """Return the configuration of a connection; ``settings`` are texts ``KEY=VALUE``.

    Raises:
        typer.BadParameter: If ``code`` is not a Service Code, a time is none, or a setting is
            wrong.

    """
    try:
        document: dict[str, Any] = {"service_codes": [service_code(code)]}
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if ccid is not None:
        document["ccid"] = ccid
    for field, time in (("idle_timeout", idle_timeout), ("keepalive", keepalive)):
        if time is not None:
            document[field] = duration(f"--{field.replace('_', '-')}", time)
    _configured(Config, document, None, "--ccid")
    return _configured(Config, document, settings, "--set")


def duration(flag: str, text: str) -> Duration:
    """Return the time that an option gives.

    Raises:
        typer.BadParameter: If ``text`` is not one.

    """
    try:
        return Duration(text)
    except ValueError as error:
        raise typer.BadParameter(f"{flag}: {error}") from error


def rate(flag: str, text: str) -> Rate:
    """Return the rate that an option gives.

    Raises:
        typer.BadParameter: If ``text`` is not one, or it is zero.

    """
    try:
        found = Rate(text)
    except ValueError as error:
        raise typer.BadParameter(f"{flag}: {error}") from error
    if not found.bps:
        raise typer.BadParameter(f'{flag} is "{text}": give a rate above 0')
    return found


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
def endpoint(host: str, udp_port: int, given: SocketOptions) -> Iterator[Endpoint]:
    """Open a socket at a host's address, or at all addresses of this host if that is empty.

    On exit, close it and its connections; after an exception, abort them. Serve its metrics and its
    page meanwhile.
    """
    if given.log is not None:
        logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
        LOGGER.setLevel(given.log.upper())
    where = None if given.metrics is None else _metrics_at(given.metrics)
    document = {} if given.qlog is None else {"qlog": str(given.qlog)}
    config = _configured(EndpointConfig, document, given.settings, "--set-endpoint")
    qlog_flag = "--set-endpoint" if given.qlog is None else "--qlog"
    if config.qlog is not None:
        _directory(qlog_flag, Path(config.qlog))
    if given.raw:
        opened = Endpoint.raw(host or ANY[4], config=config)
    else:
        try:
            opened = Endpoint.udp(host, udp_port, config=config)
        except AddressInUseError as error:
            raise NetError(
                f"UDP port {udp_port} is in use: choose another with --udp-port, here and at the"
                " other end"
            ) from error
    try:
        with nullcontext() if where is None else _serving(opened, where), given.watch.page(opened):
            yield opened
        opened.close(timeout_s=CLOSE_S)
    except BaseException:
        opened.abort()
        raise
    finally:
        if missing := opened.stats().qlog_dropped:
            why = "the disk is full or too slow"
            warn([f"{qlog_flag}: {missing:,} events are missing in {config.qlog}: {why}"])


def _metrics_at(metrics: str) -> Place:
    try:
        return place.peer(metrics)
    except typer.BadParameter as error:
        raise typer.BadParameter(f"--metrics: {error.message}") from error


def _directory(flag: str, qlog: Path) -> None:
    """Create the directory of qlog files, and check that they can be written."""
    try:
        qlog.mkdir(parents=True, exist_ok=True)
        check_writable(qlog)
    except OSError as error:
        raise typer.BadParameter(f"{flag}: {qlog} cannot be used: {error.strerror}") from error


@contextmanager
def _serving(endpoint: Endpoint, where: Place) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(serving(endpoint, where.host, where.port))
        except OSError as error:
            why = error.strerror or error
            raise NetError(f"--metrics: {where} cannot be used: {why}") from error
        yield


def client(target: Place, given: SocketOptions) -> AbstractContextManager[Endpoint]:
    """Open a socket for a connection to ``target``."""
    # A raw socket has one IP version.
    return endpoint(ANY[target.version] if given.raw else "", 0, given)


def connect(endpoint: Endpoint, target: Place, udp_port: int, config: Config) -> Connection:
    """Connect to ``target``; if it does not answer soon, say so on standard error, and go on."""
    patience = config.connect_timeout
    line = (
        f"no answer from {target} yet; giving up after {patience.seconds:g} s"
        " (--set connect_timeout=...)\n"
    )

    def tell() -> None:
        sys.stderr.write(line)
        sys.stderr.flush()

    waiting = Timer(UNANSWERED_S, tell)
    waiting.daemon = True
    waiting.start()
    try:
        return endpoint.connect(target.host, target.port, udp_port=udp_port, config=config)
    finally:
        waiting.cancel()


EXAMPLES = {"--set": "initial_ssthresh=20", "--set-endpoint": "backlog=64"}
DEFAULT_UDP_PORT = UDP_PORT
