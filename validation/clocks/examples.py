"""Eight of the examples, for the beginning of their time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from skywave import Scenario
from skywave.results.samples import Samples
from validation.testbed.experiment import Experiment, Measure, Measurement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skywave.results import Results

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("tcp", "dccp", "codel-ecn", "red", "vcp", "mpcp", "sub-queues", "voice")
DURATION_S = 30
SEEDS = (1, 2, 3)
MEASURES = {
    "goodput": Measure("goodput of all flows", "Mbps"),
    "utilisation": Measure("utilisation of the bottleneck", "%"),
    "queue": Measure("mean queue there", "packets"),
    "lost": Measure("lost there", "%"),
    "marked": Measure("marked there", "%"),
    "delay": Measure("mean delay", "ms"),
}


def experiments() -> Iterator[Experiment]:
    """Yield each example."""
    for name in NAMES:
        whole = evolve(Scenario.from_file(EXAMPLES / f"{name}.toml"), duration=f"{DURATION_S} s")
        yield Experiment(
            paper="examples",
            section=name,
            label=whole.name,
            scenarios=[whole.replace(seed=seed) for seed in SEEDS],
            find=measured,
            measures=MEASURES,
        )


def measured(results: Results) -> Measurement:
    """Return the measures of a run. The bottleneck is the link with the highest utilisation."""
    links = results.totals["links"]
    bottleneck = max(links, key=lambda link: link["utilisation"])
    queue = Samples(results.links).groups("link").means(Samples(results.links)["queue_packets"])
    flows = Samples(results.flows)
    return Measurement(
        values={
            "goodput": sum(flow["goodput_bps"] for flow in results.totals["flows"]) / 1e6,
            "utilisation": 100 * bottleneck["utilisation"],
            "queue": queue.get(bottleneck["name"], float("nan")),
            "lost": 100 * bottleneck["drops"] / max(bottleneck["arrivals"], 1),
            "marked": 100 * bottleneck["marks"] / max(bottleneck["delivered"], 1),
            "delay": 1e3 * float(np.nanmean(flows["delay_mean_s"])),
        },
        series={},
    )
