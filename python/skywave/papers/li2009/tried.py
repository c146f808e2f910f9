"""Readings of what the paper leaves open, each judged by all published values.

A reading combines up to three rules, each of which has its sentence in ``RULES``:

- After a decrease: wait for t_rho, as the published codes of VCP do, or for a round-trip time.
- On a loss under a chain: halve cwnd, as VCP does, or leave it to the load factor.
- Routers average samples of their queue, or its means in intervals.

The readings, their sentences and their seeds are fixed here; what they come to is stored.
``python -m skywave.papers stored li2009/tried`` runs and stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from skywave.papers.li2009 import cells, experiments, setting, variants
from skywave.papers.li2009.cells import Ours
from skywave.papers.li2009.setting import DEFAULT, READINGS, Choices
from skywave.papers.stored import Table
from skywave.simulate import run_many

SEEDS = range(1, 9)
"""Seeds of the parking lots. A value of Figure 2 is judged by its mean over them."""

RULES = {
    "holds after a decrease": (
        '"After holding a decreased value of cwnd for a Round Trip Time (RTT), VCP applies the AI '
        'policy" (section 2.2). That DPCP does the same is inferred.'
    ),
    "chains ignore losses": (
        'Section 3.4 handles lost digits and names no reduction, and "the performance of DPCP is '
        'not significantly affected for packet loss rates less than 30%" (section 4.3). A timeout '
        "still sets cwnd to 1."
    ),
    "routers average means": (
        "The paper does not say how q is averaged. VCP's authors average the means of intervals in "
        "their code for ns-2; the default follows Chen et al. 2010, equation A2."
    ),
    "freezes after a decrease": (
        "Not in the paper: a later implementation of VCP for ns-3 changes nothing for t_rho, then "
        "increases additively."
    ),
}
"""The sentence behind each rule that differs from the default."""

HOLDS = replace(DEFAULT, after_decrease="holds")
FREEZES = replace(DEFAULT, after_decrease="freezes")
CHOICES = (
    *(
        replace(choices, on_loss="ignores") if ignores else choices
        for choices in (
            DEFAULT,
            HOLDS,
            replace(DEFAULT, average="means"),
            replace(HOLDS, average="means"),
        )
        for ignores in (False, True)
    ),
    FREEZES,
)
"""All combinations of the three rules, and the later implementation's rule."""


@dataclass(frozen=True)
class Tried:
    """What a reading came to.

    ``matches`` counts published values that it meets, with the means of the parking lots over
    ``SEEDS``; ``fewest`` and ``most`` are the counts with the parking lots of a single seed.
    """

    choices: str
    matches: int
    fewest: int
    most: int
    cells: str
    """The published values that it meets, separated by spaces."""


def attempt(choices: Choices) -> Tried:
    """Run everything with these choices and judge all published values."""
    lots = {
        (scheme, reading, seed): setting.lot(scheme, reading, choices, seed)
        for scheme in experiments.PUBLISHED_LOTS
        for reading in READINGS
        for seed in SEEDS
    }
    dumbbells, transfers = experiments.dumbbells(choices), experiments.transfers(choices)
    series = dict(zip(lots, map(experiments.shown_links, run_many(lots.values())), strict=True))
    courses = experiments.courses(dict(zip(dumbbells, run_many(dumbbells.values()), strict=True)))
    times = experiments.times(dict(zip(transfers, run_many(transfers.values()), strict=True)))
    stored = (variants.LOTS.read(), variants.DUMBBELLS.read())
    judged = [
        cells.published_cells(
            Ours(
                lots={
                    (scheme, reading): series[scheme, reading, seed]
                    for scheme in experiments.PUBLISHED_LOTS
                    for reading in READINGS
                },
                dumbbells=courses,
                transfers=times,
            ),
            *stored,
        )
        for seed in SEEDS
    ]
    met = [
        same[0].id
        for same in zip(*judged, strict=True)
        if all(cell.ours is not None for cell in same)
        and same[0].rule.holds(same[0].published, float(np.mean([cell.ours for cell in same])))
    ]
    by_seed = [sum(cell.verdict == "match" for cell in one) for one in judged]
    return Tried(choices.label, len(met), min(by_seed), max(by_seed), " ".join(met))


TABLE = Table(Path(__file__).with_name("tried.csv"), Tried, CHOICES, attempt)
"""The stored outcomes of all readings."""
