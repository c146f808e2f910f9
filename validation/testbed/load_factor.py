"""Li and Yousefi'zadeh 2009, sections 4.2 and 5: Figures 3 to 5 on a Linux testbed.

The testbed's rates, delays, buffers and files are not published: ours are 4 Mbps, 500 ms, a
bandwidth-delay product and 500 kB, as in the simulated figures.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from skywave.scenario import Ftp
from skywave_papers.li2009.measures import course, done_s
from skywave_papers.li2009.setting import (
    CARRIERS,
    DCCP_DATA_B,
    DPCP,
    FILE_B,
    PAPER_NETWORK,
    TPCP,
    VCP,
    Network,
    dccp_of,
    dumbbell,
    transfer,
)
from validation.testbed.experiment import Experiment, Measure, Measurement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skywave.results import Results
    from skywave.scenario import Scenario
    from skywave_papers.li2009.setting import Carrier, Scheme

PAPER = "li2009"
SCHEMES = (VCP, DPCP, TPCP)
SWEPT = (
    Network(mbps=2),
    Network(mbps=10),
    Network(rtt_ms=200),
    Network(rtt_ms=1000),
)
"""The ends of the paper's target range, 2 to 10 Mbps and 200 to 1000 ms."""
LOSS_PERCENT = (0, 10, 20, 30, 40)
LIMIT_S = 100
"""Transfers that take longer are not waited for."""

TRANSITIONS = {"VCP": "20", "DPCP": "< 4"}


def experiments(seeds: range) -> Iterator[Experiment]:
    """Yield the experiments."""
    for scheme in SCHEMES:
        yield _course(scheme, PAPER_NETWORK, "Figures 3 and 5", seeds, over_dccp=False)
    for scheme in (VCP, DPCP):
        yield _course(scheme, PAPER_NETWORK, "Figures 3 and 5", seeds, over_dccp=True)
    for network in SWEPT:
        for scheme in (VCP, DPCP):
            yield _course(scheme, network, "Beyond Figure 3", seeds[:1], over_dccp=False)
    for carrier in CARRIERS:
        for percent in LOSS_PERCENT:
            yield _transfer(carrier, percent, seeds)


def _course(
    scheme: Scheme, network: Network, section: str, seeds: range, *, over_dccp: bool
) -> Experiment:
    is_papers = network == PAPER_NETWORK
    published = TRANSITIONS.get(scheme.label, "") if is_papers and not over_dccp else ""
    scenarios = [dumbbell(scheme, network, seed=seed) for seed in seeds]
    if over_dccp:
        scenarios = [_over_dccp(scenario, scheme) for scenario in scenarios]
    carrier = "DCCP" if over_dccp else "TCP"
    return Experiment(
        paper=PAPER,
        section=section,
        label=f"{scheme.label} over {carrier}, {network.mbps:g} Mbps, {network.rtt_ms} ms",
        scenarios=scenarios,
        find=partial(_find_course, network=network),
        measures={
            "transition_s": Measure("transition time", "s", published),
            "utilisation": Measure("utilisation afterwards", "%"),
            "queue": Measure("mean queue afterwards", "packets"),
        },
    )


def _over_dccp(scenario: Scenario, scheme: Scheme) -> Scenario:
    source = Ftp(datagram=f"{DCCP_DATA_B} B")
    flows = [evolve(flow, transport=dccp_of(scheme), source=source) for flow in scenario.flows]
    return scenario.replace(name=f"{scenario.name}-dccp", flows=flows)


def _find_course(results: Results, network: Network) -> Measurement:
    found = course(results.links, network)
    return Measurement(
        values={
            "transition_s": found.outcome.transition_s,
            "utilisation": found.outcome.utilisation,
            "queue": found.outcome.queue,
        },
        series={
            "queue": (found.time_s, found.queue_packets),
            "utilisation": (found.time_s[-len(found.utilisation) :], 100 * found.utilisation),
        },
    )


def _transfer(carrier: Carrier, percent: int, seeds: range) -> Experiment:
    scenarios = [
        evolve(transfer(carrier, percent, seed), duration=f"{LIMIT_S} s") for seed in seeds
    ]
    return Experiment(
        paper=PAPER,
        section="Figure 4",
        label=f"{carrier.label}, {percent} % lost",
        scenarios=scenarios,
        find=_find_transfer,
        measures={
            "seconds": Measure(f"time for {FILE_B // 1000} kB", "s", missing=f"> {LIMIT_S}"),
        },
    )


def _find_transfer(results: Results) -> Measurement:
    end_s = done_s(results)
    return Measurement(values={"seconds": np.nan if end_s is None else end_s}, series={})
