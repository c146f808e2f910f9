"""The measures of a call by period, with the same definitions for our runs and ns-2's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from skywave.stats import Estimate, average
from skywave_papers.lien2009.setting import (
    BOTTLENECK,
    GAP_S,
    VOICE,
    VOICE_S,
    Conditions,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from skywave.results import Results

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """One run: the call by period, and both flows of the figures by second.

    ``generated`` is the number of packets that the source makes in a period. ``delay_ms`` is the
    mean over the packets that arrive in a period, ``delay_by_second_ms`` that over the means of its
    seconds. ``waiting_percent`` is the share of the frames made in a period that the transport
    refused or had not sent by the end of the run.
    """

    generated: float
    received: Floats
    delay_ms: Floats
    delay_by_second_ms: Floats
    voice_kbps: Floats
    tcp_kbps: Floats
    network_loss_percent: Floats
    late_percent: Floats
    waiting_percent: Floats
    played_percent: Floats

    @property
    def ratio_percent(self) -> Floats:
        """Packets received, relative to those in the first period."""
        ratio: Floats = 100 * self.received / self.received[0]
        return ratio

    @property
    def loss_percent(self) -> Floats:
        """Share of the generated packets that was not received."""
        return np.maximum(100 * (1 - self.received / self.generated), 0)


@dataclass(frozen=True)
class Spread:
    """Mean over runs, and estimated standard deviation of single runs, by period."""

    mean: Floats
    sd: Floats

    @property
    def texts(self) -> list[str]:
        """Both by period, as printed."""
        return [f"{mean:.0f} ± {sd:.0f}" for mean, sd in zip(self.mean, self.sd, strict=True)]


def over_runs(runs: Sequence[Run], what: str) -> Spread:
    """Return mean and standard deviation of a measure over runs."""
    values = np.array([getattr(run, what) for run in runs])
    return Spread(np.nanmean(values, axis=0), np.nanstd(values, axis=0, ddof=1))


def mean_over_runs(runs: Sequence[Run], what: str, periods: slice) -> Estimate:
    """Return the mean of a measure over periods and runs."""
    return average([float(np.nanmean(getattr(run, what)[periods])) for run in runs])


def from_results(conditions: Conditions, results: Results) -> Run:
    """Return the measures of one of our runs."""
    begin_s, end_s = VOICE_S[conditions.scenario]
    flows = results.flows.filter(pc.field("flow") == VOICE)
    period = _periods(flows["time_s"].to_numpy(), begin_s)
    count = (end_s - begin_s) // GAP_S
    packets = flows["delivered_packets"].to_numpy().astype(np.float64)
    delays = np.nan_to_num(flows["delay_mean_s"].to_numpy(zero_copy_only=False))
    received = _sums(packets, period, count)
    some = (packets > 0).astype(np.float64)
    # Frames that share a packet arrive together. The paper's packets have one frame each.
    voice = results.voice.filter(pc.field("flow") == VOICE)
    made_in = _periods(voice["time_s"].to_numpy(), begin_s)

    def frames(name: str) -> Floats:
        return _sums(voice[name].to_numpy().astype(np.float64), made_in, count)

    made = frames("frames")
    share = 100 / np.maximum(made, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        delay_ms = 1e3 * _sums(delays * packets, period, count) / received
        by_second_ms = 1e3 * _sums(delays * some, period, count) / _sums(some, period, count)
    return Run(
        generated=round(GAP_S / conditions.interval_s, 1),
        received=received,
        delay_ms=delay_ms,
        delay_by_second_ms=by_second_ms,
        voice_kbps=_kbps(results, VOICE),
        tcp_kbps=_kbps(results, "tcp1"),
        network_loss_percent=frames("lost") * share,
        late_percent=frames("late") * share,
        waiting_percent=(made - frames("sent")) * share,
        played_percent=frames("played") * share,
    )


def _periods(ends_s: Floats, begin_s: float) -> NDArray[np.int64]:
    """Return the period of each second since the start of the call."""
    return ((ends_s - begin_s - 0.5) // GAP_S).astype(np.int64)


def _sums(values: Floats, period: NDArray[np.int64], count: int) -> Floats:
    return np.array([values[period == index].sum() for index in range(count)])


def _kbps(results: Results, flow: str) -> Floats:
    bps = results.flows_at(BOTTLENECK, flow)["throughput_bps"]
    kbps: Floats = bps.to_numpy().astype(np.float64) / 1e3
    return kbps
