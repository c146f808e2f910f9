"""Figure 2 of Sarwar et al. as scenarios: CCID 3 alone on a representative satellite link.

G. Sarwar, R. Boreli, G. Jourjon, E. Lochin, "Improvements in DCCP congestion control for satellite
links", IWSSC 2008.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from skywave.scenario import (
    Bernoulli,
    Dccp,
    DropTail,
    DynamicFeedback,
    Ftp,
    Link,
    PacketLoss,
    Probes,
    Scenario,
    Tfrc,
    Unlimited,
)

if TYPE_CHECKING:
    from skywave.scenario import LossModel, Queue, TraceSteps, Transport

PACKET_SIZE = 1000
RTT_S = 1.0
LINK_BPS = 1e6
DURATION_S = 200
START_S = 0.1
SATELLITE = "r->d"
RETURN = "d->r"
ACCESS_RATE = "10 Mbps"
ACCESS_S = 0.01
QUEUES = (20, 50, 100)
"""Queues at the satellite link, in packets. The paper gives none."""
REPORTS = round(RTT_S / 0.1)
"""N of equation 2 on this link, once ten packets arrive per round-trip time."""


ERROR_SPACING = round(2 * RTT_S * LINK_BPS / 8 / PACKET_SIZE)
"""Packets from one injected error to the next: two round-trip times at the link's rate, so that
each error is a loss event of its own."""


@dataclass(frozen=True)
class Conditions:
    """The conditions of a run: the paper's variable, and readings of what it leaves open.

    ``errors`` is the number of packets that the link loses by errors at the end of slow start
    (:mod:`skywave_papers.sarwar2008.errors`). If there are any, its queue has no limit and loses
    nothing; otherwise it has ``queue`` packets. ``error_rate`` is the probability of other errors,
    which are independent.
    """

    feedback: Literal["standard", "dynamic"]
    errors: int = 1
    queue: int = 50
    rules: Literal["rfc3448", "rfc5348"] = "rfc3448"
    window: Literal["interval", "round-trip"] = "interval"
    smoothing: Literal["per-report", "per-round-trip"] = "per-report"
    receiver_rtt: Literal["option", "window-counter"] = "option"
    error_rate: float = 0.0
    rtt_s: float = RTT_S

    @property
    def name(self) -> str:
        """The name for files, which lists what differs from the paper's experiment."""
        name = f"figure2-{self.feedback}"
        if self.errors != Conditions.errors:
            name += f"-errors{self.errors}"
        if self.queue != Conditions.queue:
            name += f"-queue{self.queue}"
        if self.rules != Conditions.rules:
            name += f"-{self.rules}"
        if self.window != Conditions.window:
            name += f"-window-{self.window}"
        if self.smoothing != Conditions.smoothing:
            name += f"-smoothing-{self.smoothing}"
        if self.receiver_rtt != Conditions.receiver_rtt:
            name += f"-rtt-{self.receiver_rtt}"
        if self.error_rate != Conditions.error_rate:
            name += f"-rate{self.error_rate:g}"
        if self.rtt_s != Conditions.rtt_s:
            name += f"-rtt{self.rtt_s:g}"
        return name

    @property
    def reading(self) -> str:
        """What differs from the paper's experiment, in words."""
        differences = (
            (not self.errors, f"no errors, queue of {self.queue} packets"),
            (self.errors > 1, f"{self.errors} errors"),
            (self.rules != Conditions.rules, "rules of RFC 5348"),
            (self.window != Conditions.window, "X_recv over a whole RTT"),
            (self.smoothing != Conditions.smoothing, "smoothing per RTT"),
        )
        return ", ".join(text for differs, text in differences if differs) or "as set"


STANDARD = Conditions("standard")
DYNAMIC = Conditions("dynamic")
BY_QUEUE = {
    queue: (
        replace(STANDARD, errors=0, queue=queue),
        replace(DYNAMIC, errors=0, queue=queue),
    )
    for queue in QUEUES
}
ALL_CONDITIONS = tuple(
    dict.fromkeys(
        (
            STANDARD,
            DYNAMIC,
            *(pair for queue in QUEUES for pair in BY_QUEUE[queue]),
            replace(STANDARD, rules="rfc5348"),
            replace(DYNAMIC, rules="rfc5348"),
            replace(DYNAMIC, window="round-trip"),
            replace(DYNAMIC, smoothing="per-round-trip"),
        )
    )
)


def network(
    name: str,
    duration_s: float,
    *,
    rtt_s: float = RTT_S,
    rate: str = "1 Mbps",
    queue: Queue | None = None,
    loss: LossModel | None = None,
    trace: TraceSteps | None = None,
) -> Scenario:
    """Return the network of Figure 2 without flows. Queues are unlimited unless ``queue``."""
    return Scenario(
        name=f"sarwar2008-{name}",
        duration=f"{duration_s:g} s",
        nodes=["s", "r", "d"],
        links=[
            Link(from_="s", to="r", rate=ACCESS_RATE, delay=f"{ACCESS_S * 1e3:g} ms"),
            Link(
                from_="r",
                to="d",
                rate=rate,
                delay=f"{(rtt_s / 2 - ACCESS_S) * 1e3:g} ms",
                queue=queue or Unlimited(),
                loss=loss,
                trace=trace,
            ),
        ],
        probes=Probes(interval="1 s", rates=True),
    )


def dccp(conditions: Conditions) -> Dccp:
    """Return the transport of a run."""
    dynamic = conditions.feedback == "dynamic"
    tfrc = Tfrc(
        rules=conditions.rules,
        smoothing=conditions.smoothing,
        feedback=DynamicFeedback(rtt_ref="100 ms", window=conditions.window)
        if dynamic
        else "window-counter",
        receiver_rtt=conditions.receiver_rtt,
    )
    return Dccp(ccid=3, ecn=False, short_seqnos=True, tfrc=tfrc)


def add_download(described: Scenario, name: str, transport: Transport) -> Scenario:
    """Add a flow that always has data, and return the scenario."""
    source = Ftp(datagram=f"{PACKET_SIZE} B") if isinstance(transport, Dccp) else Ftp()
    described.add_flow(name, "s", "d", transport, source, start=f"{START_S * 1e3:g} ms")
    return described


def scenario(conditions: Conditions, *, first_error: int | None = None, seed: int = 0) -> Scenario:
    """Return the scenario of one run.

    Args:
        conditions: Its conditions.
        first_error: The packet that the first error hits, by order of arrival at the satellite
            link. Needed if the conditions have errors.
        seed: The seed of random errors.

    Raises:
        ValueError: If the first error is missing.

    """
    queue: Queue | None = DropTail(packets=conditions.queue - 1)  # without the one in transmission
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
    return add_download(described, "dccp", dccp(conditions))
