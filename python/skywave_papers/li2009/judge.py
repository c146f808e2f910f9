"""The measurements for the tests of ``paper.toml``, and the numbers that its texts name."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from skywave.papers.measures import Measure, Measures, Value, mean
from skywave.results.fairness import jain
from skywave.stats import CONFIDENCE, average, welch
from skywave_papers.li2009 import measures, setting, stored
from skywave_papers.li2009.ledger import LEDGER
from skywave_papers.li2009.setting import DPCP, DPCP_TCP, FLOWS, LOSS_PERCENT, SCHEMES, TPCP, VCP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.results import Results
    from skywave_papers.li2009.setting import Carrier, Reading, Scheme

    Values = dict[str, Value]
    Lots = Mapping[tuple[Scheme, Reading], Sequence[stored.Lot]]
    Key = tuple[Scheme, Reading] | measures.Key[Scheme | Carrier | str]
    """A parking lot, or a run of Figures 3 to 5; a control of today is a text."""

DECREASES = ((1.00, 1.05, 0.875), (1.05, 1.40, 0.6), (1.40, 2.00, 0.43))
"""Table 1's levels of overload: the bounds of the load factor, and what cwnd is multiplied by."""
EFFECT = 1.5
"""The ratio to the time without loss above which a transfer is significantly affected."""
APART = 1 - CONFIDENCE
"""The p-value of Welch's t-test below which two means count as different."""


@dataclass(frozen=True)
class Ours:
    """The results that Figures 2 to 5 are measured in; parking lots have one for each seed."""

    lots: Lots
    dumbbells: Mapping[Scheme, Sequence[measures.Course]]
    transfers: measures.Transfers

    @classmethod
    def of(cls, lots: Lots, runs: Mapping[Key, Results]) -> Self:
        """Measure the runs of Figures 3 to 5."""
        return cls(
            lots,
            measures.courses_of(runs, SCHEMES),
            measures.transfers_of(runs, setting.CARRIERS),
        )


@dataclass(frozen=True)
class Measurements:
    """Figures 2 to 5, additional measurements of their runs, and flows of one kind each.

    ``series`` has the parking lots of one seed, which the figures show. ``single`` is by test.
    ``courses`` and ``transfers`` are those of today's controls, by name.
    """

    ours: Ours
    series: Mapping[tuple[Scheme, Reading], Mapping[str, measures.LinkSeries]]
    loads: Mapping[tuple[Scheme, Reading], measures.Loads]
    single: Mapping[str, float]
    courses: Mapping[str, Sequence[measures.Course]]
    transfers: Mapping[str, Mapping[int, measures.TransferTimes]]


def measure(measured: Measurements) -> Measures:
    """Measure everything. ns-2 has neither protocol."""
    ours: Values = {
        **published(measured.ours),
        **measured.single,
        **_of_dumbbells(measured.ours.dumbbells),
        **_of_losses(measured.ours.transfers),
        "1/uno": 8 * math.log(8),
        "2.2/115-percent": 115 * DECREASES[0][2],
        "3.1/descent-highest": max(100 * upper * factor for _, upper, factor in DECREASES),
        "3.1/descent-lowest": min(100 * lower * factor for lower, _, factor in DECREASES),
    }
    for reading in setting.READINGS:
        ours |= _of_lots(measured, reading)
    for group in stored.GROUPS:
        ours |= _of_networks(group)
    return Measures(ours, words=_words(measured))


def published(ours: Ours, reading: Reading = FLOWS, carrier: Carrier = DPCP_TCP) -> Values:
    """Measure the values of figures. The defaults are the readings by which they are judged."""
    vcp, dpcp = ours.lots[VCP, reading], ours.lots[DPCP, reading]
    lots = {
        "fig2a": [lot.l0_local_over_long for lot in vcp],
        "fig2b": [lot.l2_long_of_link_after - lot.l2_long_of_link_before for lot in vcp],
        "fig2c-before": [lot.l0_long_before for lot in dpcp],
        "fig2c-after": [lot.l0_long_after for lot in dpcp],
        "fig2d-before": [lot.l2_long_of_link_before for lot in dpcp],
        "fig2d-after": [lot.l2_long_after for lot in dpcp],
    }
    return {
        **{test: _over_seeds(test, values) for test, values in lots.items()},
        **figures_3_and_5(ours.dumbbells),
        **_figure_4(ours.transfers, carrier),
    }


def matching(test: str, values: Sequence[float]) -> int:
    """Return how many values would match on their own."""
    return sum(map(LEDGER.expected(test).is_met_by, values))


def _over_seeds(test: str, values: Sequence[float]) -> Measure:
    over_seeds = average(values)
    seeds = f"{matching(test, values)} of {len(values)}"
    return Measure(over_seeds.value, {"mean": over_seeds.text, "seeds that match": seeds})


def _means(courses: Mapping[Scheme, Sequence[measures.Course]], name: str) -> list[float]:
    """Return the means of VCP, DPCP and TPCP over runs."""
    return [mean(courses[scheme], f"outcome.{name}") for scheme in SCHEMES]


def figures_3_and_5(courses: Mapping[Scheme, Sequence[measures.Course]]) -> Values:
    """Measure the values of Figures 3 and 5."""
    vcp_s, dpcp_s, _ = _means(courses, "transition_s")
    vcp_used, dpcp_used, _ = _means(courses, "utilisation")
    vcp, dpcp, tpcp = _means(courses, "queue")
    used = {"VCP (%)": round(vcp_used, 1), "DPCP (%)": round(dpcp_used, 1)}
    rough = {name: _means(courses, f"queue_{name}") for name in ("deviation", "change")}
    return {
        "fig3/vcp-transition": vcp_s,
        "fig3/dpcp-transition": dpcp_s,
        "fig3/utilisation": Measure(dpcp_used - vcp_used, used),
        "fig5/dpcp-queue": dpcp / vcp,
        "fig5/tpcp-queue": tpcp / vcp,
        "fig5/higher": tpcp / dpcp,
        **{f"fig5/smoother-{name}": of[2] / of[1] for name, of in rough.items()},
    }


def _times_s(transfers: measures.Transfers, carrier: Carrier) -> dict[int, float]:
    return {percent: found.mean_s.value for percent, found in transfers[carrier].items()}


def _figure_4(transfers: measures.Transfers, carrier: Carrier) -> Values:
    vcp, dpcp, times = (_times_s(transfers, one) for one in (setting.VCP_TCP, DPCP_TCP, carrier))
    without, beyond = (
        100 * (1 - dpcp[one] / vcp[one]) for one in (LOSS_PERCENT[0], LOSS_PERCENT[-1])
    )
    leads = {"lead without (%)": round(without, 1), "with (%)": round(beyond, 1)}
    return {
        "fig4/knee": float(knee_percent(times)),
        "fig4/steeper": (times[45] / times[30]) / (times[30] / times[0]),
        "fig4/faster": float(sum(times[one] < vcp[one] for one in LOSS_PERCENT)),
        "fig4/gap": Measure(without - beyond, leads),
    }


def knee_percent(times_s: Mapping[int, float]) -> int:
    """Return the loss rate up to which a transfer takes at most ``EFFECT`` times as long."""
    affected = [percent for percent in LOSS_PERCENT if times_s[percent] > EFFECT * times_s[0]]
    return min(affected, default=LOSS_PERCENT[-1] + 5) - 5


def _of_dumbbells(courses: Mapping[Scheme, Sequence[measures.Course]]) -> Values:
    (vcp_s, dpcp_s, tpcp_s), (vcp, dpcp, tpcp), (_, dpcp_used, tpcp_used) = (
        _means(courses, name) for name in ("transition_s", "queue", "utilisation")
    )
    bound = stored.outcome(DPCP, choices=stored.LIMITS).transition_s
    return {
        "1/bounds": bound / stored.outcome(DPCP).transition_s,
        "1/faster": vcp_s - dpcp_s,
        "5/longest-transition": vcp_s - max(dpcp_s, tpcp_s),
        "5/lowest-queue": min(dpcp, tpcp) - vcp,
        "5/comparable-utilisation/dumbbell": tpcp_used / dpcp_used,
        "5/comparable-convergence/dumbbell": tpcp_s / dpcp_s,
    }


def _of_lots(measured: Measurements, reading: Reading) -> Values:
    lots = [stored.lots(scheme, reading) for scheme in SCHEMES]
    # How evenly the aggregates split L0 before L2's Local starts.
    vcp, dpcp, tpcp = (
        mean(rows, lambda row: jain([row.l0_long_before, 100 - row.l0_long_before]))
        for rows in lots
    )
    _, dpcp_used, tpcp_used = (mean(rows, "l0_utilisation_after") for rows in lots)
    overload = {one: measured.loads[one, reading].overload_percent for one in (VCP, DPCP)}
    ratio = mean(lots[0], "l0_local_over_long")
    short = mean(stored.SHORT.rows(reading=reading.name), "l0_local_over_long")
    return {
        f"1/fairer/{reading.name}": dpcp - vcp,
        f"5/fairer/{reading.name}": tpcp - vcp,
        f"2.2/fewer-bottlenecks/{reading.name}": ratio * reading.long / reading.local,
        f"2.2/stays-overloaded/{reading.name}": overload[VCP] - overload[DPCP],
        f"2.2/large-delays/{reading.name}": ratio / short,
        f"5/comparable-utilisation/{reading.name}": tpcp_used / dpcp_used,
    }


def _of_losses(transfers: measures.Transfers) -> Values:
    most = LOSS_PERCENT[-1]
    found = transfers[DPCP_TCP].items()
    shares = {percent: 100 * times.vcp_share.value for percent, times in found}
    is_usual = LEDGER.expected("3.4/falls-back").is_met_by
    vcp, dpcp = (_times_s(transfers, carrier) for carrier in (setting.VCP_TCP, DPCP_TCP))
    return {
        "3.4/chains-without-loss": shares[0],
        "3.4/falls-back": shares[most],
        "4.3/degrades/vcp-tcp": vcp[most] / vcp[0],
        "4.3/degrades/dpcp-tcp": dpcp[most] / dpcp[0],
        "4.3/downgrade-from": float(
            min((percent for percent, share in shares.items() if is_usual(share)), default=100)
        ),
    }


def _of_networks(group: str) -> Values:
    """Count the networks of a group in which the protocols do as the paper says."""
    name = "-".join(re.findall(r"\w+", group))
    rows = [stored.SWEEP.rows(group=group, scheme=scheme.name) for scheme in SCHEMES]
    vcp_used, dpcp_used, tpcp_used = ([one.utilisation_percent for one in found] for found in rows)
    vcp_s, dpcp_s, tpcp_s = ([one.transition_s for one in found] for found in rows)
    alike_used, alike_s = (
        LEDGER.expected(f"5/comparable-{what}/dumbbell").rule.holds
        for what in ("utilisation", "convergence")
    )
    return {
        f"4.1/utilisation/{name}": sum(map(operator.gt, dpcp_used, vcp_used)),
        f"4.1/convergence/{name}": sum(map(operator.lt, dpcp_s, vcp_s)),
        f"5/comparable-utilisation/{name}": sum(map(alike_used, dpcp_used, tpcp_used)),
        f"5/comparable-convergence/{name}": sum(map(alike_s, dpcp_s, tpcp_s)),
    }


def alike_from_percent(
    one: Mapping[int, measures.TransferTimes], other: Mapping[int, measures.TransferTimes]
) -> int | None:
    """Return the loss rate from which on the times of two carriers do not differ significantly."""
    apart = [p for p in LOSS_PERCENT if welch(one[p].seconds, other[p].seconds) < APART]
    return next((percent for percent in LOSS_PERCENT if percent > max(apart, default=-1)), None)


def _words(measured: Measurements) -> dict[str, str]:
    """Return the numbers that the finding and the reasons name."""
    courses, transfers = measured.ours.dumbbells, measured.ours.transfers
    near, five, ten = (
        replace(setting.PAPER_NETWORK, **changed)
        for changed in ({"rtt_ms": 200}, {"flows": 5}, {"flows": 10})
    )
    vcp, dpcp = (stored.lots(scheme, FLOWS) for scheme in (VCP, DPCP))
    shares = [lot.l0_long_after for lot in dpcp]
    integers = {
        "vcp_share": mean(vcp, "l0_long_before"),
        "dpcp_share": mean(dpcp, "l0_long_before"),
        "vcp_l2_before": mean(vcp, "l2_long_of_link_before"),
        "vcp_l2_after": mean(vcp, "l2_long_of_link_after"),
        "vcp_l2_used": mean(vcp, "l2_utilisation_after"),
        "least_share": min(shares),
        "most_share": max(shares),
    }
    for joined, when in ((False, "before"), (True, "after")):
        l0, l2 = measures.law_percent(FLOWS, joined=joined)
        integers |= {f"law_l0_{when}": l0, f"law_l2_{when}": l2}
    outcome = stored.outcome
    for scheme, used in zip((VCP, DPCP), _means(courses, "utilisation"), strict=False):
        integers |= {
            f"{scheme.name}_used": used,
            f"{scheme.name}_used_at_once": outcome(scheme, choices=stored.AT_ONCE).utilisation,
            f"{scheme.name}_used_near": outcome(scheme, near).utilisation,
            f"{scheme.name}_used_slow": outcome(scheme, choices=stored.SLOW).utilisation,
        }
    vcp_s, dpcp_s, _ = _means(courses, "transition_s")
    tenths = {
        "quicker": vcp_s / dpcp_s,
        "near_transition": outcome(DPCP, near).transition_s,
        "ten_transition": outcome(DPCP, ten).transition_s,
    }
    for scheme in (DPCP, TPCP):
        tenths |= {
            f"{scheme.name}_deviation": outcome(scheme).queue_deviation,
            f"{scheme.name}_deviation_five": outcome(scheme, five).queue_deviation,
        }
    alike = alike_from_percent(transfers[DPCP_TCP], transfers[setting.VCP_TCP])
    return {
        **{name: f"{value:.0f}" for name, value in integers.items()},
        **{name: f"{value:.1f}" for name, value in tenths.items()},
        **{
            f"{scheme.name}_load_{reading.name}": f"{load.load_p5:.2f} to {load.load_p95:.2f}"
            for (scheme, reading), load in measured.loads.items()
        },
        "alike_from": "no loss rate" if alike is None else f"{alike} %",
    }
