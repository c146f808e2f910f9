"""Published experiments, reproduced.

A paper is a package behind one typed protocol (``protocol``), found by its entry point
(``installed``), ours and a stranger's alike. What papers share: ``cells`` are published values and
the rules that judge them, ``stages`` runs experiments, ``oracle`` asks ns-2, ``stored`` keeps what
takes minutes, ``figures`` and ``pages`` draw and write, ``lent`` is what the matrix takes.
``front`` reproduces all papers, by ``workers``; ``python -m skywave.papers`` stores anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave.papers import installed

if TYPE_CHECKING:
    from skywave.papers.reproduction import Reproduction
    from skywave.papers.stages import Progress

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
        key: of an installed paper.
        live_ns2: run ns-2 too where it is installed; else its stored answers are used.
        seeds: how many seeds its averages are over; if not given, the paper's own number. Only
            papers whose ``seeds`` are not None leave that open.
        progress: told of every step.

    Raises:
        PaperError: where there is no such paper, or it cannot be used.
        ValueError: where its seeds cannot be chosen, or are too few for an average.

    """
    paper = installed.paper(key)
    return paper.reproduce(live_ns2=live_ns2, seeds=seeds, progress=progress)
