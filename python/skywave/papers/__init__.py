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


def reproduce(
    key: str,
    *,
    live_ns2: bool = True,
    progress: Progress | None = None,
    seeds: int | None = None,
) -> Reproduction:
    """Run a paper's experiments and judge its published values.

    Args:
        key: one of ``PAPERS``.
        live_ns2: run ns-2 too where it is installed; else its stored answers are used.
        progress: told of every step.
        seeds: runs of each setting, where the paper's package lets them be chosen (chen2010's).

    Raises:
        KeyError: where there is no such paper.

    """
    if key not in PAPERS:
        raise KeyError(f"{key} is not a known paper; known are {', '.join(PAPERS)}")
    chosen = {} if seeds is None else {"seeds": seeds}
    reproduction: Reproduction = package(key).reproduce(
        live_ns2=live_ns2, progress=progress, **chosen
    )
    return reproduction


def package(key: str) -> ModuleType:
    """Return the package of a paper: its ``PAPER`` and its ``reproduce``. It brings matplotlib."""
    return importlib.import_module(f"skywave.papers.{key}")
