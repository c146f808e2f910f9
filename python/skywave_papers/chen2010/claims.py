"""The paper's further claims, judged.

Rules were written before the runs. Where the paper gives no number, the rule has a limit of ours,
which its comment explains.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.cells import CLOSE, Cell, Limit, Within
from skywave_papers.chen2010 import further
from skywave_papers.chen2010.analysis import STABLE_UP_TO_H, Model, critical_h
from skywave_papers.chen2010.further import (
    IN_VCPS_QUEUE,
    LATE_S,
    TWO_QUEUES,
    VARIED,
    WEB_OVER_TCP,
    WITHOUT_WEB,
    model_with,
)
from skywave_papers.chen2010.measures import PEAK_UNTIL_S
from skywave_papers.chen2010.published import PUBLISHED, RATE_BY_EQUATION_9_KBPS
from skywave_papers.chen2010.sentences import (
    ALMOST_NONE,
    BY_EQUATION_9,
    DCCP_DROPS_LESS,
    FAIRNESS,
    FALLS,
    FULL_USE,
    GROWS,
    HIGHEST_FIRST,
    KEEPS_DROPPING,
    LARGER_FLUCTUATIONS,
    LESS_AMPLITUDE,
    LOWER_QUEUE,
    NOT_IN_ONE_QUEUE,
    SAME_RATE,
    SHORTER,
    SIGNIFICANTLY,
    SIMILAR_PEAK,
    SMALLEST,
    STABLE,
    TARGET,
    TWO_SUB_QUEUES,
    VERY_LOW,
    WEB_DISTURBS,
)
from skywave_papers.chen2010.setting import DCCP_RED, DCCP_VCP, DURATION_S, TCP_RED, TCP_VCP, WARM_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skywave.papers.cells import Rule
    from skywave.papers.sentences import Sentence
    from skywave_papers.chen2010.cells import Runs
    from skywave_papers.chen2010.further import Changed, Further
    from skywave_papers.chen2010.measures import Run
    from skywave_papers.chen2010.setting import Scheme

FAIR = 0.95
"""Our limit for Jain's index of flows that get the same: one flow in twenty would get nothing."""
HALF_PERCENT = 50
"""Our limit for "much less", "significantly" and what cannot share: half."""
VERY_LOW_PERCENT = 25
"""Our limit for "a very low level": a quarter, two halvings, of the steady rate."""
ALMOST_NO_PERCENT = 0.1
"""Our limit for "almost no packet": one in a thousand."""
HIGH_PERCENT = 95
"""Our limit for "high" and "full" utilisation; VCP's target is 98 %."""
UNITS = {"R": "_p (s)", "C": " (bps)", "s": " (bits)"}
"""The units of the parameters that have one; of the round-trip time, R_p is varied."""
POINTS = Within(2)
"""For a utilisation that is "just 98 %", in percent of it."""

OBEDIENT_WEB = (
    "Web traffic that uses VCP follows the load factor as well, and disturbs so little that runs "
    "with it and without it differ less than seeds do. Web traffic that does not use VCP disturbs "
    "more: it changes the variation by {variation:+.3f} and the standard deviation of the queue by "
    "{queue_sd:+.1f} packets."
)
SLOW_START_PEAK = (
    "VCP's senders begin in slow start and grow for each packet; those of DCCP/RED grow for each "
    "acknowledgement, which is for zeta packets, and overshoot less."
)
SECONDS = (
    "A second has up to a dozen round-trip times of slow start, overshoot and halving. Its mean "
    'rate hides the lowest one. A limit for "very low" is not published; ours is a quarter.'
)
OWN_RATIO = (
    "The paper's own averages, {percent:.0f} %, miss this limit as well. Ours is half, since the "
    "paper says no number."
)


def further_claims(ours: Runs, found: Further) -> list[Cell]:
    """Judge the sentences that are in no figure, in the order of the paper."""
    return [
        *_of_analysis(ours, found),
        *_of_throughput(ours, found),
        *_of_queues(ours, found),
        *_of_drops(ours),
        *_of_coexistence(ours, found),
        *_of_conclusion(ours),
    ]


def _cell(
    said: Sentence,
    name: str,
    what: str,
    conditions: Mapping[str, str | float],
    unit: str,
    published: float,
    rule: Rule,
    ours: float,
    known_reason: str | None = None,
) -> Cell:
    return Cell(
        id=name,
        what=what,
        conditions=conditions,
        unit=unit,
        published=published,
        ours=ours,
        rule=rule,
        known_reason=known_reason,
        quote=said.quote,
    )


def _mean(ours: Runs, scheme: Scheme, measure: Callable[[Run], float]) -> float:
    return float(np.mean([measure(run) for run in ours[scheme]]))


def _name(scheme: Scheme) -> str:
    return scheme.transport


def _of_analysis(ours: Runs, found: Further) -> list[Cell]:
    base = found.rows("N", Model().flows)
    fairness = [
        _cell(
            FAIRNESS,
            f"2/fairness/{_name(scheme)}",
            "least Jain's index of the flows of a subnet",
            {"scheme": scheme.label},
            "",
            FAIR,
            Limit(">"),
            _mean(ours, scheme, lambda run: float(run.jain_by_subnet.min())),
        )
        for scheme in (TCP_VCP, DCCP_VCP)
    ]
    alone = {"scheme": DCCP_VCP.label, "round-trip times": "equal", "web traffic": "none"}
    return [
        *fairness,
        _cell(
            TARGET,
            "2/target",
            "utilisation in the steady state",
            alone,
            "%",
            100 * Model().target,
            POINTS,
            100 * float(np.mean([row.utilisation for row in base])),
            _least_windows(Model()),
        ),
        _cell(
            STABLE,
            "3/stable",
            "h up to which the equilibrium of equation 6 is stable; published: the bound",
            {"load": "a control round trip old"},
            "",
            STABLE_UP_TO_H,
            Limit(">"),
            critical_h(Model()),
        ),
        _cell(
            SAME_RATE,
            "3/same-rate",
            "least Jain's index of all flows in a run",
            alone,
            "",
            FAIR,
            Limit(">"),
            min(row.jain for row in base),
        ),
        *(
            _cell(
                SAME_RATE,
                f"3/equation9/{symbol.lower()}/{number}",
                "rate of a flow in the steady state; published: equation 9 as printed",
                {**alone, f"{symbol}{UNITS.get(symbol, '')}": value},
                "kbps",
                model_with(symbol, value).rate_at_rest_as_printed / 1e3,
                CLOSE,
                float(np.mean([row.rate_kbps for row in found.rows(symbol, value)])),
                _least_windows(Model()),
            )
            for symbol, (_, values) in VARIED.items()
            for number, value in enumerate(values, start=1)
            if symbol == "N" or value != getattr(Model(), VARIED[symbol][0])
        ),
        *(
            _cell(
                said,
                f"3/{said_as}/{symbol.lower()}",
                f"{which} change in the rate of a flow from one {symbol} to the next, in all runs",
                {
                    **alone,
                    f"{symbol}{UNITS.get(symbol, '')}": ", ".join(
                        f"{value:g}" for value in VARIED[symbol][1]
                    ),
                },
                "%",
                0,
                rule,
                choose(_changes_percent(symbol, found)),
                (_long_round_trips if symbol == "R" else _least_windows)(Model()),
            )
            for said, said_as, which, rule, choose, symbols in (
                (FALLS, "falls", "largest", Limit("<"), max, ("N", "R")),
                (GROWS, "grows", "smallest", Limit(">"), min, ("C", "zeta", "s", "gamma")),
            )
            for symbol in symbols
        ),
    ]


def _changes_percent(symbol: str, found: Further) -> list[float]:
    """Return the relative changes between successive values of a parameter, by seed and value."""
    by_value = [
        np.array([row.rate_kbps for row in found.rows(symbol, value)])
        for value in VARIED[symbol][1]
    ]
    return [
        float(change)
        for before, after in pairwise(by_value)
        for change in 100 * (after / before - 1)
    ]


def _changes(
    ours: Runs, changed: list[Changed], scheme: Scheme, of: Callable[[Run], float], name: str
) -> list[float]:
    """Return what a change of the network makes of a measure, by seed."""
    return [getattr(row, name) - of(run) for run, row in zip(ours[scheme], changed, strict=False)]


def _lowest_percent(run: Run) -> float:
    """Return the lowest rate by second within ``LATE_S``, relative to the steady rate.

    The first second, in which senders connect, is left out.
    """
    series = run.series
    return float(100 * series.shown_kbps[1 : int(LATE_S)].min() / series.shown_mean_kbps)


def equation_9_reason(model: Model) -> str:
    """Return what is wrong with the published rate, in numbers."""
    packets_per_s = model.alpha / (model.h * model.rtt_s)
    share_kbps = model.target * model.capacity_bps / model.flows / 1e3
    of_capacity = model.flows * model.rate_at_rest_bps / model.capacity_bps
    return (
        f"An error of units: the last term of equation 9, {packets_per_s:.1f} packets per s, was "
        f"added to bits per s. In bits it is {packets_per_s * model.packet_bits / 1e3:.1f} kbps, "
        f"and {model.flows} flows with the correct rate would need {of_capacity:.1f} C. What the "
        f"paper calls a match with theory is gamma C / N = {share_kbps:.1f} kbps, its fair share."
    )


def _least_windows(model: Model) -> str:
    """Return why rates do not follow equation 9, in numbers."""
    path = model.capacity_bps * model.propagation_s / model.packet_bits
    return (
        "zeta is at least 2, and so is cwnd. Where these windows fill the link, its load factor "
        "changes nothing, and each flow gets C / N. With 60 ms, as here, they do: "
        f"{model.flows} flows have {2 * model.flows} packets at least, and the path holds "
        f"{path:.0f}. Elsewhere a flow gets about gamma C / N. Equation 9 as printed depends on "
        "zeta, s and R by less than 1 %."
    )


def _long_round_trips(model: Model) -> str:
    """Return why rates do not fall with the round-trip time, in numbers."""
    long_s = max(VARIED["R"][1])
    return (
        f"{_least_windows(model)} Neither holds for R_p = {long_s:g} s: from an R of "
        f"{model.increase_outweighs_from_s():.3f} s on, the increase after a decrease outweighs it "
        '(section "When an increase outweighs a decrease"). So the queue grows for the whole run, '
        "and each flow gets C / N."
    )


def _of_throughput(ours: Runs, found: Further) -> list[Cell]:
    def variation(run: Run) -> float:
        return run.series.shown_variation

    return [
        _cell(
            BY_EQUATION_9,
            "4/equation9-units",
            "steady-state rate of a DCCP/VCP source by equation 9 with correct units",
            {"R_p (ms)": 60, "R_q (ms)": 20},
            "kbps",
            RATE_BY_EQUATION_9_KBPS,
            CLOSE,
            Model().rate_at_rest_bps / 1e3,
            equation_9_reason(Model()),
        ),
        *(
            _cell(
                FULL_USE,
                f"4/full-use/{scheme.name}",
                "utilisation over the whole run",
                {"scheme": scheme.label},
                "%",
                HIGH_PERCENT,
                Limit(">"),
                100 * _mean(ours, scheme, lambda run: run.utilisation),
            )
            for scheme in ours
        ),
        *(
            _cell(
                LESS_AMPLITUDE,
                f"4.1/smoother/{_name(vcp)}",
                f"variation of the rate of Figure 5's source, relative to that of {red.label}",
                {"scheme": vcp.label, "time (s)": f"{WARM_S:g}-{DURATION_S}"},
                "%",
                HALF_PERCENT,
                Limit("<="),
                100 * _mean(ours, vcp, variation) / _mean(ours, red, variation),
            )
            for vcp, red in ((TCP_VCP, TCP_RED), (DCCP_VCP, DCCP_RED))
        ),
        *(
            _cell(
                VERY_LOW,
                f"4.1/very-low/{_name(scheme)}",
                "lowest rate of Figure 5's source by second, relative to its steady rate",
                {"scheme": scheme.label, "time (s)": f"1-{LATE_S:g}"},
                "%",
                VERY_LOW_PERCENT,
                Limit("<="),
                _mean(ours, scheme, _lowest_percent),
                SECONDS,
            )
            for scheme in (TCP_VCP, DCCP_VCP)
        ),
        *(
            _cell(
                WEB_DISTURBS,
                f"4.1/web-disturbs/{_name(scheme)}",
                "change in the variation of the rate of Figure 5's source without web traffic",
                {"scheme": scheme.label, "seeds": len(further.SEEDS)},
                "",
                0,
                Limit("<"),
                float(
                    np.mean(
                        _changes(
                            ours, found.of(WITHOUT_WEB, scheme), scheme, variation, "variation"
                        )
                    )
                ),
                _obedient_web(found, scheme),
            )
            for scheme in (TCP_VCP, DCCP_VCP)
        ),
    ]


def _obedient_web(found: Further, scheme: Scheme) -> str:
    """Return why web traffic causes no fluctuations, and what the other kind of it causes."""
    pairs = list(zip(found.of(WEB_OVER_TCP, scheme), found.of(WITHOUT_WEB, scheme), strict=True))
    return OBEDIENT_WEB.format(
        **{
            name: np.mean([getattr(one, name) - getattr(other, name) for one, other in pairs])
            for name in ("variation", "queue_sd")
        }
    )


def _of_queues(ours: Runs, found: Further) -> list[Cell]:
    queue = {scheme: _mean(ours, scheme, lambda run: run.series.queue_mean) for scheme in ours}

    def deviation(run: Run) -> float:
        return float(run.series.queue_packets.std())

    return [
        *(
            _cell(
                said,
                name,
                f"mean queue, minus {what}",
                {"scheme": one.label},
                "packets",
                0,
                Limit("<"),
                queue[one] - min(queue[other] for other in others),
            )
            for said, name, one, what, others in (
                (LOWER_QUEUE, "4.2/dccp-red-lower", DCCP_RED, "that of TCP/RED", (TCP_RED,)),
                (SHORTER, "4.2/vcp-shorter", TCP_VCP, "that of TCP/RED", (TCP_RED,)),
                (
                    SMALLEST,
                    "4.2/smallest",
                    DCCP_VCP,
                    "the smallest of the others",
                    (TCP_RED, DCCP_RED, TCP_VCP),
                ),
            )
        ),
        *(
            _cell(
                LARGER_FLUCTUATIONS,
                f"4.2/larger-fluctuations/{_name(vcp)}",
                f"standard deviation of the queue, minus that of {red.label}",
                {"scheme": vcp.label},
                "packets",
                0,
                Limit(">"),
                _mean(ours, vcp, deviation) - _mean(ours, red, deviation),
            )
            for vcp, red in ((TCP_VCP, TCP_RED), (DCCP_VCP, DCCP_RED))
        ),
        *(
            _cell(
                LARGER_FLUCTUATIONS,
                f"4.2/web-causes/{_name(scheme)}",
                "change in the standard deviation of the queue without web traffic",
                {"scheme": scheme.label, "seeds": len(further.SEEDS)},
                "packets",
                0,
                Limit("<"),
                float(
                    np.mean(
                        _changes(ours, found.of(WITHOUT_WEB, scheme), scheme, deviation, "queue_sd")
                    )
                ),
                _obedient_web(found, scheme),
            )
            for scheme in (TCP_VCP, DCCP_VCP)
        ),
    ]


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


def _late_drop_percent(run: Run) -> float:
    return run.series.drop_percent_from(LATE_S)


def _of_drops(ours: Runs) -> list[Cell]:
    def rate(run: Run) -> float:
        return run.series.interval_drop_percent

    def peak(run: Run) -> float:
        return run.series.peak_percent

    return [
        _cell(
            KEEPS_DROPPING,
            "4.3/keeps-dropping",
            "seconds in which packets are dropped, of all",
            {"scheme": TCP_RED.label, "time (s)": f"{WARM_S:g}-{DURATION_S}"},
            "%",
            100,
            CLOSE,
            _mean(ours, TCP_RED, _seconds_with_drops_percent),
        ),
        _cell(
            HIGHEST_FIRST,
            "4.3/highest-first",
            f"highest drop rate of an interval after {PEAK_UNTIL_S:g} s, minus that before",
            {"scheme": TCP_RED.label},
            "points",
            0,
            Limit("<"),
            _mean(ours, TCP_RED, _later_peak),
        ),
        _cell(
            DCCP_DROPS_LESS,
            "4.3/dccp-red-lower",
            "mean drop rate of intervals, minus that of TCP/RED",
            {"scheme": DCCP_RED.label},
            "points",
            0,
            Limit("<"),
            _mean(ours, DCCP_RED, rate) - _mean(ours, TCP_RED, rate),
        ),
        *(
            _cell(
                SIMILAR_PEAK,
                f"4.3/similar-peak/{_name(scheme)}",
                "highest drop rate at the start, relative to that of DCCP/RED",
                {"scheme": scheme.label},
                "%",
                100,
                CLOSE,
                100 * _mean(ours, scheme, peak) / _mean(ours, DCCP_RED, peak),
                SLOW_START_PEAK,
            )
            for scheme in (TCP_VCP, DCCP_VCP)
        ),
        *(
            _cell(
                ALMOST_NONE,
                f"4.3/almost-none/{_name(scheme)}",
                "share of packets that are dropped",
                {"scheme": scheme.label, "time (s)": f"{LATE_S:g}-{DURATION_S}"},
                "%",
                ALMOST_NO_PERCENT,
                Limit("<="),
                _mean(ours, scheme, _late_drop_percent),
            )
            for scheme in (TCP_VCP, DCCP_VCP)
        ),
    ]


def _of_coexistence(ours: Runs, found: Further) -> list[Cell]:
    def of_tcp_percent(change: str) -> float:
        return float(np.mean([row.of_tcp_percent for row in found.of(change, DCCP_VCP)]))

    halves: dict[str, str | float] = {
        "flows": "half TCP/RED, half DCCP/VCP",
        "seeds": len(further.SEEDS),
    }
    what = "goodput of flows over DCCP/VCP relative to flows over TCP/RED"
    return [
        _cell(
            NOT_IN_ONE_QUEUE,
            "4.4/one-queue",
            what,
            {**halves, "queue": "VCP's"},
            "%",
            HALF_PERCENT,
            Limit("<"),
            of_tcp_percent(IN_VCPS_QUEUE),
        ),
        _cell(
            NOT_IN_ONE_QUEUE,
            "4.4/web",
            "share of packets dropped if web traffic does not use VCP, minus that if it does",
            {
                "scheme": DCCP_VCP.label,
                "time (s)": f"{LATE_S:g}-{DURATION_S}",
                "seeds": len(further.SEEDS),
            },
            "points",
            0,
            Limit(">"),
            float(
                np.mean(
                    _changes(
                        ours,
                        found.of(WEB_OVER_TCP, DCCP_VCP),
                        DCCP_VCP,
                        _late_drop_percent,
                        "late_drop_percent",
                    )
                )
            ),
        ),
        _cell(
            TWO_SUB_QUEUES,
            "4.4/two-queues",
            what,
            {**halves, "queue": "two sub-queues of equal weight"},
            "%",
            100,
            CLOSE,
            of_tcp_percent(TWO_QUEUES),
        ),
    ]


def _of_conclusion(ours: Runs) -> list[Cell]:
    def queue(run: Run) -> float:
        return run.series.queue_mean

    return [
        _cell(
            SIGNIFICANTLY,
            f"5/queue/{_name(vcp)}",
            f"mean queue relative to that of {red.label}",
            {"scheme": vcp.label},
            "%",
            HALF_PERCENT,
            Limit("<="),
            100 * _mean(ours, vcp, queue) / _mean(ours, red, queue),
            OWN_RATIO.format(
                percent=100 * PUBLISHED[vcp.name].queue_packets / PUBLISHED[red.name].queue_packets
            ),
        )
        for vcp, red in ((TCP_VCP, TCP_RED), (DCCP_VCP, DCCP_RED))
    ]
