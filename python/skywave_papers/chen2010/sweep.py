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

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow.compute as pc
from attrs import evolve

from skywave import run
from skywave.report.tables import Table
from skywave.results.fairness import jain
from skywave.scenario import CoDel, Dumbbell, Ftp, Pie, Probes, Scenario, Vcp, VcpRouter
from skywave.scenario.topologies import Aggregate, Hop, parking_lot
from skywave_papers.chen2010.measures import over_the_run_bps
from skywave_papers.vcp_scripts import START_JITTER, TCP, buffer_packets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from skywave.results import Results
    from skywave.scenario import Queue, Tcp

    Floats = NDArray[np.float64]


Router = Literal["vcp", "vcp-ns2", "codel", "pie"]
ROUTERS: tuple[Router, ...] = ("vcp", "vcp-ns2", "codel", "pie")
ROUTER_LABELS: dict[Router, str] = {
    "vcp": "VCP",
    "vcp-ns2": "VCP, its code for ns-2",
    "codel": "CoDel, ECN",
    "pie": "PIE, ECN",
}

WARM = 1 / 3
"""The share of a run that is not measured, at its start."""
MEASURED = ("time_s", "delivered_bytes", "queue_packets", "queue_bytes")
"""Columns that a point's outcome is computed from."""
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
        return float(getattr(self, SWEEPS[self.sweep].field))


@dataclass(frozen=True)
class Sweep:
    """One varied parameter."""

    field: str
    label: str
    values: tuple[float, ...]
    is_log: bool


SWEEPS = {
    "capacity": Sweep(
        "mbps", "Capacity (Mbps)", (0.1, 0.5, 2, 10, 45, 150, 600, 1000, 5000), is_log=True
    ),
    "rtt": Sweep(
        "rtt_ms",
        "Propagation RTT (ms)",
        (1, 10, 40, 80, 200, 500, 1000, 2000, 5000),
        is_log=True,
    ),
    "flows": Sweep("flows", "Flows", (1, 3, 10, 50, 100, 300, 1000), is_log=True),
    "reverse": Sweep("reverse", "Reverse flows", (0, 10, 50, 100), is_log=False),
    "bottlenecks": Sweep("bottlenecks", "Bottlenecks in a row", tuple(range(1, 8)), is_log=False),
}


def _points() -> Iterator[Point]:
    for name, sweep in SWEEPS.items():
        for value in sweep.values:
            changes: dict[str, Any] = {sweep.field: value}
            yield replace(Point(name), **changes)


POINTS = tuple(_points())


@dataclass(frozen=True)
class Outcome:
    """The outcome of a point with one kind of router, over all its bottlenecks."""

    sweep: str
    x: float
    router: Router
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


def queue_of(router: Router, buffer: int) -> Queue:
    """Return the queue discipline. CoDel and PIE have the parameters of their RFCs."""
    match router:
        case "vcp":
            return VcpRouter(packets=buffer)
        case "vcp-ns2":
            return VcpRouter(packets=buffer, average="means")
        case "codel":
            return CoDel(packets=buffer, ecn=True)
        case "pie":
            return Pie(packets=buffer, ecn=True)


def transport_of(router: Router) -> Tcp:
    """Return the TCP for a router, which differs only in its use of marks or codes."""
    match router:
        case "vcp":
            return evolve(TCP, control="vcp", vcp=Vcp(rules="chen2010", paces=True))
        case "vcp-ns2":
            return evolve(TCP, control="vcp", vcp=Vcp(rules="xia2005"))
        case "codel" | "pie":
            return evolve(TCP, ecn=True)


def scenario(point: Point, router: Router, seed: int = 1) -> Scenario:
    """Return the scenario of a point: a dumbbell, or a chain of routers."""
    build = _dumbbell if point.bottlenecks == 1 else _chain
    return build(point, router, seed)


def bottlenecks(point: Point) -> list[str]:
    """Return the names of the measured links."""
    return [f"r{number}->r{number + 1}" for number in range(1, point.bottlenecks + 1)]


def _empty(point: Point, router: Router, seed: int) -> Scenario:
    return Scenario(
        name=f"{point.sweep}-{point.x:g}-{router}",
        duration=f"{point.duration_s:g} s",
        seed=seed,
        probes=Probes(interval="50 ms", links=tuple(bottlenecks(point))),
    )


def _dumbbell(point: Point, router: Router, seed: int) -> Scenario:
    network = evolve(
        _empty(point, router, seed),
        dumbbell=Dumbbell(
            pairs=1,
            rate=_rate(point.mbps),
            # The bottleneck has four fifths of the propagation time.
            delay=_nanoseconds(0.8 * point.rtt_ms / 2),
            queue=queue_of(router, point.buffer),
            access_rate=_rate(ACCESS * point.mbps),
            access_delays=(_nanoseconds(0.1 * point.rtt_ms / 2),),
        ),
    )
    tcp = transport_of(router)
    for number in range(1, point.flows + 1):
        network.add_flow(f"flow{number}", "s1", "d1", tcp, Ftp(), start_jitter=START_JITTER)
    for number in range(1, point.reverse + 1):
        network.add_flow(f"back{number}", "d1", "s1", tcp, Ftp(), start_jitter=START_JITTER)
    return network


def _chain(point: Point, router: Router, seed: int) -> Scenario:
    """Return a chain that a tenth of the flows cross entirely; the others cross one bottleneck."""
    through = max(1, point.flows // 10)

    def aggregate(name: str, flows: int) -> Aggregate:
        return Aggregate(
            name=name, flows=flows, transport=transport_of(router), start_jitter=START_JITTER
        )

    hops = [
        Hop(
            rate=_rate(point.mbps),
            delay=_nanoseconds(point.rtt_ms / 2 / point.bottlenecks),
            queue=queue_of(router, point.buffer),
            local=aggregate(f"cross{number}-", point.flows - through),
        )
        for number in range(1, point.bottlenecks + 1)
    ]
    empty = _empty(point, router, seed)
    return parking_lot(
        empty.name,
        duration=empty.duration,
        seed=seed,
        probes=empty.probes,
        hops=hops,
        long=aggregate("through", through),
    )


def _rate(mbps: float) -> str:
    return f"{round(mbps * 1e6)} bps"


def _nanoseconds(ms: float) -> str:
    return f"{round(ms * 1e6)} ns"


def measure(point: Point, router: Router, results: Results) -> Outcome:
    """Return the outcome of a run."""
    warm = results.links.filter(pc.field("time_s") > WARM * point.duration_s)
    drops, arrivals = (pc.sum(warm[name]).as_py() for name in ("drops", "arrivals"))
    utilisations, queues = [], []
    for link in bottlenecks(point):
        rows = warm.filter(pc.field("link") == link)
        column = {name: rows[name].to_numpy() for name in MEASURED}
        seconds = column["time_s"].max() - WARM * point.duration_s
        utilisations.append(8 * column["delivered_bytes"].sum() / seconds / (point.mbps * 1e6))
        queues.append((column["queue_packets"].mean(), column["queue_bytes"].mean()))
    packets, in_bytes = max(queues)
    single = over_the_run_bps(results, ("flow", "cross"))
    return Outcome(
        point.sweep,
        point.x,
        router,
        utilisation=float(min(utilisations)),
        queue_share=float(packets / point.buffer),
        queue_ms=float(8 * in_bytes / (point.mbps * 1e6) * 1e3),
        drop_percent=float(100 * drops / max(arrivals, 1)),
        jain=jain(single),
    )


@dataclass(frozen=True)
class Demand:
    """Flows that join and leave all at once."""

    flows: int = 50
    joining: int = 150
    joins_s: float = 40.0
    leaves_s: float = 80.0
    end_s: float = 120.0
    mean_s: float = 1.0
    """The time over which plotted values are averaged."""


DEMAND = Demand()


def demand_scenario(router: Router, seed: int = 1) -> Scenario:
    """Return the base case with flows that join and leave."""
    base = Point("flows", flows=DEMAND.flows)
    network = evolve(
        scenario(base, router, seed), name=f"demand-{router}", duration=f"{DEMAND.end_s:g} s"
    )
    for number in range(1, DEMAND.joining + 1):
        network.add_flow(
            f"joining{number}",
            "s1",
            "d1",
            transport_of(router),
            Ftp(),
            start=f"{DEMAND.joins_s:g} s",
            start_jitter=START_JITTER,
            stop=f"{DEMAND.leaves_s:g} s",
        )
    return network


def demand_series(results: Results) -> tuple[Floats, Floats, Floats]:
    """Return times, utilisation, and queue in packets, averaged over ``DEMAND.mean_s``."""
    links = results.links
    number = (links["time_s"].to_numpy() / DEMAND.mean_s - 1e-9).astype(np.int64)

    def sums(name: str) -> Floats:
        values = links[name].to_numpy().astype(np.float64)
        return np.bincount(number, weights=values).astype(np.float64)

    delivered_b = sums("delivered_bytes")
    time_s = (np.arange(delivered_b.size, dtype=np.float64) + 0.5) * DEMAND.mean_s
    utilisation: Floats = 8 * delivered_b / DEMAND.mean_s / (Point("flows").mbps * 1e6)
    return time_s, utilisation, sums("queue_packets") / np.bincount(number)


def outcome(asked: tuple[Point, Router]) -> Outcome:
    """Run a point with a router and return its outcome."""
    point, router = asked
    return measure(point, router, run(scenario(point, router)))


TABLE = Table(
    Path(__file__).with_name("sweep.csv"),
    Outcome,
    [(point, router) for point in POINTS for router in ROUTERS],
    outcome,
)
"""The stored outcomes."""


SMALL_SHARES = (("capacity", 2.0), ("flows", 1000.0))
"""Where a fair share is hardly a packet: capacity in Mbps, number of flows."""

FAST_SCALING = (("capacity", 10.0), ("flows", 100.0), ("rtt", 200.0))
"""Where the scaling of the code already loses packets: also round-trip time in ms."""


def least_small_queue_percent() -> float:
    """Return the least queue of VCP where a fair share is hardly a packet, in percent."""
    return 100 * min(
        TABLE.row(sweep=sweep, x=x, router="vcp").queue_share for sweep, x in SMALL_SHARES
    )


def least_code_drop_percent() -> float:
    """Return the least loss where the scaling of the code already loses packets."""
    return min(
        TABLE.row(sweep=sweep, x=x, router="vcp-ns2").drop_percent for sweep, x in FAST_SCALING
    )
