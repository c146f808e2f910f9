"""RFC 9332 Appendix A.2 written out, apart from our code and picoquic's, to check both.

``rfc9332`` is the RFC's pseudocode with a weighted round robin of packets (15 to 1), the wait of
the packet that is dequeued, and updates by a timer. ``corrected`` and ``published`` do what
picoquic does otherwise; ``corrected`` lacks the two deviations that ``run.sh`` takes out.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from validation.picoquic.dualq.sequences import CLASSIC, MTU, Arrival

if TYPE_CHECKING:
    from collections.abc import Sequence

Rules = Literal["published", "corrected", "rfc9332"]

BUFFER_US = 250_000
TARGET_US = 15_000
T_UPDATE_US = 15_000
ALPHA = 0.1 * T_UPDATE_US / 100_000**2
"""Per us: Figure 2 of the RFC, with an RTT_max of 100 ms."""
BETA = 0.3 / 100_000
MIN_TH_US, MAX_TH_US = 800, 1200
K, P_C_MAX, P_L_MAX = 2.0, 0.25, 1.0
TURNS = 16
"""Of the round robin: the first is the Classic queue's."""


@dataclass(frozen=True)
class Fate:
    """What becomes of a packet."""

    name: str
    """``sent``, ``marked``, ``dropped`` (by the AQM at dequeue) or ``tail`` (no room)."""
    departure_us: int = 0
    """When its last bit has left; 0 if it is dropped."""
    wait_us: int = 0
    """From its arrival until its transmission begins; 0 if it is dropped."""


class DualPi2:
    """The queues, with the rules of the RFC or of picoquic."""

    def __init__(self, mbps: int, rules: Rules) -> None:
        self.picoquic = rules != "rfc9332"
        self.next_update_us = 0 if self.picoquic else T_UPDATE_US
        self.size = 0
        self._published = rules == "published"
        self._limit = mbps * BUFFER_US / 8
        self._queues: dict[str, deque[tuple[int, Arrival]]] = {"L": deque(), "C": deque()}
        self._counts = {"L": 0.0, "C": 0.0}
        self._turn = 0
        self._p = self._p_cl = self._p_c = self._native = 0.0
        self._before_us = 0

    def enqueue(self, index: int, packet: Arrival) -> bool:
        """Take a packet, and return whether there is room for it."""
        if self.size + (packet.size if self.picoquic else MTU) > self._limit:
            return False
        self.size += packet.size
        self._queues[packet.kind].append((index, packet))
        return True

    def update(self, now_us: int) -> None:
        """Update the probabilities (Figure 8)."""
        heads = [queue[0][1].time_us if queue else now_us for queue in self._queues.values()]
        delay_us = now_us - min(heads)
        p = self._p + ALPHA * (delay_us - TARGET_US) + BETA * (delay_us - self._before_us)
        self._p = min(1.0, max(0.0, p))
        self._p_cl = min(1.0, K * self._p)
        self._p_c = self._p * (self._native if self._published else self._p)
        self._before_us = delay_us

    def dequeue(self, now_us: int) -> tuple[int, Arrival, str] | None:
        """Return the next packet and its fate (Figure 7), or nothing if there is none."""
        while self.size:
            name = "L" if self._turn else "C"
            if not self._queues[name]:
                name = "C" if name == "L" else "L"
            self._turn = (self._turn + 1) % TURNS
            index, packet = self._queues[name].popleft()
            self.size -= packet.size
            return (
                index,
                packet,
                self._l4s(packet, now_us) if name == "L" else self._classic(packet),
            )
        if self.picoquic:
            self._turn = (self._turn + 1) % TURNS
        return None

    def _classic(self, packet: Arrival) -> str:
        if not self._recur("C", self._p_c):
            return "sent"
        return "dropped" if packet.ecn == CLASSIC or self._p_c >= P_C_MAX else "marked"

    def _l4s(self, packet: Arrival, now_us: int) -> str:
        queue = self._queues["L"]
        if self._p_cl < P_L_MAX:
            if self.picoquic:
                # The wait of the packet behind, if two or more are left.
                self._native = _ramp(now_us - queue[0][1].time_us) if len(queue) > 1 else 0.0
            else:
                self._native = _ramp(now_us - packet.time_us) if queue else 0.0
            either = self._native if self._published else max(self._native, self._p_cl)
            return "marked" if self._recur("L", either) else "sent"
        if self._recur("L", self._p_c):
            return "dropped"
        return "marked" if self._recur("L", self._p_cl) else "sent"

    def _recur(self, name: str, likelihood: float) -> bool:
        self._counts[name] += likelihood
        if self._counts[name] > 1:
            self._counts[name] -= 1
            return True
        return False


def _ramp(wait_us: int) -> float:
    return min(1.0, max(0.0, (wait_us - MIN_TH_US) / (MAX_TH_US - MIN_TH_US)))


def run(packets: Sequence[Arrival], mbps: int, rules: Rules) -> list[Fate]:
    """Return the fates of packets, in their order, on a link of a rate."""
    queue = DualPi2(mbps, rules)
    fates = [Fate("tail")] * len(packets)
    free_us, now_us, index = 0, 0, 0
    while index < len(packets) or queue.size:
        arrival_us = packets[index].time_us if index < len(packets) else math.inf
        departure_us = max(free_us, now_us) if queue.size else math.inf
        now_us = int(min(arrival_us, departure_us))
        while not queue.picoquic and queue.next_update_us <= now_us:
            queue.update(queue.next_update_us)
            queue.next_update_us += T_UPDATE_US
        if departure_us > arrival_us:
            queue.enqueue(index, packets[index])
            index += 1
        while free_us <= now_us and (left := queue.dequeue(now_us)) is not None:
            number, packet, name = left
            if name == "dropped":
                fates[number] = Fate(name)
                continue
            free_us = now_us + packet.size * 8 // mbps
            fates[number] = Fate(name, free_us, now_us - packet.time_us)
        # picoquic has no timer: it updates when a packet arrives or may leave, after it has.
        if queue.picoquic and now_us >= queue.next_update_us:
            queue.update(now_us)
            queue.next_update_us = now_us + T_UPDATE_US
    return fates
