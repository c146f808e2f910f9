"""The measurements for the tests of ``paper.toml``, and the numbers that its texts name."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from skywave.papers.measures import Measure, Measures, Value, mean
from skywave.results.fairness import jain
from skywave.stats import CONFIDENCE, average, welch
from skywave_papers.li2009 import further, variants
from skywave_papers.li2009.further import GROUPS
from skywave_papers.li2009.ledger import LEDGER
from skywave_papers.li2009.parking import law_percent
from skywave_papers.li2009.setting import (
    DEFAULT,
    DPCP,
    DPCP_TCP,
    DUMBBELL_S,
    FLOWS,
    LOSS_PERCENT,
    PAPER_NETWORK,
    READINGS,
    SCHEMES,
    TPCP,
    VCP,
    VCP_TCP,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave.stats import Estimate
    from skywave_papers.li2009.dumbbell import Course
    from skywave_papers.li2009.experiments import Measurements, Ours, Transfers
    from skywave_papers.li2009.further import NetworkResult, Single
    from skywave_papers.li2009.lossy import TransferTimes
    from skywave_papers.li2009.setting import Carrier, Reading, Scheme
    from skywave_papers.li2009.variants import Lot

    Values = dict[str, Value]


DECREASES = ((1.00, 1.05, 0.875), (1.05, 1.40, 0.6), (1.40, 2.00, 0.43))
"""Table 1's levels of overload: the bounds of the load factor, and what cwnd is multiplied by."""
EFFECT = 1.5
"""The ratio to the time without loss above which a transfer is significantly affected."""
USED = "steady_utilisation_percent"
"""The measure of a dumbbell's utilisation."""
APART = 1 - CONFIDENCE
"""The p-value of Welch's t-test below which two means count as different."""


def measure(measured: Measurements) -> Measures:
    """Measure everything. ns-2 has neither protocol."""
    return Measures(
        ours={**published(measured.ours), **_claims(measured)},
        words=_words(measured),
    )


def published(ours: Ours, reading: Reading = FLOWS, carrier: Carrier = DPCP_TCP) -> Values:
    """Measure the values of figures. The defaults are the readings by which they are judged."""
    return {
        **_figure_2(ours.lots[VCP, reading], ours.lots[DPCP, reading]),
        **figure_3(ours.dumbbells),
        **_figure_4(ours.transfers, carrier),
        **figure_5(ours.dumbbells),
    }


def matching(test: str, values: Sequence[float]) -> int:
    """Return how many values would match on their own."""
    return sum(map(LEDGER.expected(test).is_met_by, values))


def _figure_2(vcp: Sequence[Lot], dpcp: Sequence[Lot]) -> Values:
    found = {
        "fig2a": [lot.l0_local_over_long for lot in vcp],
        "fig2b": [lot.l2_long_of_link_after - lot.l2_long_of_link_before for lot in vcp],
        "fig2c-before": [lot.l0_long_before for lot in dpcp],
        "fig2c-after": [lot.l0_long_after for lot in dpcp],
        "fig2d-before": [lot.l2_long_of_link_before for lot in dpcp],
        "fig2d-after": [lot.l2_long_after for lot in dpcp],
    }
    return {test: _over_seeds(test, values) for test, values in found.items()}


def _over_seeds(test: str, values: Sequence[float]) -> Measure:
    mean = average(values)
    seeds = f"{matching(test, values)} of {len(values)}"
    return Measure(mean.value, {"mean": mean.text, "seeds that match": seeds})


def figure_3(courses: Mapping[Scheme, Sequence[Course]]) -> Values:
    """Measure the values of Figure 3."""
    vcp, dpcp = (mean(courses[scheme], USED) for scheme in (VCP, DPCP))

    def transition(scheme: Scheme) -> float | None:
        ends = all(course.transition_s is not None for course in courses[scheme])
        return transition_s(courses[scheme]) if ends else None

    return {
        **{f"fig3/{scheme.name}-transition": transition(scheme) for scheme in (VCP, DPCP)},
        "fig3/utilisation": Measure(
            dpcp - vcp, {"VCP (%)": round(vcp, 1), "DPCP (%)": round(dpcp, 1)}
        ),
    }


def _figure_4(transfers: Transfers, carrier: Carrier) -> Values:
    vcp, dpcp, times = (transfers[one] for one in (VCP_TCP, DPCP_TCP, carrier))

    def growth(start: int, end: int) -> float:
        return times[end].mean_s / times[start].mean_s

    without, beyond = (
        100 * (1 - dpcp[percent].mean_s / vcp[percent].mean_s)
        for percent in (LOSS_PERCENT[0], LOSS_PERCENT[-1])
    )
    return {
        "fig4/knee": float(knee_percent(times)),
        "fig4/steeper": growth(30, 45) / growth(0, 30),
        "fig4/faster": float(sum(times[one].mean_s < vcp[one].mean_s for one in LOSS_PERCENT)),
        "fig4/gap": Measure(
            without - beyond,
            {"lead without (%)": round(without, 1), "with (%)": round(beyond, 1)},
        ),
    }


def knee_percent(times: Mapping[int, TransferTimes]) -> int:
    """Return the loss rate up to which a transfer takes at most ``EFFECT`` times as long."""
    affected = [p for p in LOSS_PERCENT if times[p].mean_s > EFFECT * times[0].mean_s]
    return min(affected, default=LOSS_PERCENT[-1] + 5) - 5


def figure_5(courses: Mapping[Scheme, Sequence[Course]]) -> Values:
    """Measure the values of Figure 5."""
    vcp, dpcp, tpcp = (mean(courses[scheme], "queue_mean") for scheme in (VCP, DPCP, TPCP))

    def over_dpcp(measure: str) -> float:
        return mean(courses[TPCP], measure) / mean(courses[DPCP], measure)

    return {
        "fig5/dpcp-queue": dpcp / vcp,
        "fig5/tpcp-queue": tpcp / vcp,
        "fig5/higher": tpcp / dpcp,
        "fig5/smoother-deviation": over_dpcp("queue_deviation"),
        "fig5/smoother-change": over_dpcp("queue_change"),
    }


def _claims(measured: Measurements) -> Values:
    """Measure what the paper says elsewhere than in its figures."""
    found: Values = {
        **_of_dumbbells(measured),
        **_of_arithmetic(),
        **_of_single_flows(measured.single),
        **_of_losses(measured.ours.transfers, measured.vcp_shares),
    }
    for reading in READINGS:
        found |= _of_lots(measured, reading)
    for group in GROUPS:
        found |= _of_networks(group)
    return found


def _of_dumbbells(measured: Measurements) -> Values:
    courses = measured.ours.dumbbells
    used, queues = (
        {scheme: mean(courses[scheme], measure) for scheme in SCHEMES}
        for measure in (USED, "queue_mean")
    )
    times_s = {scheme: transition_s(courses[scheme]) for scheme in SCHEMES}
    unbound, bound = (
        variants.dumbbell_of(DPCP, choices=choices).transition_s
        for choices in (DEFAULT, variants.LIMITS)
    )
    return {
        "1/bounds": bound / unbound,
        "1/faster": times_s[VCP] - times_s[DPCP],
        "5/longest-transition": times_s[VCP] - max(times_s[DPCP], times_s[TPCP]),
        "5/lowest-queue": min(queues[DPCP], queues[TPCP]) - queues[VCP],
        "5/comparable-utilisation/dumbbell": used[TPCP] / used[DPCP],
        "5/comparable-convergence/dumbbell": times_s[TPCP] / times_s[DPCP],
    }


def _of_lots(measured: Measurements, reading: Reading) -> Values:
    name, loads = reading.name, measured.loads

    lots = {scheme: variants.lots(scheme, reading) for scheme in SCHEMES}

    def evenness(scheme: Scheme) -> float:
        """Return how evenly the aggregates split L0 before L2's Local starts."""
        return mean(lots[scheme], lambda lot: jain([lot.l0_long_before, 100 - lot.l0_long_before]))

    ratio = mean(lots[VCP], "l0_local_over_long")
    dpcp, tpcp = (mean(lots[one], "l0_utilisation_after") for one in (DPCP, TPCP))
    return {
        f"1/fairer/{name}": evenness(DPCP) - evenness(VCP),
        f"5/fairer/{name}": evenness(TPCP) - evenness(VCP),
        f"2.2/fewer-bottlenecks/{name}": ratio * reading.long / reading.local,
        f"2.2/stays-overloaded/{name}": loads[VCP, reading].overload_percent
        - loads[DPCP, reading].overload_percent,
        f"2.2/large-delays/{name}": ratio / further.short_ratio(reading),
        f"5/comparable-utilisation/{name}": tpcp / dpcp,
    }


def _of_arithmetic() -> Values:
    """Compute what the paper's own numbers give."""
    return {
        "1/uno": 8 * math.log(8),
        "2.2/115-percent": 115 * DECREASES[0][2],
        "3.1/descent-highest": max(100 * upper * factor for _, upper, factor in DECREASES),
        "3.1/descent-lowest": min(100 * lower * factor for lower, _, factor in DECREASES),
    }


def _of_single_flows(single: Single) -> Values:
    rtts, levels = single.response_rtts, single.levels
    return {
        "abstract/levels": single.levels_of_ten,
        "3.1/levels": single.levels_of_ten,
        "3.3/one-round-trip": rtts["at once"],
        "3.3/two-round-trips/2": rtts["when complete"],
        "3.3/two-round-trips/1": rtts["when complete, one packet"],
        "3.4/resumes": 100 * single.vcp_shares[1],
        "3.4/paths-delivered": single.paths_delivered,
        "3.4/paths-chains": 100 * single.paths_vcp_share,
        "5/feedback": single.levels_of_ten / levels[VCP],
        "5/finer": levels[TPCP] / levels[DPCP],
        "6/no-larger": single.added_bytes,
    }


def _of_losses(transfers: Transfers, vcp_shares: Mapping[int, Estimate]) -> Values:
    most = LOSS_PERCENT[-1]
    shares = {percent: 100 * share.value for percent, share in vcp_shares.items()}
    is_usual = LEDGER.expected("3.4/falls-back").is_met_by
    return {
        "3.4/chains-without-loss": shares[0],
        "3.4/falls-back": shares[most],
        **{
            f"4.3/degrades/{carrier.name}": transfers[carrier][most].mean_s
            / transfers[carrier][0].mean_s
            for carrier in (VCP_TCP, DPCP_TCP)
        },
        "4.3/downgrade-from": float(
            min((percent for percent in LOSS_PERCENT if is_usual(shares[percent])), default=100)
        ),
    }


def _of_networks(group: str) -> Values:
    """Count the networks of a group in which the protocols do as the paper says."""
    rows = list(
        zip(
            *(further.SWEEP.rows(group=group, scheme=one.name) for one in (VCP, DPCP, TPCP)),
            strict=True,
        )
    )
    name = "-".join(re.findall(r"\w+", group))
    used, times = (
        LEDGER.expected(f"5/comparable-{what}/dumbbell").rule
        for what in ("utilisation", "convergence")
    )

    def count(holds: Callable[[NetworkResult, NetworkResult, NetworkResult], bool]) -> int:
        return sum(holds(*row) for row in rows)

    return {
        f"4.1/utilisation/{name}": count(
            lambda vcp, dpcp, _: dpcp.utilisation_percent > vcp.utilisation_percent
        ),
        f"4.1/convergence/{name}": count(lambda vcp, dpcp, _: dpcp.transition_s < vcp.transition_s),
        f"5/comparable-utilisation/{name}": count(
            lambda _, dpcp, tpcp: used.holds(dpcp.utilisation_percent, tpcp.utilisation_percent)
        ),
        f"5/comparable-convergence/{name}": count(
            lambda _, dpcp, tpcp: times.holds(dpcp.transition_s, tpcp.transition_s)
        ),
    }


def transition_s(courses: Sequence[Course]) -> float:
    """Return the mean transition time; one that does not end counts as the whole run."""
    return mean(courses, lambda course: course.transition_s or float(DUMBBELL_S))


def alike_from_percent(
    one: Mapping[int, TransferTimes], other: Mapping[int, TransferTimes]
) -> int | None:
    """Return the loss rate from which on the times of two carriers do not differ significantly."""
    apart = [
        percent
        for percent in LOSS_PERCENT
        if welch(one[percent].seconds, other[percent].seconds) < APART
    ]
    return next((percent for percent in LOSS_PERCENT if percent > max(apart, default=-1)), None)


def _words(measured: Measurements) -> dict[str, str]:
    """Return the numbers that the finding and the reasons name."""
    courses, transfers = measured.ours.dumbbells, measured.ours.transfers
    near, five, ten = (
        replace(PAPER_NETWORK, **changed)
        for changed in ({"rtt_ms": 200}, {"flows": 5}, {"flows": 10})
    )

    def percent(scheme: Scheme, measure: str) -> str:
        return f"{mean(variants.lots(scheme, FLOWS), measure):.0f}"

    stored = variants.dumbbell_of

    def load(scheme: Scheme, reading: Reading) -> str:
        found = measured.loads[scheme, reading]
        return f"{found.load_p5:.2f} to {found.load_p95:.2f}"

    before, after = (law_percent(FLOWS, joined=joined) for joined in (False, True))
    shares = [lot.l0_long_after for lot in variants.lots(DPCP, FLOWS)]
    alike = alike_from_percent(transfers[DPCP_TCP], transfers[VCP_TCP])
    words = {
        "quicker": f"{transition_s(courses[VCP]) / transition_s(courses[DPCP]):.1f}",
        "vcp_l2_before": percent(VCP, "l2_long_of_link_before"),
        "vcp_l2_after": percent(VCP, "l2_long_of_link_after"),
        "vcp_l2_used": percent(VCP, "l2_utilisation_after"),
        "law_l0_before": f"{before[0]:.0f}",
        "law_l2_before": f"{before[1]:.0f}",
        "law_l0_after": f"{after[0]:.0f}",
        "law_l2_after": f"{after[1]:.0f}",
        "least_share": f"{min(shares):.0f}",
        "most_share": f"{max(shares):.0f}",
        "near_transition": f"{stored(DPCP, near).transition_s:.1f}",
        "ten_transition": f"{stored(DPCP, ten).transition_s:.1f}",
        "alike_from": "no loss rate" if alike is None else f"{alike} %",
    }
    for scheme in (VCP, DPCP):
        name = scheme.name
        words |= {
            f"{name}_share": percent(scheme, "l0_long_before"),
            f"{name}_used": f"{mean(courses[scheme], USED):.0f}",
            f"{name}_used_at_once": f"{stored(scheme, choices=variants.AT_ONCE).utilisation:.0f}",
            f"{name}_used_near": f"{stored(scheme, near).utilisation:.0f}",
            f"{name}_used_slow": f"{stored(scheme, choices=variants.SLOW).utilisation:.0f}",
            **{f"{name}_load_{one.name}": load(scheme, one) for one in READINGS},
        }
    for scheme in (DPCP, TPCP):
        words |= {
            f"{scheme.name}_deviation": f"{stored(scheme).queue_deviation:.1f}",
            f"{scheme.name}_deviation_five": f"{stored(scheme, five).queue_deviation:.1f}",
        }
    return words
