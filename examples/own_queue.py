"""A queue discipline, a loss model and a source of one's own, in a simulation.

python examples/own_queue.py
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from skywave import (
    Conduct,
    Dccp,
    Losses,
    Packet,
    Queue,
    QueueVerdict,
    Source,
    Tcp,
    dumbbell,
    run,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass
class Blue(Queue):
    """Feng, Shin, Kandlur and Saha, "The BLUE Active Queue Management Algorithms" (2002)."""

    packets: int = 100
    ecn: bool = False
    increase: float = 0.02
    decrease: float = 0.002
    freeze_time_s: float = 0.1
    probability = 0.0
    changed_s = 0.0

    def conduct(self) -> Conduct:
        return Conduct(packets=self.packets, drops_early=True, marks=self.ecn)

    def enqueue(self, packet: Packet) -> QueueVerdict:
        if packet.idle_since_s is not None:
            self._change(packet.idle_since_s, -self.decrease)
        if packet.packets_ahead >= self.packets:
            self._change(packet.arrived_s, self.increase)
            return "full"
        if self.random.random() >= self.probability:
            return "accept"
        return "mark" if self.ecn and packet.can_be_marked else "early"

    def inner_values(self) -> Mapping[str, float]:
        return {"probability": self.probability}

    def _change(self, now_s: float, step: float) -> None:
        if now_s - self.changed_s > self.freeze_time_s:
            self.probability = min(max(self.probability + step, 0.0), 1.0)
            self.changed_s = now_s


@dataclass
class HeadDrop(Queue):
    """Drops the oldest packet when full, so that its sender hears of it sooner."""

    packets: int = 100

    def __post_init__(self) -> None:
        self.line: deque[Packet] = deque()

    def conduct(self) -> Conduct:
        return Conduct(packets=self.packets, drops_accepted=True)

    def enqueue(self, packet: Packet) -> QueueVerdict:
        if len(self.line) == self.packets:
            self.line.popleft().drop("full")
        self.line.append(packet)
        return "accept"

    def dequeue(self, now_s: float) -> Packet:
        return self.line.popleft()


@dataclass
class Fading(Losses):
    """Loses half of the packets while a fade lasts, once in every period."""

    period_s: float = 2.0
    fade_s: float = 0.005

    def loses(self, now_s: float, size: int) -> bool:
        return now_s % self.period_s < self.fade_s and self.random.random() < 0.5


@dataclass
class Video(Source):
    """Frames of several packets, each of a random size."""

    frames_per_s: float = 30.0
    packets: int = 4
    largest: int = 1200

    def datagrams(self) -> Iterator[tuple[float, int]]:
        for frame in count():
            for _ in range(self.packets):
                yield frame / self.frames_per_s, self.random.randint(600, self.largest)


def simulated(queue: Queue, duration: str = "30 s") -> dict[str, dict[str, float]]:
    """Return what a file and a video get on a link with this queue, by the name of the flow."""
    scenario = dumbbell(
        "own members",
        duration=duration,
        rate="5 Mbps",
        delay="20 ms",
        queue=queue,
        loss=Fading(),
        pairs=2,
    )
    scenario.add_flow("file", "s1", "d1", Tcp(ecn=True))
    scenario.add_flow("video", "s2", "d2", Dccp(), Video())
    results = run(scenario, verify_physics=True)
    if results.violations:
        raise AssertionError(results.violations)
    return {flow["name"]: flow for flow in results.totals["flows"]}


if __name__ == "__main__":
    for queue in (Blue(packets=30, ecn=True), HeadDrop(packets=30)):
        for name, flow in simulated(queue).items():
            print(
                f"{type(queue).__name__}: {name} {flow['goodput_bps'] / 1e6:.2f} Mbps, "
                f"{flow['drops']} dropped"
            )
