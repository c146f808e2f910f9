"""The measures at the bottleneck, with the same definitions for our runs and ns-2's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from skywave_papers.nor2011.setting import BOTTLENECK, DCCP_START_S, HOPS

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from skywave.results import Results

FULL_BPS = 1.98e6
"""Throughput from which on the link counts as full: 99 % of its rate."""
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
    receive_events: int | None

    def full_s(self) -> float | None:
        """Return the first sample after the DCCP flow's start at which the link is full, in s."""
        together = self.dccp.throughput_bps + self.tcp.throughput_bps
        full = self.time_s[(self.time_s > DCCP_START_S) & (together >= FULL_BPS)]
        return float(full[0]) if full.size else None

    def loss_percent(self, start_s: float = 0.0, end_s: float = np.inf) -> float:
        """Return drops of the DCCP flow per packet of it that arrived at the bottleneck, in %."""
        covered = (self.time_s > start_s) & (self.time_s <= end_s)
        arrivals = int(self.dccp.arrivals[covered].sum())
        return 100 * int(self.dccp.drops[covered].sum()) / arrivals if arrivals else 0.0

    def loss_percent_of_trace_lines(self) -> float | None:
        """Return drops of the DCCP flow per receive event at its three hops, whole run, in %."""
        if not self.receive_events:
            return None
        return 100 * int(self.dccp.drops.sum()) / self.receive_events

    def mean_bps(self, flow: FlowSeries, start_s: float, end_s: float) -> float:
        """Return the mean throughput of a flow over a period, in bit/s."""
        covered = (self.time_s > start_s) & (self.time_s <= end_s)
        return float(flow.throughput_bps[covered].mean())

    def zigzag_bps(self) -> tuple[float, float]:
        """Return the lowest and highest 5 s mean of DCCP after its first ramp, in bit/s."""
        settled = self.dccp.throughput_bps[self.time_s > ZIGZAG_FROM_S]
        whole = settled[: settled.size // ZIGZAG_MEAN_S * ZIGZAG_MEAN_S]
        means = whole.reshape(-1, ZIGZAG_MEAN_S).mean(axis=1)
        return float(means.min()), float(means.max())


def from_results(results: Results) -> Series:
    """Return the series of one of our runs."""
    hops = [results.flows_at(hop, "dccp") for hop in HOPS]
    receive_events = sum(pc.sum(rows["delivered"]).as_py() for rows in hops)
    dccp = results.flows_at(BOTTLENECK, "dccp")
    return Series(
        time_s=dccp["time_s"].to_numpy(),
        dccp=_flow(dccp),
        tcp=_flow(results.flows_at(BOTTLENECK, "tcp")),
        receive_events=receive_events,
    )


def _flow(rows: pa.Table) -> FlowSeries:
    return FlowSeries(
        throughput_bps=rows["throughput_bps"].to_numpy().astype(np.float64),
        arrivals=rows["arrivals"].to_numpy().astype(np.int64),
        drops=rows["drops"].to_numpy().astype(np.int64),
    )
