"""The measures of the matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skywave.matrix.axes import CALLS, NETWORKS
from skywave.matrix.runs import (
    BOTTLENECK,
    CALL,
    CODEC,
    LATE,
    SAMPLE_MS,
    Run,
    flow_names,
)
from skywave.results import Results, emodel
from skywave.results.fairness import jain

Floats = NDArray[np.float64]

FAIR_PERCENT = 80
"""Share of an equal part of the total rate above which a late flow counts as having its share."""
HOLD_S = 10.0
"""The time for which it must keep that share, at least."""


@dataclass(frozen=True)
class Measure:
    """A quantity of a cell, which the page defines.

    ``scale`` is the pair of values that a heat map shows as worst and best. Colours show the
    distance from the best.
    """

    label: str
    unit: str
    scale: tuple[float, float]

    @property
    def title(self) -> str:
        """The label with the unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


MEASURES = {
    "utilisation": Measure("Utilisation", "%", (50, 100)),
    "jain": Measure("Jain's index", "", (0.5, 1)),
    "queue": Measure("Mean queue", "ms", (300, 0)),
    "loss": Measure("Loss", "%", (10, 0)),
    "convergence": Measure("Time to fair share", "s", (60, 0)),
    "share": Measure("Share beside TCP", "%", (0, 50)),
    **{
        f"voice{beside}": Measure(
            f"R of a call beside {beside} TCP flow{'s' if beside > 1 else ''}", "", (0, 90)
        )
        for beside in range(1, max((call.flows for call in CALLS.values()), default=0) + 1)
    },
}
"""All measures by key, in display order."""
VOICE = tuple(key for key in MEASURES if key.startswith("voice"))

Values = dict[str, float | None]
"""Values by measure; None if the event did not happen before the end of the run."""


def values(run: Run, results: Results) -> Values:
    """Return the measures of a run."""
    match run.kind:
        case "alone":
            return _alone(run, results)
        case "beside":
            return {"share": _share(run, results)}
        case "voice":
            return _voice(results, CALLS[run.network].gap_s)


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
    """Return how long after its start the last flow reaches its fair share, in seconds.

    ``rates`` has a row per flow and a column per sample; ``late`` selects the samples after the
    start of the last flow. None if it never reaches its share.
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
    periods = emodel.quality(results.voice, CALL, CODEC, period_s=gap_s)
    # Only the call sends in the first period.
    beside = {round(quality.start_s / gap_s): quality.r for quality in periods}
    return {key: beside[number] for number, key in enumerate(VOICE, start=1) if number in beside}


def _within(time_s: Floats, from_s: float, to_s: float) -> NDArray[np.bool_]:
    return (time_s > from_s) & (time_s <= to_s)


def _by_flow(results: Results, column: str, names: list[str]) -> Floats:
    """Return a column of the bottleneck's samples, with one row per flow in ``names``."""
    table = results.flows_at(BOTTLENECK)
    flows = table["flow"].combine_chunks()
    order = {name: row for row, name in enumerate(flows.dictionary.to_pylist())}
    codes = flows.indices.to_numpy()
    samples = table[column].to_numpy()
    return np.array([samples[codes == order[name]] for name in names], dtype=np.float64)
