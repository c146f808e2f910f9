"""What a queue in Python costs: the table of docs/tutorials/own-queue-python.md.

python examples/queue_overhead.py
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import count
from time import process_time_ns
from typing import TYPE_CHECKING

from skywave import (
    Bernoulli,
    Cbr,
    Conduct,
    DropTail,
    Ftp,
    Losses,
    Packet,
    Queue,
    QueueVerdict,
    Scenario,
    Source,
    Tcp,
    Udp,
    dumbbell,
    run,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKETS = 100


class OnArrival(Queue):
    """Drop-tail with one call for each packet."""

    def conduct(self) -> Conduct:
        return Conduct(packets=PACKETS)

    def enqueue(self, packet: Packet) -> QueueVerdict:
        return "accept" if packet.packets_ahead < PACKETS else "full"


class Holding(OnArrival):
    """Drop-tail that holds its packets: two calls for each."""

    def __init__(self) -> None:
        self.line: deque[Packet] = deque()

    def enqueue(self, packet: Packet) -> QueueVerdict:
        if len(self.line) >= PACKETS:
            return "full"
        self.line.append(packet)
        return "accept"

    def dequeue(self, now_s: float) -> Packet:
        return self.line.popleft()


class Independent(Losses):
    """Loses one packet in a hundred."""

    def loses(self, now_s: float, size: int) -> bool:
        return self.random.random() < 0.01


@dataclass
class Constant(Source):
    """Sends a datagram of 1000 bytes every 200 µs."""

    largest: int = 1000

    def datagrams(self) -> Iterator[tuple[float, int]]:
        for number in count():
            yield number * 200e-6, self.largest


def file(queue: Queue | DropTail, duration: str) -> Scenario:
    """Return a transfer by TCP through a queue."""
    made = dumbbell("overhead", duration=duration, rate="50 Mbps", delay="20 ms", queue=queue)
    made.add_flow("flow", "s1", "d1", Tcp(), Ftp())
    return made


def stream(
    duration: str,
    *,
    loss: Losses | Bernoulli | None = None,
    source: Source | None = None,
) -> Scenario:
    """Return a stream of UDP over a link that may lose packets."""
    made = dumbbell(
        "overhead", duration=duration, rate="50 Mbps", delay="20 ms", queue=PACKETS, loss=loss
    )
    made.add_flow("flow", "s1", "d1", Udp(), source or Cbr(rate="40 Mbps", datagram="1000 B"))
    return made


def measured(scenario: Scenario) -> float:
    """Return the processor time of a run, in ns for each packet sent."""
    began = process_time_ns()
    results = run(scenario)
    return (process_time_ns() - began) / results.totals["flows"][0]["packets_sent"]


def overhead(duration: str, repetitions: int) -> list[tuple[str, float, float]]:
    """Return what is in Python, and ns for each packet: with it, with the same in Rust."""
    pairs = {
        "drop-tail, `enqueue` only": (
            file(OnArrival(), duration),
            file(DropTail(packets=PACKETS), duration),
        ),
        "drop-tail with `dequeue`": (
            file(Holding(), duration),
            file(DropTail(packets=PACKETS), duration),
        ),
        "Bernoulli losses": (
            stream(duration, loss=Independent()),
            stream(duration, loss=Bernoulli(probability=0.01)),
        ),
        "constant rate": (stream(duration, source=Constant()), stream(duration)),
    }
    rows = []
    for name, scenarios in pairs.items():
        # Whatever else the machine does only adds; in turns, so that it does so to both.
        times = [[measured(scenario) for scenario in scenarios] for _ in range(repetitions)]
        python_ns, rust_ns = (min(column) for column in zip(*times, strict=True))
        rows.append((name, python_ns, rust_ns))
    return rows


if __name__ == "__main__":
    print("| in Python | ns for a packet | in Rust | ratio |")
    print("|---|---|---|---|")
    for name, python_ns, rust_ns in overhead("60 s", 7):
        print(f"| {name} | {python_ns:.0f} | {rust_ns:.0f} | {python_ns / rust_ns:.2f} |")
