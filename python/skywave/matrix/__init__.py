"""Every control on every paper's network, for comparison.

``axes`` are the rows and columns. ``runs`` builds the scenarios of a cell, ``measures`` measures
them, ``table`` computes means over seeds, ``panels`` presents them, and ``report`` writes the page,
with another package's advice if there is any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from skywave._progress import Progress, stage
from skywave._simulate import run_many
from skywave.matrix import measures
from skywave.matrix.axes import CONTROLS, NETWORKS
from skywave.matrix.report import Matrix
from skywave.matrix.runs import Run, scenario

SEEDS = 5
"""Runs of each kind, by default."""


def plan(
    controls: Sequence[str], networks: Sequence[str], seeds: int, duration_s: float | None
) -> Iterator[Run]:
    """Yield every run of these cells. Without ``duration_s``, each network has its own duration."""
    for key, control, seed in product(networks, controls, range(1, seeds + 1)):
        network = NETWORKS[key]
        for kind in ("alone", "beside"):
            yield Run(kind, control, key, seed, duration_s or network.duration_s)
        if network.call:
            yield Run("voice", control, key, seed, duration_s or network.call.duration_s)


def run(
    *,
    controls: Sequence[str] = tuple(CONTROLS),
    networks: Sequence[str] = tuple(NETWORKS),
    seeds: int = SEEDS,
    duration_s: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Matrix:
    """Run the matrix, or a part of it.

    Args:
        controls: Keys of ``CONTROLS``.
        networks: Keys of ``NETWORKS``.
        seeds: The number of runs of each kind; seeds start at 1.
        duration_s: The duration of each run. Default: that of the network or of its call.
        progress: Called when a run is done. The stages are the labels of the networks.
    """
    measured: dict[Run, measures.Values] = {}
    for network in networks:
        runs = list(plan(controls, (network,), seeds, duration_s))
        step = stage(progress, NETWORKS[network].label)
        results = run_many(map(scenario, runs), progress=step)
        for one, found in zip(runs, results, strict=True):
            measured[one] = measures.values(one, found)
    return Matrix(measured)
