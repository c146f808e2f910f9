"""The paper's further claims, judged.

Rules were written before the runs. Where the paper gives no number, the rule has a limit of ours,
which its comment explains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.cells import CLOSE, Cell, Limit
from skywave_papers.lien2009 import further
from skywave_papers.lien2009.cells import OneOfOurs
from skywave_papers.lien2009.further import NEAR_AND_FAR, VEGAS_AND_NEWRENO, of_tcp_percent
from skywave_papers.lien2009.measures import over_runs
from skywave_papers.lien2009.sentences import (
    ADAPTING,
    BELOW_CRITERIA,
    BOTH_AFFECTED,
    COURTESY,
    EACH_INJECTION,
    FRIENDLIER,
    LATENCY,
    LITTLE_BETTER,
    LONGER,
    MANY_VEGAS,
    MUCH_LESS,
    NEAR_WINS,
    ONE_TCP,
    RATES,
    SEVENTY,
    TWO_VEGAS,
    UDP_KEEPS,
    UDP_QUALITY,
    VEGAS_YIELDS,
)
from skywave_papers.lien2009.setting import (
    DURATION_S,
    FLAVOURS,
    GAP_S,
    PAPER_LATENCY,
    TRANSPORTS,
    Conditions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.papers.cells import Rule
    from skywave.papers.sentences import Sentence
    from skywave_papers.lien2009.cells import Runs
    from skywave_papers.lien2009.further import Further
    from skywave_papers.lien2009.measures import Floats
    from skywave_papers.lien2009.oracle import Periods

LATEST_MS = 400
"""The upper limit of the paper's 300 to 400 ms."""
MOST_LOST_PERCENT = 5
"""The loss rate that the paper allows."""
HALF_PERCENT = 50
"""Our limit for "much less": half. For "not affected severely" as well: in Table 3 two Vegas flows
leave more than half, three less."""
POINTS, MS = 5.0, 20.0
"""Differences in ratio and delay that would not show in a plot, as for the published values."""

FULL_QUEUE = (
    "Drop-tail drops packets whatever their transport. Over UDP the call sends on and loses what "
    "does not fit. The paper says so itself: its loss beside five NewReno is kept under 20 %, not "
    "under 5 % (section 3.3)."
)
NEW_FLOW = (
    "Not every new flow leaves the call less. Nor does it in the paper's Table 4, where beside "
    "Reno two loss rates and a delay fall. A likely reason, not measured, is that a new flow's "
    "slow start makes several flows lose packets at once."
)
TWENTY_SEGMENTS = (
    "Five flows of at most 20 segments per round-trip time of 140 ms need less than 10 Mbps, so "
    "the queue hardly ever overflows."
)
LATER_VEGAS = (
    "Not known. Here and in ns-2 the first Vegas flow already takes more from the call than two do "
    "in the paper (table3/vegas/10-20)."
)
PROPAGATION = (
    "A TCP flow has at most 20 segments in flight. The longer the link, the more of them are on it "
    "(one at 10 ms, nine at 200 ms) and the fewer in the queue of twenty, so the queue adds less "
    "delay. On a long link TFRC also takes longer to reach the call's rate, so the first period, "
    "to which ratios refer, has fewer packets. The latencies are ours; from 25 to 100 ms little of "
    'this shows (section "Other latencies and rates of the bottleneck").'
)
LATE_ANYWAY = (
    "A datagram with several frames waits in the same queue. Where the queue alone takes longer "
    "than the deadline, sending fewer packets makes no frame earlier."
)


def further_claims(ours: Runs, ns2: Mapping[str, Periods], found: Further) -> list[Cell]:
    """Judge the sentences that are in no table or figure, in the order of the paper."""
    return [
        *_of_pairs(found),
        *_of_latency(ours, found),
        *_of_rates(found),
        *_of_throughput(ours, ns2, found),
        *_of_quality(ours, ns2),
        *_of_conclusions(ours, ns2),
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


def _of_pairs(found: Further) -> list[Cell]:
    return [
        _cell(
            VEGAS_YIELDS,
            "1/vegas-yields",
            "goodput of a Vegas flow relative to that of a NewReno flow",
            {"flows": VEGAS_AND_NEWRENO},
            "%",
            100,
            Limit("<"),
            found.pair(VEGAS_AND_NEWRENO).goodput_percent,
        ),
        _cell(
            NEAR_WINS,
            "2.4/near-and-far",
            "goodput of a near flow relative to that of a far one",
            {"flows": NEAR_AND_FAR},
            "%",
            100,
            Limit(">"),
            found.pair(NEAR_AND_FAR).goodput_percent,
        ),
    ]


def _of_latency(ours: Runs, found: Further) -> list[Cell]:
    """Judge by the largest change from the paper's 50 ms."""
    cells = []
    for tcp in FLAVOURS:
        conditions = Conditions(tcp)
        usual, others = further.varied(conditions, ours[conditions]), found.of_latency(tcp)
        for name, what, unit, sd, least in (
            ("ratio_percent", "throughput ratio", "points", usual.ratio_sd, POINTS),
            ("queuing_ms", "delay beyond that without TCP", "ms", usual.queuing_sd, MS),
        ):
            changes = [getattr(other, name) - getattr(usual, name) for other in others]
            largest = int(np.argmax(np.abs(changes)))
            cells.append(
                _cell(
                    LATENCY,
                    f"3.1/latency/{name.partition('_')[0]}/{tcp.lower()}",
                    f"largest change in {what}, 10 to 60 s, from a latency of {PAPER_LATENCY}",
                    {"TCP": tcp, "latency": others[largest].latency},
                    unit,
                    0,
                    OneOfOurs(sd, least, unit),
                    changes[largest],
                    PROPAGATION,
                )
            )
    return cells


def _of_rates(found: Further) -> list[Cell]:
    """Judge the conclusion, that the call loses its quality, at the ends of Table 1's range."""
    return [
        _cell(
            RATES,
            f"table1/{rate.replace(' ', '').lower()}/{tcp.lower()}",
            "loss rate of voice over DCCP beside five flows",
            {"TCP": tcp, "bottleneck": rate, "period (s)": "50-60"},
            "%",
            MOST_LOST_PERCENT,
            Limit(">"),
            found.of_rate(tcp, rate).loss_percent,
            TWENTY_SEGMENTS,
        )
        for rate in ("1.5 Mbps", "10 Mbps")
        for tcp in FLAVOURS
    ]


def _by_period(kbps: Floats) -> Floats:
    """Return means of periods from 10 s on."""
    means: Floats = kbps[: DURATION_S[1]].reshape(-1, GAP_S).mean(axis=1)[1:]
    return means


def _of_throughput(ours: Runs, ns2: Mapping[str, Periods], found: Further) -> list[Cell]:
    cells = []
    for tcp in FLAVOURS:
        udp = Conditions(tcp, "udp")
        cells.append(
            _cell(
                UDP_KEEPS,
                f"3.2/udp-keeps/{tcp.lower()}",
                "lowest throughput ratio of voice over UDP",
                {"TCP": tcp, "period (s)": "10-60"},
                "%",
                100,
                CLOSE,
                float(over_runs(ours[udp], "ratio_percent").mean[1:].min()),
                FULL_QUEUE,
                ns2=float(ns2[udp.name].ratio_percent.mean[1:].min()),
            )
        )
    cells += [
        _cell(
            UDP_KEEPS,
            f"3.2/udp-keeps-tcp-first/{tcp.lower()}",
            "share of the packets of voice over UDP that arrives, worst period",
            {"TCP": tcp, "scenario": 2},
            "%",
            100,
            CLOSE,
            found.with_tcp_first(tcp, "udp").least_percent,
            FULL_QUEUE,
        )
        for tcp in FLAVOURS
    ]
    cells += [
        _cell(
            said,
            f"3.2/tcp1-beside-{transport}",
            "highest change of the first TCP flow's throughput from one period to the next",
            {"TCP": "NewReno", "voice": transport.upper(), "period (s)": "10-60"},
            "kbps",
            0,
            Limit("<"),
            float(
                np.diff(
                    _by_period(over_runs(ours[Conditions("NewReno", transport)], "tcp_kbps").mean)
                ).max()
            ),
            NEW_FLOW,
        )
        for transport, said in zip(
            reversed(TRANSPORTS), (EACH_INJECTION, BOTH_AFFECTED), strict=True
        )
    ]
    named = ("NewReno", "SACK", "Tahoe")
    what = "throughput of voice over DCCP relative to that of the first TCP flow"
    cells += [
        _cell(
            MUCH_LESS,
            f"3.2/much-less/{tcp.lower()}",
            what,
            {"TCP": tcp, "period (s)": "10-60"},
            "%",
            HALF_PERCENT,
            Limit("<"),
            of_tcp_percent(ours[Conditions(tcp)], slice(GAP_S, DURATION_S[1])),
        )
        for tcp in named
    ]
    cells += [
        _cell(
            MUCH_LESS,
            f"3.2/much-less-tcp-first/{tcp.lower()}",
            what,
            {"TCP": tcp, "scenario": 2},
            "%",
            HALF_PERCENT,
            Limit("<"),
            found.with_tcp_first(tcp, "dccp").of_tcp_percent,
        )
        for tcp in named
    ]
    return cells + _of_vegas(ours, ns2, found)


def _of_vegas(ours: Runs, ns2: Mapping[str, Periods], found: Further) -> list[Cell]:
    newreno, vegas = Conditions("NewReno"), Conditions("Vegas")
    mine = {tcp: over_runs(ours[Conditions(tcp)], "ratio_percent").mean for tcp in FLAVOURS}
    theirs = {tcp: ns2[Conditions(tcp).name].ratio_percent.mean for tcp in FLAVOURS}

    def lead(ratios: Mapping[str, Floats]) -> float:
        return float(ratios["Vegas"][1] - max(ratios[tcp][1] for tcp in FLAVOURS if tcp != "Vegas"))

    arrived_beside_five = 100 - over_runs(ours[vegas], "loss_percent").mean[-1]
    return [
        _cell(
            ONE_TCP,
            "3.2/one-tcp",
            "throughput ratio of voice over DCCP beside one flow",
            {"TCP": "NewReno", "period (s)": "10-20"},
            "%",
            30,
            CLOSE,
            float(over_runs(ours[newreno], "ratio_percent").mean[1]),
            ns2=float(ns2[newreno.name].ratio_percent.mean[1]),
        ),
        _cell(
            COURTESY,
            "3.2/vegas-courtesy",
            "throughput ratio beside one Vegas flow, minus the highest beside one of another TCP",
            {"period (s)": "10-20"},
            "points",
            0,
            Limit(">"),
            lead(mine),
            ns2=lead(theirs),
        ),
        _cell(
            COURTESY,
            "3.2/vegas-first",
            "packets that arrive beside five Vegas flows that came first, relative to beside five "
            "that came after the call",
            {"TCP": "Vegas", "scenario": "2 over 1"},
            "%",
            100,
            Limit("<"),
            float(
                100 * found.with_tcp_first("Vegas", "dccp").arrived_percent / arrived_beside_five
            ),
        ),
        *(
            _cell(
                TWO_VEGAS,
                f"3.2/{count}-vegas",
                f"throughput ratio of voice over DCCP beside {count} flows",
                {"TCP": "Vegas", "period (s)": period},
                "%",
                HALF_PERCENT,
                rule,
                float(mine["Vegas"][index]),
                LATER_VEGAS,
                ns2=float(theirs["Vegas"][index]),
            )
            for count, index, period, rule in (
                ("two", 2, "20-30", Limit(">")),
                ("three", 3, "30-40", Limit("<")),
            )
        ),
    ]


def _of_quality(ours: Runs, ns2: Mapping[str, Periods]) -> list[Cell]:
    udp = [Conditions(tcp, "udp") for tcp in FLAVOURS]
    cells = [
        _cell(
            UDP_QUALITY,
            f"3.3/udp-{name}",
            f"highest {name} of voice over UDP in a period beside any TCP",
            {"period (s)": "10-60"},
            unit,
            limit,
            Limit("<="),
            max(float(over_runs(ours[one], measure).mean[1:].max()) for one in udp),
            FULL_QUEUE,
            ns2=max(float(getattr(ns2[one.name], measure).mean[1:].max()) for one in udp),
        )
        for name, measure, unit, limit in (
            ("delay", "delay_ms", "ms", LATEST_MS),
            ("loss", "loss_percent", "%", MOST_LOST_PERCENT),
        )
    ]
    for name, measure, unit in (
        ("longer-delay", "delay_ms", "ms"),
        ("higher-loss", "loss_percent", "points"),
    ):
        for tcp in FLAVOURS:
            one = Conditions(tcp)
            cells.append(
                _cell(
                    LONGER,
                    f"3.3/{name}/{tcp.lower()}",
                    f"least rise in {name.partition('-')[2]} from one period to the next",
                    {"TCP": tcp, "period (s)": "0-60"},
                    unit,
                    0,
                    Limit(">"),
                    float(np.diff(over_runs(ours[one], measure).mean).min()),
                    NEW_FLOW,
                    ns2=float(np.diff(getattr(ns2[one.name], measure).mean).min()),
                )
            )
    newreno = Conditions("NewReno")
    delays = {tcp: over_runs(ours[Conditions(tcp)], "delay_ms").mean[1] for tcp in FLAVOURS}
    return [
        *cells,
        _cell(
            SEVENTY,
            "3.3/one-newreno",
            "loss rate of voice over DCCP beside one flow",
            {"TCP": "NewReno", "period (s)": "10-20"},
            "%",
            70,
            CLOSE,
            float(over_runs(ours[newreno], "loss_percent").mean[1]),
            ns2=float(ns2[newreno.name].loss_percent.mean[1]),
        ),
        _cell(
            LITTLE_BETTER,
            "3.3/vegas-sooner",
            "delay beside one Vegas flow, minus the shortest beside one of another TCP",
            {"period (s)": "10-20"},
            "ms",
            0,
            Limit("<"),
            float(delays["Vegas"] - min(delays[tcp] for tcp in FLAVOURS if tcp != "Vegas")),
        ),
    ]


def _of_conclusions(ours: Runs, ns2: Mapping[str, Periods]) -> list[Cell]:
    dccp = [Conditions(tcp) for tcp in FLAVOURS]

    def least(measure: str, period: int) -> tuple[float, float]:
        return (
            min(float(over_runs(ours[one], measure).mean[period]) for one in dccp),
            min(float(getattr(ns2[one.name], measure).mean[period]) for one in dccp),
        )

    def first_tcp_kbps(one: Conditions) -> float:
        return float(_by_period(over_runs(ours[one], "tcp_kbps").mean)[0])

    def played_percent(one: Conditions) -> float:
        return float(over_runs(ours[one], "played_percent").mean[1:].mean())

    loss, delay = least("loss_percent", 1), least("delay_ms", -1)
    vegas = Conditions("Vegas")
    return [
        _cell(
            FRIENDLIER,
            "4/friendlier",
            "throughput of one TCP flow beside voice over DCCP, minus beside UDP: the least",
            {"period (s)": "10-20"},
            "kbps",
            0,
            Limit(">"),
            min(
                first_tcp_kbps(Conditions(t)) - first_tcp_kbps(Conditions(t, "udp"))
                for t in FLAVOURS
            ),
        ),
        _cell(
            BELOW_CRITERIA,
            "4/loss",
            "lowest loss rate of voice over DCCP beside one flow of any TCP",
            {"period (s)": "10-20"},
            "%",
            MOST_LOST_PERCENT,
            Limit(">"),
            loss[0],
            ns2=loss[1],
        ),
        _cell(
            BELOW_CRITERIA,
            "4/delay",
            "shortest delay of voice over DCCP beside five flows of any TCP",
            {"period (s)": "50-60"},
            "ms",
            LATEST_MS,
            Limit(">"),
            delay[0],
            ns2=delay[1],
        ),
        _cell(
            MANY_VEGAS,
            "5/many-vegas",
            "lowest loss rate of voice over DCCP beside two to five flows",
            {"TCP": "Vegas", "period (s)": "20-60"},
            "%",
            MOST_LOST_PERCENT,
            Limit(">"),
            float(over_runs(ours[vegas], "loss_percent").mean[2:].min()),
            ns2=float(ns2[vegas.name].loss_percent.mean[2:].min()),
        ),
        _cell(
            ADAPTING,
            "5/adapting",
            "rise in the share of frames played if the source adapts: the least of all TCPs",
            {"period (s)": "10-60"},
            "points",
            0,
            Limit(">"),
            min(
                played_percent(Conditions(tcp, adapt=True)) - played_percent(Conditions(tcp))
                for tcp in FLAVOURS
            ),
            LATE_ANYWAY,
        ),
    ]
