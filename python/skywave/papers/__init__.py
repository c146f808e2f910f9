"""Reproduces published experiments.

A paper is a package that implements ``protocol`` and is found by its entry point (``installed``),
whether it is ours or yours. Papers share: ``ledger``, what a paper says, with the ``rules`` that
judge ``cells``; ``stages``, which runs experiments; ``ns2``, which runs ns-2 or reads its stored
results; ``lent``, contributions to the matrix. ``front`` reproduces all papers.
``python -m skywave.papers`` regenerates stored data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from skywave._progress import Progress
from skywave.papers import installed
from skywave.papers.errors import BrokenPaperError, LedgerError, PaperError, UnknownPaperError
from skywave.papers.ns2 import Ns2Error

if TYPE_CHECKING:
    from skywave.papers.reproduction import Reproduction

__all__ = [
    "LEAST_SEEDS",
    "BrokenPaperError",
    "LedgerError",
    "Ns2Error",
    "PaperError",
    "UnknownPaperError",
    "reproduce",
]

LEAST_SEEDS = 2
"""The fewest seeds for a mean with a confidence interval."""


def reproduce(
    key: str,
    *,
    live_ns2: bool = True,
    seeds: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Reproduction:
    """Run a paper's experiments and judge its published values.

    Args:
        key: The key of an installed paper.
        live_ns2: Whether to run ns-2 if it is installed. Otherwise its stored results are used.
        seeds: The number of seeds for averages. Default: the paper's own number. Allowed only if
            the paper's ``seeds`` is not None.
        progress: Called at every step.

    Raises:
        PaperError: If there is no such paper, it is unusable, or its code fails.
        LedgerError: If the ledger and what is measured or drawn do not fit.
        ValueError: If the paper's seeds cannot be chosen, or are too few for an average.
    """
    paper = installed.paper(key)
    with installed.faults_named(paper):
        return paper.reproduce(live_ns2=live_ns2, seeds=seeds, progress=progress)
