"""Sarwar et al. 2008, section VI: downloads over a satellite link, standard and dynamic.

The link was IPSTAR's; ours is its emulation, fitted to the standard downloads of Table I.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skywave_papers.sarwar2008.downloads import totals
from skywave_papers.sarwar2008.ledger import TABLE_1
from skywave_papers.sarwar2008.live import DYNAMIC, STANDARD, scenario
from validation.testbed.experiment import Experiment, Measure, Measurement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skywave.results import Results


def experiments(seeds: range) -> Iterator[Experiment]:
    """Yield the experiments."""
    for download in (STANDARD, DYNAMIC):
        published = TABLE_1[download.feedback]
        yield Experiment(
            paper="sarwar2008",
            section="Section VI, Table I",
            label=f"CCID 3 with {download.feedback} feedback",
            scenarios=[scenario(download, seed) for seed in seeds],
            find=_find,
            measures={
                "rate": Measure(
                    "rate", "kbps", f"{published.rate_kbps:g} ± {published.deviation_kbps:g} (sd)"
                ),
                "loss": Measure("loss", "%", f"{published.loss_percent:g}"),
                "first_loss_s": Measure("first loss", "s"),
            },
        )


def _find(results: Results) -> Measurement:
    found = totals(results)
    first_s = found.first_loss_s
    return Measurement(
        values={
            "rate": found.rate_kbps,
            "loss": found.loss_percent,
            "first_loss_s": np.nan if first_s is None else first_s,
        },
        series={},
    )
