"""The measurements for the tests of ``paper.toml``, and our throughput and loss beside ns-2's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skywave._printing import number
from skywave.papers.cells import Comparison
from skywave.papers.measures import Measures, difference
from skywave.results.fairness import jain
from skywave_papers.nor2011.further import LONG_DELAY_MS, SHORT_DELAY_MS
from skywave_papers.nor2011.measures import LOSS_WINDOW_S, ZIGZAG_FROM_S, Series
from skywave_papers.nor2011.setting import (
    BEYOND_SSTHRESH,
    DCCP_START_S,
    EXPERIMENT_1,
    EXPERIMENT_2,
    PUBLISHED_SSTHRESH,
    SHORT_SEND_QUEUE,
    WIDE_WINDOW,
    Conditions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from skywave_papers.nor2011.further import Further

    Runs = Mapping[Conditions, Series]
    Loss = Callable[[Series], float | None]
    Values = dict[str, float | None]
    _Measure = tuple[str, str, str, Callable[[Series], float | None]]


NORMAL, PROPOSED = (Conditions(ssthresh) for ssthresh in (20, 200))
LINK_BPS = 2e6
SETTLED_S = 5.0
"""The length of the period before DCCP's start in which TCP should have settled."""
NS2_LIMIT_PERCENT = 5.0
"""Our limit for the difference from ns-2 under ns-2's settings."""


def measure(ours: Runs, ns2: Runs, further: Further) -> Measures:
    """Measure everything. ns-2 repeats neither the further runs nor what needs them."""
    values, by_ns2 = published(ours), published(ns2)
    gain = "fig3/200-sooner-than-20"
    slow, fast = (
        ours[Conditions(ssthresh, send_queue=SHORT_SEND_QUEUE)].full_s() for ssthresh in (20, 200)
    )
    return Measures(
        ours={**values, **_claims(ours), **_further_claims(ours[EXPERIMENT_1], further)},
        ns2={**by_ns2, **_claims(ns2)},
        words={
            "gain": number(values[gain]),
            "ns2_gain": number(by_ns2[gain]),
            "gain_without_backlog": number(difference(slow, fast)),
        },
    )


def published(runs: Runs, loss: Loss = Series.loss_percent_of_trace_lines) -> Values:
    """Measure the values of tables and figures. ``loss`` is how Table 1 is read."""
    full_s = _full_s(runs, *PUBLISHED_SSTHRESH, *BEYOND_SSTHRESH)
    first = runs[EXPERIMENT_1]
    low, high = first.zigzag_bps()
    return {
        **{f"table1/ssthresh={one}": loss(runs[Conditions(one)]) for one in PUBLISHED_SSTHRESH},
        **{f"fig3/ssthresh={one}": full_s[one] for one in (20, 200)},
        "fig3/200-sooner-than-20": difference(full_s[20], full_s[200]),
        **{
            f"fig3/{one}-no-better": difference(full_s[200], full_s[one]) for one in BEYOND_SSTHRESH
        },
        "fig2/dccp-low": low / 1e6,
        "fig2/dccp-high": high / 1e6,
        "fig2/tcp-mean": first.mean_bps(first.tcp, ZIGZAG_FROM_S, 1000) / 1e6,
    }


def _claims(runs: Runs) -> Values:
    """Measure what both simulators run."""
    normal, proposed = runs[NORMAL], runs[PROPOSED]
    first, wide = runs[EXPERIMENT_1], runs[WIDE_WINDOW]
    full_s = _full_s(runs, *PUBLISHED_SSTHRESH)
    others_s = [full_s[one] for one in PUBLISHED_SSTHRESH if one != PROPOSED.ssthresh]
    dccp_bps = [
        series.mean_bps(series.dccp, DCCP_START_S, 200)
        for series in (runs[Conditions(one)] for one in PUBLISHED_SSTHRESH)
    ]
    before_dccp_bps = first.mean_bps(first.tcp, DCCP_START_S - SETTLED_S, DCCP_START_S)
    return {
        "claim/fair-paper-window": jain(_means_bps(first)),
        "claim/fair-wide-window": jain(_means_bps(wide)),
        "claim/fully-utilized": 100 * sum(_means_bps(first)) / LINK_BPS,
        "claim/tcp-limited-by-window": _means_bps(wide)[1] / _means_bps(first)[1],
        "claim/still-friendly": _tcp_bps(proposed) / _tcp_bps(normal),
        "claim/four-times": float(len(set(full_s.values()))),
        "claim/within-200-s": float(sum(one is not None for one in full_s.values())),
        "claim/200-first": difference(
            min((one for one in others_s if one is not None), default=None),
            full_s[PROPOSED.ssthresh],
        ),
        "claim/200-most": (dccp_bps[-1] - max(dccp_bps[:-1])) / 1e6,
        "claim/exponential": _slow_start_straightness(proposed),
        "claim/linear": straightness(avoidance_bps(normal)),
        "claim/plr-below-1": proposed.loss_percent(),
        "claim/tcp-settled": before_dccp_bps / _means_bps(first)[1],
    }


def _further_claims(first: Series, further: Further) -> Values:
    """Measure what only our further runs can tell. ``first`` is experiment 1."""
    alone, again = further.alone_full_s, further.again_full_s
    full_s = first.full_s() or 1000

    def saved_s(delay_ms: int) -> float:
        return alone[20, delay_ms] - alone[200, delay_ms]

    return {
        "claim/udp-takes-all": 100 * further.udp_bps / LINK_BPS,
        "claim/no-monopoly": (_means_bps(first)[1] - further.tcp_beside_udp_bps) / 1e6,
        "claim/tfrc-later": further.tfrc_full_s - (full_s - DCCP_START_S),
        "claim/long-delay-later": alone[20, LONG_DELAY_MS] - alone[20, SHORT_DELAY_MS],
        "claim/long-delay-matters": saved_s(LONG_DELAY_MS) - saved_s(SHORT_DELAY_MS),
        "claim/new-connection": again[20] - again[200],
        "claim/after-timeout": further.ssthresh_after_timeout,
    }


def _full_s(runs: Runs, *ssthresh: int) -> dict[int, float | None]:
    return {one: runs[Conditions(one)].full_s() for one in ssthresh}


def _means_bps(series: Series) -> tuple[float, float]:
    """Return the mean throughput of DCCP and TCP in the period of Figure 2."""
    dccp, tcp = (series.mean_bps(one, ZIGZAG_FROM_S, 1000) for one in (series.dccp, series.tcp))
    return dccp, tcp


def sharing(series: Series) -> dict[str, float]:
    """Return the throughput of both flows in the period of Figure 2, and Jain's index."""
    dccp, tcp = _means_bps(series)
    return {"DCCP": dccp / 1e6, "TCP": tcp / 1e6, "jain": jain([dccp, tcp])}


def _tcp_bps(series: Series) -> float:
    return series.mean_bps(series.tcp, DCCP_START_S, 200)


def _slow_start_straightness(series: Series) -> float:
    lossy = np.flatnonzero(series.dccp.drops)
    samples = series.dccp.throughput_bps[: lossy[0] if lossy.size else None]
    return straightness(np.log(samples[samples > 0]))


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
