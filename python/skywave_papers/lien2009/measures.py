"""The measures of a call by period, with the same definitions for our runs and ns-2's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from skywave.results.samples import Samples
from skywave.stats import Estimate, average
from skywave_papers.lien2009.setting import BOTTLENECK, GAP_S, VOICE, VOICE_S, Conditions

if TYPE_CHECKING:
    import pyarrow as pa

    from skywave.results import Results

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """One run: the call by period, and both flows of the figures by second.

    ``generated`` is the number of packets that the source makes in a period, ``loss_percent`` the
    share of them that was not received. ``delay_ms`` is the mean over the packets that arrive in a
    period, ``delay_by_second_ms`` that over the means of its seconds. ``waiting_percent`` is the
    share of the frames made in a period that the transport refused or had not sent by the end of
    the run.
    """

    generated: float
    received: Floats
    loss_percent: Floats
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
        return np.asarray(100 * self.received / self.received[0])


@dataclass(frozen=True)
class Spread:
    """Mean over runs, and estimated standard deviation of single runs, by period."""

    mean: Floats
    sd: Floats

    @property
    def texts(self) -> list[str]:
        """Both by period, as printed."""
        return [f"{mean:.0f} ± {sd:.0f}" for mean, sd in zip(self.mean, self.sd, strict=True)]


Runs: TypeAlias = Mapping[Conditions, Sequence[Run]]
Spreads: TypeAlias = Callable[[Conditions, str], Spread]
"""Mean and deviation of a measure under some conditions, by period."""


def over_runs(runs: Sequence[Run], what: str) -> Spread:
    """Return mean and standard deviation of a measure over runs."""
    values = np.array([getattr(run, what) for run in runs])
    return Spread(np.nanmean(values, axis=0), np.nanstd(values, axis=0, ddof=1))


def estimate(runs: Sequence[Run], what: str, period: int) -> Estimate:
    """Return the mean of a measure over runs in one period, with its confidence interval."""
    return average([float(getattr(run, what)[period]) for run in runs])


def of_runs(runs: Runs) -> Spreads:
    """Return the spreads of our runs."""
    return lambda conditions, what: over_runs(runs[conditions], what)


def from_results(conditions: Conditions, results: Results) -> Run:
    """Return the measures of one of our runs."""
    begin_s, end_s = VOICE_S[conditions.scenario]

    def of_call(table: pa.Table) -> tuple[Samples, Callable[[Floats], Floats]]:
        """Return the samples of the call, and how to sum values of theirs by period."""
        samples = Samples(table.filter(pc.field("flow") == VOICE))
        period = (samples["time_s"] - begin_s - 0.5) // GAP_S
        periods = range((end_s - begin_s) // GAP_S)
        return samples, lambda values: np.array([values[period == one].sum() for one in periods])

    flows, sums = of_call(results.flows)
    packets, delays_s = flows["delivered_packets"], np.nan_to_num(flows["delay_mean_s"])
    received, some = sums(packets), (packets > 0).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        delay_ms = 1e3 * sums(delays_s * packets) / received
        by_second_ms = 1e3 * sums(delays_s * some) / sums(some)
    # Frames that share a packet arrive together. The paper's packets have one frame each.
    voice, sums_of_frames = of_call(results.voice)
    made, sent, lost, late, played = (
        sums_of_frames(voice[name]) for name in ("frames", "sent", "lost", "late", "played")
    )
    share = 100 / np.maximum(made, 1)
    generated = round(GAP_S / conditions.interval_s, 1)
    voice_kbps, tcp_kbps = (
        Samples(results.flows_at(BOTTLENECK, flow))["throughput_bps"] / 1e3
        for flow in (VOICE, "tcp1")
    )
    return Run(
        generated=generated,
        received=received,
        loss_percent=np.maximum(100 * (1 - received / generated), 0),
        delay_ms=delay_ms,
        delay_by_second_ms=by_second_ms,
        voice_kbps=voice_kbps,
        tcp_kbps=tcp_kbps,
        network_loss_percent=lost * share,
        late_percent=late * share,
        waiting_percent=(made - sent) * share,
        played_percent=played * share,
    )
