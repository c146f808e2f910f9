"""The measurements for the tests of ``paper.toml``, and our schemes with RED beside ns-2's.

Measurements are means over seeds unless they say something else.
"""

from __future__ import annotations

from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

import numpy as np

from skywave.papers.cells import NS2_LIMIT_PERCENT, Comparison
from skywave.papers.measures import Measure, Measures, mean
from skywave.stats import average
from skywave_papers.chen2010 import ccid2
from skywave_papers.chen2010.analysis import Model, critical_h
from skywave_papers.chen2010.further import (
    CHANGED,
    IN_VCPS_QUEUE,
    SETTLED,
    TWO_QUEUES,
    VARIED,
    WEB_OVER_TCP,
    WITHOUT_WEB,
)
from skywave_papers.chen2010.ledger import LEDGER
from skywave_papers.chen2010.measures import LATE_S, PEAK_UNTIL_S
from skywave_papers.chen2010.setting import (
    DCCP_RED,
    DCCP_VCP,
    DURATION_S,
    TCP_RED,
    TCP_VCP,
    WARM_S,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave_papers.chen2010 import oracle
    from skywave_papers.chen2010.measures import Run
    from skywave_papers.chen2010.setting import Scheme

    Runs = Mapping[Scheme, Sequence[Run]]
    Ns2 = Mapping[Scheme, Mapping[oracle.Measure, float]]
    Values = dict[str, float]


VCP = (TCP_VCP, DCCP_VCP)
BOTH_ROUTERS = ((TCP_VCP, TCP_RED), (DCCP_VCP, DCCP_RED))
"""Each transport with VCP and with RED."""

DropRate = Literal["drop_percent", "interval_drop_percent"]
"""The share of a run's packets, or the mean share of intervals of 10 ms."""
SHARES: Mapping[str, DropRate] = {TCP_RED.name: "drop_percent", DCCP_RED.name: "drop_percent"}
MEANS_OF_INTERVALS: Mapping[str, DropRate] = {
    TCP_RED.name: "interval_drop_percent",
    DCCP_RED.name: "interval_drop_percent",
}
DROP_RATES: Mapping[str, DropRate] = {
    TCP_RED.name: "drop_percent",
    DCCP_RED.name: "interval_drop_percent",
}
"""As the paper says: "About 7% of the packets are dropped" with TCP/RED; with DCCP/RED the "average
packet drop rate", which it defines for intervals."""
NS2_DROPS: Mapping[DropRate, oracle.Measure] = {
    "drop_percent": "drop_pct",
    "interval_drop_percent": "interval_drop_pct",
}
OverSeeds = Literal["median", "mean"]
"""What the time without drops is over seeds. The paper shows one run, and one late packet in a few
runs decides a mean."""


def published_value(figure: str, scheme: Scheme) -> float | None:
    """Return what is published in a scheme's panel of a figure; None if nothing is."""
    value = f"{figure}{scheme.panel}"
    return LEDGER.published(value) if value in LEDGER.values else None


def measure(ours: Runs, ns2: Ns2) -> Measures:
    """Measure everything.

    ns-2 has only the schemes with RED.
    """
    nearest = ccid2.nearest(ccid2.TABLE.read())[0]
    return Measures(
        ours={
            **published(ours),
            **_of_analysis(ours),
            **_of_rates(ours),
            **_of_queues(ours),
            **_of_drops(ours),
            **_of_coexistence(ours),
        },
        ns2={
            value: theirs
            for scheme, means in ns2.items()
            for value, theirs in (
                (f"fig6{scheme.panel}", means["queue_pkts"]),
                (f"fig7{scheme.panel}", means[NS2_DROPS[DROP_RATES[scheme.name]]]),
                (f"fig7-peak{scheme.panel}", means["peak_pct"]),
            )
        },
        words={
            **_of_schemes(ours),
            **_of_web(),
            "nearest_buffer": nearest.reading.buffer,
            "nearest_queue": f"{nearest.queue_packets:.0f}",
            "nearest_drops": f"{nearest.drop_percent:.1f}",
            "ns2_peak": f"{ns2[DCCP_RED]['peak_pct']:.0f}",
        },
    )


def published(
    ours: Runs,
    drop_rates: Mapping[str, DropRate] = DROP_RATES,
    quiet_over_seeds: OverSeeds = "median",
) -> dict[str, Measure]:
    """Measure the values of figures, scheme by scheme, and equation 9.

    ``drop_rates`` says by scheme what the published drop rate is. ``quiet_over_seeds`` is for times
    without drops.
    """
    found = {}
    known = LEDGER.values
    for scheme, runs in ours.items():
        for figure, name in (
            ("fig6", "queue_mean"),
            ("fig7", drop_rates.get(scheme.name, "drop_percent")),
            ("fig7-peak", "peak_percent"),
            ("fig7-quiet", "quiet_from_s"),
            ("fig5", "shown_mean_kbps"),
        ):
            value = f"{figure}{scheme.panel}"
            if value in known:
                found[value] = _over_seeds(
                    [getattr(run.series, name) for run in runs],
                    quiet_over_seeds if figure == "fig7-quiet" else "mean",
                    known[value].expectation.unit,
                )
    return {**found, "equation9": Measure(Model().rate_at_rest_as_printed / 1e3)}


def _over_seeds(by_seed: Sequence[float], over_seeds: OverSeeds, unit: str) -> Measure:
    """Return the mean or median, with the number of seeds and how far they differ."""
    if over_seeds == "median":
        spread = {"median of": f"{min(by_seed):.2g} to {max(by_seed):.3g} {unit}"}
        return Measure(float(np.median(by_seed)), {"seeds": len(by_seed), **spread})
    found = average(by_seed)
    spread = {"95 % confidence": f"± {found.margin:.2g} {unit}"}
    return Measure(found.value, {"seeds": len(by_seed), **spread})


def _of_schemes(ours: Runs) -> dict[str, object]:
    """Return the numbers of our runs that reasons and finding have."""
    late = [run.series.quiet_from_s > LATE_S for run in ours[DCCP_VCP]]
    of_near_kbps = mean(ours[DCCP_VCP], lambda run: float(run.goodput_kbps[0].mean()))
    return {
        "late_runs": sum(late),
        "runs": len(late),
        "late_drops": f"{mean(ours[DCCP_VCP], 'series.late_drop_percent'):.2g}",
        "near_goodput": f"{of_near_kbps:.0f}",
        "vcp_drops": f"{mean(ours[DCCP_VCP], 'series.interval_drop_percent'):.1f}",
        "red_drops": f"{mean(ours[DCCP_RED], 'series.interval_drop_percent'):.1f}",
        "vcp_queue": f"{mean(ours[DCCP_VCP], 'series.queue_mean'):.0f}",
        "red_queue": f"{mean(ours[DCCP_RED], 'series.queue_mean'):.0f}",
    }


def _of_web() -> dict[str, object]:
    """Return what web traffic that does not use VCP makes of VCP's queue and rates."""
    over_tcp = {scheme: CHANGED.rows(change=WEB_OVER_TCP, scheme=scheme.name) for scheme in VCP}

    def change(scheme: Scheme, name: str) -> float:
        without = CHANGED.rows(change=WITHOUT_WEB, scheme=scheme.name)
        return mean(over_tcp[scheme], name) - mean(without, name)

    return {
        "other_web_queue": f"{mean(over_tcp[TCP_VCP], 'queue_packets'):.0f}",
        "other_web_late": f"{mean(over_tcp[TCP_VCP], 'late_drop_percent'):.2f}",
        **{f"{one.transport}_variation_by_web": f"{change(one, 'variation'):+.3f}" for one in VCP},
        **{f"{one.transport}_queue_sd_by_web": f"{change(one, 'queue_sd'):+.1f}" for one in VCP},
    }


def _of_analysis(ours: Runs) -> Values:
    """Measure what the paper says of fairness, load and equations."""
    base = SETTLED.rows(symbol="N", value=Model().flows)
    return {
        **{
            f"2/fairness/{scheme.transport}": mean(
                ours[scheme], lambda run: float(run.jain_by_subnet.min())
            )
            for scheme in VCP
        },
        "2/target": 100 * mean(base, "utilisation"),
        "3/stable": critical_h(Model()),
        "3/same-rate": min(row.jain for row in base),
        **{
            f"3/equation9/{symbol.lower()}/{number}": mean(
                SETTLED.rows(symbol=symbol, value=value), "rate_kbps"
            )
            for symbol, (name, values) in VARIED.items()
            for number, value in enumerate(values, start=1)
            # The values of section 4 are in each parameter, and are judged once.
            if symbol == "N" or value != getattr(Model(), name)
        },
        **{f"3/falls/{one.lower()}": max(_changes_percent(one)) for one in ("N", "R")},
        **{
            f"3/grows/{one.lower()}": min(_changes_percent(one))
            for one in ("C", "zeta", "s", "gamma")
        },
    }


def _changes_percent(symbol: str) -> list[float]:
    """Return the relative changes between successive values of a parameter, by seed and value."""
    by_value = [
        np.array([row.rate_kbps for row in SETTLED.rows(symbol=symbol, value=value)])
        for value in VARIED[symbol][1]
    ]
    return [
        float(change)
        for before, after in pairwise(by_value)
        for change in 100 * (after / before - 1)
    ]


def _of_rates(ours: Runs) -> Values:
    """Measure what the paper says of sources' rates, and of utilisation."""
    return {
        "4/equation9-units": Model().rate_at_rest_bps / 1e3,
        **{f"4/full-use/{scheme.name}": 100 * mean(ours[scheme], "utilisation") for scheme in ours},
        **{
            f"4.1/smoother/{vcp.transport}": 100
            * mean(ours[vcp], "series.shown_variation")
            / mean(ours[red], "series.shown_variation")
            for vcp, red in BOTH_ROUTERS
        },
        **{f"4.1/very-low/{one.transport}": mean(ours[one], _lowest_percent) for one in VCP},
        **{
            f"4.1/web-disturbs/{one.transport}": _change(
                ours[one], "series.shown_variation", WITHOUT_WEB, one, "variation"
            )
            for one in VCP
        },
    }


def _of_queues(ours: Runs) -> Values:
    queue = {scheme: mean(ours[scheme], "series.queue_mean") for scheme in ours}
    return {
        "4.2/dccp-red-lower": queue[DCCP_RED] - queue[TCP_RED],
        "4.2/vcp-shorter": queue[TCP_VCP] - queue[TCP_RED],
        "4.2/smallest": queue[DCCP_VCP] - min(queue[one] for one in ours if one != DCCP_VCP),
        **{
            f"4.2/larger-fluctuations/{vcp.transport}": mean(ours[vcp], "series.queue_sd")
            - mean(ours[red], "series.queue_sd")
            for vcp, red in BOTH_ROUTERS
        },
        **{
            f"4.2/web-causes/{one.transport}": _change(
                ours[one], "series.queue_sd", WITHOUT_WEB, one, "queue_sd"
            )
            for one in VCP
        },
        **{
            f"5/queue/{vcp.transport}": 100
            * mean(ours[vcp], "series.queue_mean")
            / mean(ours[red], "series.queue_mean")
            for vcp, red in BOTH_ROUTERS
        },
    }


def _of_drops(ours: Runs) -> Values:
    rate = {scheme: mean(ours[scheme], "series.interval_drop_percent") for scheme in ours}
    peak = {scheme: mean(ours[scheme], "series.peak_percent") for scheme in ours}
    return {
        "4.3/keeps-dropping": mean(ours[TCP_RED], _seconds_with_drops_percent),
        "4.3/highest-first": mean(ours[TCP_RED], _later_peak),
        "4.3/dccp-red-lower": rate[DCCP_RED] - rate[TCP_RED],
        **{f"4.3/similar-peak/{one.transport}": 100 * peak[one] / peak[DCCP_RED] for one in VCP},
        **{
            f"4.3/almost-none/{one.transport}": mean(ours[one], "series.late_drop_percent")
            for one in VCP
        },
    }


def _of_coexistence(ours: Runs) -> Values:
    def of_tcp_percent(change: str) -> float:
        return mean(CHANGED.rows(change=change), "of_tcp_percent")

    return {
        "4.4/one-queue": of_tcp_percent(IN_VCPS_QUEUE),
        "4.4/web": _change(
            ours[DCCP_VCP], "series.late_drop_percent", WEB_OVER_TCP, DCCP_VCP, "late_drop_percent"
        ),
        "4.4/two-queues": of_tcp_percent(TWO_QUEUES),
    }


def _change(runs: Sequence[Run], of: str, change: str, scheme: Scheme, name: str) -> float:
    """Return what a change of the network makes of a measure, over the seeds that both have."""
    measure, changed = attrgetter(of), CHANGED.rows(change=change, scheme=scheme.name)
    pairs = zip(changed, runs, strict=False)
    return float(np.mean([getattr(row, name) - measure(run) for row, run in pairs]))


def _lowest_percent(run: Run) -> float:
    """Return the lowest rate by second within ``LATE_S``, relative to the steady rate.

    The first second, in which senders connect, is left out.
    """
    series = run.series
    return float(100 * series.shown_kbps[1 : int(LATE_S)].min() / series.shown_mean_kbps)


def _seconds_with_drops_percent(run: Run) -> float:
    """Return the share of seconds of the steady state in which a packet is dropped."""
    series = run.series
    lossy = (series.drops > 0) & (series.time_s > WARM_S)
    seconds = np.unique(np.ceil(series.time_s[lossy])).size
    return 100 * seconds / (DURATION_S - WARM_S)


def _later_peak(run: Run) -> float:
    """Return the highest drop rate after the start, minus that at the start, in points."""
    series = run.series
    late = (series.time_s > PEAK_UNTIL_S) & (series.arrivals > 0)
    rates = 100 * series.drops[late] / series.arrivals[late]
    return float(rates.max()) - series.peak_percent


def compare(ours: Runs, ns2: Ns2) -> list[Comparison]:
    """Compare the schemes that ns-2 has with ns-2's, under the same settings."""
    rows: tuple[tuple[str, str, Callable[[Run], float] | str, oracle.Measure], ...] = (
        ("mean queue", "packets", "series.queue_mean", "queue_pkts"),
        ("packets dropped", "%", "series.drop_percent", "drop_pct"),
        ("mean drop rate of intervals", "%", "series.interval_drop_percent", "interval_drop_pct"),
        ("highest drop rate, 0 to 5 s", "%", "series.peak_percent", "peak_pct"),
        ("utilisation", "", "utilisation", "utilisation"),
    )
    return [
        Comparison(
            quantity=quantity,
            conditions={"scheme": scheme.label},
            unit=unit,
            ours=mean(ours[scheme], of),
            ns2=theirs[name],
            limit_percent=NS2_LIMIT_PERCENT,
        )
        for scheme, theirs in ns2.items()
        for quantity, unit, of, name in rows
    ]
