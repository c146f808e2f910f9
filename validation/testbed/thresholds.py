"""Nor et al. 2011: four initial slow-start thresholds of CCID 2, for 60 s."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skywave_papers.nor2011.measures import from_results
from skywave_papers.nor2011.setting import DCCP_START_S, PUBLISHED_SSTHRESH, Conditions, scenario
from validation.testbed.experiment import Experiment, Measure, Measurement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skywave.results import Results

SECONDS = 60
"""Of the paper's 200: the ramp is in them for the larger thresholds."""
RUNS = 3
"""Nothing in these runs is random, but in real time no two are the same."""


def experiments() -> Iterator[Experiment]:
    """Yield the experiments."""
    for ssthresh in PUBLISHED_SSTHRESH:
        conditions = Conditions(ssthresh, duration_s=SECONDS)
        yield Experiment(
            paper="nor2011",
            section="Experiment 2, first 60 s",
            label=f"ssthresh {ssthresh}",
            scenarios=[scenario(conditions)] * RUNS,
            find=_find,
            measures={
                "rate": Measure("mean throughput of DCCP", "kbps"),
                "loss": Measure("loss of DCCP", "%"),
            },
        )


def _find(results: Results) -> Measurement:
    found = from_results(results)
    rate_bps = found.mean_bps(found.dccp, DCCP_START_S, SECONDS)
    return Measurement(
        values={"rate": rate_bps / 1e3, "loss": found.loss_percent()},
        series={"rate": (found.time_s, np.asarray(found.dccp.throughput_bps / 1e3))},
    )
