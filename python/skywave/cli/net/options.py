"""Addresses, options and sockets shared by the network commands."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from skywave.net import UDP_PORT, Config, Endpoint
from skywave.net.protocol import service_code

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    int,
    typer.Option(
        metavar="N",
        min=2,
        max=254,
        help="Congestion control: 2 TCP-like, 3 TFRC, 4 TFRC for small packets, 248 VCP, 249 DPCP, "
        "250 TPCP, 251 the sender's choice (Reno).",
    ),
]
ServiceCodeOption = Annotated[
    str,
    typer.Option(metavar="C", help='Service Code (RFC 5595), e.g. "VOIP" or 42.'),
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


def config(ccid: int, code: str, **others: object) -> Config:
    """Return the configuration of a connection.

    Raises:
        typer.BadParameter: If ``code`` is not a Service Code.

    """
    try:
        codes = (service_code(code),)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    return Config(ccid=ccid, service_codes=codes, **others)  # type: ignore[arg-type]


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
DEFAULT_CCID = Config().ccid
