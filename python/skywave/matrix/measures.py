"""What is measured of a run, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave import emodel
from skywave.fairness import jain
from skywave.matrix.networks import CALLS, NETWORKS
from skywave.matrix.runs import (
    BOTTLENECK,
    CALL,
    CODEC,
    DEADLINE_MS,
    FRAME_MS,
    LATE,
    SAMPLE_MS,
    flow_names,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from skywave.matrix.runs import Run
    from skywave.results import Results

    Floats = NDArray[np.float64]

FAIR_PERCENT = 80
"""Of an equal share: from there on a late flow counts as having its share."""
HOLD_S = 10.0
"""For so long at least."""


@dataclass(frozen=True)
class Measure:
    """A quantity of a cell.

    ``scale`` are the values that a heat map shows as worst and as best; colours go by the distance
    from the best.
    """

    key: str
    label: str
    unit: str
    definition: str
    scale: tuple[float, float]

    @property
    def title(self) -> str:
        """The label with the unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


MEASURES = {
    measure.key: measure
    for measure in (
        Measure(
            "utilisation",
            "Utilisation",
            "%",
            "What leaves over the bottleneck, of what it could carry.",
            (50, 100),
        ),
        Measure(
            "jain",
            "Jain's index",
            "",
            "Among the control's flows: 1 where all have the same rate, 1/n where one of n has "
            "everything. (Round-trip times differ in Chen 2010 only.)",
            (0.5, 1),
        ),
        Measure(
            "queue",
            "Mean queue",
            "ms",
            "How long the bottleneck takes at its full rate for what waits before it.",
            (300, 0),
        ),
        Measure(
            "loss",
            "Loss",
            "%",
            "Packets of the control's flows that the bottleneck loses, to its queue or to errors, "
            "of those that arrive there.",
            (10, 0),
        ),
        Measure(
            "convergence",
            "Time to fair share",
            "s",
            f"How long after its beginning a late flow has its share: from then on it has at least "
            f"{FAIR_PERCENT} % of what an equal part of all flows' rate would be, over the next "
            f"{HOLD_S:g} s and over all the rest of the run. A value with > is a lower bound: with "
            "some seeds (their number follows in parentheses) it did not happen before the run's "
            "end, and the mean counts these as if it had happened then.",
            (60, 0),
        ),
        Measure(
            "share",
            "Share beside TCP",
            "%",
            "What the control's flows have of all that they and as many flows of TCP NewReno "
            "have; 50 is an equal share. Controls that need routers of their own have a sub-queue "
            "of their own there, of the same weight as TCP's, in which coexistence is safe: 50 is "
            "what the weights guarantee each side, and less is what the control leaves to TCP.",
            (0, 50),
        ),
        *(
            Measure(
                f"voice{beside}",
                f"R of a call beside {beside} TCP flow{'s' if beside > 1 else ''}",
                "",
                "The E-model's rating of a one-way call, 70 and more being usable, while so many "
                f"TCP flows send. It is a {CODEC.name} call ({FRAME_MS} ms in a packet, played "
                f"{DEADLINE_MS} ms after it was made). Over DCCP the call has the control and the "
                "TCP flows are NewReno; a control of TCP is that of the flows, and the call is "
                "over UDP. With routers for a load factor the DCCP call has its sub-queue, and the "
                "UDP call shares the queue of the TCP flows.",
                (0, 90),
            )
            for beside in range(1, max((call.flows for call in CALLS.values()), default=0) + 1)
        ),
    )
}
"""All measures by their key, in the order in which they are shown."""
VOICE = tuple(key for key in MEASURES if key.startswith("voice"))

Values = dict[str, float | None]
"""Values by measure; None where what is measured did not happen before the end of the run."""


def values(run: Run, results: Results) -> Values:
    """Measure a run."""
    match run.kind:
        case "alone":
            return _alone(run, results)
        case "beside":
            return {"share": _share(run, results)}
        case "voice":
            return _voice(results, CALLS[run.network].gap_s)


def observed_s(run: Run) -> float:
    """For how long one could have seen a late flow with its fair share."""
    return run.duration_s - run.late_s


def _alone(run: Run, results: Results) -> Values:
    network = NETWORKS[run.network]
    names = flow_names("control", network.flows)
    link = results.at_link(BOTTLENECK)
    measured = _within(link["time_s"].to_numpy(), run.warm_s, run.late_s)
    trace = network.trace and network.trace(run.seed, run.duration_s)
    capacity = network.capacity_bps(trace, run.warm_s, run.late_s)
    arrivals, drops, rates = (
        _by_flow(results, column, [*names, LATE])
        for column in ("arrivals", "drops", "throughput_bps")
    )
    arrived, dropped = (float(series[:-1, measured].sum()) for series in (arrivals, drops))
    queue = link["queue_bytes"].to_numpy()[measured].mean()
    return {
        "utilisation": 100 * float(link["throughput_bps"].to_numpy()[measured].mean()) / capacity,
        "jain": jain(rates[:-1, measured].mean(axis=1)),
        "queue": 8e3 * float(queue) / network.rate_bps,
        "loss": 100 * dropped / arrived,
        "convergence": convergence_s(rates, link["time_s"].to_numpy() > run.late_s),
    }


def convergence_s(rates: Floats, late: NDArray[np.bool_]) -> float | None:
    """Return from when on the last flow has its fair share, counted from its beginning.

    ``rates`` has a row for each flow and a column for each sample, of which those of ``late`` are
    after the beginning of the last flow. None where it never has.
    """
    own, all_flows = rates[-1, late], rates[:, late].sum(axis=0)
    hold = round(HOLD_S * 1e3 / SAMPLE_MS)
    if own.size < hold:
        return None
    enough = FAIR_PERCENT / 100 * all_flows / rates.shape[0]
    surplus = np.concatenate(([0.0], np.cumsum(own - enough)))
    soon = surplus[hold:] - surplus[:-hold] >= 0
    later = surplus[-1] - surplus[:-hold] >= 0
    (when,) = np.nonzero(soon & later)
    return float(when[0] * SAMPLE_MS / 1e3) if when.size else None


def _share(run: Run, results: Results) -> float:
    half = NETWORKS[run.network].flows // 2
    link = results.at_link(BOTTLENECK)
    measured = _within(link["time_s"].to_numpy(), run.warm_s, run.late_s)
    own, tcp = (
        float(_by_flow(results, "delivered_bytes", flow_names(kind, half))[:, measured].sum())
        for kind in ("control", "tcp")
    )
    return 100 * own / (own + tcp)


def _voice(results: Results, gap_s: int) -> Values:
    periods = emodel.quality(
        results,
        CALL,
        CODEC,
        playout_s=DEADLINE_MS / 1e3,
        packet_s=FRAME_MS / 1e3,
        period_s=gap_s,
    )
    # In the first period nobody else sends.
    beside = {round(quality.start_s / gap_s): quality.r for quality in periods}
    return {key: beside[number] for number, key in enumerate(VOICE, start=1) if number in beside}


def _within(time_s: Floats, from_s: float, to_s: float) -> NDArray[np.bool_]:
    return (time_s > from_s) & (time_s <= to_s)


def _by_flow(results: Results, column: str, names: list[str]) -> Floats:
    """Return a column of the bottleneck's samples with a row for each of these flows."""
    table = results.flows_at(BOTTLENECK)
    flows = table["flow"].combine_chunks()
    order = {name: row for row, name in enumerate(flows.dictionary.to_pylist())}
    codes = flows.indices.to_numpy()
    samples = table[column].to_numpy()
    return np.array([samples[codes == order[name]] for name in names], dtype=np.float64)
