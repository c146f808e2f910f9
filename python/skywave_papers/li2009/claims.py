"""The paper's further claims, judged.

Rules were written before the runs. Where the paper gives no number, the rule has a limit of ours,
which its comment explains.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.cells import CLOSE, Cell, Exact, Limit, WithinUnits
from skywave.results.fairness import jain
from skywave_papers.li2009 import published, said, variants
from skywave_papers.li2009.further import GROUPS, SHORT_HOP_MS
from skywave_papers.li2009.rules import ABOUT, POINTS
from skywave_papers.li2009.sentences import (
    ALL_EXPERIMENTS,
    BOTH_FAIRER,
    BOUNDS,
    COMPARABLE,
    DEGRADES,
    DOWNGRADE_SHOWS,
    FALLS_BACK,
    FASTER_AND_FAIRER,
    FEWER_BOTTLENECKS,
    FINER,
    INSUFFICIENT,
    LARGE_DELAYS,
    LONGEST_AND_LOWEST,
    NINE_LEVELS,
    QUANTIZATION,
    RESPONSE,
    RESUMES,
    SAFE_DESCENT,
    STAYS_OVERLOADED,
    SWITCHES_PATHS,
    THREE_TIMES_THE_FEEDBACK,
    TWO_BITS,
    UNO,
)
from skywave_papers.li2009.setting import (
    DEFAULT,
    DPCP,
    DPCP_TCP,
    HOP_MS,
    LOOKED_AT_FROM_S,
    LOOKED_AT_S,
    LOSS_PERCENT,
    LOT_SEEDS,
    READINGS,
    TPCP,
    VCP,
    VCP_TCP,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave.papers.cells import Rule
    from skywave.papers.sentences import Sentence
    from skywave.stats import Average
    from skywave_papers.li2009.cells import Ours
    from skywave_papers.li2009.dumbbell import Course
    from skywave_papers.li2009.further import Further, Swept
    from skywave_papers.li2009.loads import Loads
    from skywave_papers.li2009.setting import Reading, Scheme
    from skywave_papers.li2009.variants import Dumbbell, Lot

    LoadsOf = Mapping[tuple[Scheme, Reading], Loads]

HALF = 0.5
"""The share of segments from which on VCP's mode counts as the usual one."""
ALIKE_USED = CLOSE
"""The rule for "comparable" utilisation, as for values published as "about"."""
ALIKE_TIMES = ABOUT
"""The rule for "comparable" convergence, as for the published times."""
NONE = WithinUnits(1, POINTS)
"""The rule for a share that should be none."""


TWO_CODES = (
    "00 is never used, as section 3.1 says. Three codes in each of two packets make nine levels."
)
LOG_2 = (
    "24 is 8 times the binary logarithm of 8. If each packet has one of eight parts at random, "
    f"all have been seen after {8 * sum(1 / seen for seen in range(1, 9)):.1f} on average."
)
FROM_BELOW = (
    "The factors are safe for the upper bound of each level. But a load just above the lower bound "
    "is cut as much, from 105 or 140 % to about 60 %, which is low load. See fig3/utilisation."
)
STARTS_LOW = (
    "A sender starts with the lowest level, 01 01, as the same section says. So cwnd grows on the "
    "first acknowledgement, whether the sender waits for whole chains or not."
)
LARGE_CUTS = (
    "DPCP's decreases to 60 and 43 %, each held for a round-trip time, leave the link idle where "
    "VCP's to 87.5 % do not. Where many senders share a slow link, VCP's use all of it because "
    "they overload it: its queue is long, or full, and DPCP's is short."
)
FULL_AT_ONCE = (
    "Where the first windows of 50 flows fill the link, there is no transition to shorten. With "
    "20 ms, t_rho is ten round-trip times, and both have the link in a second or two."
)
EARLY = (
    "Three equal places in a row do not need such losses: a transfer has many chances for them, "
    "and a sender that falls back again soon after does so for good. Times grow with VCP too, "
    "which has nothing to fall back from, and timeouts grow with both."
)
COARSE_CUTS = (
    "One flow, or few, is decreased by DPCP's three factors more than is needed. TPCP's nine are "
    "closer to the load, and it uses more of the link. With many flows they are alike."
)
FIRST_LEVEL = (
    "Below a load of 7 % TPCP knows that the link is almost idle, where DPCP only knows that the "
    "load is below 20 %. With round-trip times below t_rho its senders grow faster; with longer "
    "ones both double, which is the most."
)


def _spans(loads: LoadsOf, reading: Reading) -> str:
    """Return why L0 is overloaded in as many intervals under DPCP as under VCP."""

    def span(scheme: Scheme) -> str:
        found = loads[scheme, reading]
        return f"{found.load_p5:.2f} to {found.load_p95:.2f} under {scheme.label}"

    return (
        "DPCP's larger decreases and increases make the load of L0 oscillate more: it is "
        f"{span(DPCP)} and {span(VCP)} (5th to 95th percentile of intervals)."
    )


def further_claims(
    ours: Ours,
    lots: Sequence[Lot],
    loads: LoadsOf,
    vcp_shares: Mapping[int, Average],
    dumbbells: Sequence[Dumbbell],
    found: Further,
) -> list[Cell]:
    """Judge the sentences that are in no table or figure, in the order of the paper."""
    return [
        *_of_introduction(ours, lots, dumbbells, found),
        *_of_vcp(lots, loads, found),
        *_of_design(found),
        *_of_exceptions(vcp_shares, found),
        *_of_other_networks(found),
        *_of_losses(ours, vcp_shares),
        *_of_tpcp(ours, lots, found),
        _claim(
            TWO_BITS,
            "6/no-larger",
            "largest packet of DPCP minus that of plain TCP",
            "bytes",
            0,
            Exact(0),
            found.single.added_bytes,
        ),
    ]


def _claim(
    said: Sentence,
    name: str,
    what: str,
    unit: str,
    value: float,
    rule: Rule,
    ours: float,
    known_reason: str | None = None,
    **conditions: str | float,
) -> Cell:
    return Cell(
        id=name,
        what=what,
        conditions={key.replace("_", " "): text for key, text in conditions.items()},
        unit=unit,
        published=value,
        ours=ours,
        rule=rule,
        known_reason=known_reason,
        quote=said.quote,
    )


def _of_introduction(
    ours: Ours, lots: Sequence[Lot], dumbbells: Sequence[Dumbbell], found: Further
) -> list[Cell]:
    unbound, bound = (
        variants.find_dumbbell(dumbbells, DPCP, choices=choices).transition_s
        for choices in (DEFAULT, variants.LIMITS)
    )
    return [
        _claim(
            QUANTIZATION,
            "abstract/levels",
            "different levels that arrive, of the 16 that four bits can have",
            "levels",
            2**4,
            Exact(0),
            found.single.levels_of_ten,
            TWO_CODES,
            flows=10,
        ),
        _claim(
            BOUNDS,
            "1/bounds",
            "transition time of DPCP with VCP's limits of its increases over that without",
            "",
            1,
            Limit(">"),
            bound / unbound,
        ),
        _claim(
            FASTER_AND_FAIRER,
            "1/faster",
            "transition time of VCP minus that of DPCP",
            "s",
            0,
            Limit(">"),
            _transition_s(ours, VCP) - _transition_s(ours, DPCP),
        ),
        *(_fairer(FASTER_AND_FAIRER, "1/fairer", DPCP, reading, lots) for reading in READINGS),
        _claim(
            UNO,
            "1/uno",
            "8 ln 8",
            "packets",
            published.UNO_PACKETS,
            CLOSE,
            8 * math.log(8),
            LOG_2,
        ),
    ]


def _of_vcp(lots: Sequence[Lot], loads: LoadsOf, found: Further) -> list[Cell]:
    def ratio(reading: Reading) -> float:
        chosen = variants.find_seeds(lots, VCP, reading)
        return float(np.mean([lot.l0_local_over_long for lot in chosen]))

    factor = published.DECREASES[0][2]
    return [
        *(
            _claim(
                FEWER_BOTTLENECKS,
                f"2.2/fewer-bottlenecks/{reading.name}",
                "VCP: rate of one of Local's senders on L0 over that of one of Long's",
                "",
                1,
                Limit(">"),
                ratio(reading) * reading.long / reading.local,
                reading=reading.label,
                seeds=len(LOT_SEEDS),
            )
            for reading in READINGS
        ),
        _claim(
            INSUFFICIENT,
            "2.2/115-percent",
            "115 % times 0.875",
            "%",
            100,
            Limit(">"),
            115 * factor,
        ),
        *(
            _claim(
                STAYS_OVERLOADED,
                f"2.2/stays-overloaded/{reading.name}",
                "share of intervals in which L0 is overloaded, of VCP minus that of DPCP",
                POINTS,
                0,
                Limit(">"),
                loads[VCP, reading].overload_percent - loads[DPCP, reading].overload_percent,
                _spans(loads, reading),
                reading=reading.label,
                period=f"{LOOKED_AT_FROM_S}-{LOOKED_AT_S} s",
            )
            for reading in READINGS
        ),
        *(
            _claim(
                LARGE_DELAYS,
                f"2.2/large-delays/{reading.name}",
                f"VCP: Local over Long on L0 with links of {HOP_MS} ms over that with links of "
                f"{SHORT_HOP_MS} ms",
                "",
                1,
                Limit(">"),
                ratio(reading) / found.short_ratio(reading),
                reading=reading.label,
                seeds=len(LOT_SEEDS),
            )
            for reading in READINGS
        ),
    ]


def _of_design(found: Further) -> list[Cell]:
    lowest, highest = (100 * bound for bound in published.HIGH_LOAD)
    responses = found.single.response_rtts
    return [
        _claim(
            NINE_LEVELS,
            "3.1/levels",
            "different levels that arrive",
            "levels",
            9,
            Exact(0),
            found.single.levels_of_ten,
            flows=10,
        ),
        _claim(
            SAFE_DESCENT,
            "3.1/descent-highest",
            "highest load after a decrease, from the upper bounds of Table 1",
            "%",
            highest,
            Limit("<"),
            max(100 * upper * factor for _, upper, factor in published.DECREASES),
        ),
        _claim(
            SAFE_DESCENT,
            "3.1/descent-lowest",
            "lowest load after a decrease, from the lower bounds of Table 1",
            "%",
            lowest,
            Limit(">"),
            min(100 * lower * factor for lower, _, factor in published.DECREASES),
            FROM_BELOW,
        ),
        _claim(
            RESPONSE,
            "3.3/one-round-trip",
            "time from the first segment to the first growth of cwnd",
            "round-trip times",
            1,
            CLOSE,
            responses["at once"],
            sender="acts at once",
            initial_cwnd=2,
        ),
        *(
            _claim(
                RESPONSE,
                f"3.3/two-round-trips/{initial_cwnd}",
                "time from the first segment to the first growth of cwnd",
                "round-trip times",
                2,
                CLOSE,
                responses[name],
                STARTS_LOW,
                sender="waits for whole chains",
                initial_cwnd=initial_cwnd,
            )
            for name, initial_cwnd in (("when complete", 2), ("when complete, one packet", 1))
        ),
    ]


def _of_exceptions(vcp_shares: Mapping[int, Average], found: Further) -> list[Cell]:
    most = LOSS_PERCENT[-1]
    return [
        _claim(
            FALLS_BACK,
            "3.4/chains-without-loss",
            "share of segments in VCP's mode",
            "%",
            0,
            NONE,
            100 * vcp_shares[0].mean,
            loss="none",
        ),
        _claim(
            FALLS_BACK,
            "3.4/falls-back",
            "share of segments in VCP's mode",
            "%",
            100 * HALF,
            Limit(">"),
            100 * vcp_shares[most].mean,
            loss=f"{most} %",
        ),
        _claim(
            RESUMES,
            "3.4/resumes",
            "share of segments in VCP's mode, dozens of round-trip times after a few losses",
            "%",
            0,
            NONE,
            100 * found.single.vcp_shares[1],
        ),
        _claim(
            SWITCHES_PATHS,
            "3.4/paths-delivered",
            "data that arrives while transmission switches paths, over that on one path",
            "",
            1,
            ALIKE_USED,
            found.single.paths_delivered,
        ),
        _claim(
            SWITCHES_PATHS,
            "3.4/paths-chains",
            "share of segments in VCP's mode while transmission switches paths",
            "%",
            100 * HALF,
            Limit("<"),
            100 * found.single.paths_vcp_share,
        ),
    ]


def _of_other_networks(found: Further) -> list[Cell]:
    cells = []
    for group in GROUPS:
        vcp, dpcp = (found.of_group(group, scheme) for scheme in (VCP, DPCP))
        for name, what, better, reason in (
            ("utilisation", "uses more of the link", _uses_more, LARGE_CUTS),
            ("convergence", "has the shorter transition", _is_sooner, FULL_AT_ONCE),
        ):
            cells.append(
                _claim(
                    ALL_EXPERIMENTS,
                    f"4.1/{name}/{_as_id(group)}",
                    f"networks in which DPCP {what} than VCP",
                    "networks",
                    len(vcp),
                    Exact(0),
                    sum(map(better, dpcp, vcp)),
                    reason,
                    networks=group,
                )
            )
    return cells


def _uses_more(one: Swept, other: Swept) -> bool:
    return one.utilisation_percent > other.utilisation_percent


def _is_sooner(one: Swept, other: Swept) -> bool:
    return one.transition_s < other.transition_s


def _as_id(group: str) -> str:
    return "".join(sign for sign in group.replace(" ", "-") if sign not in "[]")


def _of_losses(ours: Ours, vcp_shares: Mapping[int, Average]) -> list[Cell]:
    usual = [percent for percent in LOSS_PERCENT if vcp_shares[percent].mean > HALF]
    return [
        *(
            _claim(
                DEGRADES,
                f"4.3/degrades/{carrier.name}",
                f"time of a transfer at {LOSS_PERCENT[-1]} % loss over that without",
                "",
                1,
                Limit(">"),
                ours.transfers[carrier][LOSS_PERCENT[-1]].mean_s
                / ours.transfers[carrier][0].mean_s,
                protocol=carrier.label,
            )
            for carrier in (VCP_TCP, DPCP_TCP)
        ),
        _claim(
            DOWNGRADE_SHOWS,
            "4.3/downgrade-from",
            "lowest loss rate at which most segments of DPCP over TCP are sent in VCP's mode",
            "%",
            published.STEEP_PERCENT,
            WithinUnits(5, POINTS),
            float(min(usual, default=100)),
            EARLY,
        ),
    ]


def _of_tpcp(ours: Ours, lots: Sequence[Lot], found: Further) -> list[Cell]:
    queues = {scheme: _mean(ours, scheme, _queue) for scheme in (VCP, DPCP, TPCP)}
    levels = found.single.levels
    return [
        _claim(
            LONGEST_AND_LOWEST,
            "5/longest-transition",
            "transition time of VCP minus the longer one of DPCP and TPCP",
            "s",
            0,
            Limit(">"),
            _transition_s(ours, VCP) - max(_transition_s(ours, one) for one in (DPCP, TPCP)),
        ),
        _claim(
            LONGEST_AND_LOWEST,
            "5/lowest-queue",
            "the shorter mean queue of DPCP and TPCP minus that of VCP",
            "packets",
            0,
            Limit(">"),
            min(queues[DPCP], queues[TPCP]) - queues[VCP],
        ),
        *(_fairer(BOTH_FAIRER, "5/fairer", TPCP, reading, lots) for reading in READINGS),
        _claim(
            THREE_TIMES_THE_FEEDBACK,
            "5/feedback",
            "levels that arrive of DPCP over those of VCP",
            "",
            3,
            CLOSE,
            found.single.levels_of_ten / levels[VCP],
            flows=10,
        ),
        _claim(
            FINER,
            "5/finer",
            "levels that arrive of TPCP over those of DPCP",
            "",
            1,
            Limit(">"),
            levels[TPCP] / levels[DPCP],
        ),
        *_comparable(ours, lots, found),
    ]


def _comparable(ours: Ours, lots: Sequence[Lot], found: Further) -> list[Cell]:
    """Compare TPCP with DPCP on the dumbbell, in the parking lot and on other networks."""

    def over_dpcp(measure: Callable[[Course], float]) -> float:
        return _mean(ours, TPCP, measure) / _mean(ours, DPCP, measure)

    def used(scheme: Scheme, reading: Reading) -> float:
        chosen = variants.find_seeds(lots, scheme, reading)
        return float(np.mean([lot.l0_utilisation_after for lot in chosen]))

    used_name, times_name = "5/comparable-utilisation", "5/comparable-convergence"
    cells = [
        _claim(
            COMPARABLE,
            f"{used_name}/dumbbell",
            "utilisation of TPCP over that of DPCP",
            "",
            1,
            ALIKE_USED,
            over_dpcp(lambda course: course.steady_utilisation_percent),
            COARSE_CUTS,
        ),
        *(
            _claim(
                COMPARABLE,
                f"{used_name}/{reading.name}",
                "utilisation of L0 by TPCP over that by DPCP, after L2's Local starts",
                "",
                1,
                ALIKE_USED,
                used(TPCP, reading) / used(DPCP, reading),
                COARSE_CUTS,
                reading=reading.label,
                seeds=len(LOT_SEEDS),
            )
            for reading in READINGS
        ),
        _claim(
            COMPARABLE,
            f"{times_name}/dumbbell",
            "transition time of TPCP over that of DPCP",
            "",
            1,
            ALIKE_TIMES,
            _transition_s(ours, TPCP) / _transition_s(ours, DPCP),
        ),
    ]
    for group in GROUPS:
        dpcp, tpcp = (found.of_group(group, scheme) for scheme in (DPCP, TPCP))
        for name, what, rule, measure, reason in (
            (used_name, "utilisation", ALIKE_USED, _used_percent, COARSE_CUTS),
            (times_name, "transition time", ALIKE_TIMES, _swept_transition_s, FIRST_LEVEL),
        ):
            cells.append(
                _claim(
                    COMPARABLE,
                    f"{name}/{_as_id(group)}",
                    f"networks in which TPCP's {what} is {rule.text} of DPCP's",
                    "networks",
                    len(dpcp),
                    Exact(0),
                    sum(
                        rule.holds(measure(one), measure(other))
                        for one, other in zip(dpcp, tpcp, strict=True)
                    ),
                    reason,
                    networks=group,
                )
            )
    return cells


def _used_percent(row: Swept) -> float:
    return row.utilisation_percent


def _swept_transition_s(row: Swept) -> float:
    return row.transition_s


def _fairer(
    said: Sentence, name: str, scheme: Scheme, reading: Reading, lots: Sequence[Lot]
) -> Cell:
    """Judge whether a protocol splits L0 more evenly than VCP before L2's Local starts."""

    def index(one: Scheme) -> float:
        found = variants.find_seeds(lots, one, reading)
        return float(
            np.mean([jain([lot.l0_long_before, 100 - lot.l0_long_before]) for lot in found])
        )

    return _claim(
        said,
        f"{name}/{reading.name}",
        f"Jain's index of the aggregates on L0, of {scheme.label} minus that of VCP, before L2's "
        "Local starts",
        "",
        0,
        Limit(">"),
        index(scheme) - index(VCP),
        reading=reading.label,
        seeds=len(LOT_SEEDS),
    )


def _mean(ours: Ours, scheme: Scheme, measure: Callable[[Course], float]) -> float:
    return float(np.mean([measure(course) for course in ours.dumbbells[scheme]]))


def _transition_s(ours: Ours, scheme: Scheme) -> float:
    return said.transition_s(ours.dumbbells[scheme])


def _queue(course: Course) -> float:
    return course.queue_mean
