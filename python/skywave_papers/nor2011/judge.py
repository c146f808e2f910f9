"""The measurements for the tests of ``paper.toml``, and our throughput and loss beside ns-2's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skywave._printing import number
from skywave.papers.cells import Comparison
from skywave.papers.measures import Measures, difference
from skywave.results.fairness import jain
from skywave_papers.nor2011 import setting
from skywave_papers.nor2011.measures import LINK_BPS, LOSS_WINDOW_S, Series
from skywave_papers.nor2011.setting import DCCP_START_S, EXPERIMENT_1, Conditions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Runs = Mapping[Conditions, Series]
    Values = dict[str, float | None]
    Measured = Callable[[Series, float, float], float | None]

NORMAL, PROPOSED = (Conditions(ssthresh) for ssthresh in (20, 200))
SETTLED_S = 5.0
"""The length of the period before DCCP's start in which TCP should have settled."""
NS2_LIMIT_PERCENT = 5.0
"""Our limit for the difference from ns-2 under ns-2's settings."""


def measure(ours: Runs, ns2: Runs, further: Mapping[str, float]) -> Measures:
    """Measure everything. ns-2 does not repeat the further runs."""
    values, by_ns2 = published(ours), published(ns2)
    gain = "fig3/200-sooner-than-20"
    slow, *_, fast = (ours[conditions].full_s() for conditions in setting.SHORT_QUEUE)
    return Measures(
        ours={**values, **_claims(ours), **further},
        ns2={**by_ns2, **_claims(ns2)},
        words={
            "gain": number(values[gain]),
            "ns2_gain": number(by_ns2[gain]),
            "gain_without_backlog": number(difference(slow, fast)),
        },
    )


def published(
    runs: Runs, loss: Callable[[Series], float] = Series.loss_percent_of_trace_lines
) -> Values:
    """Measure the values of tables and figures. ``loss`` is how Table 1 is read."""
    second = {one.ssthresh: runs[one] for one in setting.EXPERIMENT_2}
    full_s = {ssthresh: series.full_s() for ssthresh, series in second.items()}
    first = runs[EXPERIMENT_1]
    low, high = first.zigzag_bps()
    return {
        **{f"table1/ssthresh={one}": loss(second[one]) for one in setting.PUBLISHED_SSTHRESH},
        **{f"fig3/ssthresh={one}": full_s[one] for one in (20, 200)},
        "fig3/200-sooner-than-20": difference(full_s[20], full_s[200]),
        **{
            f"fig3/{one}-no-better": difference(full_s[200], full_s[one])
            for one in setting.BEYOND_SSTHRESH
        },
        "fig2/dccp-low": low / 1e6,
        "fig2/dccp-high": high / 1e6,
        "fig2/tcp-mean": first.sharing_bps()[1] / 1e6,
    }


def _claims(runs: Runs) -> Values:
    """Measure what both simulators run."""
    normal, proposed, first = runs[NORMAL], runs[PROPOSED], runs[EXPERIMENT_1]
    shares_bps, wide_bps = first.sharing_bps(), runs[setting.WIDE_WINDOW].sharing_bps()
    settled_bps = first.mean_bps(first.tcp, DCCP_START_S - SETTLED_S, DCCP_START_S)
    second = [runs[Conditions(one)] for one in setting.PUBLISHED_SSTHRESH]
    *others_s, proposed_s = (series.full_s() for series in second)
    *others_bps, most_bps = (series.mean_bps(series.dccp, DCCP_START_S, 200) for series in second)
    slow_start_bps = proposed.dccp.throughput_bps[: np.flatnonzero(proposed.dccp.drops)[0]]
    tcp_bps, friendly_bps = (one.mean_bps(one.tcp, DCCP_START_S, 200) for one in (normal, proposed))
    return {
        "claim/fair-paper-window": jain(shares_bps),
        "claim/fair-wide-window": jain(wide_bps),
        "claim/fully-utilized": 100 * sum(shares_bps) / LINK_BPS,
        "claim/tcp-limited-by-window": wide_bps[1] / shares_bps[1],
        "claim/still-friendly": friendly_bps / tcp_bps,
        "claim/four-times": float(len({*others_s, proposed_s})),
        "claim/within-200-s": float(sum(one is not None for one in (*others_s, proposed_s))),
        "claim/200-first": difference(
            min((one for one in others_s if one is not None), default=None), proposed_s
        ),
        "claim/200-most": (most_bps - max(others_bps)) / 1e6,
        "claim/exponential": straightness(np.log(slow_start_bps[slow_start_bps > 0])),
        "claim/linear": straightness(avoidance_bps(normal)),
        "claim/plr-below-1": proposed.loss_percent(),
        "claim/tcp-settled": settled_bps / shares_bps[1],
    }


def avoidance_bps(series: Series) -> NDArray[np.float64]:
    """Return DCCP's throughput in congestion avoidance, before the link is full."""
    full_s = series.full_s() or float(series.time_s[-1])
    ramp = (series.time_s > 2 * DCCP_START_S) & (series.time_s < full_s)
    return series.dccp.throughput_bps[ramp]


def straightness(samples: NDArray[np.float64]) -> float:
    """Return R squared of a straight line through samples at equal distances."""
    return float(np.corrcoef(np.arange(samples.size), samples)[0, 1] ** 2)


def compare(ours: Runs, ns2: Runs) -> list[Comparison]:
    """Compare throughput and loss of both experiments with ns-2's, run by run."""
    window = [LOSS_WINDOW_S]
    quantities: list[tuple[str, str, Measured, list[tuple[float, float]]]] = [
        ("DCCP throughput", "Mbps", lambda s, *over: s.mean_bps(s.dccp, *over) / 1e6, window),
        ("TCP throughput", "Mbps", lambda s, *over: s.mean_bps(s.tcp, *over) / 1e6, window),
        ("DCCP packet loss", "%", Series.loss_percent, [(0, 200), LOSS_WINDOW_S]),
        ("link first full", "s", lambda s, *_: s.full_s(), [(0, 200)]),
    ]
    return [
        Comparison(
            quantity=quantity,
            conditions={
                "experiment": 1 if conditions == EXPERIMENT_1 else 2,
                "initial ssthresh (packets)": conditions.ssthresh,
                "period": f"{start_s:g}-{end_s:g} s",
            },
            unit=unit,
            ours=measured(ours[conditions], start_s, end_s),
            ns2=measured(ns2[conditions], start_s, end_s),
            limit_percent=NS2_LIMIT_PERCENT,
        )
        for conditions in (EXPERIMENT_1, *setting.EXPERIMENT_2)
        for quantity, unit, measured, periods in quantities
        for start_s, end_s in ([(0, 1000)] if conditions == EXPERIMENT_1 else periods)
    ]
