"""Figure 2 of Sarwar et al. as scenarios: CCID 3 alone on a representative satellite link.

G. Sarwar, R. Boreli, G. Jourjon, E. Lochin, "Improvements in DCCP congestion control for satellite
links", IWSSC 2008.

Figure 2 was "patched to include the same number of errors and RTT values on exiting slow start
phase" (section V-C). The paper does not say how many errors there are, or where. Here the first
hits the first packet that arrives at the satellite link once the sender's allowed rate X has
reached the link's rate. Until then no queue forms, so both kinds of feedback leave slow start with
the same errors and the same round-trip time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import pyarrow.compute as pc

from skywave.papers.stages import run_each
from skywave.results.samples import Samples
from skywave.scenario import (
    Bernoulli,
    Dccp,
    DropTail,
    DynamicFeedback,
    Ftp,
    Link,
    LossModel,
    PacketLoss,
    Probes,
    Scenario,
    Tfrc,
    TraceSteps,
    Transport,
    Unlimited,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skywave.results import Results

PACKET_SIZE = 1000
RTT_S = 1.0
LINK_BPS = 1e6
DURATION_S = 200
START_S = 0.1
SATELLITE = "r->d"
RETURN = "d->r"
ACCESS_S = 0.01
QUEUES = (20, 50, 100)
"""Queues at the satellite link, in packets. The paper gives none."""
REPORTS = round(RTT_S / 0.1)
"""N of equation 2 on this link, once ten packets arrive per round-trip time."""
ERROR_SPACING = round(2 * RTT_S * LINK_BPS / 8 / PACKET_SIZE)
"""Packets from one injected error to the next: two round-trip times at the link's rate, so that
each error is a loss event of its own."""
SEARCHED_RTTS = 40
"""Length of a run without errors, in round-trip times. X reaches the link's rate in it."""


@dataclass(frozen=True)
class Variant:
    """Standard or dynamic feedback, and readings of what the paper leaves open about both."""

    PREFIX: ClassVar[str]
    feedback: Literal["standard", "dynamic"]
    rules: Literal["rfc3448", "rfc5348"] = "rfc3448"
    rtt_ref_ms: int = 100
    window: Literal["interval", "round-trip"] = "interval"
    smoothing: Literal["per-report", "per-round-trip"] = "per-report"
    receiver_rtt: Literal["option", "window-counter"] = "option"

    @property
    def name(self) -> str:
        """The name for files, which lists what differs from the paper's experiment."""
        different = {
            name: value
            for name, value in vars(self).items()
            if value != getattr(type(self), name, None)
        }
        feedback = different.pop("feedback")
        return "-".join([self.PREFIX, feedback, *(f"{one}-{different[one]}" for one in different)])

    @property
    def transport(self) -> Dccp:
        """The transport of a flow."""
        dynamic = DynamicFeedback(rtt_ref=f"{self.rtt_ref_ms} ms", window=self.window)
        tfrc = Tfrc(
            rules=self.rules,
            smoothing=self.smoothing,
            feedback=dynamic if self.feedback == "dynamic" else "window-counter",
            receiver_rtt=self.receiver_rtt,
        )
        return Dccp(ccid=3, ecn=False, short_seqnos=True, tfrc=tfrc)


@dataclass(frozen=True)
class Conditions(Variant):
    """The conditions of a run of Figure 2.

    ``errors`` is the number of packets that the link loses by errors at the end of slow start. If
    there are any, its queue has no limit and loses nothing; otherwise it has ``queue`` packets.
    ``error_rate`` is the probability of other errors, which are independent.
    """

    PREFIX = "figure2"
    errors: int = 1
    queue: int = 50
    error_rate: float = 0.0
    rtt_s: float = RTT_S


STANDARD = Conditions("standard")
DYNAMIC = Conditions("dynamic")
BY_QUEUE = {
    queue: (replace(STANDARD, errors=0, queue=queue), replace(DYNAMIC, errors=0, queue=queue))
    for queue in QUEUES
}
BY_READING = {
    "as set": (STANDARD, DYNAMIC),
    **{f"no errors, queue of {queue} packets": pair for queue, pair in BY_QUEUE.items()},
    "rules of RFC 5348": (replace(STANDARD, rules="rfc5348"), replace(DYNAMIC, rules="rfc5348")),
    "X_recv over a whole RTT": (replace(DYNAMIC, window="round-trip"),),
    "smoothing per RTT": (replace(DYNAMIC, smoothing="per-round-trip"),),
}
"""The runs of the report, by what differs from the paper's experiment."""
ALL_CONDITIONS = tuple(one for conditions in BY_READING.values() for one in conditions)


def network(
    name: str,
    duration_s: float,
    *,
    rtt_s: float = RTT_S,
    rate: str = "1 Mbps",
    queue: int | None = None,
    loss: LossModel | None = None,
    trace: TraceSteps | None = None,
) -> Scenario:
    """Return the network of Figure 2 without flows.

    The satellite link's queue has ``queue`` packets, with the one in transmission, or no limit.
    """
    return Scenario(
        name=f"sarwar2008-{name}",
        duration=f"{duration_s:g} s",
        nodes=["s", "r", "d"],
        links=[
            Link(from_="s", to="r", rate="10 Mbps", delay=f"{ACCESS_S * 1e3:g} ms"),
            Link(
                from_="r",
                to="d",
                rate=rate,
                delay=f"{(rtt_s / 2 - ACCESS_S) * 1e3:g} ms",
                queue=Unlimited() if queue is None else DropTail(packets=queue - 1),
                loss=loss,
                trace=trace,
            ),
        ],
        probes=Probes(interval="1 s", rates=True),
    )


def add_download(
    described: Scenario, name: str, transport: Transport, start_s: float = START_S
) -> Scenario:
    """Add a flow that always has data, and return the scenario."""
    source = Ftp(datagram=f"{PACKET_SIZE} B") if isinstance(transport, Dccp) else Ftp()
    described.add_flow(name, "s", "d", transport, source, start=f"{start_s * 1e3:g} ms")
    return described


def scenario(conditions: Conditions, *, first_error: int | None = None, seed: int = 0) -> Scenario:
    """Return the scenario of one run.

    ``first_error`` is the packet that the first error hits, by order of arrival at the satellite
    link. ``seed`` is that of random errors.

    Raises:
        ValueError: If the conditions have errors, and the first is missing.

    """
    queue: int | None = conditions.queue
    loss: LossModel | None = None
    if conditions.error_rate:
        loss = Bernoulli(probability=conditions.error_rate)
    if conditions.errors:
        if first_error is None:
            raise ValueError(f"{conditions.name} needs the packet that the first error hits")
        hit = (first_error + number * ERROR_SPACING for number in range(conditions.errors))
        queue, loss = None, PacketLoss(packets=tuple(hit))
    described = network(conditions.name, DURATION_S, rtt_s=conditions.rtt_s, queue=queue, loss=loss)
    described.seed = seed
    return add_download(described, "dccp", conditions.transport)


def _first_error(results: Results) -> int:
    """Return the packet that the first error hits, from a run without errors."""
    rates = Samples(results.rates)
    reached_s = rates["time_s"][rates["allowed_rate_bps"] >= LINK_BPS][0]
    at_link = (pc.field("event") == "enqueue") & (pc.field("place") == SATELLITE)
    arrivals_s = results.packets.filter(at_link)["time_s"].to_numpy()
    return int(np.searchsorted(arrivals_s, reached_s)) + 1


def scenarios(every: Iterable[Conditions], seed: int = 0) -> dict[Conditions, Scenario]:
    """Return the scenarios of runs, after short runs that find where their errors are."""
    without = {one: replace(one, errors=0) for one in every}
    probes = {}
    for probed in dict.fromkeys(without[one] for one in without if one.errors):
        duration_s = SEARCHED_RTTS * probed.rtt_s
        described = network(f"probe-{probed.name}", duration_s, rtt_s=probed.rtt_s)
        described.probes = Probes(interval="1 s", rates=True, packets=True)
        probes[probed] = add_download(described, "dccp", probed.transport)
    found = {key: _first_error(results) for key, results in run_each(probes).items()}
    return {
        one: scenario(one, first_error=found.get(key), seed=seed) for one, key in without.items()
    }
