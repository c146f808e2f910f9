"""How near settings come to Tables 3 and 4, in both simulators: by count and by distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skywave_papers.lien2009.cells import table_cells
from skywave_papers.lien2009.measures import over_runs
from skywave_papers.lien2009.published import DELAY_MS, LOSS, RATIO
from skywave_papers.lien2009.setting import JITTERED, TABLE_1, TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skywave_papers.lien2009.cells import Runs
    from skywave_papers.lien2009.measures import Floats
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
    return [_agreement(label, chosen, ours, ns2) for label, chosen in SETTINGS.items()]


def _agreement(
    label: str, chosen: Sequence[Conditions], ours: Runs, ns2: Mapping[str, Periods]
) -> Agreement:
    cells = table_cells(chosen, ours, ns2)

    def mine(conditions: Conditions, measure: str) -> Floats:
        return over_runs(ours[conditions], measure).mean

    def theirs(conditions: Conditions, measure: str) -> Floats:
        mean: Floats = getattr(ns2[conditions.name], measure).mean
        return mean

    return Agreement(
        label,
        len(cells),
        _distance(chosen, mine, sum(cell.verdict == "match" for cell in cells)),
        _distance(chosen, theirs, sum(cell.ns2_verdict == "match" for cell in cells)),
    )


def _distance(
    chosen: Sequence[Conditions], mean: Callable[[Conditions, str], Floats], matches: int
) -> Distance:
    def distance(measure: str, published: Mapping[str, tuple[float, ...]]) -> float:
        differences = [
            mean(conditions, measure)[1:] - np.array(published[conditions.tcp][-5:])
            for conditions in chosen
        ]
        return float(np.sqrt(np.mean(np.square(differences))))

    return Distance(
        matches,
        ratio=distance("ratio_percent", RATIO),
        delay_ms=distance("delay_ms", DELAY_MS),
        loss=distance("loss_percent", LOSS),
    )
