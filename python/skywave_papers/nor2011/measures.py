"""The measures at the bottleneck, with the same definitions for our runs and ns-2's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow.compute as pc

from skywave_papers.nor2011.setting import BOTTLENECK, DCCP_START_S, HOPS

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from skywave.results import Results

LINK_BPS = 2e6
FULL_BPS = 0.99 * LINK_BPS
"""Throughput from which on the link counts as full."""
LOSS_WINDOW_S = (20.0, 180.0)
"""The period in which the paper measures packet loss."""
ZIGZAG_FROM_S = 170.0
"""End of the first ramp of experiment 1."""
ZIGZAG_MEAN_S = 5


@dataclass(frozen=True)
class FlowSeries:
    """Samples of one flow at the bottleneck, a second apart."""

    throughput_bps: NDArray[np.float64]
    arrivals: NDArray[np.int64]
    drops: NDArray[np.int64]

    @classmethod
    def of(cls, rows: pa.Table, *columns: str, unit_bps: float = 1.0) -> Self:
        """Return the samples in columns of throughput, arrivals and drops."""
        throughput, arrivals, drops = (rows[name].to_numpy() for name in columns)
        return cls(throughput * unit_bps, arrivals, drops)


@dataclass(frozen=True)
class Series:
    """One run: both flows at r1->r2. A sample at ``time_s`` covers the second before it.

    Throughput counts bytes on the wire, including headers. ``receive_events`` is the number of
    times that a packet of the DCCP flow was received at any of its three hops in the whole run. It
    equals the number of "r" lines in ns-2's trace-all file.
    """

    time_s: NDArray[np.float64]
    dccp: FlowSeries
    tcp: FlowSeries
    receive_events: int

    def full_s(self) -> float | None:
        """Return the first sample after the DCCP flow's start at which the link is full, in s."""
        together = self.dccp.throughput_bps + self.tcp.throughput_bps
        full = self.time_s[(self.time_s > DCCP_START_S) & (together >= FULL_BPS)]
        return float(full[0]) if full.size else None

    def loss_percent(self, start_s: float = 0.0, end_s: float = np.inf) -> float:
        """Return drops of the DCCP flow per packet of it that arrived at the bottleneck, in %."""
        covered = (self.time_s > start_s) & (self.time_s <= end_s)
        return float(100 * self.dccp.drops[covered].sum() / self.dccp.arrivals[covered].sum())

    def loss_percent_of_trace_lines(self) -> float:
        """Return drops of the DCCP flow per receive event at its three hops, whole run, in %."""
        return float(100 * self.dccp.drops.sum() / self.receive_events)

    def mean_bps(self, flow: FlowSeries, start_s: float, end_s: float) -> float:
        """Return the mean throughput of a flow over a period, in bit/s."""
        covered = (self.time_s > start_s) & (self.time_s <= end_s)
        return float(flow.throughput_bps[covered].mean())

    def sharing_bps(self) -> tuple[float, float]:
        """Return the mean throughput of DCCP and TCP in the period of Figure 2, in bit/s."""
        dccp, tcp = (self.mean_bps(one, ZIGZAG_FROM_S, 1000) for one in (self.dccp, self.tcp))
        return dccp, tcp

    def zigzag_bps(self) -> tuple[float, float]:
        """Return the lowest and highest 5 s mean of DCCP after its first ramp, in bit/s."""
        settled = self.dccp.throughput_bps[self.time_s > ZIGZAG_FROM_S]
        means = settled.reshape(-1, ZIGZAG_MEAN_S).mean(axis=1)
        return float(means.min()), float(means.max())


def from_results(results: Results) -> Series:
    """Return the series of one of our runs."""
    dccp, tcp = (results.flows_at(BOTTLENECK, flow) for flow in ("dccp", "tcp"))
    columns = ("throughput_bps", "arrivals", "drops")
    return Series(
        dccp["time_s"].to_numpy(),
        FlowSeries.of(dccp, *columns),
        FlowSeries.of(tcp, *columns),
        sum(pc.sum(results.flows_at(hop, "dccp")["delivered"]).as_py() for hop in HOPS),
    )
