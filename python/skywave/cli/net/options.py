"""Addresses, options and sockets shared by the network commands."""

from __future__ import annotations

import json
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skywave import _core
from skywave.net import UDP_PORT, Config, Endpoint
from skywave.net.protocol import service_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ANY = {4: "0.0.0.0", 6: "::"}  # noqa: S104  (all addresses are intended)

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
        metavar="PORT", min=0, max=65535, help="UDP port of the encapsulation (RFC 6773)."
    ),
]
CcidOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=2,
        max=254,
        help="Congestion control: 2 TCP-like, 3 TFRC, 4 TFRC for small packets, 251 the sender's "
        "choice (Reno); if the ends prefer different ones, the listener's counts. 248 VCP, 249 "
        "DPCP and 250 TPCP must be given at both ends. Default: the peer's, or 2.",
    ),
]
ServiceCodeOption = Annotated[
    str,
    typer.Option(metavar="C", help='Service Code (RFC 5595), e.g. "VOIP" or 42.'),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any other option of the connection, by its name in `skywave.net.Config`; may be "
        "repeated. For example initial_ssthresh=20, control=cubic, tfrc.rules=rfc3448, or "
        "'tfrc.feedback.dynamic.rtt_ref=50 ms'.",
    ),
]


@dataclass(frozen=True)
class Place:
    """An address and a DCCP port."""

    host: str
    port: int

    @property
    def version(self) -> int:
        """The IP version; 4 for a host name."""
        return 6 if ":" in self.host else 4

    def __str__(self) -> str:
        host = f"[{self.host}]" if self.version == 6 else self.host
        return f"{host}:{self.port}"


def place(text: str, host: str | None = None) -> Place:
    """Parse ``HOST:PORT`` or ``[IPV6]:PORT``; also ``PORT`` alone if a default ``host`` is given.

    Raises:
        typer.BadParameter: If ``text`` has none of these forms.

    """
    name, separator, port = text.rpartition(":")
    name = name.removeprefix("[").removesuffix("]")
    if not separator and host is not None:
        name = host
    if not name or not (port.isascii() and port.isdecimal()) or not 0 < int(port) < 65536:
        form = "HOST:PORT" if host is None else "PORT or ADDRESS:PORT"
        raise typer.BadParameter(f'"{text}" is not {form}: write it like "192.0.2.1:5001"')
    return Place(name, int(port))


def config(ccid: int | None, code: str, settings: Sequence[str] | None = None) -> Config:
    """Return the configuration of a connection; ``settings`` are texts ``KEY=VALUE``.

    Raises:
        typer.BadParameter: If ``code`` is not a Service Code, or a setting is wrong.

    """
    try:
        document: dict[str, Any] = {"service_codes": [service_code(code)]}
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if ccid is not None:
        document["ccid"] = ccid
    for text in settings or ():
        _merge(document, _setting(text), text)
    try:
        config = Config.from_dict(document)
        _core.check_config(config)
    except KeyError as error:
        raise typer.BadParameter(f"--set: there is no option {error}: {_OPTIONS}") from error
    except (AttributeError, TypeError) as error:
        raise typer.BadParameter(f"--set: an option has the wrong form: {_OPTIONS}") from error
    except ValueError as error:
        raise typer.BadParameter(f"--set: {error}") from error
    return config


_OPTIONS = "help(skywave.net.Config) in Python lists all"


def _setting(text: str) -> dict[str, Any]:
    """Return the table that ``KEY=VALUE`` describes. A value that is not TOML is text."""
    key, separator, value = text.partition("=")
    if not separator:
        raise typer.BadParameter(f'--set: "{text}" is not KEY=VALUE, as in initial_ssthresh=20')
    for written in (value, json.dumps(value.strip())):
        try:
            return tomllib.loads(f"{key} = {written}")
        except tomllib.TOMLDecodeError:
            continue
    raise typer.BadParameter(f'--set: "{key}" is not a name, or names with dots between them')


def _merge(document: dict[str, Any], more: dict[str, Any], text: str) -> None:
    for key, value in more.items():
        present = document.get(key)
        if isinstance(present, dict) and isinstance(value, dict):
            _merge(present, value, text)
        elif isinstance(present, dict) or (isinstance(value, dict) and present is not None):
            raise typer.BadParameter(f'--set: "{text}" contradicts an earlier setting of "{key}"')
        else:
            document[key] = value


@contextmanager
def endpoint(address: str, udp_port: int, *, raw: bool) -> Iterator[Endpoint]:
    """Open a socket at an address; on exit, close it and its connections."""
    if raw:
        opened = Endpoint.raw(address)
    else:
        host = f"[{address}]" if ":" in address else address
        opened = Endpoint.udp(f"{host}:{udp_port}")
    try:
        yield opened
    finally:
        opened.close()


DEFAULT_UDP_PORT = UDP_PORT
