"""A model of the shared satellite access, which the paper mentions but does not describe.

IPSTAR "uses shared access over radio channels and consequently can have both congestion and errors
on the link" (section IV). Independent errors at the published rate alone reproduce neither row of
Table I: they give less than half of the published throughput and a quarter of the published loss.
So here

- errors come in bursts: the channel is good or bad (Gilbert-Elliott), and in the long run it loses
  the published share of packets;
- other users come and go: for exponentially distributed times the link has its full rate or what
  the others leave of it, and its queue delays or drops packets.

The free parameters were fitted to the row of standard TFRC in Table I, by the search in
:mod:`skywave_papers.sarwar2008.fit`. The row of dynamic feedback was not used.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from skywave.scenario import (
    Back,
    DropTail,
    GilbertElliott,
    Scenario,
    Step,
    TraceSteps,
    dumbbell,
)

RATE = "1 Mbps"
"""The rate of the downlink in the paper's simulation."""
DELAY = "598 ms"
"""With 1 ms at each end, half of the published mean round-trip time of about 1200 ms."""
QUEUE = DropTail(packets=50)
BACK = Back(rate="256 kbps")
"""Queue and uplink are not published."""
PACKET_ERROR_RATE = 0.0033
"""The middle of the published range, 0.24 to 0.42 %."""


@dataclass(frozen=True)
class SharedAccess:
    """The free parameters of the model: bursts of errors, and load by other users.

    ``burst_packets``, ``quiet_s`` and ``busy_s`` are means. ``left_kbps`` is the rate that other
    users leave in busy times.
    """

    burst_packets: float
    left_kbps: float
    quiet_s: float
    busy_s: float

    @property
    def errors(self) -> GilbertElliott:
        """The channel, which loses all packets while it is bad."""
        bad_to_good = 1 / self.burst_packets
        return GilbertElliott(
            good_to_bad=bad_to_good * PACKET_ERROR_RATE / (1 - PACKET_ERROR_RATE),
            bad_to_good=bad_to_good,
        )

    def load(self, seed: int, duration_s: float) -> TraceSteps:
        """Return a random course of the rate. It starts busy with the long-run probability."""
        # A seed must always give the same course. Nothing here is secret.
        chance = random.Random(seed)  # noqa: S311
        busy = chance.random() < self.busy_s / (self.busy_s + self.quiet_s)
        at_s = 0.0
        steps = []
        while at_s < duration_s:
            rate = f"{self.left_kbps:g} kbps" if busy else RATE
            steps.append(Step(at=f"{at_s * 1e6:.0f} us", rate=rate))
            # The extra microsecond keeps two steps apart.
            at_s += chance.expovariate(1 / (self.busy_s if busy else self.quiet_s)) + 1e-6
            busy = not busy
        return TraceSteps(steps=tuple(steps))

    def scenario(self, name: str, *, seed: int, duration_s: float) -> Scenario:
        """Return a scenario whose bottleneck ``r1->r2`` is the downlink, without flows."""
        return dumbbell(
            name,
            duration=f"{duration_s:g} s",
            seed=seed,
            rate=RATE,
            delay=DELAY,
            queue=QUEUE,
            loss=self.errors,
            trace=self.load(seed, duration_s),
            back=BACK,
        )


FITTED = SharedAccess(burst_packets=16, left_kbps=250, quiet_s=30, busy_s=5)
"""The result of the search."""
