"""The search for what the paper does not give: buffer, number of web sources, flavour of TCP.

It runs every combination of a coarse grid with TCP/RED on the same three seeds, which the averages
of the report do not use. TCP/RED is the scheme best known from other sources. The distance
is the root-mean-square relative distance to the row's mean queue, packets dropped and peak. One
combination is used for all schemes, so the values of the others are predictions: the closest with
NewReno while our TCP grew by acknowledgements, not by bytes. It stays, because the values were
judged with it; another is closest now. If all three values fit, the table also has the values of
DCCP/RED, which decide nothing.
``python -m skywave.papers stored chen2010/fit`` runs the search and stores the trials.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.cells import CLOSE, relative_distance
from skywave.papers.chen2010.measures import from_results
from skywave.papers.chen2010.published import PUBLISHED
from skywave.papers.chen2010.setting import DCCP_RED, TCP_RED, UNPUBLISHED, Unpublished, scenario
from skywave.papers.stored import Table
from skywave.simulate import run_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave.papers.chen2010.setting import Flavour, Scheme

SEEDS = range(1001, 1004)
FLAVOURS: tuple[Flavour, ...] = ("reno", "newreno", "sack")
GRID = tuple(
    Unpublished(buffer=buffer, web_sources=web_sources, flavour=flavour)
    for buffer, web_sources, flavour in itertools.product(
        (150, 175, 200, 250, 300, 500, 1500),
        (0, 20, 50, 100),
        FLAVOURS,
    )
)


@dataclass(frozen=True)
class Trial:
    """One combination, and the values of TCP/RED with it; if they fit, those of DCCP/RED too."""

    unpublished: Unpublished
    queue_packets: float
    drop_percent: float
    peak_percent: float
    dccp_queue_packets: float | None = None
    dccp_drop_percent: float | None = None
    dccp_peak_percent: float | None = None

    @property
    def fits(self) -> bool:
        """Whether all three values would count as a match."""
        row = PUBLISHED[TCP_RED.name]
        return (
            CLOSE.holds(row.queue_packets, self.queue_packets)
            and CLOSE.holds(row.drop_percent or 0.0, self.drop_percent)
            and CLOSE.holds(row.peak_percent, self.peak_percent)
        )

    @property
    def miss(self) -> float:
        """Root-mean-square relative distance to the published row of TCP/RED."""
        row = PUBLISHED[TCP_RED.name]
        return relative_distance(
            (self.queue_packets, row.queue_packets),
            (self.drop_percent, row.drop_percent or 1.0),
            (self.peak_percent, row.peak_percent),
        )


def taken(trials: Sequence[Trial]) -> Trial:
    """Return the trial of the combination that the paper's runs use."""
    return next(one for one in trials if one.unpublished == UNPUBLISHED)


def attempt(unpublished: Unpublished) -> Trial:
    """Run one combination and return its trial."""
    tcp = _means(TCP_RED, unpublished)
    trial = Trial(unpublished, *tcp)
    return Trial(unpublished, *tcp, *_means(DCCP_RED, unpublished)) if trial.fits else trial


def _means(scheme: Scheme, unpublished: Unpublished) -> tuple[float, float, float]:
    runs = run_many(scenario(scheme, seed, unpublished) for seed in SEEDS)
    series = [from_results(results).series for results in runs]
    return (
        float(np.mean([one.queue_mean for one in series])),
        float(np.mean([one.drop_percent for one in series])),
        float(np.mean([one.peak_percent for one in series])),
    )


TABLE = Table(Path(__file__).with_name("fit.csv"), Trial, GRID, attempt)
"""The stored trials of the search."""
