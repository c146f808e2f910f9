"""The measurements for the tests of ``paper.toml``, and standard feedback beside ns-2's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from skywave._printing import at_least, number
from skywave.papers.cells import NS2_LIMIT_PERCENT, Comparison
from skywave.papers.measures import Measures, difference
from skywave_papers.sarwar2008 import downloads, further, live, setting
from skywave_papers.sarwar2008.measures import Series
from skywave_papers.sarwar2008.oracle import Agent, Run
from skywave_papers.sarwar2008.setting import BY_QUEUE, LINK_BPS, RTT_S, Conditions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skywave_papers.sarwar2008.downloads import Downloads, Live

    Values = dict[str, float | None]

Runs: TypeAlias = Mapping[Conditions, Series]
Ns2: TypeAlias = Mapping[Run, Series]

BY_EQUATIONS_S = [
    math.log2(LINK_BPS / 8 / setting.PACKET_SIZE) * RTT_S * (reports + 1) / reports
    for reports in (1, setting.REPORTS)
]
"""When equations 5 and 6 reach the link's rate, from one packet per second."""
FROM_ONE_PACKET = LINK_BPS / 8 * RTT_S / setting.PACKET_SIZE
"""The link's rate relative to one packet per round-trip time."""
BY_THREES_GAIN_S = 2 * RTT_S * math.ceil(math.log2(FROM_ONE_PACKET))
"""The gain if standard feedback doubled X every third round-trip time, and dynamic each, in whole
doublings from one packet per round-trip time to at least the link's rate."""


def measure(
    ours: Runs, ns2: Ns2, live_link: Live, found: Measures, predicted: Sequence[float]
) -> Measures:
    """Measure everything.

    ns-2 repeats neither the downloads nor the further runs, which ``found`` measures. ``predicted``
    has the gains of the trials that fit, for a reason.
    """
    of_figure_2 = figure_2(ours[setting.STANDARD], ours[setting.DYNAMIC])
    of_downloads = published_downloads(live_link)
    ns2_figure_2 = figure_2(*_tfrc(ns2, None))
    queued = (ours[one] for one in BY_QUEUE[further.QUEUE])
    first_loss_s = downloads.mean(live_link.ours[live.STANDARD], "first_loss_s")
    return Measures(
        ours={
            **of_figure_2,
            **of_downloads,
            **_gains(*queued),
            **_download_claims(live_link),
            **found.ours,
        },
        ns2={**ns2_figure_2, **_gains(*_tfrc(ns2, further.QUEUE))},
        words={
            "gain": number(of_downloads["text/gain"], 2),
            "exit_gain": number(of_figure_2["fig2/exit"]),
            "ns2_exit_gain": number(ns2_figure_2["fig2/exit"]),
            **_words(ours, ns2),
            "slow_start_share": f"{100 * first_loss_s / live.DURATION_S:.0f}",
            "least_predicted": f"{min(predicted):.0f}",
            "most_predicted": f"{max(predicted):.0f}",
            **found.words,
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


def published_downloads(live_link: Live) -> dict[str, float]:
    """Measure Table I and what section VI says of the live link."""
    standard, dynamic = (live_link.ours[one] for one in (live.STANDARD, live.DYNAMIC))
    rates, dynamic_rates = (downloads.values(runs, "rate_kbps") for runs in (standard, dynamic))
    rate_gain, _ = downloads.gain(dynamic, standard, "rate_kbps")
    loss_gain, _ = downloads.gain(standard, dynamic, "loss_percent")
    exit_s, _ = downloads.gain(standard, dynamic, "first_loss_s")
    shown, dynamic_shown = (live_link.courses[one] for one in (live.STANDARD, live.DYNAMIC))
    values = {
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
    for feedback, runs in (("standard", standard), ("dynamic", dynamic)):
        values[f"table1/{feedback}/rate"] = downloads.mean(runs, "rate_kbps")
        values[f"table1/{feedback}/deviation"] = downloads.deviation(runs, "rate_kbps")
        values[f"table1/{feedback}/loss"] = downloads.mean(runs, "loss_percent")
    return values


def rtt_share_percent(beyond: Downloads) -> float:
    """Return the share of dynamic feedback's gain that is due to following the RTT closely."""
    gain, slower = (
        downloads.gain(beyond[download], beyond[live.STANDARD], "rate_kbps")[0]
        for download in (live.DYNAMIC, live.SLOW_SMOOTHING)
    )
    return 100 * (1 - slower / gain)


def _tfrc(ns2: Ns2, queue: int | None, *, one_packet: bool = False) -> tuple[Series, Series]:
    """Return ns-2's TFRC with one report per RTT and with several; without a queue, an error."""
    one, several = (
        ns2[Run("tfrc", reports, queue, one_packet=one_packet)] for reports in (1, setting.REPORTS)
    )
    return one, several


def _gains(standard: Series, dynamic: Series) -> Values:
    """Measure what the simulation shows of the introduction's promises; both simulators have it."""
    return {
        "I/goodput": (dynamic.mean_bps - standard.mean_bps) / 1e3,
        "I/less-loss": standard.loss_percent - dynamic.loss_percent,
    }


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
        "V-B/rtt-varies": 100 * dynamic_shown.rtt_above_p,
        "VI-C/more-reports": float((most - usual).mean()),
    }


def _words(ours: Runs, ns2: Ns2) -> dict[str, str]:
    """Return how long slow start lasts and must last, and how much sooner ns-2 recovers."""

    def exits_s(*runs: Series) -> list[float]:
        return [math.nan if run.exit_s is None else run.exit_s for run in runs]

    here_s, dynamic_s = exits_s(ours[setting.STANDARD], ours[setting.DYNAMIC])
    tfrc_s, tfrc_10_s = exits_s(*_tfrc(ns2, None))
    slow_s, slow_10_s = exits_s(*_tfrc(ns2, None, one_packet=True))
    module_s = exits_s(*(ns2[Run("dccp", 1, queue)] for queue in BY_QUEUE))
    one_report_s = (here_s, tfrc_s, slow_s, *module_s)
    least_s = math.log2(FROM_ONE_PACKET) * RTT_S
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
        "by_equations": BY_EQUATIONS_S[0] - BY_EQUATIONS_S[1],
    }
    # With an error, and with queues that lose packets.
    same_error, *by_queue = (
        difference(*(series.recovery_s for series in _tfrc(ns2, queue)))
        for queue in (None, *BY_QUEUE)
    )
    gains = [gain for gain in by_queue if gain is not None]
    return {
        **{name: f"{value:.1f}" for name, value in lasts_s.items()},
        "doublings": at_least(least_s, 1),
        "ns2_recovery_gain": f"{same_error:.0f}",
        "least_ns2_recovery_gain": f"{min(gains):.0f}",
        "most_ns2_recovery_gain": f"{max(gains):.0f}",
    }


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
