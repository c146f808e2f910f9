"""The published values of Figures 2 to 5 beside ours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.cells import Cell, Exact, Limit, Within, WithinUnits
from skywave.papers.li2009 import published, variants
from skywave.papers.li2009.parking import PERIODS, WARM_S
from skywave.papers.li2009.setting import (
    AGGREGATES,
    DEFAULT,
    DPCP,
    DPCP_DCCP,
    DPCP_TCP,
    LOSS_PERCENT,
    LOT_S,
    LOT_SEED,
    PAPER_NETWORK,
    READINGS,
    TPCP,
    VCP,
    VCP_TCP,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave.papers.cells import Rule
    from skywave.papers.li2009.dumbbell import Course
    from skywave.papers.li2009.lossy import Times
    from skywave.papers.li2009.parking import LinkSeries
    from skywave.papers.li2009.setting import Carrier, Choices, Network, Reading, Scheme
    from skywave.papers.li2009.variants import Bottleneck, Lot

POINTS = "percentage points"
NEAR = WithinUnits(10, POINTS)
"""For shares that are published as "near" or read off a figure."""
UNCHANGED = WithinUnits(5, POINTS)
"""For a share that does not change: by the published split of L0 it is 12.5 % at most."""
ABOUT = Within(25)
"""For ratios and times that are published as round numbers."""
EFFECT = 1.5
"""A transfer that takes so many times as long as without loss is affected significantly."""

_HEARS = (
    "Long hears of the busiest of three loaded links (see the section on loads). When it has "
    "decreased by 12.5 to 57 % it adds alpha (R / t_rho)^2, 100 packets, in a round-trip time "
    "whatever the load, but at most doubles: a window of hundreds of packets recovers, one of a "
    "packet or two does not. "
)


def starved_reason(reading: Reading, lots: Sequence[Lot]) -> str:
    """Return why Long does not get its share of L0, by what an aggregate is."""

    def percents(choices: Choices, seed: int = LOT_SEED) -> str:
        lot = variants.find(lots, DPCP, reading, choices, seed)
        return f"{lot.l0_long_before:.1f} and {lot.l0_long_after:.1f} %"

    if reading == AGGREGATES:
        return (
            f"{_HEARS}What its one sender has is that growth: with VCP's limits of it, 10 packets, "
            f"Long has {percents(variants.LIMITS)}. No choice that was tried gives it half before "
            "and a quarter after."
        )
    seeds = ", ".join(percents(DEFAULT, seed) for seed in variants.OTHER_SEEDS)
    return (
        f"{_HEARS}So a few of its 30 senders have most of what it has, and chance says how many: "
        f"with other seeds Long has {seeds} of L0. t_rho, which sets that growth, is not published "
        f"for DPCP: with 500 ms at senders alone Long has {percents(variants.SLOW_SENDERS)}, with "
        f"500 ms throughout {percents(variants.SLOW)}."
    )


LEFTOVER_REASON = (
    "What Long may not send over L0, L1 and L3 it cannot send over L2: see the reason for L0."
)
VCP_SPLIT_REASON = (
    "The bias is there. Its size depends on how many senders stand for an aggregate: with the 30 "
    "and 10 that the paper counts it is nearer to the published one."
)
VCP_L2_REASON = (
    "With 40 senders L2 is overloaded as L0 is, since each adds up to 10 packets in a round-trip "
    "time whatever the load: its queue fills and packets are lost, those of Long on a fourth link "
    "now. With one sender for each aggregate its share stays, as published."
)
TRANSITION_REASON = (
    "From a first window of 2 packets DPCP at most doubles in a round-trip time, and the 240 "
    "packets of 4 Mbps and 500 ms are seven doublings. With 200 ms, and with ten flows, it takes "
    "4 s or less (see the dumbbells); rate, delay and flows of the testbed are not published."
)


def utilisation_reason(dumbbells: Sequence[Bottleneck]) -> str:
    """Return why DPCP uses less of the dumbbell's link than VCP."""

    def percent(scheme: Scheme, network: Network, choices: Choices = DEFAULT) -> str:
        found = variants.find_dumbbell(dumbbells, scheme, network, choices)
        return f"{found.utilisation:.0f} %"

    near = replace(PAPER_NETWORK, rtt_ms=200)
    return (
        "Over 500 ms the load of an interval of 200 ms is that of a clump or of a gap. DPCP "
        "answers the one by decreases of 0.6 and 0.43 and the other by doubling, and swings; VCP, "
        "with 0.875 and 16 %, less. Over 200 ms DPCP uses "
        f"{percent(DPCP, near)} and VCP {percent(VCP, near)}, and with a t_rho of 500 ms DPCP uses "
        f"{percent(DPCP, PAPER_NETWORK, variants.SLOW)} (see the dumbbells)."
    )


def alike_from_percent(one: Mapping[int, Times], other: Mapping[int, Times]) -> int | None:
    """Return the loss rate from which on the confidence intervals of two carriers overlap."""
    apart = [
        percent
        for percent in LOSS_PERCENT
        if abs(one[percent].mean_s - other[percent].mean_s)
        > one[percent].margin_s + other[percent].margin_s
    ]
    return next((percent for percent in LOSS_PERCENT if percent > max(apart, default=-1)), None)


def _loss_reason(ours: Ours, carrier: Carrier) -> str:
    times = ours.transfers[carrier]
    if carrier == DPCP_TCP:
        alike = alike_from_percent(times, ours.transfers[VCP_TCP])
        return (
            "TCP at a loss rate of 10 % and more lives from its timeouts, whatever the window "
            "obeys: a segment that is lost again when it is sent again waits for a timer that "
            "doubles. MPCP leaves that as it is. So time grows from the first percent on, in VCP "
            "as in DPCP"
            + ("." if alike is None else f"; from {alike} % on their intervals overlap.")
        )
    longer = times[30].mean_s / times[0].mean_s
    return (
        "Over DCCP next to nothing waits for timeouts up to 35 % of loss, and the steep part "
        "begins there as published. But it is not flat before: each round-trip time with a loss "
        f"halves the window, and at 30 % a transfer takes {longer:.1f} times as long as without "
        "loss."
    )


QUEUE_REASON = (
    "Queues are those of clumps, which rate, round-trip time and the number of flows make longer "
    "or shorter (see the dumbbells); none of these is published."
)
SMOOTH_REASON = (
    "TPCP's queue is longer here, and deviates less only in proportion to its mean. With two flows "
    "it is the smoother one by both measures, with ten the rougher (see the dumbbells)."
)


@dataclass(frozen=True)
class Ours:
    """What the runs give."""

    lots: Mapping[tuple[Scheme, Reading], Mapping[str, LinkSeries]]
    dumbbells: Mapping[Scheme, Sequence[Course]]
    transfers: Mapping[Carrier, Mapping[int, Times]]


def published_cells(ours: Ours, lots: Sequence[Lot], dumbbells: Sequence[Bottleneck]) -> list[Cell]:
    """Judge every published value; reasons name what stored parking lots and dumbbells give."""
    return [
        *(cell for reading in READINGS for cell in _figure_2(ours, reading, lots)),
        *_figure_3(ours, dumbbells),
        *_figure_4(ours, DPCP_TCP),
        _gap(ours),
        *_figure_4(ours, DPCP_DCCP),
        *_figure_5(ours),
    ]


def _figure_2(ours: Ours, reading: Reading, lots: Sequence[Lot]) -> list[Cell]:
    def cell(
        panel: str,
        what: str,
        unit: str,
        value: float,
        found: float | None,
        rule: Rule,
        period: str,
        reason: str,
    ) -> Cell:
        return Cell(
            id=f"fig2{panel}/{reading.name}",
            what=what,
            conditions={"reading": reading.label, "period (s)": period},
            unit=unit,
            published=value,
            ours=found,
            rule=rule,
            known_reason=reason,
        )

    periods = [f"{start:g}-{end:g}" for start, end in PERIODS]
    vcp, dpcp = ours.lots[VCP, reading], ours.lots[DPCP, reading]
    l0, l2 = ([dpcp[link].split(period) for period in PERIODS] for link in ("L0", "L2"))
    vcp_l2 = [vcp["L2"].split(period).long_of_link_percent for period in PERIODS]
    return [
        cell(
            "a",
            "VCP: Local over Long on L0",
            "ratio",
            published.VCP_SPLIT,
            vcp["L0"].split((WARM_S, LOT_S)).local_over_long,
            ABOUT,
            f"{WARM_S:g}-{LOT_S}",
            VCP_SPLIT_REASON,
        ),
        cell(
            "b",
            "VCP: change of Long's share of L2's bandwidth as its Local starts",
            POINTS,
            published.VCP_CHANGE_POINTS,
            vcp_l2[1] - vcp_l2[0],
            UNCHANGED,
            f"{periods[0]}, {periods[1]}",
            VCP_L2_REASON,
        ),
        *(
            cell(
                f"c-{name}",
                "DPCP: Long's share of L0",
                "%",
                value,
                split.long_percent,
                NEAR,
                period,
                starved_reason(reading, lots),
            )
            for name, value, split, period in zip(
                ("before", "after"), published.DPCP_L0_PERCENT, l0, periods, strict=True
            )
        ),
        cell(
            "d-before",
            "DPCP: utilisation of L2 by Long",
            "%",
            published.DPCP_L2_PERCENT[0],
            l2[0].long_of_link_percent,
            NEAR,
            periods[0],
            LEFTOVER_REASON,
        ),
        cell(
            "d-after",
            "DPCP: Long's share of L2",
            "%",
            published.DPCP_L2_PERCENT[1],
            l2[1].long_percent,
            NEAR,
            periods[1],
            LEFTOVER_REASON,
        ),
    ]


def _figure_3(ours: Ours, dumbbells: Sequence[Bottleneck]) -> list[Cell]:
    def mean(scheme: Scheme, measure: Callable[[Course], float | None]) -> float | None:
        found = [measure(course) for course in ours.dumbbells[scheme]]
        return None if None in found else float(np.mean(np.array(found, dtype=np.float64)))

    def transition(scheme: Scheme, value: float, rule: Rule) -> Cell:
        return Cell(
            id=f"fig3/{scheme.name}-transition",
            what="time until a second's utilisation is 90 % of that of the steady state",
            conditions={"protocol": scheme.label, "runs": len(ours.dumbbells[scheme])},
            unit="s",
            published=value,
            ours=mean(scheme, lambda course: course.transition_s),
            rule=rule,
            known_reason=TRANSITION_REASON,
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
            what='how much more of the bottleneck DPCP uses than VCP ("higher")',
            conditions={"VCP (%)": round(steady[VCP], 1), "DPCP (%)": round(steady[DPCP], 1)},
            unit=POINTS,
            published=0.0,
            ours=steady[DPCP] - steady[VCP],
            rule=Limit(">"),
            known_reason=utilisation_reason(dumbbells),
        ),
    ]


def knee_percent(times: Mapping[int, Times]) -> int:
    """Return up to which loss rate a transfer takes no more than ``EFFECT`` times as long."""
    affected = [p for p in LOSS_PERCENT if times[p].mean_s > EFFECT * times[0].mean_s]
    return min(affected, default=LOSS_PERCENT[-1] + 5) - 5


def _figure_4(ours: Ours, carrier: Carrier) -> list[Cell]:
    times, vcp = ours.transfers[carrier], ours.transfers[VCP_TCP]
    faster = sum(times[percent].mean_s < vcp[percent].mean_s for percent in LOSS_PERCENT)

    def growth(start: int, end: int) -> float:
        return times[end].mean_s / times[start].mean_s

    def cell(name: str, what: str, unit: str, value: float, found: float, rule: Rule) -> Cell:
        return Cell(
            id=f"fig4/{carrier.transport}-{name}",
            what=what,
            conditions={"protocol": carrier.label},
            unit=unit,
            published=value,
            ours=found,
            rule=rule,
            known_reason=_loss_reason(ours, carrier),
        )

    return [
        cell(
            "knee",
            f"loss rate up to which a transfer takes at most {EFFECT:g} times as long as without",
            "%",
            published.KNEE_PERCENT,
            knee_percent(times),
            WithinUnits(5, POINTS),
        ),
        cell(
            "steeper",
            "how many times more the time grows from 30 to 45 % of loss than from 0 to 30 % "
            '("significant degradation" beyond 35 %)',
            "ratio",
            1.0,
            growth(30, 45) / growth(0, 30),
            Limit(">"),
        ),
        cell(
            "faster",
            "of the loss rates, how many with which DPCP is faster than VCP over TCP",
            "count",
            float(len(LOSS_PERCENT)),
            float(faster),
            Exact(0),
        ),
    ]


def _gap(ours: Ours) -> Cell:
    """Judge that DPCP's lead shrinks as losses grow."""
    vcp, dpcp = ours.transfers[VCP_TCP], ours.transfers[DPCP_TCP]
    leads = [
        100 * (1 - dpcp[percent].mean_s / vcp[percent].mean_s)
        for percent in (LOSS_PERCENT[0], LOSS_PERCENT[-1])
    ]
    return Cell(
        id="fig4/tcp-gap",
        what=f"how much less DPCP leads VCP by at {LOSS_PERCENT[-1]} % of loss than without it "
        '("gap shrinks")',
        conditions={"lead without (%)": round(leads[0], 1), "with (%)": round(leads[1], 1)},
        unit=POINTS,
        published=0.0,
        ours=leads[0] - leads[1],
        rule=Limit(">"),
        known_reason=_loss_reason(ours, DPCP_TCP),
    )


def _figure_5(ours: Ours) -> list[Cell]:
    def mean(scheme: Scheme, measure: Callable[[Course], float]) -> float:
        return float(np.mean([measure(course) for course in ours.dumbbells[scheme]]))

    queues = {
        scheme: mean(scheme, lambda course: course.queue_mean) for scheme in (VCP, DPCP, TPCP)
    }

    def over_tpcp(measure: Callable[[Course], float]) -> float:
        return mean(TPCP, measure) / mean(DPCP, measure)

    def cell(
        name: str, what: str, value: float, found: float, rule: Rule, reason: str = QUEUE_REASON
    ) -> Cell:
        return Cell(
            id=f"fig5/{name}",
            what=what,
            conditions={"runs": len(ours.dumbbells[VCP])},
            unit="ratio",
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
            SMOOTH_REASON,
        ),
        cell(
            "smoother-change",
            "mean absolute change of TPCP's queue in 0.1 s over DPCP's (\"smoother\")",
            1.0,
            over_tpcp(lambda course: course.queue_change),
            Limit("<="),
            SMOOTH_REASON,
        ),
    ]
