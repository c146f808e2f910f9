"""Computes the measures of a run from its results."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skywave import _core
from skywave.results import FlowTotals, Totals, emodel
from skywave.results.fairness import jain
from skywave.results.samples import Samples
from skywave.stats import warm_up_in_mean

Values = dict[tuple[str, str], float]
"""Values by measure and by what they are of: a flow, a link, or "" for the run."""

NAN = float("nan")
TABLES = ("flows", "links", "voice", "transfers")
"""The tables that measures are computed from."""


class Sampled:
    """What the measures of a run are computed from: its totals, and samples of flows and links.

    Tables of pyarrow would cost more than a short run.
    """

    def __init__(self, run: _core.Run) -> None:
        self.totals: Totals = json.loads(run.summary)
        self._run = run

    @cached_property
    def flows(self) -> Samples | None:
        """The samples of flows; None if there is no such table, as in the others."""
        return self.table("flows")

    @cached_property
    def links(self) -> Samples | None:
        """The samples of links."""
        return self.table("links")

    def table(self, name: str) -> Samples | None:
        """Return the samples of a table."""
        found = self._run.table(name)
        return None if found is None else Samples(found)

    def calls(self) -> dict[str, emodel.Call]:
        """Return the voice calls, by flow."""
        import pyarrow as pa  # noqa: PLC0415  (loaded when there are calls)

        voice = self._run.table("voice")
        return {} if voice is None else emodel.calls(pa.Table.from_batches([voice.to_arrow()]))


@dataclass(frozen=True)
class Start:
    """When a flow starts, in seconds: the earliest and the latest time that its jitter allows."""

    earliest_s: float
    latest_s: float

    def active_after(self, time_s: float, active_s: float, duration_s: float) -> float:
        """Return how much of a flow's active time is after a time.

        Exact without jitter, and for a flow that is active until the end of the run or starts after
        that time. Otherwise the start is not known, and the error is at most the jitter.
        """
        start_s = min(max(duration_s - active_s, self.earliest_s), self.latest_s)
        return max(0.0, active_s - max(0.0, time_s - start_s))


def of_flows(run: Sampled, warm_up_s: float, starts: Sequence[Start]) -> Values:
    """Return the measures of each flow, and of the run. With a warm-up, ``starts`` are needed."""
    flows = run.totals["flows"]
    values: Values = {}
    for flow in flows:
        of = flow["name"]
        values["goodput_bps", of] = flow["goodput_bps"]
        values["retransmissions_packets", of] = flow["retransmissions"]
        values["timeouts", of] = flow["timeouts"]
        values["loss", of] = _ratio(flow["drops"], flow["packets_sent"])
        values["receive_window_limited", of] = _ratio(
            flow["receive_window_limited_s"], flow["active_s"]
        )
    if run.flows is not None:
        _of_samples(values, run.flows, warm_up_s, flows)
        if warm_up_s > 0:
            _without_warm_up(values, run.totals, run.flows, warm_up_s, starts)
    goodputs = [values["goodput_bps", flow["name"]] for flow in flows]
    values["goodput_bps", ""] = float(sum(goodputs))
    values["jain", ""] = jain(goodputs)
    values["loss", ""] = _ratio(
        sum(flow["drops"] for flow in flows), sum(flow["packets_sent"] for flow in flows)
    )
    for name in ("retransmissions_packets", "timeouts"):
        values[name, ""] = float(sum(values[name, flow["name"]] for flow in flows))
    limited = [values["receive_window_limited", flow["name"]] for flow in flows]
    values["receive_window_limited", ""] = _largest(limited)
    _of_calls(values, run, warm_up_s)
    _of_transfers(values, run, warm_up_s)
    return values


def _of_samples(values: Values, every: Samples, warm_up_s: float, flows: list[FlowTotals]) -> None:
    """Add what samples after the warm-up say; ``every`` has those before it too."""
    sampled = every.after(warm_up_s)
    by_flow, packets = sampled.groups("flow"), sampled["delivered_packets"]
    delays, senders = sampled["delay_mean_s"], every.groups("flow")
    counted, largest = _counted(every, warm_up_s), by_flow.largest(sampled["delay_max_s"])
    for name, found in {
        "delay_mean_s": by_flow.means(delays, packets),
        "delay_max_s": largest,
        "srtt_mean_s": senders.means(every.state("srtt_s", "flow"), counted),
        "cwnd_mean_packets": senders.means(every.state("cwnd_packets", "flow"), counted),
    }.items():
        each = [found.get(flow["name"], NAN) for flow in flows]
        for flow, value in zip(flows, each, strict=True):
            values[name, flow["name"]] = value
        values[name, ""] = _mean(each)
    values["delay_mean_s", ""] = _weighted(delays, packets)
    values["delay_max_s", ""] = _largest(largest.values())


def _without_warm_up(
    values: Values, totals: Totals, samples: Samples, warm_up_s: float, starts: Sequence[Start]
) -> None:
    """Replace the goodput of each flow by that after the warm-up; NaN if it was not sampled."""
    begin_s, _ = _covered(samples, warm_up_s)
    by_flow, early = samples.groups("flow"), samples["time_s"] <= begin_s
    before = by_flow.sums(np.where(early, samples["delivered_bytes"], 0.0))
    number = by_flow.sums(np.ones(early.size))
    duration_s = totals["duration_s"]
    for flow, start in zip(totals["flows"], starts, strict=True):
        of = flow["name"]
        active_s = start.active_after(begin_s, flow["active_s"], duration_s)
        later_bits = 8 * (flow["delivered_bytes"] - before.get(of, 0.0))
        known = later_bits / active_s if active_s > 0 else 0.0
        values["goodput_bps", of] = known if number.get(of) else NAN


def _of_calls(values: Values, run: Sampled, warm_up_s: float) -> None:
    every = run.table("voice")
    if every is None:
        return
    sampled = every.after(warm_up_s)
    played, frames = sampled["played"], sampled["frames"]
    by_flow = sampled.groups("flow")
    in_time, made = by_flow.sums(played), by_flow.sums(frames)
    found = run.calls()
    for of, call in found.items():
        values["played", of] = _ratio(in_time[of], made[of])
        values["mos", of] = call.mos(values["played", of])
    values["played", ""] = _ratio(played.sum(), frames.sum())
    values["mos", ""] = _mean([values["mos", of] for of in found])


def _of_transfers(values: Values, run: Sampled, warm_up_s: float) -> None:
    every = run.table("transfers")
    if every is None:
        return
    sampled = every.after(warm_up_s, "start_s")
    times = sampled["finish_s"] - sampled["start_s"]
    values["transfer_mean_s", ""] = _mean(times.tolist())
    for of, mean_s in sampled.groups("flow").means(times).items():
        values["transfer_mean_s", of] = mean_s


def warm_ups(run: Sampled, warm_up_s: float) -> Values:
    """Return when the warm-up of each flow is over, if it is inside the mean of its goodput."""
    values: Values = {}
    if run.flows is None:
        return values
    for flow, series in run.flows.series("flow", "goodput_bps").items():
        active = series.active()
        found = warm_up_in_mean(active.times_s, active.values, from_s=warm_up_s)
        if found is not None:
            values["warm_up_s", flow] = found.end_s
    if values:
        values["warm_up_s", ""] = max(values.values())
    return values


def of_links(run: Sampled, warm_up_s: float) -> Values:
    """Return the measures of each link, and of the run."""
    values: Values = {}
    links, every = run.totals["links"], run.links
    lost = arrived = 0.0
    later = {} if every is None else _of_sampled_links(every, warm_up_s)
    for link in links:
        of = link["name"]
        found: dict[str, Any] = dict(link)
        found |= {name: by_link[of] for name, by_link in later.items() if of in by_link}
        if "queue_mean_packets" in found:
            values["queue_mean_packets", of] = found["queue_mean_packets"]
        values["queue_max_packets", of] = found["queue_max_packets"]
        values["utilisation", of] = link["utilisation"]
        if warm_up_s > 0 and every is not None:
            begin_s, end_s = _covered(every, warm_up_s)
            values["utilisation", of] = _ratio(
                8 * found["delivered_bytes"], link["rate_bps"] * (end_s - begin_s)
            )
        values["link_loss", of] = _ratio(found["drops"], found["arrivals"])
        values["marks", of] = _ratio(found["marks"], found["delivered"])
        lost += found["drops"]
        arrived += found["arrivals"]
    values["link_loss", ""] = _ratio(lost, arrived)
    for name in ("utilisation", "queue_mean_packets", "queue_max_packets", "marks"):
        each = [values.get((name, link["name"]), NAN) for link in links]
        values[name, ""] = _largest(each)
    return values


def _of_sampled_links(every: Samples, warm_up_s: float) -> dict[str, dict[str, float]]:
    """Return values from samples, by measure and link; totals only with a warm-up."""
    counted = _counted(every, warm_up_s)
    found = {"queue_mean_packets": every.groups("link").means(every["queue_packets"], counted)}
    if warm_up_s > 0:
        sampled = every.after(warm_up_s)
        by_link = sampled.groups("link")
        found["queue_max_packets"] = by_link.largest(sampled["queue_packets"])
        for name in ("arrivals", "drops", "marks", "delivered", "delivered_bytes"):
            found[name] = by_link.sums(sampled[name])
    return found


def _counted(samples: Samples, warm_up_s: float) -> NDArray[np.float64]:
    """Return how much each sample counts in a mean over time after the warm-up."""
    return np.where(samples["time_s"] > warm_up_s, samples.shares(), 0.0)


def _covered(samples: Samples, warm_up_s: float) -> tuple[float, float]:
    """Return when the interval of the first sample after the warm-up begins, and the last ends."""
    times = samples["time_s"]
    return float(times[times <= warm_up_s].max(initial=0.0)), float(times.max(initial=0.0))


def _ratio(part: float, of: float) -> float:
    return float(part) / float(of) if of else NAN


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return float(np.add.reduce(known) / len(known)) if known else NAN


def _largest(values: Iterable[float]) -> float:
    return float(max((value for value in values if not math.isnan(value)), default=NAN))


def _weighted(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    known = ~np.isnan(values) & (weights > 0)
    counted = weights[known]
    return float(np.dot(values[known], counted) / counted.sum()) if counted.size else NAN
