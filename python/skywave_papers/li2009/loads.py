"""Loads that the routers of the parking lot measure, interval by interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from skywave_papers.li2009.setting import (
    BUSY_LINKS,
    DEFAULT,
    LINKS_MBPS,
    LOOKED_AT_FROM_S,
    QUEUE_SHARE,
    TARGET_UTILISATION,
)
from skywave_papers.vcp_scripts import WIRE_B

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from skywave.results import Results

    Floats = NDArray[np.float64]


def load(links: pa.Table, rate_bps: float, interval_s: float) -> Floats:
    """Return the load factor of each interval, from its arrivals and the queue at its end.

    A router uses the mean of the queue's samples instead.
    """
    target_b = TARGET_UTILISATION * rate_bps / 8 * interval_s
    arrived_b = links["arrivals"].to_numpy() * float(WIRE_B)
    queue_b = links["queue_bytes"].to_numpy().astype(np.float64)
    loads: Floats = (arrived_b + QUEUE_SHARE * queue_b) / target_b
    return loads


@dataclass(frozen=True)
class Loads:
    """Load factors of links of the parking lot, and the resulting windows."""

    load_p5: float
    """5th percentile of L0's load factor over intervals."""
    load_p95: float
    """95th percentile of L0's load factor over intervals."""
    overload_percent: float
    """Share of intervals in which L0 is overloaded."""
    any_overload_percent: float
    """Share of intervals in which at least one of L0, L1 and L3 is overloaded, as Long sees it."""
    long_cwnd: float
    """Mean cwnd of Long's senders, in packets."""
    long_median_cwnd: float
    """Median cwnd of Long's senders, in packets."""
    local_cwnd: float
    """Mean cwnd of the senders of L0's Local, in packets."""


def loads(results: Results) -> Loads:
    """Return the loads in the beginning of a parking lot's run."""
    links = results.links.filter(pc.field("time_s") > LOOKED_AT_FROM_S)
    by_link = np.array(
        [
            load(
                links.filter(pc.field("link") == link),
                LINKS_MBPS[0] * 1e6,
                DEFAULT.interval_ms / 1e3,
            )
            for link in BUSY_LINKS
        ]
    )
    load_p5, load_p95 = np.quantile(by_link[0], [0.05, 0.95])
    flows = results.flows.filter(pc.field("time_s") > LOOKED_AT_FROM_S)
    windows = flows.group_by("flow").aggregate([("cwnd_packets", "mean")])

    def of_senders(prefix: str) -> Floats:
        chosen = windows.filter(pc.starts_with(windows["flow"].cast("string"), prefix))
        means: Floats = chosen["cwnd_packets_mean"].to_numpy().astype(np.float64)
        return means

    long = of_senders("long-")
    return Loads(
        float(load_p5),
        float(load_p95),
        overload_percent=float(100 * (by_link[0] >= 1).mean()),
        any_overload_percent=float(100 * (by_link >= 1).any(axis=0).mean()),
        long_cwnd=float(long.mean()),
        long_median_cwnd=float(np.median(long)),
        local_cwnd=float(of_senders("local0-").mean()),
    )
