"""Figure 2 of Sarwar et al. as scenarios: CCID 3 alone on a representative satellite link.

G. Sarwar, R. Boreli, G. Jourjon, E. Lochin, "Improvements in DCCP congestion control for satellite
links", IWSSC 2008.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from skywave.papers.reproduction import Parameter
from skywave.scenario import Dccp, DropTail, DynamicFeedback, Ftp, Link, Probes, Scenario, Tfrc

PACKET_SIZE = 1000
RTT_S = 1.0
LINK_BPS = 1e6
DURATION_S = 200
START_S = 0.1
SATELLITE = "r->d"
RETURN = "d->r"
QUEUES = (20, 50, 100)
"""Queues at the satellite link, in packets. The paper gives none."""
REPORTS = round(RTT_S / 0.1)
"""N of equation 2 on this link, once ten packets arrive per round-trip time."""


@dataclass(frozen=True)
class Conditions:
    """The conditions of a run: the paper's variable, and readings of what it leaves open."""

    feedback: Literal["standard", "dynamic"]
    queue: int = 50
    rules: Literal["rfc3448", "rfc5348"] = "rfc3448"
    window: Literal["interval", "round-trip"] = "interval"
    smoothing: Literal["per-report", "per-round-trip"] = "per-report"

    @property
    def name(self) -> str:
        """The name for files, which lists what differs from the paper's experiment."""
        name = f"figure2-{self.feedback}"
        if self.queue != 50:
            name += f"-queue{self.queue}"
        if self.rules != "rfc3448":
            name += f"-{self.rules}"
        if self.window != "interval":
            name += f"-window-{self.window}"
        if self.smoothing != "per-report":
            name += f"-smoothing-{self.smoothing}"
        return name

    @property
    def reading(self) -> str:
        """What differs from the paper's experiment, in words."""
        differences = (
            (self.queue != 50, f"queue of {self.queue} packets"),
            (self.rules != "rfc3448", "rules of RFC 5348"),
            (self.window != "interval", "X_recv over a whole RTT"),
            (self.smoothing != "per-report", "smoothing per RTT"),
        )
        return ", ".join(text for differs, text in differences if differs) or "as set"


STANDARD = Conditions("standard")
DYNAMIC = Conditions("dynamic")
BY_QUEUE = {
    queue: (replace(STANDARD, queue=queue), replace(DYNAMIC, queue=queue)) for queue in QUEUES
}
ALL_CONDITIONS = (
    *(pair for queue in QUEUES for pair in BY_QUEUE[queue]),
    replace(STANDARD, rules="rfc5348"),
    replace(DYNAMIC, rules="rfc5348"),
    replace(DYNAMIC, window="round-trip"),
    replace(DYNAMIC, smoothing="per-round-trip"),
)


def scenario(conditions: Conditions) -> Scenario:
    """Return the scenario of one run."""
    dynamic = conditions.feedback == "dynamic"
    tfrc = Tfrc(
        rules=conditions.rules,
        smoothing=conditions.smoothing,
        feedback=DynamicFeedback(rtt_ref="100 ms", window=conditions.window)
        if dynamic
        else "window-counter",
        receiver_rtt="option",
    )
    dccp = Dccp(ccid=3, ecn=False, short_seqnos=True, tfrc=tfrc)
    one_flow = Scenario(
        name=f"sarwar2008-{conditions.name}",
        duration=f"{DURATION_S} s",
        nodes=["s", "r", "d"],
        links=[
            Link(from_="s", to="r", rate="10 Mbps", delay="10 ms"),
            Link(
                from_="r",
                to="d",
                rate="1 Mbps",
                delay="490 ms",
                # The limit of DropTail excludes the packet in transmission.
                queue=DropTail(packets=conditions.queue - 1),
            ),
        ],
        probes=Probes(interval="1 s", rates=True),
    )
    source = Ftp(datagram=f"{PACKET_SIZE} B")
    return one_flow.add_flow("dccp", "s", "d", dccp, source, start=f"{START_S * 1e3:g} ms")


PARAMETERS = (
    Parameter("Topology", "sender, router, receiver", "paper"),
    Parameter("Satellite link r-d", "1 Mbps, total RTT of 1 s", "paper"),
    Parameter("Access link s-r", "10 Mbps, 10 ms", "ours"),
    Parameter("Queue", "drop-tail, 50 packets; 20 and 100 as readings", "ours; not published"),
    Parameter("Packets", f"{PACKET_SIZE} B of data", "paper"),
    Parameter("Congestion control", "CCID 3 with RFC 3448's rules", "paper"),
    Parameter("RTT_ref", "100 ms, so N = 10", "paper"),
    Parameter("X_recv of dynamic feedback", "over RTT / N", "paper, section III"),
    Parameter("Weight of the past in the mean RTT", "0.9 at each report", "RFC 3448"),
    Parameter("RTT at the receiver", "the sender's, in each packet (RFC 6323)", "as ns-2's TFRC"),
    Parameter("Errors", "none: only the queue loses packets", "ours: the paper's not published"),
    Parameter("ECN", "off", "ns-2"),
    Parameter("Duration", f"{DURATION_S} s", "ours"),
)
"""The whole parameter set."""
