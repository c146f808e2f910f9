"""How near settings come to Tables 3 and 4, in both simulators: by count and by distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave_papers.lien2009 import judge
from skywave_papers.lien2009.ledger import LEDGER
from skywave_papers.lien2009.published import DELAY_MS, LOSS, RATIO
from skywave_papers.lien2009.setting import JITTERED, TABLE_1, TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave_papers.lien2009.judge import Runs, Spreads
    from skywave_papers.lien2009.oracle import Periods
    from skywave_papers.lien2009.setting import Conditions

SETTINGS = {
    "as for the verdicts": TABLES,
    "with jitter": JITTERED,
    "30 ms, ns-2's send queue, jitter": TABLE_1,
}
"""The settings that ns-2 ran too."""


@dataclass(frozen=True)
class Distance:
    """How near one simulator comes to Tables 3 and 4.

    ``matches`` counts the values that meet their rules. The others are root-mean-square distances
    of the means from 10 s on, in percentage points and ms.
    """

    matches: int
    ratio: float
    delay_ms: float
    loss: float


@dataclass(frozen=True)
class Agreement:
    """How near both simulators come under one setting. Deviations in rules are those of ours."""

    label: str
    values: int
    ours: Distance
    ns2: Distance


def agreements(ours: Runs, ns2: Mapping[str, Periods]) -> list[Agreement]:
    """Return the agreement of each setting."""
    mine, theirs = judge.of_runs(ours), judge.of_ns2(ns2)
    return [
        Agreement(
            label,
            len(judge.tables(chosen, mine)),
            _distance(chosen, mine, mine),
            _distance(chosen, theirs, mine),
        )
        for label, chosen in SETTINGS.items()
    ]


def _distance(chosen: Sequence[Conditions], of: Spreads, allowing_for: Spreads) -> Distance:
    def distance(measure: str, published: Mapping[str, tuple[float, ...]]) -> float:
        differences = [
            of(conditions, measure).mean[1:] - np.array(published[conditions.tcp][-5:])
            for conditions in chosen
        ]
        return float(np.sqrt(np.mean(np.square(differences))))

    return Distance(
        len(LEDGER.met(judge.tables(chosen, of, allowing_for))),
        ratio=distance("ratio_percent", RATIO),
        delay_ms=distance("delay_ms", DELAY_MS),
        loss=distance("loss_percent", LOSS),
    )
