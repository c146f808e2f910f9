"""The published values of Nor et al. beside ours, and ours beside ns-2's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave.papers.cells import Cell, Comparison, SameOrder, Within
from skywave.papers.digits import Printed
from skywave.papers.reasons import Cause, Reason
from skywave_papers.nor2011.measures import LOSS_WINDOW_S, ZIGZAG_FROM_S, Series
from skywave_papers.nor2011.setting import (
    BEYOND_SSTHRESH,
    EXPERIMENT_1,
    EXPERIMENT_2,
    PUBLISHED_SSTHRESH,
    Conditions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skywave.papers.cells import Rule

    Loss = Callable[[Series], float | None]
    _Measure = tuple[str, str, str, Callable[[Series], float | None]]

LOSSES = Printed("Table 1", "packet loss (%)", ("0.0014", "0.0015", "0.0107", "0.0277"), whole=100)
TABLE_1 = dict(zip(PUBLISHED_SSTHRESH, map(float, LOSSES.values), strict=True))
"""Published packet loss in %, by initial ssthresh in packets."""

FIGURE_3_S = {20: 160, 200: 100}
"""Published times in s at which the maximum is reached, by initial ssthresh in packets."""

TABLE_1_RULE = Within(15)
"""A single drop changes the first two cells by 50 %, so they need the same number of drops."""
ABOUT_RULE = Within(10)
"""The rule for values given as "about" or read off a figure, with one significant digit."""
SAMPLE_RULE = SameOrder(resolution=1, unit="s")
"""The rule for "no better": times are read from samples of 1 s."""

NS2_LIMIT_PERCENT = 5.0
"""Our limit for the difference from ns-2 under ns-2's settings."""

TENSION = (
    "Table 1 needs a sender that bursts a backlog into the bottleneck's queue. The burst "
    "overshoots, the window is halved twice, and the link fills late. The 100 s of Figure 3 need "
    "a sender without such a backlog, but then there are too few drops for Table 1. Of all send "
    "queues that were tried, here and in ns-2, none gives both; see the section on the send queue."
)

SMALLER_GAIN = (
    f"{TENSION} Even without a backlog the gain is 48 s, not 60 s: the link is full at 152 s with "
    "20 packets and at 104 s with 200."
)


def published_cells(
    ours: Mapping[Conditions, Series],
    ns2: Mapping[Conditions, Series],
    loss: Loss = Series.loss_percent_of_trace_lines,
) -> list[Cell]:
    """Judge every published value. ``loss`` is how Table 1 is read."""
    cells = [_loss_cell(ssthresh, ours, ns2, loss) for ssthresh in PUBLISHED_SSTHRESH]

    def full_cell(ssthresh: int, known_reason: Reason | None = None) -> Cell:
        conditions = Conditions(ssthresh)
        return Cell(
            id=f"fig3/ssthresh={ssthresh}",
            what="time at which the link is first full",
            conditions={"initial ssthresh (packets)": ssthresh, "duration (s)": 200},
            unit="s",
            published=FIGURE_3_S[ssthresh],
            ours=ours[conditions].full_s(),
            ns2=ns2[conditions].full_s(),
            rule=ABOUT_RULE,
            known_reason=known_reason,
        )

    def gain_cell(
        name: str,
        slow: int,
        fast: int,
        published_s: float,
        rule: Rule,
        known_reason: Reason | None = None,
    ) -> Cell:
        return Cell(
            id=f"fig3/{name}",
            what=f"seconds earlier than with {slow} packets",
            conditions={"initial ssthresh (packets)": fast, "compared with (packets)": slow},
            unit="s",
            published=published_s,
            ours=_gain_s(ours, slow, fast),
            ns2=_gain_s(ns2, slow, fast),
            rule=rule,
            known_reason=known_reason,
        )

    cells += [
        full_cell(20),
        full_cell(200, Reason(Cause.CONFLICT, TENSION)),
        gain_cell(
            "200-sooner-than-20",
            20,
            200,
            FIGURE_3_S[20] - FIGURE_3_S[200],
            ABOUT_RULE,
            Reason(Cause.CONFLICT, SMALLER_GAIN),
        ),
        *(
            gain_cell(f"{beyond}-no-better", 200, beyond, 0, SAMPLE_RULE)
            for beyond in BEYOND_SSTHRESH
        ),
    ]

    def figure_2(
        name: str, what: str, published: float, measure: Callable[[Series], float]
    ) -> Cell:
        return Cell(
            id=f"fig2/{name}",
            what=what,
            conditions={"initial ssthresh (packets)": 20, "period (s)": "170-1000"},
            unit="Mbps",
            published=published,
            ours=measure(ours[EXPERIMENT_1]) / 1e6,
            ns2=measure(ns2[EXPERIMENT_1]) / 1e6,
            rule=ABOUT_RULE,
        )

    cells += [
        figure_2("dccp-low", "lowest 5 s mean of DCCP", 1.0, lambda s: s.zigzag_bps()[0]),
        figure_2("dccp-high", "highest 5 s mean of DCCP", 1.7, lambda s: s.zigzag_bps()[1]),
        figure_2("tcp-mean", "mean of TCP", 0.3, lambda s: s.mean_bps(s.tcp, ZIGZAG_FROM_S, 1000)),
    ]
    return cells


def _loss_cell(
    ssthresh: int,
    ours: Mapping[Conditions, Series],
    ns2: Mapping[Conditions, Series],
    loss: Loss,
) -> Cell:
    conditions = Conditions(ssthresh)
    return Cell(
        id=f"table1/ssthresh={ssthresh}",
        what="packet loss of DCCP, in drops per receive event at three hops, whole run",
        conditions={"initial ssthresh (packets)": ssthresh, "duration (s)": 200},
        unit="%",
        published=TABLE_1[ssthresh],
        ours=loss(ours[conditions]),
        ns2=loss(ns2[conditions]),
        rule=TABLE_1_RULE,
    )


def _gain_s(runs: Mapping[Conditions, Series], slow: int, fast: int) -> float | None:
    """Return how much earlier the link is full with ``fast`` than with ``slow``, in s."""
    slow_s, fast_s = runs[Conditions(slow)].full_s(), runs[Conditions(fast)].full_s()
    return None if slow_s is None or fast_s is None else slow_s - fast_s


def ns2_comparisons(
    ours: Mapping[Conditions, Series], ns2: Mapping[Conditions, Series]
) -> list[Comparison]:
    """Compare throughput and loss of both experiments with ns-2's, run by run."""
    start_s, end_s = LOSS_WINDOW_S
    window = f"{start_s:g}-{end_s:g} s"
    second: list[_Measure] = [
        ("DCCP throughput", window, "Mbps", lambda s: s.mean_bps(s.dccp, start_s, end_s) / 1e6),
        ("TCP throughput", window, "Mbps", lambda s: s.mean_bps(s.tcp, start_s, end_s) / 1e6),
        ("DCCP packet loss", "0-200 s", "%", lambda s: s.loss_percent()),
        ("DCCP packet loss", window, "%", lambda s: s.loss_percent(start_s, end_s)),
        ("link first full", "0-200 s", "s", lambda s: s.full_s()),
    ]
    first: list[_Measure] = [
        ("DCCP throughput", "0-1000 s", "Mbps", lambda s: s.mean_bps(s.dccp, 0, 1000) / 1e6),
        ("TCP throughput", "0-1000 s", "Mbps", lambda s: s.mean_bps(s.tcp, 0, 1000) / 1e6),
        ("DCCP packet loss", "0-1000 s", "%", lambda s: s.loss_percent()),
        ("link first full", "0-1000 s", "s", lambda s: s.full_s()),
    ]
    return [
        Comparison(
            quantity=quantity,
            conditions={
                "experiment": 1 if conditions == EXPERIMENT_1 else 2,
                "initial ssthresh (packets)": conditions.ssthresh,
                "period": period,
            },
            unit=unit,
            ours=measure(ours[conditions]),
            ns2=measure(ns2[conditions]),
            limit_percent=NS2_LIMIT_PERCENT,
        )
        for conditions in (EXPERIMENT_1, *EXPERIMENT_2)
        for quantity, period, unit, measure in (first if conditions == EXPERIMENT_1 else second)
    ]
