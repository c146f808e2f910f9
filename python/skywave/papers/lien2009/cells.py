"""The published values of Lien and Ding beside ours, and ours beside ns-2's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.cells import NS2_LIMIT_PERCENT, Cell, Comparison, Limit
from skywave.papers.lien2009.measures import Spread, mean_over_runs, over_runs
from skywave.papers.lien2009.setting import FLAVOURS, GAP_S, SEEDS, Conditions
from skywave.papers.reasons import Cause, Reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers.cells import Rule
    from skywave.papers.lien2009.measures import Run
    from skywave.papers.lien2009.oracle import Periods

    Runs = Mapping[Conditions, Sequence[Run]]

RATIO = {
    "Tahoe": (25.12, 25.23, 25.47, 21.61, 16.59),
    "Reno": (29.67, 32.01, 23.01, 16.94, 20.21),
    "NewReno": (29.79, 25.82, 20.68, 21.26, 15.89),
    "SACK": (21.73, 17.64, 17.76, 15.77, 16.12),
    "Vegas": (72.78, 52.45, 33.18, 19.63, 12.62),
}
"""Table 3: throughput ratio of DCCP in %, from 10-20 s to 50-60 s."""
DELAY_MS = {
    "Tahoe": (73, 395, 415, 424, 470, 548),
    "Reno": (73, 319, 343, 438, 498, 497),
    "NewReno": (73, 322, 441, 468, 477, 545),
    "SACK": (73, 443, 490, 513, 536, 554),
    "Vegas": (73, 194, 321, 412, 543, 627),
}
"""Table 4: delay in ms, from 0-10 s to 50-60 s."""
LOSS = {
    "Tahoe": (0, 74.86, 74.86, 75.32, 78.09, 83.85),
    "Reno": (0, 70.13, 68.40, 77.97, 82.81, 79.82),
    "NewReno": (0, 70.01, 74.97, 79.58, 78.32, 84.54),
    "SACK": (0, 78.43, 82.35, 82.70, 83.97, 84.08),
    "Vegas": (0, 26.64, 48.79, 67.36, 80.85, 87.89),
}
"""Table 4: loss rate in %, from 0-10 s to 50-60 s."""

PERIODS = tuple(f"{start}-{start + GAP_S}" for start in range(0, 60, GAP_S))

NOT_REBUILT = (
    "ns-2.35's mean is within this rule, ours is not. Our model lacks the 10 ms clock of its DCCP "
    f"module, and means over {len(SEEDS)} runs still differ by chance."
)
PHASE = (
    "Not known. ns-2.35 with the same reading fails the same rule, so the cause is hardly in our "
    "model alone. The paper shows one run and does not say whether it avoided phase effects, which "
    "move these values (appendix). Its delays rise more slowly than those of both simulators (see "
    "the readings)."
)
QUEUE = (
    "Twenty segments of 1500 B take 960 ms at 0.25 Mbps, so five TCPs that fill the queue must "
    "delay voice by more than 300 ms. No reading that gives Table 4's delays of up to 627 ms gives "
    "this value. ns-2.35 has more than 300 ms as well."
)


@dataclass(frozen=True)
class OneOfOurs:
    """The published value, which is from one run, could be from one of ours.

    It is within two standard deviations of single runs from our mean, or within ``least``, a
    difference too small to see in a plot.
    """

    sd: float
    least: float
    unit: str

    @property
    def text(self) -> str:
        """The rule in words."""
        return (
            f"within 2 sd of our {len(SEEDS)} runs (sd {self.sd:.3g} {self.unit}) "
            f"or {self.least:g} {self.unit}"
        )

    def holds(self, published: float, ours: float) -> bool:
        """Return whether the values agree."""
        return abs(published - ours) <= max(2 * self.sd, self.least)


def published_cells(ours: Runs, ns2: Mapping[str, Periods]) -> list[Cell]:
    """Judge every published value."""
    cells: list[Cell] = []
    for tcp in FLAVOURS:
        conditions = Conditions(tcp)
        runs, theirs = ours[conditions], ns2[conditions.name]
        cells += _row("table3", "throughput ratio", tcp, RATIO[tcp], runs, theirs, 1)
        # Table 4 repeats Table 3's ratio. Its other rows are delay and loss.
        cells += _row("table4/delay", "delay", tcp, DELAY_MS[tcp], runs, theirs, 0)
        cells += _row("table4/loss", "loss rate", tcp, LOSS[tcp], runs, theirs, 0)
    return cells + _claims(ours, ns2)


_MEASURES = {
    "throughput ratio": ("ratio_percent", "%", 5.0),
    "delay": ("delay_ms", "ms", 20.0),
    "loss rate": ("loss_percent", "%", 5.0),
}
"""Measure, unit, and the difference that would not show in a plot, by quantity."""


def _row(
    table: str,
    quantity: str,
    tcp: str,
    published: Sequence[float],
    runs: Sequence[Run],
    ns2: Periods,
    first: int,
) -> list[Cell]:
    measure, unit, least = _MEASURES[quantity]
    ours = over_runs(runs, measure)
    theirs: Spread = getattr(ns2, measure)
    rules = [OneOfOurs(float(sd), least, unit) for sd in ours.sd]
    return [
        Cell(
            id=f"{table}/{tcp.lower()}/{period}",
            what=f"{quantity} of voice over DCCP, beside {tcp}",
            conditions={"TCP": tcp, "period (s)": period, "TCP flows": index},
            unit=unit,
            published=value,
            ours=_finite(ours.mean[index]),
            ns2=_finite(theirs.mean[index]),
            rule=rules[index],
            known_reason=_why_not(value, theirs.mean[index], rules[index]),
        )
        for index, (period, value) in enumerate(
            zip(PERIODS[first:], published, strict=True), start=first
        )
    ]


def _why_not(published: float, ns2: float, rule: Rule) -> Reason:
    """Return the reason for a mismatch, which depends on whether ns-2's value matches."""
    if rule.holds(published, ns2):
        return Reason(Cause.OURS, NOT_REBUILT)
    return Reason(Cause.SHARED, PHASE)


def _claims(ours: Runs, ns2: Mapping[str, Periods]) -> list[Cell]:
    """Judge the claims of the text about Figures 2 to 6, all of them upper limits."""
    udp, vegas = Conditions("NewReno", "udp"), Conditions("Vegas")
    beside_udp = "of voice over UDP in a period, beside five NewReno"
    beside_vegas = "of voice over DCCP beside one Vegas"

    def claim(
        name: str,
        what: str,
        conditions: Conditions,
        quantity: str,
        limit: float,
        known_reason: Reason | None = None,
    ) -> Cell:
        measure, unit, _ = _MEASURES[quantity]
        # For UDP, the worst period counts; beside Vegas, the first with one TCP flow.
        period, chosen = ("50-60", slice(None)) if conditions == udp else ("10-20", slice(1, 2))
        mine, theirs = over_runs(ours[conditions], measure), getattr(ns2[conditions.name], measure)
        return Cell(
            id=f"text/{name}",
            what=what,
            conditions={"TCP": conditions.tcp, "period (s)": period},
            unit=unit,
            published=limit,
            ours=_finite(mine.mean[chosen].max()),
            ns2=_finite(theirs.mean[chosen].max()),
            rule=Limit("<"),
            known_reason=known_reason,
        )

    return [
        claim(
            "udp-delay",
            f"longest mean delay {beside_udp}",
            udp,
            "delay",
            300,
            Reason(Cause.CONFLICT, QUEUE),
        ),
        claim("udp-loss", f"highest mean loss rate {beside_udp}", udp, "loss rate", 20),
        claim("vegas-delay", f"delay {beside_vegas}", vegas, "delay", 200),
        claim("vegas-loss", f"loss rate {beside_vegas}", vegas, "loss rate", 27),
    ]


def _finite(value: float) -> float | None:
    """Return None if nothing was received, so that there is nothing to measure."""
    return float(value) if np.isfinite(value) else None


_COMPARED = {
    1: {"10-20 s": slice(1, 2), "10-60 s": slice(1, None)},
    3: {"10-60 s, one TCP": slice(1, 6), "100-200 s, one TCP": slice(10, None)},
}
"""The periods over which we compare with ns-2, by scenario and label."""


def ns2_comparisons(ours: Runs, ns2: Mapping[str, Periods]) -> list[Comparison]:
    """Compare with ns-2: each flavour's first period beside TCP, and all periods."""
    comparisons = []
    for conditions in ours:
        if conditions.name not in ns2 or conditions.scenario not in _COMPARED:
            continue
        runs, theirs = ours[conditions], ns2[conditions.name]
        for quantity, (measure, unit, _) in _MEASURES.items():
            if quantity == "loss rate" and conditions.transport == "dccp":
                continue  # the complement of the ratio
            other = getattr(theirs, measure).mean
            for period, chosen in _COMPARED[conditions.scenario].items():
                mine = mean_over_runs(runs, measure, chosen)
                comparisons.append(
                    Comparison(
                        quantity=f"{quantity} of voice over {conditions.transport.upper()}",
                        conditions={
                            "TCP": conditions.tcp,
                            "period": period,
                            "jitter": "yes" if conditions.jitter else "no",
                        },
                        unit=unit,
                        ours=_finite(mine.mean),
                        ns2=_finite(other[chosen].mean()),
                        limit_percent=NS2_LIMIT_PERCENT,
                        # Some means differ by more than the limit by chance.
                        interval95=_finite(mine.margin),
                    )
                )
    return comparisons
