"""Beyond the paper: how voice and TCP could share the link.

The paper's scenario 1 with other transports for the call, with CUBIC, and with other queues at the
bottleneck. The report shows which calls are usable and what they cost TCP.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve
from matplotlib.cm import ScalarMappable
from matplotlib.colors import TwoSlopeNorm

from skywave.report.figures import GOOD_AND_BAD, begin, heat_map, write_in_cell
from skywave.results import emodel
from skywave.scenario import (
    Adapt,
    CoDel,
    Dccp,
    DynamicFeedback,
    FqCoDel,
    Queue,
    Red,
    Scenario,
    Tfrc,
    Transport,
    Udp,
    Voice,
)
from skywave_papers.lien2009 import setting
from skywave_papers.lien2009.setting import (
    DEADLINE_S,
    DURATION_S,
    GAP_S,
    INTERVAL_S,
    STREAMS,
    TCPS,
    VOICE,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from skywave.results import Results

    Floats = NDArray[np.float64]

SEEDS = range(1, 4)
CODEC = emodel.G711
"""The best of the codecs with known parameters. Where it is not usable, none of them is."""
ADAPTIVE_FRAMES = int(0.12 / INTERVAL_S)
"""Maximum frames per datagram: 120 ms of speech, which leaves about as much time for a queue."""

QUEUES: dict[str, Queue] = {
    "drop-tail": setting.QUEUE,
    "RED": Red(packets=19, min_threshold=5, max_threshold=15, mean_packet="1500 B", ecn=False),
    # A segment takes 48 ms here. RFC 8290 section 5.2.1 recommends a target of at least that.
    "CoDel": CoDel(packets=19, target="50 ms", interval="200 ms", ecn=False),
    "FQ-CoDel": FqCoDel(packets=19, target="50 ms", interval="200 ms", ecn=False),
}

LONG_QUEUES = ("drop-tail", "RED")
"""The queues that a loss-based TCP fills."""


@dataclass(frozen=True)
class Call:
    """The transport of a call, and whether its source adapts."""

    transport: Transport
    adapts: bool = False


def _dccp(ccid: int, *, tfrc: Tfrc | None = None) -> Dccp:
    return Dccp(ccid=ccid, profile="rfc", tfrc=tfrc, short_seqnos=True, ecn=False)


CALLS: dict[str, Call] = {
    "UDP": Call(Udp()),
    "CCID 2": Call(_dccp(2)),
    "CCID 3, RFC 3448": Call(_dccp(3, tfrc=Tfrc(rules="rfc3448"))),
    "CCID 3": Call(_dccp(3)),
    "CCID 3, dynamic feedback": Call(
        _dccp(3, tfrc=Tfrc(feedback=DynamicFeedback(rtt_ref="100 ms")))
    ),
    "CCID 4": Call(_dccp(4)),
    "CCID 3, adaptive": Call(_dccp(3), adapts=True),
    "CCID 4, adaptive": Call(_dccp(4), adapts=True),
}


@dataclass(frozen=True)
class Case:
    """A combination of queue, TCP and call. Without a call TCP is alone."""

    queue: str
    tcp: str
    call: str | None


CASES = tuple(Case(queue, tcp, call) for queue in QUEUES for call in (None, *CALLS) for tcp in TCPS)


@dataclass(frozen=True)
class Outcome:
    """Means and standard deviations over seeds of one combination.

    ``rating`` is R by period, from 10 s on; ``rating_sd`` is that of its mean over the periods.
    ``cost_percent`` is the total goodput that the TCP flows lose, relative to theirs alone.
    """

    rating: Floats
    rating_sd: float
    cost_percent: float
    cost_sd: float

    @property
    def usable(self) -> int:
        """The number of TCP flows, from one up, beside which the call is usable throughout."""
        usable = self.rating >= emodel.USABLE_R
        return int(usable.size if usable.all() else np.argmin(usable))


def scenario(case: Case, seed: int) -> Scenario:
    """Return the scenario of one run: scenario 1 with the queue and call of ``case``."""
    description = setting.scenario(setting.Conditions(case.tcp), seed)
    description.name = f"lien2009-beyond-{seed}"
    bottleneck, *access = description.links
    description.links = [evolve(bottleneck, queue=QUEUES[case.queue]), *access]
    call, *tcps = description.flows
    if case.call is None:
        description.flows = tcps
        return description
    chosen = CALLS[case.call]
    # Frames are the same for all. On the wire, each transport adds its own headers.
    source = Voice(
        frame=f"{setting.DCCP_FRAME_B} B",
        interval=f"{round(INTERVAL_S * 1e9)} ns",
        header="0 B",
        deadline=f"{DEADLINE_S * 1e3:g} ms",
        adapt=Adapt(frames=ADAPTIVE_FRAMES) if chosen.adapts else None,
    )
    description.flows = [evolve(call, transport=chosen.transport, source=source), *tcps]
    return description


def outcomes(results: Mapping[tuple[Case, int], Results]) -> dict[Case, Outcome]:
    """Return the outcome of every combination that has a call."""
    goodput = {key: _tcp_goodput(run) for key, run in results.items()}
    found = {}
    for case in CASES:
        if case.call is None:
            continue
        ratings = np.array([_ratings(results[case, seed]) for seed in SEEDS])
        costs = [
            100 * (1 - goodput[case, seed] / goodput[replace(case, call=None), seed])
            for seed in SEEDS
        ]
        found[case] = Outcome(
            rating=ratings.mean(axis=0),
            rating_sd=float(ratings.mean(axis=1).std(ddof=1)),
            cost_percent=float(np.mean(costs)),
            cost_sd=float(np.std(costs, ddof=1)),
        )
    return found


def _tcp_goodput(results: Results) -> float:
    return sum(flow["delivered_bytes"] for flow in results.totals["flows"] if flow["name"] != VOICE)


def _ratings(results: Results) -> list[float]:
    periods = emodel.quality(results.voice, VOICE, CODEC, period_s=GAP_S)
    return [quality.r for quality in periods[1 : DURATION_S[1] // GAP_S]]


def tables(found: Mapping[Case, Outcome]) -> dict[str, Any]:
    """Return the values of the report's section."""
    return {
        "tcps": list(TCPS),
        "seeds": len(SEEDS),
        "codec": CODEC.name,
        "best": emodel.rating(CODEC, DEADLINE_S + INTERVAL_S, 0),
        "adaptive_frames": ADAPTIVE_FRAMES,
        "usable_r": emodel.USABLE_R,
        "nearest": nearest_behind_long_queues(found),
        "usable": [
            {
                "queue": queue,
                "combinations": len(CALLS) * len(TCPS),
                "beside": [
                    sum(
                        found[Case(queue, tcp, call)].usable >= flows
                        for call in CALLS
                        for tcp in TCPS
                    )
                    for flows in range(1, STREAMS + 1)
                ],
            }
            for queue in QUEUES
        ],
        "rows": [
            {
                "queue": queue,
                "call": call,
                "outcomes": [found[Case(queue, tcp, call)] for tcp in TCPS],
            }
            for queue in QUEUES
            for call in CALLS
        ],
    }


@dataclass(frozen=True)
class Nearest:
    """The best call beside one TCP flow."""

    case: Case
    rating: float


def nearest_behind_long_queues(found: Mapping[Case, Outcome]) -> Nearest:
    """Return the best call with drop-tail or RED."""
    case = max(
        (case for case in found if case.queue in LONG_QUEUES),
        key=lambda case: float(found[case].rating[0]),
    )
    return Nearest(case, float(found[case].rating[0]))


def draw(found: Mapping[Case, Outcome]) -> Figure:
    """Draw R of all combinations beside one TCP flow and beside five."""
    figure = begin((6.5, 7.4))
    # Space for the names of transports, the slanted names of TCPs, and the colour bar.
    figure.subplots_adjust(left=0.22, bottom=0.08, right=0.89, wspace=0.06, hspace=0.2)
    panels = figure.subplots(len(QUEUES), 2, sharex=True, sharey=True)
    norm = TwoSlopeNorm(vmin=0, vcenter=emodel.USABLE_R, vmax=90)
    for row, queue in enumerate(QUEUES):
        for axes, period, beside in zip(
            panels[row], (0, -1), ("one TCP flow", "five TCP flows"), strict=True
        ):
            ratings = np.array(
                [[found[Case(queue, tcp, call)].rating[period] for tcp in TCPS] for call in CALLS]
            )
            heat_map(axes, ratings, CALLS, TCPS, norm=norm)
            _annotate(axes, ratings)
            axes.set_title(f"{queue}, beside {beside}", loc="left")
            axes.set_xticks(axes.get_xticks(), TCPS, rotation=45, ha="right")
            axes.tick_params(labelsize=7)
    figure.colorbar(
        ScalarMappable(norm, GOOD_AND_BAD),
        cax=figure.add_axes((0.91, 0.4, 0.015, 0.25)),
        label="R",
        ticks=[0, 25, 50, emodel.USABLE_R, 90],
    )
    return figure


def _annotate(axes: Any, ratings: Floats) -> None:
    for (row, column), value in np.ndenumerate(ratings):
        dark = value < emodel.USABLE_R / 4
        write_in_cell(
            axes,
            row,
            column,
            f"{value:.0f}",
            fontsize=6.5,
            color="white" if dark else "black",
            fontweight="bold" if value >= emodel.USABLE_R else "normal",
        )


def plan() -> dict[tuple[Case, int], Scenario]:
    """Return the scenarios of all runs."""
    return {(case, seed): scenario(case, seed) for case in CASES for seed in SEEDS}
