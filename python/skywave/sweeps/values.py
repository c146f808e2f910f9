"""The measures of a run: how they follow from its results."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from skywave.fairness import jain
from skywave.samples import Samples, by_name
from skywave.stats import warm_up_in_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skywave.results import FlowSummary, Results

    Values = dict[tuple[str, str], float]
    """Values by measure and by what they are of: a flow, a link, or "" for the run."""

NO_ROWS = np.zeros(0, dtype=np.intp)


def of_flows(results: Results, warm_up_s: float) -> Values:
    """Return the measures of each flow, and of the run."""
    summary = results.summary
    flows = summary["flows"]
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
    sampled = _sampled(results, "flows", warm_up_s)
    if sampled:
        _of_samples(values, sampled, flows, summary["duration_s"], warm_up_s)
    goodputs = [values["goodput_bps", flow["name"]] for flow in flows]
    values["goodput_bps", ""] = float(sum(goodputs))
    values["jain", ""] = jain(goodputs)
    values["loss", ""] = _ratio(
        sum(flow["drops"] for flow in flows), sum(flow["packets_sent"] for flow in flows)
    )
    for name in ("retransmissions_packets", "timeouts"):
        values[name, ""] = float(sum(values[name, flow["name"]] for flow in flows))
    limited = [values["receive_window_limited", flow["name"]] for flow in flows]
    values["receive_window_limited", ""] = _largest(np.array(limited))
    _of_calls(values, results, warm_up_s)
    _of_transfers(values, results, warm_up_s)
    return values


def _of_samples(
    values: Values,
    sampled: Samples,
    flows: list[FlowSummary],
    duration_s: float,
    warm_up_s: float,
) -> None:
    rows = sampled.rows("flow")
    packets = sampled["delivered_packets"]
    for flow in flows:
        of = flow["name"]
        own = rows.get(of, NO_ROWS)
        if warm_up_s > 0:
            delivered = float(sampled["delivered_bytes"][own].sum())
            active_s = min(flow["active_s"], duration_s - warm_up_s)
            values["goodput_bps", of] = _ratio(8 * delivered, active_s)
        values["delay_mean_s", of] = _weighted(sampled["delay_mean_s"][own], packets[own])
        values["delay_max_s", of] = _largest(sampled["delay_max_s"][own])
        values["srtt_mean_s", of] = _mean(sampled["srtt_s"][own])
        values["cwnd_mean_packets", of] = _mean(sampled["cwnd_packets"][own])
    values["delay_mean_s", ""] = _weighted(sampled["delay_mean_s"], packets)
    values["delay_max_s", ""] = _largest(sampled["delay_max_s"])
    for name in ("srtt_mean_s", "cwnd_mean_packets"):
        values[name, ""] = _mean(np.array([values[name, flow["name"]] for flow in flows]))


def _of_calls(values: Values, results: Results, warm_up_s: float) -> None:
    sampled = _sampled(results, "voice", warm_up_s)
    if sampled is None:
        return
    played, frames = sampled["played"], sampled["frames"]
    values["played", ""] = _ratio(played.sum(), frames.sum())
    for of, own in sampled.rows("flow").items():
        values["played", of] = _ratio(played[own].sum(), frames[own].sum())


def _of_transfers(values: Values, results: Results, warm_up_s: float) -> None:
    sampled = _sampled(results, "transfers", warm_up_s, "start_s")
    if sampled is None:
        return
    times = sampled["finish_s"] - sampled["start_s"]
    values["transfer_mean_s", ""] = _mean(times)
    for of, own in sampled.rows("flow").items():
        values["transfer_mean_s", of] = _mean(times[own])


def warm_ups(results: Results, warm_up_s: float) -> Values:
    """Return when the warm-up of each flow is over, if it is inside the mean of its goodput."""
    values: Values = {}
    if "flows" not in results.tables:
        return values
    for flow, series in by_name(results.flows, "flow", "goodput_bps").items():
        found = warm_up_in_mean(series.times_s, series.values, from_s=warm_up_s)
        if found is not None:
            values["warm_up_s", flow] = found.end_s
    if values:
        values["warm_up_s", ""] = max(values.values())
    return values


def of_links(results: Results, warm_up_s: float) -> Values:
    """Return the measures of each link, and of the run."""
    values: Values = {}
    summary = results.summary
    totals: dict[str, float] = defaultdict(float)
    sampled = _sampled(results, "links", warm_up_s)
    rows = sampled.rows("link") if sampled else {}
    for link in summary["links"]:
        of = link["name"]
        arrivals, drops = float(link["arrivals"]), float(link["drops"])
        marks, delivered = float(link["marks"]), float(link["delivered"])
        values["utilisation", of] = link["utilisation"]
        values["queue_max_packets", of] = link["queue_max_packets"]
        if sampled and of in rows:
            own = rows[of]
            values["queue_mean_packets", of] = _mean(sampled["queue_packets"][own])
            if warm_up_s > 0:
                values["queue_max_packets", of] = _largest(sampled["queue_packets"][own])
                arrivals, drops, marks, delivered, carried = (
                    float(sampled[name][own].sum())
                    for name in ("arrivals", "drops", "marks", "delivered", "delivered_bytes")
                )
                time_s = summary["duration_s"] - warm_up_s
                values["utilisation", of] = _ratio(8 * carried, link["rate_bps"] * time_s)
        values["link_loss", of] = _ratio(drops, arrivals)
        values["marks", of] = _ratio(marks, delivered)
        totals["arrivals"] += arrivals
        totals["drops"] += drops
    values["link_loss", ""] = _ratio(totals["drops"], totals["arrivals"])
    for name in ("utilisation", "queue_mean_packets", "queue_max_packets", "marks"):
        each = [value for (measure, _), value in values.items() if measure == name]
        values[name, ""] = _largest(np.array(each))
    return values


def _sampled(
    results: Results, table: str, warm_up_s: float, times: str = "time_s"
) -> Samples | None:
    """Return the samples of a table after the warm-up; None if it was not measured."""
    found = results.tables.get(table)
    return None if found is None else Samples(found).after(warm_up_s, times)


def _ratio(part: float, of: float) -> float:
    return float(part) / float(of) if of else float("nan")


def _mean(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def _largest(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.max()) if known.size else float("nan")


def _weighted(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    known = ~np.isnan(values) & (weights > 0)
    if not known.any():
        return float("nan")
    return float(np.dot(values[known], weights[known]) / weights[known].sum())
