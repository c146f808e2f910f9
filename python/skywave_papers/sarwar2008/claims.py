"""The paper's further claims, judged.

Rules were written before the runs. Reasons of mismatches name what the protocol does. Where the
paper gives no number, the rule has a limit of ours, which its comment explains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.cells import CLOSE, Cell, Limit
from skywave_papers.sarwar2008 import downloads, further, growth, live, quick_start
from skywave_papers.sarwar2008.downloads import values
from skywave_papers.sarwar2008.further import QUEUE, RTTS_S, SHORT_RTT_S
from skywave_papers.sarwar2008.oracle import Run
from skywave_papers.sarwar2008.sentences import (
    AVERAGE_RTT,
    CLOSER_RTT,
    DIFFICULTIES,
    EQUATION_1,
    EQUATION_2,
    EQUATION_3,
    EQUATION_4,
    EQUATION_5,
    EQUATION_6,
    EQUIVALENT,
    FAIR,
    GOODPUT,
    HIGHER_RATE,
    LESS_LOSS,
    MORE_REPORTS,
    NO_CONSISTENT_GAIN,
    OVERHEAD,
    P_FALLS,
    RARE,
    RESPONSIVE,
    RTT_VARIES,
    SAFEGUARDS,
    SLOWER,
    SMOOTHER,
)
from skywave_papers.sarwar2008.setting import LINK_BPS, PACKET_SIZE, REPORTS, Conditions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skywave.papers.cells import Rule
    from skywave.papers.sentences import Sentence
    from skywave_papers.sarwar2008.downloads import Course
    from skywave_papers.sarwar2008.further import Feedback, Further
    from skywave_papers.sarwar2008.live_cells import Downloads
    from skywave_papers.sarwar2008.live_report import Live
    from skywave_papers.sarwar2008.measures import Series

FAIR_INDEX = 0.9
"""Jain's index of two shares that differ by a factor of two, which is "reasonably fair" for TFRC
(RFC 3448 section 1)."""
LIVE_RTT_S = 1.2
FEEDBACKS: tuple[Feedback, ...] = ("standard", "dynamic")

FIRST_REPORTS = (
    "Equation 5 starts with one packet per second and has feedback about every rate after two "
    "round-trip times. RFC 3448 allows one packet per round-trip time once there is a report, "
    "which is more at 0.5 s and less at 2 s. And the first reports cover one packet or two, "
    "whatever X is, so the first doublings take longer."
)
FEW_PACKETS = (
    "Equation 2 allows no more reports than packets: N is 1 at one packet per round-trip time and "
    "grows with the rate. Equation 6 has the full N from the first packet. And RFC 3448 lets X "
    "rise once per round-trip time only, so X waits for that after the feedback has arrived."
)
LONGER_INTERVAL = (
    "With dynamic feedback X_recv is higher when the error is detected, so the first loss interval "
    "is longer and p starts lower. It halves once enough packets beyond that interval have "
    "arrived, which more reports do not hasten."
)
SLOWER_START = (
    "TCP's window doubles every round-trip time in slow start, TFRC's X every two. So TCP's "
    "overshoot ends TFRC's slow start at a low rate. From there X rises with the mean of the loss "
    "intervals, more slowly than TCP's window of one more segment per round-trip time."
)
SHORT_PATH_QUEUE = (
    "On the short path the download itself keeps a queue of more than 100 ms at the link. So the "
    "round-trip time is more than twice 100 ms, and standard feedback has one report for each."
)


SKIPS_SLOW_START = (
    "Slow start takes a large part of a flow's first minute, and Quick-Start skips it. Flows that "
    "ask after others get nothing and may lose to them, which this measure does not count. The "
    "references' traffic is smaller packets (TFRC-SP), and their texts were not available."
)


def further_claims(
    ours: Mapping[Conditions, Series], ns2: Mapping[Run, Series], live_link: Live, found: Further
) -> list[Cell]:
    """Judge the sentences that are in no table or figure, in the order of the paper."""
    return [
        *_of_introduction(ours, ns2, live_link, found),
        *_of_related_work(ours, found),
        *_of_proposal(ours, live_link),
        *_of_growth(found),
        *_of_avoidance(live_link, found),
        *_of_discussion(ours, live_link, found),
    ]


def _cell(
    said: Sentence,
    name: str,
    what: str,
    conditions: Mapping[str, str | float],
    unit: str,
    published: float,
    rule: Rule,
    ours: float | None,
    known_reason: str | None = None,
    *,
    ns2: float | None = None,
) -> Cell:
    return Cell(
        id=name,
        what=what,
        conditions=conditions,
        unit=unit,
        published=published,
        ours=ours,
        ns2=ns2,
        rule=rule,
        known_reason=known_reason,
        quote=said.quote,
    )


def _of_quick_start(found: Further) -> Cell:
    """Judge whether Quick-Start fails to help in some condition."""
    return _cell(
        NO_CONSISTENT_GAIN,
        "II/quick-start",
        "least gain in packets of the first minute by Quick-Start",
        {
            "conditions": "; ".join(one.case.label for one in found.quick_start),
            "share": quick_start.SHARE,
        },
        "%",
        quick_start.LEAST_GAIN_PERCENT,
        Limit("<"),
        min(one.gain_percent for one in found.quick_start),
        SKIPS_SLOW_START,
    )


def _by_feedback(
    ours: Mapping[Conditions, Series], measure: Callable[[Series], float]
) -> tuple[float, float]:
    """Return a measure of Figure 2 with a queue that loses packets, by feedback."""
    standard, dynamic = (measure(ours[further.NO_ERRORS[feedback]]) for feedback in FEEDBACKS)
    return standard, dynamic


def _of_introduction(
    ours: Mapping[Conditions, Series], ns2: Mapping[Run, Series], live_link: Live, found: Further
) -> list[Cell]:
    queue: dict[str, str | float] = {"queue (packets)": QUEUE, "errors": "none"}
    losses = _by_feedback(ours, lambda series: series.loss_percent)
    rates = _by_feedback(ours, lambda series: series.mean_bps)
    theirs = [ns2[Run("tfrc", reports, QUEUE)] for reports in (1, REPORTS)]
    tcp_percent = further.back_percent(found.tcp)
    limit = Limit("<=")
    return [
        _cell(
            FAIR,
            "I/fair",
            "Jain's index of standard feedback and a TCP flow (SACK) on the link of Figure 2; the "
            "limit is a factor of two",
            queue,
            "",
            FAIR_INDEX,
            Limit(">"),
            found.fairness,
            SLOWER_START,
        ),
        _cell(
            DIFFICULTIES,
            "I/difficulties",
            "throughput relative to that with a round-trip time of 100 ms, standard feedback",
            queue,
            "%",
            100,
            Limit("<"),
            100 * rates[0] / found.short.mean_bps,
        ),
        _cell(
            GOODPUT,
            "I/goodput",
            "how much higher the throughput is with dynamic feedback in the simulation",
            queue,
            "kbps",
            0,
            Limit(">"),
            (rates[1] - rates[0]) / 1e3,
            ns2=(theirs[1].mean_bps - theirs[0].mean_bps) / 1e3,
        ),
        _cell(
            LESS_LOSS,
            "I/less-loss",
            "how much lower the loss is with dynamic feedback in the simulation",
            queue,
            "points",
            0,
            Limit(">"),
            losses[0] - losses[1],
            ns2=theirs[0].loss_percent - theirs[1].loss_percent,
        ),
        _cell(
            OVERHEAD,
            "I/overhead/simulation",
            "rate of the reports relative to throughput, dynamic feedback; the limit is that of "
            "TCP's acknowledgements there",
            queue,
            "%",
            tcp_percent,
            limit,
            _by_feedback(ours, further.back_percent)[1],
        ),
        _cell(
            OVERHEAD,
            "I/overhead/live",
            "the same on the live link, emulated",
            {"downloads": len(live_link.ours[live.DYNAMIC])},
            "%",
            tcp_percent,
            limit,
            downloads.mean(live_link.ours[live.DYNAMIC], "back_percent"),
        ),
    ]


def _of_related_work(ours: Mapping[Conditions, Series], found: Further) -> list[Cell]:
    tfrc, tcp = _by_feedback(ours, further.variation)[0], further.variation(found.tcp)
    return [
        _cell(
            EQUATION_1,
            "II/equation-1",
            "X relative to equation 1, or to 2 X_recv if that is lower: median after slow start, "
            "standard feedback",
            {"errors": 1},
            "times",
            1,
            CLOSE,
            found.after_error["standard"].equation_ratio,
        ),
        _of_quick_start(found),
        _cell(
            SMOOTHER,
            "II/smoother",
            "coefficient of variation of throughput relative to that of TCP (SACK) in its place",
            {"queue (packets)": QUEUE, "from (s)": further.SETTLED_S},
            "times",
            1,
            Limit("<"),
            tfrc / tcp,
            f"TFRC has a coefficient of variation of {tfrc:.3f}, and TCP {tcp:.3f}, since it keeps "
            "SACKs at a timeout. A TCP that forgets them (RFC 2018 section 5) varies twice as "
            "much, and the sentence holds.",
        ),
        _cell(
            SLOWER,
            "II/slower-than-tcp",
            "how much later than TCP (SACK) standard feedback uses 80 % of a link whose rate has "
            "doubled; at least, if it does not by the end of the run",
            {"queue (packets)": QUEUE},
            "s",
            0,
            Limit(">"),
            found.changing["standard"].rises_s - found.changing["tcp"].rises_s,
        ),
    ]


def _of_proposal(ours: Mapping[Conditions, Series], live_link: Live) -> list[Cell]:
    standard, dynamic = (live_link.ours[one] for one in (live.STANDARD, live.DYNAMIC))
    conditions: dict[str, str | float] = {"link": "IPSTAR, emulated", "downloads": len(dynamic)}
    per_s = growth.reports_per_rtt(LIVE_RTT_S, LINK_BPS / 8, PACKET_SIZE) / LIVE_RTT_S
    return [
        _cell(
            EQUATION_2,
            "III/reports/simulation",
            "reports per second, dynamic feedback, by equation 2 and measured",
            {"queue (packets)": QUEUE, "from (s)": further.SETTLED_S},
            "per s",
            REPORTS,
            CLOSE,
            _by_feedback(ours, further.reports_per_s)[1],
        ),
        _cell(
            EQUATION_2,
            "III/reports/live",
            "reports per second over whole downloads, dynamic feedback, by equation 2 and measured",
            conditions,
            "per s",
            per_s,
            CLOSE,
            downloads.mean(dynamic, "reports_per_s"),
        ),
        _cell(
            AVERAGE_RTT,
            "IV/average-rtt",
            "mean round-trip time of downloads, standard feedback",
            conditions,
            "ms",
            1e3 * LIVE_RTT_S,
            CLOSE,
            downloads.mean(standard, "rtt_ms"),
        ),
        _cell(
            RARE,
            "V-A/rare",
            "reports per second over whole downloads, standard feedback",
            conditions,
            "per s",
            1,
            Limit("<"),
            downloads.mean(standard, "reports_per_s"),
        ),
    ]


def _of_growth(found: Further) -> list[Cell]:
    """Judge equations 3 to 6 by slow starts on a link that is never full."""
    delays, rates = [], []
    for feedback, delay_said, rate_said in (
        ("standard", EQUATION_3, EQUATION_5),
        ("dynamic", EQUATION_4, EQUATION_6),
    ):
        for rtt_s in RTTS_S:
            slow_start = found.growth[_feedback(feedback), rtt_s]
            reports = (
                1.0
                if feedback == "standard"
                else growth.reports_per_rtt(rtt_s, LINK_BPS / 8, PACKET_SIZE)
            )
            conditions: dict[str, str | float] = {"RTT (s)": rtt_s, "N": reports}
            delays.append(
                _cell(
                    delay_said,
                    f"{delay_said.tests[0]}/rtt={rtt_s:g}",
                    f"shortest time from a higher X to feedback about it, {feedback} feedback",
                    conditions,
                    "s",
                    growth.least_delay_s(rtt_s, reports),
                    CLOSE,
                    float(slow_start.delays_s.min()) if slow_start.delays_s.size else None,
                )
            )
            rates.append(
                _cell(
                    rate_said,
                    f"{rate_said.tests[0]}/rtt={rtt_s:g}",
                    f"time until X reaches the link's rate, {feedback} feedback",
                    conditions,
                    "s",
                    growth.time_to_rate_s(LINK_BPS / 8, rtt_s, PACKET_SIZE, reports),
                    CLOSE,
                    slow_start.reached_s,
                    FIRST_REPORTS if feedback == "standard" else FEW_PACKETS,
                )
            )
    return [*delays, *rates]


def _feedback(name: str) -> Feedback:
    return "standard" if name == "standard" else "dynamic"


def _of_avoidance(live_link: Live, found: Further) -> list[Cell]:
    standard, dynamic = (found.after_error[feedback] for feedback in FEEDBACKS)
    one_error: dict[str, str | float] = {"errors": 1}
    shown: dict[str, str | float] = {"link": "IPSTAR, emulated", "downloads": "one of each kind"}
    courses = live_link.courses
    return [
        _cell(
            RESPONSIVE,
            "V/responsive",
            "how much sooner losses end with dynamic feedback after the link's rate has halved",
            {"queue (packets)": QUEUE},
            "s",
            0,
            Limit(">"),
            found.changing["standard"].falls_s - found.changing["dynamic"].falls_s,
        ),
        _cell(
            P_FALLS,
            "V-B/p-falls",
            "how much sooner p has halved with dynamic feedback, after the error",
            one_error,
            "s",
            0,
            Limit(">"),
            None
            if standard.p_halved_s is None or dynamic.p_halved_s is None
            else standard.p_halved_s - dynamic.p_halved_s,
            LONGER_INTERVAL,
        ),
        _cell(
            HIGHER_RATE,
            "V-B/higher-rate",
            "how much higher the mean of X is with dynamic feedback, in the minute after the error",
            one_error,
            "kbps",
            0,
            Limit(">"),
            (dynamic.mean_rate_bps - standard.mean_rate_bps) / 1e3,
        ),
        _cell(
            CLOSER_RTT,
            "V-B/closer-rtt",
            "how much closer the sender's round-trip time is to that of packets with dynamic "
            "feedback (root mean square over seconds after slow start)",
            shown,
            "ms",
            0,
            Limit(">"),
            1e3 * (courses[live.STANDARD].rtt_error_s - courses[live.DYNAMIC].rtt_error_s),
        ),
        _cell(
            RTT_VARIES,
            "V-B/rtt-varies",
            "how much more the round-trip time changes than p, relative to their values, in "
            "seconds in which p does not rise, dynamic feedback",
            shown,
            "% per s",
            0,
            Limit(">"),
            100 * rtt_above_p(courses[live.DYNAMIC]),
        ),
        *(
            _cell(
                SAFEGUARDS,
                f"V-C/safeguards/{name}",
                f"{what}, {feedback} feedback",
                one_error,
                "times",
                2,
                Limit("<="),
                # Rates are recorded in whole bit/s.
                round(factor, 4),
            )
            for feedback in FEEDBACKS
            for name, what, factor in (
                (
                    f"growth/{feedback}",
                    "largest factor by which X grows in less than a round-trip time",
                    found.after_error[feedback].most_growth,
                ),
                (
                    f"receive-rate/{feedback}",
                    "largest X relative to X_recv when X increases",
                    2 * found.after_error[feedback].most_of_receive_rate,
                ),
            )
        ),
    ]


def rtt_above_p(course: Course) -> float:
    """Return by how much the round-trip time changes more than p, while p does not rise.

    It is the difference of mean relative changes per second.
    """
    known = np.isfinite(course.rtt_s) & (course.loss_event_rate > 0)
    rtt, p = (
        np.abs(np.diff(np.log(values[known]))) for values in (course.rtt_s, course.loss_event_rate)
    )
    calm = np.diff(course.loss_event_rate[known]) <= 0
    return float(rtt[calm].mean() - p[calm].mean())


def _of_discussion(
    ours: Mapping[Conditions, Series], live_link: Live, found: Further
) -> list[Cell]:
    beyond: Downloads = live_link.beyond
    usual, most = (live.BY_RTT_REF[rtt_ref] for rtt_ref in (100, min(live.RTT_REFS_MS)))
    return [
        _cell(
            MORE_REPORTS,
            "VI-C/more-reports",
            f"how much higher the mean rate is with RTT_ref = {min(live.RTT_REFS_MS)} ms than with "
            "100 ms",
            {"link": "IPSTAR, emulated", "downloads": len(beyond[usual])},
            "kbit/s",
            0,
            Limit(">"),
            float((values(beyond[most], "rate_kbps") - values(beyond[usual], "rate_kbps")).mean()),
        ),
        _cell(
            EQUIVALENT,
            "VI-C/equivalent",
            "reports per second with dynamic feedback, relative to standard feedback on a path of "
            f"{1e3 * SHORT_RTT_S:g} ms",
            {"from (s)": further.SETTLED_S},
            "times",
            1,
            CLOSE,
            _by_feedback(ours, further.reports_per_s)[1] / further.reports_per_s(found.short),
            SHORT_PATH_QUEUE,
        ),
    ]
