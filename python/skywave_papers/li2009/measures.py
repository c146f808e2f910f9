"""The measures of the parking lot of Figure 2, and of the dumbbell of Figures 3 to 5."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import pyarrow.compute as pc
from scipy.optimize import brentq

from skywave.results.fairness import jain
from skywave.stats import Estimate, average
from skywave_papers.li2009 import setting
from skywave_papers.li2009.setting import JOINING, JOINS_S, LINKS_MBPS, LOT_S
from skywave_papers.vcp_scripts import WIRE_B

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from skywave.results import Results
    from skywave_papers.li2009.setting import Carrier, Network, Reading

    Floats = NDArray[np.float64]

WARM_S = 200.0
"""Time after a start that is not measured, in seconds."""
PERIODS = ((WARM_S, float(JOINS_S)), (JOINS_S + WARM_S, float(LOT_S)))
"""The measured periods, before and after L2's Local starts, in seconds."""


@dataclass(frozen=True)
class Split:
    """How Long and Local share a link over a period.

    ``long_percent`` is Long's share of the traffic, ``long_of_link_percent`` that of the link's
    rate. ``largest_of_long_percent`` is the share of Long's rate that its largest sender has.
    """

    long_percent: float
    long_of_link_percent: float
    largest_of_long_percent: float
    local_over_long: float
    utilisation_percent: float
    jain_of_aggregates: float
    jain_of_flows: float


@dataclass(frozen=True)
class LinkSeries:
    """Throughput of flows at one link, in bit/s. A row is a sample of the time before it."""

    time_s: Floats
    long_bps: Floats
    local_bps: Floats
    rate_bps: float

    def split(self, period: tuple[float, float]) -> Split:
        """Return the shares over a period."""
        covered = (self.time_s > period[0]) & (self.time_s <= period[1])
        flows = [part[covered].mean(axis=0) for part in (self.long_bps, self.local_bps)]
        long, local = (part.sum() for part in flows)
        return Split(
            long_percent=100 * long / (long + local),
            long_of_link_percent=100 * long / self.rate_bps,
            largest_of_long_percent=100 * flows[0].max() / long,
            local_over_long=local / long,
            utilisation_percent=100 * (long + local) / self.rate_bps,
            jain_of_aggregates=jain([long, local]),
            jain_of_flows=jain(np.concatenate(flows)),
        )


def series(results: Results) -> dict[str, LinkSeries]:
    """Return the flows' rates at the links that Figure 2 shows."""
    return {link: _series(results, link) for link in setting.SHOWN_LINKS}


def _series(results: Results, link: str) -> LinkSeries:
    hop = int(link[1:])
    table = results.flows_at(setting.SHOWN_LINKS[link])
    names = table["flow"].to_numpy().astype(str)
    bps = table["throughput_bps"].to_numpy()
    time_s, rows = np.unique(table["time_s"].to_numpy(), return_inverse=True)

    def columns(prefix: str) -> Floats:
        chosen = np.char.startswith(names, prefix)
        flows, places = np.unique(names[chosen], return_inverse=True)
        found = np.zeros((time_s.size, max(flows.size, 1)))
        found[rows[chosen], places] = bps[chosen]
        return found

    return LinkSeries(time_s, columns("long-"), columns(f"local{hop}-"), LINKS_MBPS[hop] * 1e6)


def law_percent(reading: Reading, *, joined: bool) -> tuple[float, float]:
    """Return Long's part of the rates of L0 and L2 under proportional fairness of flows.

    Proportional fairness maximises the sum of the logarithms of the flows' rates. With n flows that
    cross all links and m flows on each link, the rate L of all n solves n / L = sum of m / (C - L),
    over the links that have Local. L2 limits L to its rate in any case. ``joined`` says whether L2
    has its Local.
    """
    shared = [mbps for hop, mbps in enumerate(LINKS_MBPS) if joined or hop != JOINING]

    def imbalance(mbps: float) -> float:
        return reading.long / mbps - sum(reading.local / (rate - mbps) for rate in shared)

    least, most = (share * min(LINKS_MBPS) for share in (1e-9, 1 - 1e-9))
    mbps = most if imbalance(most) > 0 else brentq(imbalance, least, most)
    return 100 * mbps / LINKS_MBPS[0], 100 * mbps / LINKS_MBPS[JOINING]


def ideal_percent(reading: Reading, *, joined: bool) -> dict[str, float]:
    """Return Long's share of the traffic of L0 and L2 under max-min fairness of flows."""
    long, flows = reading.long, reading.long + reading.local
    mbps = long * min(LINKS_MBPS[JOINING] / (flows if joined else long), LINKS_MBPS[0] / flows)
    on_joining = LINKS_MBPS[JOINING] if joined else mbps
    return {"L0": 100 * mbps / LINKS_MBPS[0], "L2": 100 * mbps / on_joining}


def load(links: pa.Table) -> Floats:
    """Return the load factors of a link of 4 Mbps, one for each sampled t_rho.

    They have the queue at the end of each t_rho. A router uses the mean of its samples instead.
    """
    target_b = setting.TARGET_UTILISATION * LINKS_MBPS[0] * 1e6 / 8 * (setting.T_RHO_MS / 1e3)
    arrived_b = links["arrivals"].to_numpy() * float(WIRE_B)
    loads: Floats = (arrived_b + setting.QUEUE_SHARE * links["queue_bytes"].to_numpy()) / target_b
    return loads


@dataclass(frozen=True)
class Loads:
    """Load factors of links of the parking lot, and the resulting windows.

    ``load_p5`` and ``load_p95`` are percentiles of L0's load factor over intervals. The overloads
    are shares of intervals: in which L0 is overloaded, and in which at least one of L0, L1 and L3
    is, as Long sees it. Windows are of Long's senders and of those of L0's Local, in packets.
    """

    load_p5: float
    load_p95: float
    overload_percent: float
    any_overload_percent: float
    long_cwnd: float
    long_median_cwnd: float
    local_cwnd: float


def loads(results: Results) -> Loads:
    """Return the loads in the beginning of a parking lot's run."""
    settled = pc.field("time_s") > setting.LOOKED_AT_FROM_S
    links = results.links.filter(settled)
    by_link = np.array([load(links.filter(pc.field("link") == one)) for one in setting.BUSY_LINKS])
    load_p5, load_p95 = np.quantile(by_link[0], [0.05, 0.95])
    means = results.flows.filter(settled).group_by("flow").aggregate([("cwnd_packets", "mean")])
    names, cwnd = means["flow"].to_numpy().astype(str), means["cwnd_packets_mean"].to_numpy()
    long, local = (cwnd[np.char.startswith(names, prefix)] for prefix in ("long-", "local0-"))
    return Loads(
        load_p5,
        load_p95,
        overload_percent=100 * (by_link[0] >= 1).mean(),
        any_overload_percent=100 * (by_link >= 1).any(axis=0).mean(),
        long_cwnd=long.mean(),
        long_median_cwnd=np.median(long),
        local_cwnd=local.mean(),
    )


MEAN_S = 1.0
"""Utilisation is averaged over this time, which is ten samples."""
USED = 0.9
"""The transition ends when a second's utilisation reaches this share of the steady state's."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: times in s, and in the steady state utilisation in %, queue in packets.

    ``transition_s`` is when a second's utilisation first reaches 90 % of the steady state's,
    ``full_s`` when it reaches 90 % of the bottleneck's rate (NaN: never). The queue has its mean,
    standard deviation, and mean absolute change between samples: its roughness.
    """

    transition_s: float
    full_s: float
    utilisation: float
    queue: float
    queue_deviation: float
    queue_change: float


@dataclass(frozen=True)
class Course:
    """The bottleneck of one run: mean utilisation of the second before each sample (0 to 1)."""

    time_s: Floats
    utilisation: Floats
    queue_packets: Floats
    outcome: Outcome


def course(links: pa.Table, network: Network = setting.PAPER_NETWORK) -> Course:
    """Return the bottleneck's course from its samples."""
    time_s, bps, queue = (
        links[name].to_numpy().astype(np.float64)
        for name in ("time_s", "throughput_bps", "queue_packets")
    )
    rate_bps, window = network.mbps * 1e6, round(MEAN_S / setting.QUEUE_SAMPLE_S)
    sums = np.cumsum(np.concatenate([np.zeros(window), bps]))
    utilisation = (sums[window:] - sums[:-window]) / window / rate_bps
    steady = time_s > setting.STEADY_FROM_S
    percent = 100 * bps[steady].mean() / rate_bps

    def reached_s(share: float) -> float:
        return next(iter(time_s[utilisation >= share]), math.nan)

    return Course(
        time_s,
        utilisation,
        queue,
        Outcome(
            reached_s(USED * percent / 100),
            reached_s(USED),
            percent,
            queue[steady].mean(),
            queue[steady].std(),
            np.abs(np.diff(queue[steady])).mean(),
        ),
    )


@dataclass(frozen=True)
class TransferTimes:
    """A carrier's transfers at one loss rate: durations, and the mean number of timeouts.

    One that is undone at the end of its run counts as that long. ``vcp_shares`` has the shares of
    segments in VCP's mode, of runs whose packets are recorded.
    """

    seconds: Sequence[float]
    undone: int
    timeouts: float
    vcp_shares: Sequence[float] = ()

    @property
    def mean_s(self) -> Estimate:
        """Mean duration with its confidence interval (Student's t, 95 %), in seconds."""
        return average(self.seconds)

    @property
    def median_s(self) -> float:
        """Median duration, in seconds."""
        return float(np.median(self.seconds))

    @property
    def vcp_share(self) -> Estimate:
        """Mean share of segments in VCP's mode, with its confidence interval."""
        return average(self.vcp_shares)


Transfers: TypeAlias = "Mapping[Carrier, Mapping[int, TransferTimes]]"
"""Times of each carrier by loss rate in percent."""

One = TypeVar("One")
Key: TypeAlias = tuple[One, int] | tuple[One, int, int]
"""The dumbbell of one protocol with a seed, or its transfer at a loss rate with a seed."""


def courses_of(runs: Mapping[Any, Results], protocols: Iterable[One]) -> dict[One, list[Course]]:
    """Return the dumbbells of protocols, one for each seed."""
    return {
        one: [course(runs[one, seed].links) for seed in setting.DUMBBELL_SEEDS] for one in protocols
    }


def transfers_of(
    runs: Mapping[Any, Results], protocols: Iterable[One]
) -> dict[One, dict[int, TransferTimes]]:
    """Return the transfers of protocols by loss rate in percent."""
    return {
        one: {
            percent: transfer_times([runs[one, percent, seed] for seed in setting.LOSS_SEEDS])
            for percent in setting.LOSS_PERCENT
        }
        for one in protocols
    }


def transfer_times(runs: Sequence[Results]) -> TransferTimes:
    """Return the transfers of several runs."""
    ends_s = [done_s(run) for run in runs]
    return TransferTimes(
        [
            run.totals["duration_s"] if end_s is None else end_s
            for run, end_s in zip(runs, ends_s, strict=True)
        ],
        undone=ends_s.count(None),
        timeouts=float(np.mean([run.totals["flows"][0]["timeouts"] for run in runs])),
        vcp_shares=[vcp_share(run.packets) for run in runs if "packets" in run.tables],
    )


def done_s(results: Results) -> float | None:
    """Return when the file has arrived; None if it has not by the end of the run."""
    arrived = np.cumsum(results.flows["delivered_bytes"].to_numpy())
    done = np.searchsorted(arrived, setting.FILE_B)
    return None if done == arrived.size else float(results.flows["time_s"].to_numpy()[done])


def vcp_share(packets: pa.Table) -> float:
    """Return the share of DPCP's segments sent in VCP's mode, from headers alone.

    In a chain every other segment has seq > ack; in VCP's mode all have. NaN if none was sent.
    """
    data = packets.filter((pc.field("event") == "send") & (pc.field("kind") == "TCP data"))
    if not data.num_rows:
        return math.nan
    first = pc.sum(pc.greater(data["seq"], data["ack"])).as_py() / data.num_rows
    return max(0.0, 2 * float(first) - 1)
