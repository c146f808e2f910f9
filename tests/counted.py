"""Statistics that are made up."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from skywave.net import ConnectionSnapshot, Stats


def stats(**given: Any) -> Stats:
    """Those of a connection; what is not given is 0."""
    return Stats(**{field.name: 0 for field in fields(Stats)} | given)


def connection(number: int, stats: Stats, peer_port: int = 5001) -> ConnectionSnapshot:
    return ConnectionSnapshot(
        id=number,
        peer_ip="192.0.2.1",
        peer_udp_port=6511,
        peer_port=peer_port,
        local_ip="192.0.2.2",
        local_port=5001,
        service_code="SC=0",
        state="OPEN",
        ccids=(2, 2),
        max_datagram_size=1400,
        stats=stats,
    )
