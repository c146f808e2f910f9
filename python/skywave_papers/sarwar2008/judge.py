"""The measurements for the tests of ``paper.toml``, and standard feedback beside ns-2's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from skywave._printing import at_least, number
from skywave.papers.cells import NS2_LIMIT_PERCENT, Comparison
from skywave.papers.measures import Measures, difference
from skywave_papers.sarwar2008 import downloads, further, growth, live
from skywave_papers.sarwar2008.oracle import Run
from skywave_papers.sarwar2008.setting import (
    BY_QUEUE,
    DYNAMIC,
    LINK_BPS,
    PACKET_SIZE,
    REPORTS,
    RTT_S,
    STANDARD,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave_papers.sarwar2008.downloads import Course, Downloads, Live, Totals
    from skywave_papers.sarwar2008.fit import Trial
    from skywave_papers.sarwar2008.further import Further
    from skywave_papers.sarwar2008.measures import Series
    from skywave_papers.sarwar2008.oracle import Agent
    from skywave_papers.sarwar2008.setting import Conditions

    Runs = Mapping[Conditions, Series]
    Ns2 = Mapping[Run, Series]
    Values = dict[str, float | None]


def measure(
    ours: Runs, ns2: Ns2, live_link: Live, found: Further, fitting: Sequence[Trial]
) -> Measures:
    """Measure everything. ``fitting`` are the trials of the search that fit, for a reason.

    ns-2 repeats neither the downloads nor the further runs.
    """
    of_figure_2 = figure_2(ours[STANDARD], ours[DYNAMIC])
    of_downloads = published_downloads(live_link)
    ns2_figure_2 = figure_2(*_tfrc(ns2, None))
    return Measures(
        ours={
            **of_figure_2,
            **of_downloads,
            **_gains(*_queued(ours)),
            **_queued_claims(ours, found),
            **_growth_claims(found),
            **_error_claims(found),
            **_download_claims(live_link),
            "II/quick-start": min(one.gain_percent for one in found.quick_start),
        },
        ns2={**ns2_figure_2, **_gains(*_tfrc(ns2, further.QUEUE))},
        words={
            "gain": number(of_downloads["text/gain"], 2),
            "exit_gain": number(of_figure_2["fig2/exit"]),
            "ns2_exit_gain": number(ns2_figure_2["fig2/exit"]),
            **_slow_starts(ours, ns2),
            **_recoveries(ns2),
            "slow_start_share": f"{_slow_start_percent(live_link):.0f}",
            "least_predicted": f"{min(one.gain_percent for one in fitting):.0f}",
            "most_predicted": f"{max(one.gain_percent for one in fitting):.0f}",
            "tfrc_variation": f"{further.variation(_queued(ours)[0]):.3f}",
            "tcp_variation": f"{further.variation(found.tcp):.3f}",
        },
    )


def figure_2(standard: Series, dynamic: Series) -> Values:
    """Measure the published values of Figure 2."""
    exit_s = difference(standard.exit_s, dynamic.exit_s)
    recovery_s = difference(standard.recovery_s, dynamic.recovery_s)
    return {
        "fig2/exit": exit_s,
        "fig2/exit-order": exit_s,
        "fig2/recovery": recovery_s,
        "fig2/recovery-order": recovery_s,
    }


def published_downloads(live_link: Live) -> Values:
    """Measure Table I and what section VI says of the live link."""
    standard, dynamic = (live_link.ours[one] for one in (live.STANDARD, live.DYNAMIC))
    rates, dynamic_rates = (downloads.values(runs, "rate_kbps") for runs in (standard, dynamic))
    rate_gain, _ = downloads.gain(dynamic, standard, "rate_kbps")
    loss_gain, _ = downloads.gain(standard, dynamic, "loss_percent")
    exit_s, _ = downloads.gain(standard, dynamic, "first_loss_s")
    shown, dynamic_shown = (live_link.courses[one] for one in (live.STANDARD, live.DYNAMIC))
    return {
        **_row("standard", standard),
        **_row("dynamic", dynamic),
        "table1/rate-order": rate_gain,
        "table1/loss-order": loss_gain,
        "text/gain": 100 * rate_gain / float(rates.mean()),
        "text/majority": 100 * float(np.mean(dynamic_rates > rates)),
        "fig5/exit": exit_s,
        "fig5/exit-order": exit_s,
        "fig3/loss-events": shown.correlation(
            shown.loss_event_rate, downloads.mean(standard, "first_loss_s")
        ),
        "fig4/rtt": dynamic_shown.correlation(
            dynamic_shown.rtt_s, downloads.mean(dynamic, "first_loss_s")
        ),
        "text/rtt-accuracy": rtt_share_percent(live_link.beyond),
    }


def _row(feedback: str, runs: Sequence[Totals]) -> Values:
    """Measure a row of Table I."""
    return {
        f"table1/{feedback}/rate": downloads.mean(runs, "rate_kbps"),
        f"table1/{feedback}/deviation": downloads.deviation(runs, "rate_kbps"),
        f"table1/{feedback}/loss": downloads.mean(runs, "loss_percent"),
    }


def rtt_share_percent(beyond: Downloads) -> float:
    """Return the share of dynamic feedback's gain that is due to following the RTT closely."""
    gain, slower = (
        downloads.gain(beyond[download], beyond[live.STANDARD], "rate_kbps")[0]
        for download in (live.DYNAMIC, live.SLOW_SMOOTHING)
    )
    return 100 * (1 - slower / gain)


def _queued(ours: Runs) -> tuple[Series, Series]:
    """Return Figure 2 with a queue that loses packets: standard and dynamic feedback."""
    standard, dynamic = BY_QUEUE[further.QUEUE]
    return ours[standard], ours[dynamic]


def _tfrc(ns2: Ns2, queue: int | None, *, one_packet: bool = False) -> tuple[Series, Series]:
    """Return ns-2's TFRC with one report per RTT and with several; without a queue, an error."""
    one, several = (
        ns2[Run("tfrc", reports, queue, one_packet=one_packet)] for reports in (1, REPORTS)
    )
    return one, several


def _gains(standard: Series, dynamic: Series) -> Values:
    """Measure what the simulation shows of the introduction's promises; both simulators have it."""
    return {
        "I/goodput": (dynamic.mean_bps - standard.mean_bps) / 1e3,
        "I/less-loss": standard.loss_percent - dynamic.loss_percent,
    }


def _queued_claims(ours: Runs, found: Further) -> Values:
    """Measure the simulation with a queue that loses packets, and other flows on that link."""
    standard, dynamic = _queued(ours)
    changing = found.changing
    reports_per_s = further.reports_per_s(dynamic)
    return {
        "I/fair": found.fairness,
        "I/difficulties": 100 * standard.mean_bps / found.short.mean_bps,
        "I/overhead/simulation": further.back_percent(dynamic),
        "II/smoother": further.variation(standard) / further.variation(found.tcp),
        "II/slower-than-tcp": changing["standard"].rises_s - changing["tcp"].rises_s,
        "III/reports/simulation": reports_per_s,
        "V/responsive": changing["standard"].falls_s - changing["dynamic"].falls_s,
        "VI-C/equivalent": reports_per_s / further.reports_per_s(found.short),
    }


def _growth_claims(found: Further) -> Values:
    """Measure equations 3 to 6 in slow starts on a link that is never full."""
    values: Values = {}
    for (feedback, rtt_s), slow_start in found.growth.items():
        delay, rate = (3, 5) if feedback == "standard" else (4, 6)
        delays_s = slow_start.delays_s
        shortest_s = float(delays_s.min()) if delays_s.size else None
        values[f"V-A/equation-{delay}/rtt={rtt_s:g}"] = shortest_s
        values[f"V-A/equation-{rate}/rtt={rtt_s:g}"] = slow_start.reached_s
    return values


def _error_claims(found: Further) -> Values:
    """Measure Figure 2 after its error."""
    standard, dynamic = (found.after_error[one] for one in further.FEEDBACKS)
    values: Values = {
        "II/equation-1": standard.equation_ratio,
        "V-B/p-falls": difference(standard.p_halved_s, dynamic.p_halved_s),
        "V-B/higher-rate": (dynamic.mean_rate_bps - standard.mean_rate_bps) / 1e3,
    }
    for feedback, after in found.after_error.items():
        # Rates are recorded in whole bit/s.
        values[f"V-C/safeguards/growth/{feedback}"] = round(after.most_growth, 4)
        of_receive_rate = round(2 * after.most_of_receive_rate, 4)
        values[f"V-C/safeguards/receive-rate/{feedback}"] = of_receive_rate
    return values


def _download_claims(live_link: Live) -> Values:
    """Measure the other claims about the live link."""
    standard, dynamic = (live_link.ours[one] for one in (live.STANDARD, live.DYNAMIC))
    shown, dynamic_shown = (live_link.courses[one] for one in (live.STANDARD, live.DYNAMIC))
    usual, most = (
        downloads.values(live_link.beyond[live.BY_RTT_REF[one]], "rate_kbps")
        for one in (100, min(live.RTT_REFS_MS))
    )
    return {
        "I/overhead/live": downloads.mean(dynamic, "back_percent"),
        "III/reports/live": downloads.mean(dynamic, "reports_per_s"),
        "IV/average-rtt": downloads.mean(standard, "rtt_ms"),
        "V-A/rare": downloads.mean(standard, "reports_per_s"),
        "V-B/closer-rtt": 1e3 * (shown.rtt_error_s - dynamic_shown.rtt_error_s),
        "V-B/rtt-varies": 100 * rtt_above_p(dynamic_shown),
        "VI-C/more-reports": float((most - usual).mean()),
    }


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


def _slow_starts(ours: Runs, ns2: Ns2) -> dict[str, str]:
    """Return how long slow start lasts in each simulator, and how long it must."""
    here_s, dynamic_s = (_exit_s(ours[one]) for one in (STANDARD, DYNAMIC))
    tfrc_s, tfrc_10_s = map(_exit_s, _tfrc(ns2, None))
    slow_s, slow_10_s = map(_exit_s, _tfrc(ns2, None, one_packet=True))
    module_s = [_exit_s(ns2[Run("dccp", 1, queue)]) for queue in BY_QUEUE]
    one_report_s = (here_s, tfrc_s, slow_s, *module_s)
    # From one packet per RTT to the link's rate.
    least_s = math.log2(LINK_BPS / 8 * RTT_S / PACKET_SIZE) * RTT_S
    by_equation_5_s, by_equation_6_s = slow_starts_s()
    lasts_s = {
        "standard_exit": here_s,
        "dynamic_exit": dynamic_s,
        "tfrc_exit": tfrc_s,
        "tfrc_10_exit": tfrc_10_s,
        "slow_tfrc_exit": slow_s,
        "slow_tfrc_10_exit": slow_10_s,
        "first_module_exit": min(module_s),
        "last_module_exit": max(module_s),
        "least_by_doublings": min(one_report_s) - least_s,
        "most_by_doublings": max(one_report_s) - least_s,
        "by_equations": by_equation_5_s - by_equation_6_s,
    }
    return {
        **{name: f"{value:.1f}" for name, value in lasts_s.items()},
        "doublings": at_least(least_s, 1),
    }


def slow_starts_s() -> tuple[float, float]:
    """Return how long equations 5 and 6 take to reach the link's rate."""
    standard_s, dynamic_s = (
        growth.time_to_rate_s(LINK_BPS / 8, RTT_S, PACKET_SIZE, reports)
        for reports in (1.0, float(REPORTS))
    )
    return standard_s, dynamic_s


def _exit_s(series: Series) -> float:
    """Return the duration of slow start; NaN if it does not end."""
    return math.nan if series.exit_s is None else series.exit_s


def _recoveries(ns2: Ns2) -> dict[str, str]:
    """Return how much sooner ns-2 recovers, with an error and with queues that lose packets."""
    same_error, *by_queue = (
        difference(*(series.recovery_s for series in _tfrc(ns2, queue)))
        for queue in (None, *BY_QUEUE)
    )
    gains = [gain for gain in by_queue if gain is not None]
    return {
        "ns2_recovery_gain": f"{same_error:.0f}",
        "least_ns2_recovery_gain": f"{min(gains):.0f}",
        "most_ns2_recovery_gain": f"{max(gains):.0f}",
    }


def _slow_start_percent(live_link: Live) -> float:
    """Return how much of a download slow start takes with standard feedback."""
    return 100 * downloads.mean(live_link.ours[live.STANDARD], "first_loss_s") / live.DURATION_S


def compare(ours: Runs, ns2: Ns2) -> list[Comparison]:
    """Compare standard feedback with both TFRCs of ns-2, where they measure the same."""
    rows: tuple[tuple[str, Agent, str, Callable[[Series], float | None]], ...] = (
        ("slow start", "dccp", "s", lambda series: series.exit_s),
        ("mean throughput", "tfrc", "kbps", lambda series: series.mean_bps / 1e3),
        ("mean throughput", "dccp", "kbps", lambda series: series.mean_bps / 1e3),
    )
    return [
        Comparison(
            quantity=quantity,
            conditions={"queue (packets)": queue, "ns-2 agent": agent.upper()},
            unit=unit,
            ours=measure(ours[standard]),
            ns2=measure(ns2[Run(agent, 1, queue)]),
            limit_percent=NS2_LIMIT_PERCENT,
        )
        for quantity, agent, unit, measure in rows
        for queue, (standard, _) in BY_QUEUE.items()
    ]
