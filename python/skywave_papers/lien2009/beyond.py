"""Beyond the paper: how voice and TCP could share the link.

The paper's scenario 1 with other transports for the call, with CUBIC, and with other queues at the
bottleneck. The report shows which calls are usable and what they cost TCP.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import TwoSlopeNorm

from skywave.report.figures import GOOD_AND_BAD, begin, heat_map, write_in_cell
from skywave.results import emodel
from skywave.scenario import (
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
)
from skywave_papers.lien2009 import setting
from skywave_papers.lien2009.setting import DURATION_S, GAP_S, TCPS, VOICE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from skywave.results import Results
    from skywave_papers.lien2009.measures import Floats

SEEDS = range(1, 4)
CODEC = emodel.G711
"""The best of the codecs with known parameters. Where it is not usable, none of them is."""
ADAPTIVE_FRAMES = int(0.12 / setting.INTERVAL_S)
"""Maximum frames per datagram: 120 ms of speech, which leaves about as much time for a queue."""

QUEUES: dict[str, Queue] = {
    "drop-tail": setting.QUEUE,
    "RED": Red(packets=19, min_threshold=5, max_threshold=15, mean_packet="1500 B", ecn=False),
    # A segment takes 48 ms here. RFC 8290 section 5.2.1 recommends a target of at least that.
    "CoDel": CoDel(packets=19, target="50 ms", interval="200 ms", ecn=False),
    "FQ-CoDel": FqCoDel(packets=19, target="50 ms", interval="200 ms", ecn=False),
}
_dccp = partial(Dccp, profile="rfc", short_seqnos=True, ecn=False)
_DYNAMIC = Tfrc(feedback=DynamicFeedback(rtt_ref="100 ms"))
CALLS: dict[str, tuple[Transport, int]] = {
    "UDP": (Udp(), 0),
    "CCID 2": (_dccp(ccid=2), 0),
    "CCID 3, RFC 3448": (_dccp(ccid=3, tfrc=Tfrc(rules="rfc3448")), 0),
    "CCID 3": (_dccp(ccid=3), 0),
    "CCID 3, dynamic feedback": (_dccp(ccid=3, tfrc=_DYNAMIC), 0),
    "CCID 4": (_dccp(ccid=4), 0),
    "CCID 3, adaptive": (_dccp(ccid=3), ADAPTIVE_FRAMES),
    "CCID 4, adaptive": (_dccp(ccid=4), ADAPTIVE_FRAMES),
}
"""The transports of calls, and how many frames their sources put into a datagram if they adapt."""
ALONE = "no call"
Case: TypeAlias = tuple[str, str, str]
"""A queue, a call or ``ALONE``, and a TCP."""


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
        return int(np.logical_and.accumulate(self.rating >= emodel.USABLE_R).sum())


def plan() -> dict[tuple[Case, int], Scenario]:
    """Return the scenarios of all runs."""
    cases = itertools.product(QUEUES, (ALONE, *CALLS), TCPS)
    return {(case, seed): scenario(case, seed) for case in cases for seed in SEEDS}


def scenario(case: Case, seed: int) -> Scenario:
    """Return the scenario of one run: scenario 1 with the queue and call of ``case``."""
    queue, call, tcp = case
    description = setting.scenario(setting.Conditions(tcp), seed)
    description.name = f"lien2009-beyond-{seed}"
    description.links[0] = description.links[0].replace(queue=QUEUES[queue])
    flow = description.flows.pop(0)
    if call != ALONE:
        transport, adaptive_frames = CALLS[call]
        # Frames are the same for all. On the wire, each transport adds its own headers.
        source = setting.voice(setting.DCCP_FRAME_B, adaptive_frames=adaptive_frames)
        description.flows.insert(0, flow.replace(transport=transport, source=source))
    return description


def outcomes(results: Mapping[tuple[Case, int], Results]) -> dict[Case, Outcome]:
    """Return the outcome of every combination that has a call."""
    goodput = {
        key: sum(flow["delivered_bytes"] for flow in run.totals["flows"] if flow["name"] != VOICE)
        for key, run in results.items()
    }
    found = {}
    for queue, call, tcp in itertools.product(QUEUES, CALLS, TCPS):
        case, alone = (queue, call, tcp), (queue, ALONE, tcp)
        ratings = np.array([_ratings(results[case, seed]) for seed in SEEDS])
        costs = [100 * (1 - goodput[case, seed] / goodput[alone, seed]) for seed in SEEDS]
        found[case] = Outcome(
            rating=ratings.mean(axis=0),
            rating_sd=float(ratings.mean(axis=1).std(ddof=1)),
            cost_percent=float(np.mean(costs)),
            cost_sd=float(np.std(costs, ddof=1)),
        )
    return found


def _ratings(results: Results) -> list[float]:
    periods = emodel.quality(results.voice, VOICE, CODEC, period_s=GAP_S)
    return [quality.r for quality in periods[1 : DURATION_S[1] // GAP_S]]


def usable(found: Mapping[Case, Outcome], queue: str, flows: int) -> int:
    """Return with how many calls and TCPs a call behind ``queue`` is usable beside ``flows``."""
    return sum(one.usable >= flows for case, one in found.items() if case[0] == queue)


def nearest(found: Mapping[Case, Outcome]) -> tuple[Case, float]:
    """Return the best call beside one flow, behind the queues that a loss-based TCP fills."""
    ratings = {
        case: float(one.rating[0]) for case, one in found.items() if case[0] in ("drop-tail", "RED")
    }
    return max(ratings.items(), key=lambda item: item[1])


def draw(found: Mapping[Case, Outcome]) -> Figure:
    """Draw R of all combinations beside one TCP flow and beside five."""
    figure = begin((6.5, 7.4))
    # Space for the names of transports, the slanted names of TCPs, and the colour bar.
    figure.subplots_adjust(left=0.22, bottom=0.08, right=0.89, wspace=0.06, hspace=0.2)
    panels = figure.subplots(len(QUEUES), 2, sharex=True, sharey=True)
    norm = TwoSlopeNorm(vmin=0, vcenter=emodel.USABLE_R, vmax=90)
    shown = itertools.product(QUEUES, ((0, "one TCP flow"), (-1, "five TCP flows")))
    for axes, (queue, (period, beside)) in zip(panels.flat, shown, strict=True):
        ratings = np.array(
            [[found[queue, call, tcp].rating[period] for tcp in TCPS] for call in CALLS]
        )
        heat_map(axes, ratings, CALLS, TCPS, norm=norm)
        for (row, column), value in np.ndenumerate(ratings):
            write_in_cell(
                axes,
                row,
                column,
                f"{value:.0f}",
                fontsize=6.5,
                color="white" if value < emodel.USABLE_R / 4 else "black",
                fontweight="bold" if value >= emodel.USABLE_R else "normal",
            )
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
