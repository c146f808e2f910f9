"""Examples and networks whose every packet is known: the same on virtual time and simulated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from skywave import (
    Bernoulli,
    Cbr,
    CoDel,
    Dccp,
    DropTail,
    FqCoDel,
    Ftp,
    GilbertElliott,
    Pie,
    Scenario,
    Tcp,
    Udp,
    dumbbell,
)
from skywave.results.samples import Samples

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.results import Results

DURATION_S = 20
NAMES = (
    "codel-ecn",
    "cross-traffic",
    "dccp",
    "dumbbell-mix",
    "mpcp",
    "named-drops",
    "red",
    "satellite",
    "sub-queues",
    "tcp",
    "tcp-flavours",
    "vcp",
    "voice",
)
MEASURES = {
    "sent": "sent by all flows (packets)",
    "delivered": "delivered to all flows (packets)",
    "goodput": "goodput of all flows (Mbps)",
    "dropped": "dropped by all links (packets)",
    "marked": "marked by all links (packets)",
    "delay": "mean delay (ms)",
}


@dataclass(frozen=True)
class Case:
    """A scenario: a row of the table."""

    of: str
    text: str
    """As JSON."""

    @property
    def draws(self) -> bool:
        """Whether runs with other seeds differ."""
        return True

    @property
    def name(self) -> tuple[str, str]:
        """What it is and its name."""
        return self.of, self.scenario(1).name

    def scenario(self, seed: int) -> Scenario:
        """Return it with a seed."""
        return Scenario.from_text(self.text, "json").replace(seed=seed)


def cases() -> list[Case]:
    """Return examples, and flows on networks of their own."""
    folder = Path(__file__).parents[2] / "examples"
    found = [
        Case("example", scenario.replace(duration=f"{DURATION_S} s").to_json())
        for scenario in (Scenario.from_file(folder / f"{name}.toml") for name in NAMES)
    ]
    datagrams = Cbr(rate="1 Mbps", datagram="500 B")
    networks = (
        ("udp", Udp(), datagrams, DropTail(packets=20), None),
        (
            "udp-bursts-lost",
            Udp(),
            datagrams,
            DropTail(packets=20),
            GilbertElliott(good_to_bad=0.01, bad_to_good=0.3),
        ),
        ("ccid2-lost", Dccp(ccid=2), Ftp(), DropTail(packets=50), Bernoulli(probability=0.01)),
        ("ccid3", Dccp(ccid=3), Ftp(), DropTail(packets=50), None),
        ("ccid3-codel", Dccp(ccid=3), Ftp(), CoDel(packets=500), None),
        ("reno-pie", Tcp(control="reno"), Ftp(), Pie(packets=500), None),
        ("cubic-fq-codel", Tcp(control="cubic"), Ftp(), FqCoDel(packets=500), None),
        ("vegas", Tcp(control="vegas"), Ftp(), DropTail(packets=50), None),
    )
    for name, transport, source, queue, loss in networks:
        scenario = dumbbell(
            name,
            duration=f"{DURATION_S} s",
            rate="2 Mbps",
            delay="20 ms",
            queue=queue,
            loss=loss,
            access_rate="100 Mbps",
        )
        scenario.add_flow("f", "s1", "d1", transport, source)
        found.append(Case("network", scenario.to_json()))
    return found


def find(results: Results) -> Mapping[str, float]:
    """Return the measures of a run."""
    flows, links = results.totals["flows"], results.totals["links"]
    return {
        "sent": float(sum(flow["packets_sent"] for flow in flows)),
        "delivered": float(sum(flow["delivered_packets"] for flow in flows)),
        "goodput": 1e-6 * sum(flow["goodput_bps"] for flow in flows),
        "dropped": float(sum(link["drops"] for link in links)),
        "marked": float(sum(link["marks"] for link in links)),
        "delay": 1e3 * float(np.nanmean(Samples(results.flows)["delay_mean_s"])),
    }
