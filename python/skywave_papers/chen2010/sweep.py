"""Beyond the paper: questions of VCP's authors, with CoDel and PIE that mark for comparison.

The sweeps vary capacity, round-trip time, number of flows, reverse traffic and number of
bottlenecks, one at a time from a base case. Another scenario changes the demand abruptly. The same
TCP runs with VCP's routers, with the additive increase scaled as published, (R / 200 ms)^2, and as
in the authors' code for ns-2, (R / 100 ms)^2; and with CoDel and PIE, which mark, using ECN
(RFC 3168).

``python -m skywave.papers stored chen2010/sweep`` runs all points and stores the outcomes. It takes
some minutes, with up to 37 million packets per point.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skywave import run
from skywave.report.tables import Table
from skywave.results.fairness import jain
from skywave.results.samples import Samples
from skywave.scenario import CoDel, Pie, Probes, Vcp, VcpRouter
from skywave.scenario.topologies import Aggregate, Hop, dumbbell, parking_lot
from skywave_papers.chen2010.measures import goodput_kbps
from skywave_papers.vcp_scripts import START_JITTER, TCP, buffer_packets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skywave.results import Results
    from skywave.scenario import Scenario, Tcp
    from skywave_papers.chen2010.measures import Floats


class Router(NamedTuple):
    """A queue discipline with the parameters of its RFC or paper, and how senders use VCP's."""

    label: str
    queue: VcpRouter | CoDel | Pie
    vcp: Vcp | None = None

    @property
    def tcp(self) -> Tcp:
        """The same TCP for all routers, but for its use of marks or codes."""
        if self.vcp is None:
            return TCP.replace(ecn=True)
        return TCP.replace(control="vcp", vcp=self.vcp)


ROUTERS = {
    "vcp": Router("VCP", VcpRouter(), Vcp(rules="chen2010", paces=True)),
    "vcp-ns2": Router("VCP, its code for ns-2", VcpRouter(average="means"), Vcp(rules="xia2005")),
    "codel": Router("CoDel, ECN", CoDel(ecn=True)),
    "pie": Router("PIE, ECN", Pie(ecn=True)),
}

WARM = 1 / 3
"""The share of a run that is not measured, at its start."""
SAMPLE_S = 0.05
SEED = 1
ACCESS = 4
"""The rate of an access link over that of the bottleneck, so that it never limits."""


@dataclass(frozen=True)
class Point:
    """A network with ``flows`` over each bottleneck; if there are several, a tenth crosses all."""

    sweep: str
    mbps: float = 45.0
    rtt_ms: float = 80.0
    flows: int = 50
    reverse: int = 0
    bottlenecks: int = 1

    @property
    def duration_s(self) -> float:
        """A minute, or 60 round-trip times if that is longer."""
        return max(60.0, 60 * self.rtt_ms / 1e3)

    @property
    def buffer(self) -> int:
        """Packets: a bandwidth-delay product, and at least two per flow."""
        return buffer_packets(self.mbps, self.rtt_ms, self.flows + self.reverse)

    @property
    def x(self) -> float:
        """The value that the point's sweep varies."""
        return float(getattr(self, self.sweep))

    @property
    def links(self) -> tuple[str, ...]:
        """The names of the measured links."""
        return tuple(f"r{number}->r{number + 1}" for number in range(1, self.bottlenecks + 1))


class Sweep(NamedTuple):
    """The values of a parameter, and how a figure shows them."""

    label: str
    scale: str
    values: tuple[float, ...]


SWEEPS = {
    "mbps": Sweep("Capacity (Mbps)", "log", (0.1, 0.5, 2, 10, 45, 150, 600, 1000, 5000)),
    "rtt_ms": Sweep("Propagation RTT (ms)", "log", (1, 10, 40, 80, 200, 500, 1000, 2000, 5000)),
    "flows": Sweep("Flows", "log", (1, 3, 10, 50, 100, 300, 1000)),
    "reverse": Sweep("Reverse flows", "linear", (0, 10, 50, 100)),
    "bottlenecks": Sweep("Bottlenecks in a row", "linear", tuple(range(1, 8))),
}


def point(sweep: str, x: float) -> Point:
    """Return the base case with one value changed."""
    change: dict[str, Any] = {sweep: x}
    return Point(sweep, **change)


POINTS = [point(name, x) for name, sweep in SWEEPS.items() for x in sweep.values]


def scenario(point: Point, router: str) -> Scenario:
    """Return the scenario of a point: a dumbbell, or a chain of routers.

    A tenth of the flows cross a chain entirely, the others one bottleneck.
    """
    name = f"{point.sweep}-{point.x:g}-{router}"
    duration = f"{point.duration_s:g} s"
    probes = Probes(interval=f"{SAMPLE_S:g} s", links=point.links)
    rate = f"{point.mbps:g} Mbps"
    tcp = ROUTERS[router].tcp
    queue = ROUTERS[router].queue.replace(packets=point.buffer)
    if point.bottlenecks == 1:
        network = dumbbell(
            name,
            duration=duration,
            rate=rate,
            # The bottleneck has four fifths of the propagation time.
            delay=f"{0.4 * point.rtt_ms:g} ms",
            queue=queue,
            access_rate=f"{ACCESS * point.mbps:g} Mbps",
            access_delays=[f"{0.05 * point.rtt_ms:g} ms"],
            seed=SEED,
            probes=probes,
        )
        for number in range(1, point.flows + 1):
            network.add_flow(f"flow{number}", "s1", "d1", tcp, start_jitter=START_JITTER)
        for number in range(1, point.reverse + 1):
            network.add_flow(f"back{number}", "d1", "s1", tcp, start_jitter=START_JITTER)
        return network

    def flows(name: str, number: int) -> Aggregate:
        return Aggregate(name=name, flows=number, transport=tcp, start_jitter=START_JITTER)

    through = max(1, point.flows // 10)
    delay = f"{round(point.rtt_ms / 2 / point.bottlenecks * 1e6)} ns"
    hops = [
        Hop(rate=rate, delay=delay, queue=queue, local=flows(name, point.flows - through))
        for name in (f"cross{number}-" for number in range(1, point.bottlenecks + 1))
    ]
    long = flows("through", through)
    return parking_lot(name, duration=duration, hops=hops, long=long, seed=SEED, probes=probes)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a point with one kind of router, over all its bottlenecks."""

    sweep: str
    x: float
    router: str
    utilisation: float
    """Of the bottleneck with the lowest utilisation."""
    queue_share: float
    """Mean queue of the fullest bottleneck, as a share of its buffer."""
    queue_ms: float
    """The same as a time."""
    drop_percent: float
    """Drops over arrivals, of all bottlenecks."""
    jain: float
    """Of the flows that cross one bottleneck."""


def outcome(asked: tuple[Point, str]) -> Outcome:
    """Run a point with a router and return its outcome."""
    point, router = asked
    results = run(scenario(point, router))
    warm_s, bps = WARM * point.duration_s, point.mbps * 1e6
    links = [Samples(results.at_link(link)).after(warm_s) for link in point.links]
    seconds = links[0]["time_s"].max() - warm_s
    fullest = max(links, key=lambda link: link["queue_packets"].mean())
    drops, arrivals = (sum(link[name].sum() for link in links) for name in ("drops", "arrivals"))
    return Outcome(
        point.sweep,
        point.x,
        router,
        utilisation=min(8 * link["delivered_bytes"].sum() / seconds / bps for link in links),
        queue_share=fullest["queue_packets"].mean() / point.buffer,
        queue_ms=8 * fullest["queue_bytes"].mean() / bps * 1e3,
        drop_percent=100 * drops / max(arrivals, 1),
        jain=jain(goodput_kbps(results, "flow", "cross")),
    )


TABLE = Table(Path(__file__).with_suffix(".csv"), Outcome, list(product(POINTS, ROUTERS)), outcome)
SMALL_SHARES = (("mbps", 2.0), ("flows", 1000.0))
"""Where a fair share is hardly a packet."""
FAST_SCALING = (("mbps", 10.0), ("flows", 100.0), ("rtt_ms", 200.0))
"""Where the scaling of the code already loses packets."""


def least(measure: str, router: str, points: Iterable[tuple[str, float]]) -> float:
    """Return the least value of a measure with one router among points (sweep, x)."""
    rows = (TABLE.row(sweep=sweep, x=x, router=router) for sweep, x in points)
    return float(min(getattr(row, measure) for row in rows))


JOINING = 150
"""Flows that join the base case at once, and leave at once."""
JOIN, LEAVE, END_S = "40 s", "80 s", 120


def demand_scenario(router: str) -> Scenario:
    """Return the base case with flows that join and leave."""
    network = scenario(Point("flows"), router)
    network = network.replace(name=f"demand-{router}", duration=f"{END_S} s")
    tcp = ROUTERS[router].tcp
    for number in range(1, JOINING + 1):
        network.add_flow(
            f"joining{number}", "s1", "d1", tcp, start=JOIN, start_jitter=START_JITTER, stop=LEAVE
        )
    return network


def demand_series(results: Results) -> tuple[Floats, Floats, Floats]:
    """Return times, utilisation, and queue in packets, averaged over seconds."""
    links = Samples(results.links)
    by_second = END_S, round(1 / SAMPLE_S)
    delivered_b, queue = (
        links[name].reshape(by_second) for name in ("delivered_bytes", "queue_packets")
    )
    utilisation = 8 * delivered_b.sum(axis=1) / (Point("flows").mbps * 1e6)
    return np.arange(0.5, END_S), utilisation, queue.mean(axis=1)
