"""What papers lend to the matrix: networks, its columns, and controls, its rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from skywave.scenario import Back, Dccp, DropTail, Dumbbell, Loss, Queue, Red, Tcp, Trace, Web

if TYPE_CHECKING:
    from collections.abc import Callable

    from skywave.quantities import Duration, Rate


@dataclass(frozen=True)
class Control:
    """A congestion control as a flow has it.

    ``transport`` lacks only what the network says, the size of TCP's segments. ``chain`` is the
    number of packets in which its routers tell their load; None where it needs no such routers.
    """

    key: str
    label: str
    transport: Dccp | Tcp
    note: str
    chain: int | None = None

    @property
    def kind(self) -> Literal["dccp", "tcp"]:
        """Which transport it is a control of."""
        return "dccp" if isinstance(self.transport, Dccp) else "tcp"


@dataclass(frozen=True)
class Call:
    """A voice call, beside which ``flows`` of TCP begin, one every ``gap_s`` seconds."""

    flows: int
    gap_s: int
    duration_s: float


@dataclass(frozen=True, kw_only=True)
class Network:
    """A bottleneck, what flows reach it over, and how many they are.

    ``packet_b`` is the size of full packets on the wire, of TCP and of DCCP. Flow i is on host
    i modulo the number of ``hosts``, and ``access_delays`` go round the hosts. ``trace`` gives the
    course of the bottleneck's rate for a seed and a duration. ``web_sources`` is how many sources
    of short transfers over TCP there are besides, each a ``web``. ``flows`` is even, so that half
    can be TCP. ``label`` and ``conditions`` are the heads of its column and of its row in a table.
    """

    label: str
    conditions: str
    rate: Rate
    delay: Duration
    queue: DropTail | Red
    access_rate: Rate
    access_delays: tuple[Duration, ...]
    packet_b: int
    flows: int
    duration_s: float
    hosts: int
    web: Web = field(default_factory=Web)
    web_sources: int = 0
    loss: Loss | None = None
    trace: Callable[[int, float], Trace] | None = None
    back: Back | None = None
    call: Call | None = None

    def __post_init__(self) -> None:
        """Hold it to what the matrix relies on.

        Raises:
            ValueError: where flows cannot be halved, or the queue counts no packets.

        """
        if self.flows % 2:
            raise ValueError(f"{self.label} has {self.flows} flows: half of them are to be TCP")
        if self.queue.packets is None:
            raise ValueError(f"{self.label} has a queue of bytes: other queues get its packets")

    @property
    def rate_bps(self) -> int:
        """The rate of the bottleneck, where no trace says otherwise."""
        return self.rate.bps

    @property
    def buffer_packets(self) -> int:
        """What the paper's queue holds: other disciplines are given as much."""
        packets = self.queue.packets
        assert packets is not None  # noqa: S101  (checked when it was made)
        return packets

    @property
    def packet_time_us(self) -> int:
        """How long the bottleneck takes for a full packet."""
        return round(self.packet_b * 8e6 / self.rate_bps)

    def capacity_bps(self, trace: Trace | None, from_s: float, to_s: float) -> float:
        """Return the mean rate of the bottleneck over a time."""
        rate, since, bits = self.rate_bps, from_s, 0.0
        for step in trace.steps if trace else ():
            at_s = min(max(step.at.seconds, from_s), to_s)
            bits += rate * (at_s - since)
            since = at_s
            rate = rate if step.rate is None else step.rate.bps
        return (bits + rate * (to_s - since)) / (to_s - from_s)


def of_dumbbell(dumbbell: Dumbbell | None, **given: object) -> Network:
    """Return a network whose bottleneck and access are those of a scenario that is a dumbbell."""
    assert dumbbell is not None  # noqa: S101  (the caller's scenario is one)
    return Network(
        rate=dumbbell.rate,
        delay=dumbbell.delay,
        queue=fifo(dumbbell.queue),
        access_rate=dumbbell.access_rate,
        access_delays=dumbbell.access_delays,
        loss=dumbbell.loss,
        back=dumbbell.back,
        **given,  # type: ignore[arg-type]
    )


def fifo(queue: Queue | None) -> DropTail | Red:
    """Return a queue that is first in, first out, as those of papers' networks are."""
    assert isinstance(queue, DropTail | Red)  # noqa: S101  (papers lend no others)
    return queue
