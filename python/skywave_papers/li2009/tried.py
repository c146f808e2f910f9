"""Readings of the paper's open points, each judged by all published values.

A reading combines up to three rules, each of which has its sentence in ``RULES``:

- After a decrease: wait for a round-trip time, or for t_rho as the published codes of VCP do.
- On a loss under a chain: leave cwnd to the load factor, or halve it as VCP does.
- Routers average means of their queue in intervals, or samples.

The readings, their sentences and their seeds are fixed here; what they come to is stored.
``python -m skywave.papers stored li2009/tried`` runs and stores them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from skywave import run_many
from skywave.papers.tried import Tried
from skywave.report.tables import Table
from skywave_papers.li2009 import experiments, judge, setting, variants
from skywave_papers.li2009.experiments import Ours
from skywave_papers.li2009.ledger import LEDGER
from skywave_papers.li2009.setting import DEFAULT, FLOWS, LOT_SEEDS, Choices

RULES = {
    DEFAULT.label: (
        '"After holding a decreased value of cwnd for a Round Trip Time (RTT), VCP applies the AI '
        'policy" (section 2.2); that DPCP does the same is inferred. Section 3.4 handles lost '
        'digits and names no reduction, and "the performance of DPCP is not significantly affected '
        'for packet loss rates less than 30%" (section 4.3); a timeout still sets cwnd to 1. The '
        "paper does not say how q is averaged: VCP's authors average the means of intervals in "
        "their code for ns-2."
    ),
    "ignores overload after a decrease": (
        "Not in the paper: VCP's authors' code for ns-2 ignores overload for t_rho, then increases "
        "additively for a round-trip time."
    ),
    "freezes after a decrease": (
        "Not in the paper: a later implementation of VCP for ns-3 changes nothing for t_rho, then "
        "increases additively."
    ),
    "chains halve on losses": "Not in the paper: VCP does, and chains extend VCP.",
    "routers average samples": "Not in the paper: Chen et al. 2010, equation A2.",
}
"""The sentence behind each rule."""

CODES = replace(DEFAULT, after_decrease="ignores-overload")
CHOICES = (
    *(
        replace(choices, average=average, on_loss=on_loss)
        for choices in (DEFAULT, CODES)
        for average in ("means", "samples")
        for on_loss in ("ignores", "halves")
    ),
    replace(DEFAULT, after_decrease="freezes", average="samples", on_loss="halves"),
)
"""All combinations of the three rules, and the later implementation's rule with VCP's others.

The first is that of the verdicts: it follows the paper's words where there are any.
"""


def attempt(choices: Choices) -> Tried:
    """Run everything with these choices and judge all published values."""
    lots = {
        (scheme, seed): setting.lot(scheme, FLOWS, choices, seed)
        for scheme in experiments.PUBLISHED_LOTS
        for seed in LOT_SEEDS
    }
    dumbbells, transfers = experiments.dumbbells(choices), experiments.transfers(choices)
    outcomes = {
        (scheme, seed): variants.lot_outcome((scheme, FLOWS, choices, seed), results)
        for (scheme, seed), results in zip(lots, run_many(lots.values()), strict=True)
    }
    courses = experiments.courses(dict(zip(dumbbells, run_many(dumbbells.values()), strict=True)))
    times = experiments.times(dict(zip(transfers, run_many(transfers.values()), strict=True)))
    by_seed = [
        {(scheme, FLOWS): [outcomes[scheme, seed]] for scheme in experiments.PUBLISHED_LOTS}
        for seed in LOT_SEEDS
    ]
    found = [judge.published(Ours(lots, courses, times)) for lots in by_seed]
    return Tried.by_seed(choices.label, LEDGER, found)


TABLE = Table(Path(__file__).with_name("tried.csv"), Tried, CHOICES, attempt)
"""The stored outcomes of all readings."""
