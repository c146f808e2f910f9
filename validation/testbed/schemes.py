"""Chen, Yang and Hong 2010: four schemes, at a tenth of the rate with a tenth of the flows.

The paper has 200 flows and 45 Mbps for 120 s; here are 20 flows and 4.5 Mbps for 60 s. Thresholds
and buffer are a tenth too, so a flow's share of the link is the paper's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from skywave.results.samples import Samples
from skywave_papers.chen2010 import setting
from validation.testbed.experiment import Experiment, Measure, Measurement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skywave.results import Results
    from skywave.scenario import Scenario

SCALE = 10
SECONDS = 60
PUBLISHED_DROPS = {
    "tcp-red": "7",
    "dccp-red": "3",
    "tcp-vcp": "0 after 30 s",
    "dccp-vcp": "0 after 10 s",
}


def experiments(seeds: range) -> Iterator[Experiment]:
    """Yield the experiments."""
    for scheme in setting.SCHEMES:
        yield Experiment(
            paper="chen2010",
            section="Figures 3 to 6, at a tenth",
            label=scheme.label,
            scenarios=[_scaled(scheme, seed) for seed in seeds],
            find=_find,
            measures={
                "utilisation": Measure("utilisation", "%"),
                "queue": Measure("mean queue", "packets"),
                "drops": Measure("packets dropped", "%", PUBLISHED_DROPS[scheme.name]),
            },
        )


def _scaled(scheme: setting.Scheme, seed: int) -> Scenario:
    unpublished = setting.Unpublished(
        buffer=setting.UNPUBLISHED.buffer // SCALE,
        web_sources=setting.UNPUBLISHED.web_sources // SCALE,
        flavour=setting.UNPUBLISHED.flavour,
    )
    queue = setting.queue_of(scheme, unpublished, min_threshold=15.0, max_threshold=70.0)
    whole = setting.scenario(scheme, seed, unpublished, queue=queue, senders=setting.FEWER_WORDS)
    hosts = range(1, setting.HOSTS // SCALE + 1)
    kept = {setting.flow_name(subnet, host) for subnet in range(setting.SUBNETS) for host in hosts}
    assert whole.dumbbell is not None  # noqa: S101  (the paper's scenario is a dumbbell)
    rate = f"{setting.CAPACITY_BPS / SCALE / 1e6:g} Mbps"
    return evolve(
        whole,
        name=f"{whole.name}-tenth",
        duration=f"{SECONDS} s",
        dumbbell=evolve(whole.dumbbell, rate=rate),
        flows=[flow for flow in whole.flows if flow.name in kept or flow.name.startswith("web")],
        probes=evolve(whole.probes, flows=(min(kept),)),
    )


def _find(results: Results) -> Measurement:
    link = next(link for link in results.totals["links"] if link["name"] == setting.BOTTLENECK)
    rows = Samples(results.at_link(setting.BOTTLENECK))
    queue = rows["queue_packets"]
    return Measurement(
        values={
            "utilisation": 100 * link["utilisation"],
            "queue": float(queue.mean()),
            "drops": 100 * link["drops"] / max(link["arrivals"], 1),
        },
        series={"queue": (rows["time_s"], queue)},
    )
