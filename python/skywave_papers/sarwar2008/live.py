"""The downloads over the live satellite link as scenarios on its emulation.

IPSTAR "uses shared access over radio channels and consequently can have both congestion and errors
on the link" (section IV), which the paper does not describe. Independent errors at the published
rate alone reproduce neither row of Table I: they give less than half of the published throughput
and a quarter of the published loss. So here

- errors come in bursts: the channel is good or bad (Gilbert-Elliott), and in the long run it loses
  the published share of packets;
- other users come and go: for exponentially distributed times the link has its full rate or what
  the others leave of it, and its queue delays or drops packets.

The free parameters were fitted to the row of standard TFRC in Table I, by the search in
:mod:`skywave_papers.sarwar2008.readings`. The row of dynamic feedback was not used.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Literal

from skywave.scenario import (
    Back,
    DropTail,
    Ftp,
    GilbertElliott,
    Probes,
    Scenario,
    Step,
    TraceSteps,
    dumbbell,
)
from skywave_papers.sarwar2008.setting import PACKET_SIZE, Variant

RATE = "1 Mbps"
"""The rate of the downlink in the paper's simulation."""
PACKET_ERROR_RATE = 0.0033
"""The middle of the published range, 0.24 to 0.42 %."""
DURATION_S = 200
SEEDS = range(1, 51)
"""The 50 downloads. A seed determines errors and load by others, the same for each condition."""
BEYOND_SEEDS = SEEDS[:20]
"""The downloads of conditions that the paper does not have."""
UP = "r2->r1"
RTT_REFS_MS = (25, 50, 100, 200, 400)


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


FITTED = SharedAccess(burst_packets=16, left_kbps=250, quiet_s=30, busy_s=5)
"""The result of the search."""


@dataclass(frozen=True)
class Download(Variant):
    """The conditions of a download."""

    PREFIX = "ipstar"
    receiver_rtt: Literal["option", "window-counter"] = "window-counter"


STANDARD = Download("standard")
DYNAMIC = Download("dynamic")
BY_RULES = (STANDARD, DYNAMIC, *(replace(one, rules="rfc5348") for one in (STANDARD, DYNAMIC)))
LONG_WINDOW = replace(DYNAMIC, window="round-trip")
"""X_recv is measured over a whole round-trip time, however often it is reported."""
SLOW_SMOOTHING = replace(DYNAMIC, smoothing="per-round-trip")
"""The mean round-trip time forgets as slowly as with standard feedback."""
MOST_REPORTS_SLOW_SMOOTHING = replace(SLOW_SMOOTHING, rtt_ref_ms=min(RTT_REFS_MS))
WHY = (STANDARD, DYNAMIC, LONG_WINDOW, SLOW_SMOOTHING, MOST_REPORTS_SLOW_SMOOTHING)
BY_RTT_REF = {rtt_ref: replace(DYNAMIC, rtt_ref_ms=rtt_ref) for rtt_ref in RTT_REFS_MS}
ALL_DOWNLOADS = tuple(dict.fromkeys((*BY_RULES, *WHY, *BY_RTT_REF.values())))


def seeds(download: Download) -> range:
    """Return the seeds of a condition."""
    return SEEDS if download in (STANDARD, DYNAMIC) else BEYOND_SEEDS


def scenario(
    download: Download, seed: int, access: SharedAccess = FITTED, *, rates: bool = False
) -> Scenario:
    """Return the scenario of one download. ``rates`` records X, p and the round-trip time.

    With 1 ms at each end, the delay is half of the published mean round-trip time of about 1200 ms.
    Queue and uplink are not published.
    """
    description = dumbbell(
        f"sarwar2008-{download.name}-{seed}",
        duration=f"{DURATION_S} s",
        seed=seed,
        rate=RATE,
        delay="598 ms",
        queue=DropTail(packets=50),
        loss=access.errors,
        trace=access.load(seed, DURATION_S),
        back=Back(rate="256 kbps"),
    )
    description.probes = Probes(interval="1 s", links=("r1->r2",), rates=rates)
    source = Ftp(datagram=f"{PACKET_SIZE} B")
    description.add_flow("download", "s1", "d1", download.transport, source)
    return description
