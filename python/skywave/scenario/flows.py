"""Flows, and what is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skywave.scenario.mirror import Mirror

if TYPE_CHECKING:
    from skywave.scenario.sources import Source
    from skywave.scenario.transports import Transport


@dataclass(frozen=True, kw_only=True)
class Flow(Mirror):
    """A flow from one node to another; ``start`` and ``stop`` are those of its application.

    ``class_`` says which sub-queue of a :class:`Weighted` queue serves it.
    It starts up to ``start_jitter`` later, which the seed decides.
    """

    name: str
    from_: str
    to: str
    transport: Transport
    source: Source
    start: str | None = None
    start_jitter: str | None = None
    stop: str | None = None
    class_: int | None = None


@dataclass(frozen=True, kw_only=True)
class Probes(Mirror):
    """What is measured: samples each ``interval``, of all links and flows or of those named.

    ``windows`` records cwnd, ssthresh and pipe at each change, ``rates`` the X, X_recv, p and R of
    TFRC senders at each report and each change; ``packets`` records every packet everywhere, which
    is large. ``tables`` asks for further tables by name.
    """

    interval: str | None = None
    links: tuple[str, ...] | None = None
    flows: tuple[str, ...] | None = None
    windows: bool | None = None
    rates: bool | None = None
    packets: bool | None = None
    tables: tuple[str, ...] | None = None
