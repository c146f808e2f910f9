"""Topologies beyond the dumbbell, as builders of scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skywave.scenario import Ftp, Link, Probes, Scenario, Unlimited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave.quantities import Duration, Rate
    from skywave.scenario import Queue, Source, Transport


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """So many flows of one kind, from one place to another.

    They are called by ``name`` and a number from 1 on: ``"local1-"`` gives ``local1-1``..
    All begin at ``start``, each up to ``start_jitter`` later, which the seed decides; without a
    source they always have data.
    """

    name: str
    flows: int
    transport: Transport
    source: Source = Ftp()
    start: Duration | str = "0 s"
    start_jitter: Duration | str = "0 s"
    stop: Duration | str | None = None


@dataclass(frozen=True, kw_only=True)
class Hop:
    """A link of a parking lot, with its one-way delay, and the flows that cross it alone."""

    rate: Rate | str
    delay: Duration | str
    queue: Queue = Unlimited()
    local: Aggregate | None = None


def parking_lot(
    name: str,
    *,
    duration: Duration | str,
    hops: Sequence[Hop],
    long: Aggregate | None = None,
    seed: int = 0,
    probes: Probes = Probes(),
) -> Scenario:
    """Return a row of links, with flows over all of them and flows over each.

    For two links with ten flows each, and thirty over both::

        local = (Aggregate(name=f"local{n}-", flows=10, transport=Tcp()) for n in (1, 2))
        parking_lot(
            "lot",
            duration="60 s",
            hops=[Hop(rate="4 Mbps", delay="50 ms", local=aggregate) for aggregate in local],
            long=Aggregate(name="long-", flows=30, transport=Tcp()),
        )

    The links are ``r1->r2``, ``r2->r3`` and so on, both ways alike.

    Raises:
        ValueError: where there is no hop.

    """
    if not hops:
        raise ValueError("a parking lot has at least one hop: give hops")
    lot = Scenario(name=name, duration=duration, seed=seed, probes=probes)
    nodes = [f"r{number}" for number in range(1, len(hops) + 2)]
    lot.nodes.extend(nodes)
    for from_, to, hop in zip(nodes, nodes[1:], hops, strict=False):
        lot.links.append(Link(from_=from_, to=to, rate=hop.rate, delay=hop.delay, queue=hop.queue))
    _add(lot, nodes[0], nodes[-1], long)
    for from_, to, hop in zip(nodes, nodes[1:], hops, strict=False):
        _add(lot, from_, to, hop.local)
    return lot


def _add(lot: Scenario, from_: str, to: str, aggregate: Aggregate | None) -> None:
    if aggregate is None:
        return
    for number in range(1, aggregate.flows + 1):
        lot.add_flow(
            f"{aggregate.name}{number}",
            from_,
            to,
            aggregate.transport,
            aggregate.source,
            start=aggregate.start,
            start_jitter=aggregate.start_jitter,
            stop=aggregate.stop,
        )
