"""Common topologies, as functions that return scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skywave.scenario.experiment import Scenario
from skywave.scenario.parts import (
    Back,
    DropTail,
    Dumbbell,
    Ftp,
    Link,
    LossModel,
    Probes,
    Queue,
    Source,
    Trace,
    Transport,
    Unlimited,
)
from skywave.scenario.quantities import Duration, Rate


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """A number of identical flows from one node to another.

    Flows are named ``name`` plus a number from 1: ``"local1-"`` gives ``local1-1`` and so on. Each
    starts at ``start`` plus up to ``start_jitter``, drawn from the seed. By default they always
    have data to send.
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
    """A link of a parking lot, with its one-way delay, and the flows that use only this link."""

    rate: Rate | str
    delay: Duration | str
    queue: Queue = Unlimited()
    local: Aggregate | None = None


def dumbbell(
    name: str,
    *,
    duration: Duration | str,
    rate: Rate | str,
    delay: Duration | str,
    pairs: int = 1,
    queue: Queue | int = Unlimited(),
    loss: LossModel | None = None,
    trace: Trace | None = None,
    jitter: Duration | str = "0 s",
    back: Back | None = None,
    access_rate: Rate | str = "1 Gbps",
    access_delays: Iterable[Duration | str] = ("1 ms",),
    seed: int = 0,
    probes: Probes = Probes(),
) -> Scenario:
    """Return a dumbbell, without flows.

    ``rate``, ``delay``, ``queue``, ``loss``, ``trace`` and ``jitter`` are those of the bottleneck
    ``r1->r2``. An integer ``queue`` is a drop-tail queue of that many packets. ``back`` has what
    differs in the reverse direction, ``r2->r1``.
    """
    return Scenario(
        name=name,
        duration=duration,
        seed=seed,
        probes=probes,
        dumbbell=Dumbbell(
            pairs=pairs,
            rate=rate,
            delay=delay,
            access_rate=access_rate,
            access_delays=access_delays,
            queue=DropTail(packets=queue) if isinstance(queue, int) else queue,
            loss=loss,
            trace=trace,
            jitter=jitter,
            back=back,
        ),
    )


def parking_lot(
    name: str,
    *,
    duration: Duration | str,
    hops: Sequence[Hop],
    long: Aggregate | None = None,
    seed: int = 0,
    probes: Probes = Probes(),
) -> Scenario:
    """Return a chain of links, with flows over all of them and flows over each.

    Two links with ten flows each, and thirty flows over both::

        local = (Aggregate(name=f"local{n}-", flows=10, transport=Tcp()) for n in (1, 2))
        parking_lot(
            "lot",
            duration="60 s",
            hops=[Hop(rate="4 Mbps", delay="50 ms", local=aggregate) for aggregate in local],
            long=Aggregate(name="long-", flows=30, transport=Tcp()),
        )

    The links are ``r1->r2``, ``r2->r3`` and so on, the same in both directions.

    Raises:
        ValueError: If ``hops`` is empty.
    """
    if not hops:
        raise ValueError("a parking lot needs at least one hop: give hops")
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
