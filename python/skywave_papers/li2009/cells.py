"""Published values of Figures 2 to 5 beside ours.

Figures 2 and 4 can be read in two ways. Each published value is judged once, by the reading that
the paper's words support; ``unjudged_cells`` has the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.cells import Cell, Exact, Limit, WithinUnits
from skywave.stats import average
from skywave_papers.li2009 import published, reasons
from skywave_papers.li2009.parking import PERIODS, WARM_S
from skywave_papers.li2009.rules import ABOUT, EFFECT, NEAR, POINTS, UNCHANGED, knee_percent
from skywave_papers.li2009.setting import (
    AGGREGATES,
    DPCP,
    DPCP_DCCP,
    DPCP_TCP,
    FLOWS,
    LOSS_PERCENT,
    LOT_S,
    TPCP,
    VCP,
    VCP_TCP,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave.papers.cells import Rule
    from skywave.papers.reasons import Reason
    from skywave_papers.li2009.dumbbell import Course
    from skywave_papers.li2009.reasons import Transfers
    from skywave_papers.li2009.setting import Carrier, Reading, Scheme
    from skywave_papers.li2009.variants import Dumbbell, Lot


@dataclass(frozen=True)
class Ours:
    """The measurements of all runs: of the parking lots one outcome for each seed."""

    lots: Mapping[tuple[Scheme, Reading], Sequence[Lot]]
    dumbbells: Mapping[Scheme, Sequence[Course]]
    transfers: Transfers


def published_cells(ours: Ours, lots: Sequence[Lot], dumbbells: Sequence[Dumbbell]) -> list[Cell]:
    """Judge every published value; reasons quote the stored parking lots and dumbbells."""
    return [
        *_figure_2(ours, FLOWS, lots),
        *figure_3(ours, dumbbells),
        *_figure_4(ours, DPCP_TCP),
        _gap(ours),
        *figure_5(ours, dumbbells),
    ]


def unjudged_cells(ours: Ours, lots: Sequence[Lot]) -> list[Cell]:
    """Return what the other reading comes to: an aggregate is one sender, or DPCP is over DCCP.

    Each has the id of the published value that it is a reading of.
    """
    return [*_figure_2(ours, AGGREGATES, lots), *_figure_4(ours, DPCP_DCCP)]


def _figure_2(ours: Ours, reading: Reading, lots: Sequence[Lot]) -> list[Cell]:
    """Judge the means over seeds of the parking lot's values."""

    def cell(
        panel: str,
        what: str,
        unit: str,
        value: float,
        found: Sequence[float],
        rule: Rule,
        period: str,
        reason: Reason | None = None,
    ) -> Cell:
        mean = average(found)
        matching = sum(rule.holds(value, one) for one in found)
        return Cell(
            id=f"fig2{panel}",
            what=what,
            conditions={
                "reading": reading.label,
                "period (s)": period,
                "mean": mean.text,
                "seeds that match": f"{matching} of {len(found)}",
            },
            unit=unit,
            published=value,
            ours=mean.mean,
            rule=rule,
            known_reason=reason if reading == FLOWS else None,
        )

    before, after = (f"{start:g}-{end:g}" for start, end in PERIODS)
    vcp, dpcp = ours.lots[VCP, reading], ours.lots[DPCP, reading]
    l0_before, l0_after = published.DPCP_L0_PERCENT
    l2_before, l2_after = published.DPCP_L2_PERCENT
    return [
        cell(
            "a",
            "VCP: Local over Long on L0",
            "",
            published.VCP_SPLIT,
            [lot.l0_local_over_long for lot in vcp],
            ABOUT,
            f"{WARM_S:g}-{LOT_S}",
        ),
        cell(
            "b",
            "VCP: change of Long's share of L2's bandwidth as its Local starts",
            POINTS,
            published.VCP_CHANGE_POINTS,
            [lot.l2_long_of_link_after - lot.l2_long_of_link_before for lot in vcp],
            UNCHANGED,
            f"{before}, {after}",
            reasons.vcp_l2(lots),
        ),
        cell(
            "c-before",
            "DPCP: Long's share of L0",
            "%",
            l0_before,
            [lot.l0_long_before for lot in dpcp],
            NEAR,
            before,
            reasons.share(lots),
        ),
        cell(
            "c-after",
            "DPCP: Long's share of L0",
            "%",
            l0_after,
            [lot.l0_long_after for lot in dpcp],
            NEAR,
            after,
            reasons.share(lots),
        ),
        cell(
            "d-before",
            "DPCP: utilisation of L2 by Long",
            "%",
            l2_before,
            [lot.l2_long_of_link_before for lot in dpcp],
            NEAR,
            before,
            reasons.share(lots),
        ),
        cell(
            "d-after",
            "DPCP: Long's share of L2",
            "%",
            l2_after,
            [lot.l2_long_after for lot in dpcp],
            NEAR,
            after,
            reasons.share(lots),
        ),
    ]


def figure_3(ours: Ours, dumbbells: Sequence[Dumbbell]) -> list[Cell]:
    """Judge the transitions and the utilisation of Figure 3."""

    def mean(scheme: Scheme, measure: Callable[[Course], float | None]) -> float | None:
        found = [measure(course) for course in ours.dumbbells[scheme]]
        return None if None in found else float(np.mean(np.array(found, dtype=np.float64)))

    def transition(scheme: Scheme, value: float, rule: Rule) -> Cell:
        return Cell(
            id=f"fig3/{scheme.name}-transition",
            what="time until the utilisation of a second reaches 90 % of the steady state's",
            conditions={"protocol": scheme.label, "runs": len(ours.dumbbells[scheme])},
            unit="s",
            published=value,
            ours=mean(scheme, lambda course: course.transition_s),
            rule=rule,
            known_reason=reasons.transition(dumbbells),
        )

    steady = {
        scheme: mean(scheme, lambda course: course.steady_utilisation_percent) or 0.0
        for scheme in (VCP, DPCP)
    }
    return [
        transition(VCP, published.VCP_TRANSITION_S, ABOUT),
        transition(DPCP, published.DPCP_TRANSITION_S, Limit("<=")),
        Cell(
            id="fig3/utilisation",
            what='utilisation of DPCP minus that of VCP ("higher")',
            conditions={"VCP (%)": round(steady[VCP], 1), "DPCP (%)": round(steady[DPCP], 1)},
            unit=POINTS,
            published=0.0,
            ours=steady[DPCP] - steady[VCP],
            rule=Limit(">"),
            known_reason=reasons.utilisation(dumbbells),
        ),
    ]


def _figure_4(ours: Ours, carrier: Carrier) -> list[Cell]:
    times, vcp = ours.transfers[carrier], ours.transfers[VCP_TCP]
    faster = sum(times[percent].mean_s < vcp[percent].mean_s for percent in LOSS_PERCENT)

    def growth(start: int, end: int) -> float:
        return times[end].mean_s / times[start].mean_s

    def cell(name: str, what: str, unit: str, value: float, found: float, rule: Rule) -> Cell:
        return Cell(
            id=f"fig4/{name}",
            what=what,
            conditions={"protocol": carrier.label},
            unit=unit,
            published=value,
            ours=found,
            rule=rule,
            known_reason=reasons.loss(ours.transfers) if carrier == DPCP_TCP else None,
        )

    return [
        cell(
            "knee",
            f"highest loss rate at which a transfer takes at most {EFFECT:g} times as long as "
            "without loss",
            "%",
            published.KNEE_PERCENT,
            knee_percent(times),
            WithinUnits(5, POINTS),
        ),
        cell(
            "steeper",
            "growth of the time from 30 to 45 % loss over that from 0 to 30 % "
            '("significant performance degradation" beyond 35 %)',
            "",
            1.0,
            growth(30, 45) / growth(0, 30),
            Limit(">"),
        ),
        cell(
            "faster",
            "number of loss rates at which DPCP is faster than VCP over TCP",
            "",
            float(len(LOSS_PERCENT)),
            float(faster),
            Exact(0),
        ),
    ]


def _gap(ours: Ours) -> Cell:
    """Judge whether DPCP's lead shrinks as losses grow."""
    vcp, dpcp = ours.transfers[VCP_TCP], ours.transfers[DPCP_TCP]
    leads = [
        100 * (1 - dpcp[percent].mean_s / vcp[percent].mean_s)
        for percent in (LOSS_PERCENT[0], LOSS_PERCENT[-1])
    ]
    return Cell(
        id="fig4/gap",
        what=f"DPCP's lead over VCP without loss minus its lead at {LOSS_PERCENT[-1]} % loss "
        '(the gap "shrinks")',
        conditions={"lead without (%)": round(leads[0], 1), "with (%)": round(leads[1], 1)},
        unit=POINTS,
        published=0.0,
        ours=leads[0] - leads[1],
        rule=Limit(">"),
        known_reason=reasons.loss(ours.transfers),
    )


def figure_5(ours: Ours, dumbbells: Sequence[Dumbbell]) -> list[Cell]:
    """Judge the queues of Figure 5."""

    def mean(scheme: Scheme, measure: Callable[[Course], float]) -> float:
        return float(np.mean([measure(course) for course in ours.dumbbells[scheme]]))

    queues = {
        scheme: mean(scheme, lambda course: course.queue_mean) for scheme in (VCP, DPCP, TPCP)
    }

    def over_tpcp(measure: Callable[[Course], float]) -> float:
        return mean(TPCP, measure) / mean(DPCP, measure)

    def cell(
        name: str, what: str, value: float, found: float, rule: Rule, reason: Reason = reasons.QUEUE
    ) -> Cell:
        return Cell(
            id=f"fig5/{name}",
            what=what,
            conditions={"runs": len(ours.dumbbells[VCP])},
            unit="",
            published=value,
            ours=found,
            rule=rule,
            known_reason=reason,
        )

    return [
        *(
            cell(
                f"{scheme.name}-queue",
                f"mean queue of {scheme.label} over VCP's",
                published.QUEUE_RATIO,
                queues[scheme] / queues[VCP],
                ABOUT,
            )
            for scheme in (DPCP, TPCP)
        ),
        cell(
            "higher",
            'mean queue of TPCP over DPCP\'s ("slightly higher")',
            1.0,
            queues[TPCP] / queues[DPCP],
            Limit(">"),
        ),
        cell(
            "smoother-deviation",
            "standard deviation of TPCP's queue over DPCP's (\"smoother\")",
            1.0,
            over_tpcp(lambda course: course.queue_deviation),
            Limit("<="),
            reasons.smooth(dumbbells),
        ),
        cell(
            "smoother-change",
            "mean absolute change of TPCP's queue in 0.1 s over DPCP's (\"smoother\")",
            1.0,
            over_tpcp(lambda course: course.queue_change),
            Limit("<="),
            reasons.smooth(dumbbells),
        ),
    ]
