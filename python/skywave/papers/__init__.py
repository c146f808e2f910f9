"""Published experiments, reproduced: each paper is a package of its own."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from skywave.papers.reproduction import Reproduction

    Progress = Callable[[str, int, int], None]
    """Told the stage, how many of its steps are done and how many there are."""

PAPERS = {
    "chen2010": "Performance Analysis of VCP Controller on DCCP Traffic",
    "li2009": "MPCP: Multi Packet Congestion-control Protocol",
    "lien2009": "Can DCCP Replace UDP in Changing Network Conditions?",
    "nor2011": "The Performance of DCCP TCP-like with Initial Slow-start Threshold Manipulation",
    "sarwar2008": "Improvements in DCCP congestion control for satellite links",
}
"""Keys and titles of the papers that can be reproduced."""


LEAST_SEEDS = 2
"""Of a mean with an interval."""


def reproduce(
    key: str,
    *,
    live_ns2: bool = True,
    seeds: int | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Run a paper's experiments and judge its published values.

    Args:
        key: one of ``PAPERS``.
        live_ns2: run ns-2 too where it is installed; else its stored answers are used.
        seeds: how many seeds its averages are over; if not given, the paper's own number. Only
            papers whose ``Paper.seeds`` is not None leave that open.
        progress: told of every step.

    Raises:
        KeyError: where there is no such paper.
        ValueError: where its seeds cannot be chosen, or are too few for an average.

    """
    if key not in PAPERS:
        raise KeyError(f"{key} is not a known paper; known are {', '.join(PAPERS)}")
    of_paper = package(key)
    chosen = {}
    if seeds is not None:
        if of_paper.PAPER.seeds is None:
            raise ValueError(f"{key} has the seeds of its experiments: leave --seeds out")
        if seeds < LEAST_SEEDS:
            raise ValueError(f"{seeds} seeds are no average: give at least {LEAST_SEEDS}")
        chosen["seeds"] = seeds
    reproduction: Reproduction = of_paper.reproduce(live_ns2=live_ns2, progress=progress, **chosen)
    return reproduction


def package(key: str) -> ModuleType:
    """Return the package of a paper: its ``PAPER`` and its ``reproduce``. It brings matplotlib."""
    return importlib.import_module(f"skywave.papers.{key}")
