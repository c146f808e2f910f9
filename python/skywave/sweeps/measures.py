"""The list of measures of a run, with their meanings."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from skywave import _core
from skywave.results import Results, columns, emodel, samples
from skywave.sweeps import values
from skywave.sweeps.values import Sampled, Start, Values, of_flows, of_links, warm_ups

DEFAULT = ("goodput", "jain", "loss", "delay_mean", "queue_mean", "utilisation")
"""The measures of a table, by default."""
COLUMNS = ("run", "seed", "fingerprint", "wall_s")
"""The columns of a table that are no dimensions or measures."""


@dataclass(frozen=True)
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
            "over the part of it after the warm-up",
            "the sum over all flows",
        ),
        Measure("jain", "run", "Jain's index of the flows' goodput: 1 if all are equal", "itself"),
        Measure(
            "loss",
            "flow",
            "Packets lost by links, in both directions, as a fraction of the data packets sent, "
            "warm-up included",
            "the same over all flows",
        ),
        Measure(
            "delay_mean_s",
            "flow",
            "Mean one-way delay of the data packets that arrived",
            "the same over all flows",
        ),
        Measure("delay_max_s", "flow", "The largest of these delays", "the largest of all flows"),
        Measure(
            "srtt_mean_s",
            "flow",
            "Mean of the samples of srtt from the flow's first data to its last",
            "the mean over all flows",
        ),
        Measure(
            "cwnd_mean_packets",
            "flow",
            "The same for cwnd; empty for a sender without one, such as CCID 3's",
            "the mean over the flows that have one",
        ),
        Measure(
            "retransmissions_packets",
            "flow",
            "Retransmitted packets, warm-up included",
            "the sum over all flows",
        ),
        Measure("timeouts", "flow", "Timeouts, warm-up included", "the sum over all flows"),
        Measure(
            "receive_window_limited",
            "flow",
            "Fraction of the flow's active time during which only the receive window "
            "kept the sender from sending, warm-up included",
            "the largest of all flows",
        ),
        Measure(
            "played",
            "flow",
            "Voice frames played in time, as a fraction of those that the codec produced",
            "the same over all calls",
        ),
        Measure(
            "mos",
            "flow",
            "Mean opinion score of a call by the E-model (ITU-T G.107), 1 to 4.5, from the "
            "played frames and the source's codec and deadline; empty if the source names no codec",
            "the mean over all calls",
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
            "Delivered bytes as a fraction of the link's capacity",
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
            "Packets lost by the link, as a fraction of those that arrived at it",
            "the same over all links",
        ),
        Measure(
            "marks",
            "link",
            "Packets marked by the link, as a fraction of those that it delivered",
            "the largest of all links",
        ),
        Measure(
            "warm_up_s",
            "flow",
            "Time at which the goodput becomes steady, by MSER-5; empty if the warm-up does not "
            "change the mean. Computed for the first seed only",
            "the largest of all flows",
        ),
        Measure("events", "run", "Events that the simulator processed", "itself"),
    )
}


@dataclass(frozen=True)
class MeasurementPlan:
    """What to measure in each run."""

    warm_up_s: float = 0.0
    """Samples before this time are discarded, in seconds."""
    own: Mapping[str, Callable[[Results], float]] = field(default_factory=dict)
    """User-defined measures, by name."""

    def identity(self) -> list[object]:
        """Return everything that the values depend on, as JSON."""
        source = "".join(map(inspect.getsource, (values, samples, emodel)))
        own = [[name, _source(name, function)] for name, function in sorted(self.own.items())]
        return [self.warm_up_s, hashlib.sha256(source.encode()).hexdigest(), own]

    @property
    def tables(self) -> Sequence[str] | None:
        """The tables that a run needs; None for all."""
        return None if self.own else values.TABLES

    def values(
        self, run: _core.Run, starts: Sequence[Start] = (), *, is_first: bool = False
    ) -> Values:
        """Return all measures of a run. It may be that of the first seed.

        With a warm-up, ``starts`` are those of the flows.
        """
        sampled = Sampled(run)
        found = of_flows(sampled, self.warm_up_s, starts) | of_links(sampled, self.warm_up_s)
        if is_first:
            found |= warm_ups(sampled, self.warm_up_s)
        found["events", ""] = sampled.totals["events"]
        if self.own:
            results = Results.of_core(run)
            for name, function in self.own.items():
                found[name, ""] = float(function(results))
        return found


@dataclass(frozen=True)
class MeasureRequest:
    """A requested measure: of one flow or link, of each, or of the run."""

    measure: str
    of: str
    """A name, "*" for all, or "" for the run."""

    @classmethod
    def parse(cls, text: str, own: Iterable[str] = ()) -> MeasureRequest:
        """Parse ``goodput``, ``goodput_bps[voice]`` or ``utilisation[*]``."""
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
    """Return the measure of a column, and its flow or link."""
    measure, _, of = column.partition("[")
    return measure, of.removesuffix("]")


def _source(name: str, function: Callable[..., object]) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError) as error:
        raise ValueError(
            f"measure {name}: its source cannot be found ({error}): define it in a module"
        ) from error
