"""Queue disciplines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from skywave.scenario.mirror import Mirror


@dataclass(frozen=True, kw_only=True)
class DropTail(Mirror):
    """A first-in-first-out queue that drops what does not fit.

    It holds ``packets``, or ``bytes`` (a text with a unit): give one of the two. The packet in
    transmission does not count: an ns-2 ``queue-limit`` of 20 is 19 here.
    """

    TAG: ClassVar[str] = "drop-tail"
    packets: int | None = None
    bytes: str | None = None


@dataclass(frozen=True, kw_only=True)
class Red(Mirror):
    """RED: drops or marks at random, by the average queue.

    It holds ``packets`` or ``bytes``: give one of the two. Thresholds are in packets (of
    ``mean_packet`` each where ``queue_in_bytes``); without them and without ``weight`` and
    ``time_constant`` they follow from the link, as in ns-2. ``max_p`` is ns-2's ``1/linterm_``.
    """

    TAG: ClassVar[str] = "red"
    packets: int | None = None
    bytes: str | None = None
    min_threshold: float | None = None
    max_threshold: float | None = None
    target_delay: str | None = None
    max_p: float | None = None
    weight: float | None = None
    time_constant: str | None = None
    mean_packet: str | None = None
    gentle: bool | None = None
    wait: bool | None = None
    queue_in_bytes: bool | None = None
    drop_by_bytes: bool | None = None
    ecn: bool | None = None
    mark_p: float | None = None


@dataclass(frozen=True, kw_only=True)
class AdaptiveRed(Red):
    """RED that moves ``max_p`` so that the queue stays half-way between the thresholds."""

    TAG: ClassVar[str] = "adaptive-red"


@dataclass(frozen=True, kw_only=True)
class CoDel(Mirror):
    """CoDel (RFC 8289): drops or marks what has waited longer than ``target`` for ``interval``.

    It holds ``packets`` or ``bytes``: give one of the two.
    """

    TAG: ClassVar[str] = "codel"
    packets: int | None = None
    bytes: str | None = None
    target: str | None = None
    interval: str | None = None
    ecn: bool | None = None


@dataclass(frozen=True, kw_only=True)
class FqCoDel(Mirror):
    """FQ-CoDel (RFC 8290): a CoDel queue for each flow, served in turn, ``packets`` in all."""

    TAG: ClassVar[str] = "fq-codel"
    packets: int | None = None
    flows: int | None = None
    quantum: str | None = None
    target: str | None = None
    interval: str | None = None
    ecn: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Pie(Mirror):
    """PIE (RFC 8033): drops or marks at random, by the delay.

    It holds ``packets`` or ``bytes``: give one of the two.
    """

    TAG: ClassVar[str] = "pie"
    packets: int | None = None
    bytes: str | None = None
    target: str | None = None
    update: str | None = None
    max_burst: str | None = None
    mean_packet: str | None = None
    ecn: bool | None = None
    derandomise: bool | None = None
    cap: bool | None = None


@dataclass(frozen=True, kw_only=True)
class VcpRouter(Mirror):
    """A VCP router's queue: drop-tail, with its link's load factor written on what leaves.

    It holds ``packets`` or ``bytes``: give one of the two. ``interval`` is t_rho, ``sampling`` t_q,
    ``queue_share`` kappa_q and ``target_utilisation`` gamma. With a ``chain`` of n packets, 2 for
    DPCP and 3 for TPCP, it is a router of MPCP(n), which remembers where the chains of ``flows``
    flows stand.
    """

    TAG: ClassVar[str] = "vcp"
    packets: int | None = None
    bytes: str | None = None
    interval: str | None = None
    sampling: str | None = None
    queue_share: float | None = None
    target_utilisation: float | None = None
    average: Literal["samples", "means"] | None = None
    chain: int | None = None
    flows: int | None = None


@dataclass(frozen=True, kw_only=True)
class SubQueue(Mirror):
    """A share of a :class:`Weighted` queue's link; without a queue it is unlimited."""

    weight: int
    queue: DropTail | Red | CoDel | FqCoDel | Pie | VcpRouter | None = None


@dataclass(frozen=True, kw_only=True)
class Weighted(Mirror):
    """Sub-queues that share the link by weight, in the order of the flows' classes."""

    TAG: ClassVar[str] = "weighted"
    queues: tuple[SubQueue, ...]


Queue: TypeAlias = DropTail | Red | CoDel | FqCoDel | Pie | VcpRouter | Weighted
"""A queue discipline; :class:`AdaptiveRed` is a :class:`Red`."""
