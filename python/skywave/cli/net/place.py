"""Addresses as users write them: ``HOST:PORT``."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

import typer

from skywave.net import Connection
from skywave.net.protocol import address

MOST = 65_535


@dataclass(frozen=True)
class Place:
    """A host and a DCCP port. The host is empty for all addresses of this host."""

    host: str
    port: int

    @property
    def version(self) -> int:
        """The IP version; 4 for a host name."""
        return 6 if ":" in self.host else 4

    def __str__(self) -> str:
        if not self.host:
            return f"DCCP port {self.port}"
        return address(self.host, self.port)


def of_peer(connection: Connection) -> str:
    """Return the address of a connection's peer, as reports show it."""
    host, port = connection.peer
    udp_port = connection.peer_udp_port
    return f"{host if udp_port is None else address(host, udp_port)} DCCP port {port}"


def peer(text: str, default_port: int | None = None) -> Place:
    """Parse ``HOST:PORT`` or ``[IPV6]:PORT``; without the port if there is a default."""
    return _place(text, "HOST:PORT", default_port)


def local(text: str) -> Place:
    """Parse ``PORT``, ``ADDRESS:PORT`` or ``[IPV6]:PORT``."""
    if text.isascii() and text.isdecimal():
        return Place("", _port(text, text))
    return _place(text, "PORT or ADDRESS:PORT", None)


def _place(text: str, form: str, default_port: int | None) -> Place:
    if _is_ipv6(text):
        if default_port is not None:
            return Place(text, default_port)
        host, _, port = text.rpartition(":")
        if not (_is_ipv6(host) and port.isdecimal()):
            host, port = text, "5001"
        raise typer.BadParameter(
            f'"{text}" is an IPv6 address without a port: write "[{host}]:{port}"'
        )
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if bracket and _is_ipv6(host):
            if not rest and default_port is not None:
                return Place(host, default_port)
            if rest.startswith(":"):
                return Place(host, _port(rest[1:], text))
        raise typer.BadParameter(f'"{text}" is not {form}: write it like "[2001:db8::1]:5001"')
    host, colon, port = text.rpartition(":")
    if ":" in host:
        raise typer.BadParameter(
            f'"{text}" has several colons: put an IPv6 address in brackets, as in "[{host}]:{port}"'
        )
    if not colon and text and default_port is not None:
        return Place(text, default_port)
    if not host or not colon:
        raise typer.BadParameter(f'"{text}" is not {form}: write it like "192.0.2.1:5001"')
    return Place(host, _port(port, text))


def _port(port: str, text: str) -> int:
    if port.isascii() and port.isdecimal() and len(port) < 20 and 0 < int(port) <= MOST:
        return int(port)
    raise typer.BadParameter(f'"{text}" has the port "{port}": give one from 1 to {MOST}')


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True
