"""The measures of a run: what they mean, and how they follow from its results."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from attrs import field, frozen

from skywave import columns
from skywave.fairness import jain
from skywave.stats import warm_up_in_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from skywave.results import FlowSummary, Results

    Rows = slice | NDArray[np.bool_]
    Values = dict[tuple[str, str], float]
    """Values by measure and by what they are of: a flow, a link, or "" for the run."""

DEFAULT = ("goodput", "jain", "loss", "delay_mean", "queue_mean", "utilisation")
"""The measures of a table, by default."""


ALL, NONE = slice(None), slice(0)


@frozen
class Measure:
    """A measure. Its name is that of its column."""

    name: str
    of: Literal["flow", "link", "run"]
    meaning: str
    whole: str
    """What the value of the whole run is."""


MEASURES = {
    measure.name: measure
    for measure in (
        Measure(
            "goodput_bps",
            "flow",
            "Application data delivered, as a rate over the flow's active time; with a warm-up, "
            "over what is left of it at the end of the run",
            "the sum over all flows",
        ),
        Measure("jain", "run", "Jain's index of the flows' goodput: 1 if all are equal", "itself"),
        Measure(
            "loss",
            "flow",
            "Packets that links lost, in both directions, as a fraction of the data packets sent, "
            "in the whole run",
            "the same over all flows",
        ),
        Measure(
            "delay_mean_s",
            "flow",
            "Mean one-way delay of the data packets that arrived",
            "the same over all flows",
        ),
        Measure("delay_max_s", "flow", "The largest of these delays", "the largest of all flows"),
        Measure("srtt_mean_s", "flow", "Mean of the samples of srtt", "the mean over all flows"),
        Measure(
            "cwnd_mean_packets", "flow", "Mean of the samples of cwnd", "the mean over all flows"
        ),
        Measure(
            "retransmissions_packets",
            "flow",
            "Packets sent again, in the whole run",
            "the sum over all flows",
        ),
        Measure("timeouts", "flow", "Timeouts, in the whole run", "the sum over all flows"),
        Measure(
            "receive_window_limited",
            "flow",
            "The fraction of the flow's active time in which only its receive window kept data "
            "back, in the whole run",
            "the largest of all flows",
        ),
        Measure(
            "played",
            "flow",
            "Voice frames played in time, as a fraction of those that the codec made",
            "the same over all calls",
        ),
        Measure(
            "transfer_mean_s",
            "flow",
            "Mean time of a complete transfer of web traffic",
            "the same over all flows",
        ),
        Measure(
            "utilisation",
            "link",
            "Delivered bytes as a fraction of what the link could have carried",
            "the largest of all links",
        ),
        Measure(
            "queue_mean_packets",
            "link",
            "Mean of the samples of the queue",
            "the largest of all links",
        ),
        Measure(
            "queue_max_packets",
            "link",
            "The largest sample of the queue",
            "the largest of all links",
        ),
        Measure(
            "link_loss",
            "link",
            "Packets that the link lost, as a fraction of those that arrived at it",
            "the same over all links",
        ),
        Measure(
            "marks",
            "link",
            "Packets that the link marked, as a fraction of those that it delivered",
            "the largest of all links",
        ),
        Measure(
            "warm_up_s",
            "flow",
            "When the warm-up of the goodput is over, by MSER-5, if it is inside its mean; only of "
            "the first seed",
            "the largest of all flows",
        ),
        Measure("events", "run", "Events that the simulator processed", "itself"),
    )
}


@frozen
class Measuring:
    """What is measured in each run."""

    warm_up_s: float = 0.0
    """What is sampled until then does not count, in seconds."""
    own: Mapping[str, Callable[[Results], float]] = field(factory=dict)
    """Measures of the user's, by name."""

    def identity(self) -> list[object]:
        """Return what values depend on, as JSON.

        Raises:
            ValueError: If the source of a function cannot be found.

        """
        source = inspect.getsource(sys.modules[__name__])
        own = [[name, _source(name, function)] for name, function in sorted(self.own.items())]
        return [self.warm_up_s, hashlib.sha256(source.encode()).hexdigest(), own]

    def values(self, results: Results, *, is_first: bool = False) -> Values:
        """Return all measures of a run. It may be that of the first seed."""
        values: Values = {}
        values |= _of_flows(results, self.warm_up_s)
        values |= _of_links(results, self.warm_up_s)
        if is_first:
            values |= _warm_ups(results, self.warm_up_s)
        values["events", ""] = results.summary["events"]
        for name, function in self.own.items():
            values[name, ""] = float(function(results))
        return values


@frozen
class Asked:
    """What was asked for: a measure of one flow or link, of each, or of the run."""

    measure: str
    of: str
    """A name, "*" for all, or "" for the run."""

    @classmethod
    def parse(cls, text: str, own: Iterable[str] = ()) -> Asked:
        """Parse ``goodput``, ``goodput_bps[voice]`` or ``utilisation[*]``.

        Raises:
            ValueError: If there is no such measure.

        """
        name, bracket, rest = text.strip().partition("[")
        measure = columns.find(name, [*MEASURES, *own])
        if bracket and not (rest.endswith("]") and rest[:-1]):
            raise ValueError(f'"{text}" is not a measure: write it as {name}[FLOW] or {name}[*]')
        if bracket and MEASURES.get(measure, MEASURES["events"]).of == "run":
            raise ValueError(f'"{text}": {name} is a measure of the run: leave out [{rest}')
        return cls(measure, rest[:-1])

    def matches(self, measure: str, of: str) -> bool:
        """Return whether a value belongs to it."""
        return measure == self.measure and (of == self.of or (self.of == "*" and of != ""))


def column_name(measure: str, of: str) -> str:
    """Return the name of the column of a value."""
    return f"{measure}[{of}]" if of else measure


def key_of(column: str) -> tuple[str, str]:
    """Return the measure of a column, and what it is of."""
    measure, _, of = column.partition("[")
    return measure, of.removesuffix("]")


def _source(name: str, function: Callable[..., object]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError) as error:
        raise ValueError(
            f"measure {name}: its source cannot be found ({error}): define it in a module"
        ) from error


def _of_flows(results: Results, warm_up_s: float) -> Values:
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
    sampled = Samples.of(results, "flows", warm_up_s)
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
    packets = sampled["delivered_packets"].astype(np.float64)
    for flow in flows:
        of = flow["name"]
        own = rows.get(of, NONE)
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
    sampled = Samples.of(results, "voice", warm_up_s)
    if sampled is None:
        return
    for of, own in (("", ALL), *sampled.rows("flow").items()):
        values["played", of] = _ratio(sampled["played"][own].sum(), sampled["frames"][own].sum())


def _of_transfers(values: Values, results: Results, warm_up_s: float) -> None:
    sampled = Samples.of(results, "transfers", warm_up_s, "start_s")
    if sampled is None:
        return
    times = sampled["finish_s"] - sampled["start_s"]
    for of, own in (("", ALL), *sampled.rows("flow").items()):
        values["transfer_mean_s", of] = _mean(times[own])


def _warm_ups(results: Results, warm_up_s: float) -> Values:
    values: Values = {}
    sampled = Samples.of(results, "flows", 0.0)
    if sampled is None:
        return values
    for flow, own in sampled.rows("flow").items():
        goodputs = sampled["goodput_bps"][own]
        found = warm_up_in_mean(sampled["time_s"][own], goodputs, from_s=warm_up_s)
        if found is not None:
            values["warm_up_s", flow] = found.end_s
    if values:
        values["warm_up_s", ""] = max(values.values())
    return values


def _of_links(results: Results, warm_up_s: float) -> Values:
    values: Values = {}
    summary = results.summary
    totals: dict[str, float] = defaultdict(float)
    sampled = Samples.of(results, "links", warm_up_s)
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


class Samples:
    """The samples of a table from the end of the warm-up on."""

    def __init__(self, table: pa.Table, counts: Rows) -> None:
        self._table, self._counts = table, counts

    @classmethod
    def of(
        cls, results: Results, table: str, warm_up_s: float, time: str = "time_s"
    ) -> Samples | None:
        """Return those of a table; None if it was not measured."""
        found = results.tables.get(table)
        if found is None:
            return None
        # A sample covers the interval that ends then.
        counts = found[time].to_numpy() > warm_up_s if warm_up_s > 0 else ALL
        return cls(found, counts)

    def __getitem__(self, column: str) -> NDArray[Any]:
        """Return a column of numbers; what is null is NaN."""
        values: NDArray[Any] = self._table[column].to_numpy()
        return values[self._counts]

    def rows(self, column: str) -> dict[str, Rows]:
        """Return the rows of each name in a column."""
        if self._table.num_rows == 0:
            return {}
        coded = self._table[column].combine_chunks()
        codes = coded.indices.to_numpy()[self._counts]
        return {name: codes == code for code, name in enumerate(coded.dictionary.to_pylist())}


def _ratio(part: float, of: float) -> float:
    return float(part) / float(of) if of else float("nan")


def _mean(values: NDArray[Any]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def _largest(values: NDArray[Any]) -> float:
    known = values[~np.isnan(values)]
    return float(known.max()) if known.size else float("nan")


def _weighted(values: NDArray[Any], weights: NDArray[np.float64]) -> float:
    known = ~np.isnan(values) & (weights > 0)
    if not known.any():
        return float("nan")
    return float(np.dot(values[known], weights[known]) / weights[known].sum())
