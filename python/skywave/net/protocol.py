"""The UDP port of DCCP, and addresses and Service Codes as text."""

from __future__ import annotations

UDP_PORT = 6511
"""The UDP port of DCCP's encapsulation (RFC 6773 section 3.8)."""


def address(host: str, port: int) -> str:
    """Return a host and a port as one text, with an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def service_code(text: str) -> str | int:
    """Parse a Service Code: four characters, a number, or ``SC:`` and a number."""
    digits = text.removeprefix("SC:")
    if digits.isascii() and digits.isdecimal():
        return int(digits)
    if len(text) == 4 and text.isascii() and text.isprintable():
        return text
    raise ValueError(f'"{text}" is not a Service Code: write four characters ("VOIP") or a number')
