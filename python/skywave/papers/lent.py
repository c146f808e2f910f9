"""What papers contribute to the matrix: networks (columns) and controls (rows)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from skywave.scenario import Dccp, DropTail, Dumbbell, Red, Tcp, TraceSteps, Web


@dataclass(frozen=True)
class Control:
    """A congestion control as used by a flow.

    ``transport`` is complete except for the size of TCP's segments, which the network sets.
    ``chain`` is the number of packets in which its routers encode their load; None if it needs no
    such routers.
    """

    key: str
    label: str
    transport: Dccp | Tcp
    note: str
    chain: int | None = None

    @property
    def kind(self) -> Literal["dccp", "tcp"]:
        """The transport that the control belongs to."""
        return "dccp" if isinstance(self.transport, Dccp) else "tcp"


@dataclass(frozen=True)
class Call:
    """A voice call. ``flows`` TCP flows start beside it, one every ``gap_s`` seconds."""

    flows: int
    gap_s: int
    duration_s: float


@dataclass(frozen=True, kw_only=True)
class Network:
    """A bottleneck with its access links, those of a dumbbell, and the number of flows.

    ``packet_b`` is the size of full packets on the wire, for TCP and DCCP. Flow i is on host
    i modulo ``hosts``; the hosts take the access delays in turn. ``trace`` returns how the
    bottleneck's rate changes, for a seed and a duration. ``web_sources`` is the number of
    additional sources of short TCP transfers, each of them a ``web``. ``flows`` is even, so that
    half of them can be TCP. ``label`` and ``conditions`` describe the network in tables.

    Raises:
        ValueError: If there is no dumbbell, the number of flows is odd, or the queue is not
            first-in-first-out and counted in packets.
    """

    label: str
    conditions: str
    dumbbell: Dumbbell | None
    packet_b: int
    flows: int
    duration_s: float
    hosts: int
    web: Web = field(default_factory=Web)
    web_sources: int = 0
    trace: Callable[[int, float], TraceSteps] | None = None
    call: Call | None = None

    def __post_init__(self) -> None:
        """Check the assumptions of the matrix."""
        _ = self.buffer_packets
        if self.flows % 2:
            raise ValueError(
                f"{self.label} has {self.flows} flows: give an even number (half are TCP)"
            )

    @property
    def links(self) -> Dumbbell:
        """The bottleneck and the access links."""
        if self.dumbbell is None:
            raise ValueError(f"{self.label} has no links: give the dumbbell of a scenario")
        return self.dumbbell

    @property
    def rate_bps(self) -> int:
        """The rate of the bottleneck, unless a trace changes it, in bit/s."""
        return self.links.rate.bps

    @property
    def buffer_packets(self) -> int:
        """The length of the paper's queue, which other disciplines get too."""
        queue = self.links.queue
        if not isinstance(queue, DropTail | Red) or queue.packets is None:
            raise ValueError(
                f"{self.label} needs a queue with a length in packets: give DropTail or Red"
            )
        return queue.packets

    @property
    def packet_time_us(self) -> int:
        """The transmission time of a full packet at the bottleneck, in microseconds."""
        return round(self.packet_b * 8e6 / self.rate_bps)

    def capacity_bps(self, trace: TraceSteps | None, from_s: float, to_s: float) -> float:
        """Return the bottleneck's mean rate between two times, in bit/s."""
        rate, since, bits = self.rate_bps, from_s, 0.0
        for step in trace.steps if trace else ():
            at_s = min(max(step.at.seconds, from_s), to_s)
            bits += rate * (at_s - since)
            since = at_s
            rate = rate if step.rate is None else step.rate.bps
        return (bits + rate * (to_s - since)) / (to_s - from_s)
