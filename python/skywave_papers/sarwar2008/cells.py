"""Published values of Figure 2 of Sarwar et al. beside ours, and ours beside ns-2's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from skywave._printing import at_least
from skywave.papers.cells import CLOSE, NS2_LIMIT_PERCENT, Cell, Comparison, SameOrder
from skywave.papers.reasons import Cause, Reason
from skywave_papers.sarwar2008 import growth
from skywave_papers.sarwar2008.oracle import Run
from skywave_papers.sarwar2008.published import EXIT_GAIN_S, RECOVERY_GAIN_S
from skywave_papers.sarwar2008.setting import (
    BY_QUEUE,
    DYNAMIC,
    LINK_BPS,
    PACKET_SIZE,
    REPORTS,
    RTT_S,
    STANDARD,
    Conditions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skywave_papers.sarwar2008.measures import Series
    from skywave_papers.sarwar2008.oracle import Agent

SAMPLE_RULE = SameOrder(resolution=1, unit="s")
"""The rule for times, which are read from samples of 1 s."""


def _ns2(queue: int | None, reports: int, *, one_packet: bool = False) -> Run:
    """Return a run of ns-2's TFRC; without a queue, that with an error."""
    return Run("tfrc", reports, queue, one_packet)


def _gain(slow: float | None, fast: float | None) -> float | None:
    return None if slow is None or fast is None else slow - fast


def _exit_reason(ours: Mapping[Conditions, Series], ns2: Mapping[Run, Series]) -> Reason:
    here_s, here_dynamic_s = (_exit_s(ours[conditions]) for conditions in (STANDARD, DYNAMIC))
    (tfrc_s, tfrc_dynamic_s), (slow_s, slow_dynamic_s) = (
        [_exit_s(ns2[_ns2(None, reports, one_packet=start)]) for reports in (1, REPORTS)]
        for start in (False, True)
    )
    module_s = [_exit_s(ns2[Run("dccp", 1, queue)]) for queue in BY_QUEUE]
    standard_s = (here_s, tfrc_s, slow_s, *module_s)
    least_s = _doublings() * RTT_S
    by_equation_5_s, by_equation_6_s = slow_starts_s()
    return Reason(
        Cause.RULES,
        "No run of ours gains that much, nor does one of ns-2. Slow start lasts "
        f"{here_s:.1f} s here with standard feedback and {here_dynamic_s:.1f} s with dynamic "
        f"feedback. In ns-2's TFRC it lasts {tfrc_s:.1f} s with one report per RTT and "
        f"{tfrc_dynamic_s:.1f} s with {REPORTS}, or {slow_s:.1f} and {slow_dynamic_s:.1f} s if it "
        "starts with one packet per RTT. In ns-2's DCCP module, which has one report, it lasts "
        f"{min(module_s):.1f} to {max(module_s):.1f} s. The safeguards of RFC 3448, which the "
        "paper keeps, let X double once per RTT: from one packet per RTT to 1 Mbps that takes "
        f"{at_least(least_s, 1)} s or more. A sender that doubled so from the first packet on "
        f"would gain {min(standard_s) - least_s:.1f} to {max(standard_s) - least_s:.1f} s over "
        "those with one report. But by equation 2 dynamic feedback has one report too while one "
        "packet arrives per RTT. Equations 5 and 6 give "
        f"{by_equation_5_s - by_equation_6_s:.1f} s. The paper's patch of ns-2 is not published.",
    )


def _exit_s(series: Series) -> float:
    """Return the duration of slow start; NaN if it does not end."""
    return math.nan if series.exit_s is None else series.exit_s


def slow_starts_s() -> tuple[float, float]:
    """Return how long equations 5 and 6 take to reach the link's rate."""
    standard_s, dynamic_s = (
        growth.time_to_rate_s(LINK_BPS / 8, RTT_S, PACKET_SIZE, reports)
        for reports in (1.0, float(REPORTS))
    )
    return standard_s, dynamic_s


def _doublings() -> float:
    """Return how often one packet per RTT must double to reach the link's rate."""
    return math.log2(LINK_BPS / 8 * RTT_S / PACKET_SIZE)


def _recovery_reason(ns2: Mapping[Run, Series]) -> Reason:
    gains = [
        gain
        for queue in BY_QUEUE
        if (gain := _gain(*(ns2[_ns2(queue, reports)].recovery_s for reports in (1, REPORTS))))
        is not None
    ]
    same_error = _gain(*(ns2[_ns2(None, reports)].recovery_s for reports in (1, REPORTS)))
    return Reason(
        Cause.UNSTATED,
        "After the error, X follows from the first loss interval, which is as long as X_recv at "
        "that time requires. From there p falls with each packet that arrives, however often that "
        "is reported. So the gain depends on the rate at which the error comes, and on the number "
        "of errors. Neither is published, nor when throughput counts as recovered. In ns-2 the "
        f"gain is {same_error:.0f} s with the same error, and between {min(gains):.0f} s and "
        f"{max(gains):.0f} s if the queue loses packets.",
    )


def published_cells(ours: Mapping[Conditions, Series], ns2: Mapping[Run, Series]) -> list[Cell]:
    """Judge the published values of Figure 2."""
    standard, dynamic = ours[STANDARD], ours[DYNAMIC]
    ns2_standard, ns2_dynamic = (ns2[_ns2(None, reports)] for reports in (1, REPORTS))
    conditions: dict[str, str | float] = {"errors": STANDARD.errors, "N": REPORTS}

    def figure_2(
        name: str,
        what: str,
        published: float,
        measure: Callable[[Series], float | None],
        why: Reason,
    ) -> list[Cell]:
        gain = _gain(measure(standard), measure(dynamic))
        ns2_gain = _gain(measure(ns2_standard), measure(ns2_dynamic))
        return [
            Cell(
                id=f"fig2/{name}{suffix}",
                what=what,
                conditions=conditions,
                unit="s",
                published=published,
                ours=gain,
                ns2=ns2_gain,
                rule=rule,
                known_reason=why,
            )
            for suffix, rule in (("", CLOSE), ("-order", SAMPLE_RULE))
        ]

    return [
        *figure_2(
            "exit",
            "how much earlier slow start ends with dynamic feedback",
            EXIT_GAIN_S,
            lambda series: series.exit_s,
            _exit_reason(ours, ns2),
        ),
        *figure_2(
            "recovery",
            "how much earlier throughput is back at 80 % of the link with dynamic feedback",
            RECOVERY_GAIN_S,
            lambda series: series.recovery_s,
            _recovery_reason(ns2),
        ),
    ]


def ns2_comparisons(
    ours: Mapping[Conditions, Series], ns2: Mapping[Run, Series]
) -> list[Comparison]:
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
