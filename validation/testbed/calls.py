"""Lien and Ding 2009: a call over DCCP or UDP, beside one to five TCP flows of the kernel.

The paper simulated TCPs of its time. The kernel's are those that a call meets: Reno and CUBIC, with
SACK, RACK, pacing where the control asks for it, and a receive window of its own.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from attrs import evolve

from skywave.scenario import KernelTcp
from skywave_papers.lien2009.ledger import DELAY_MS, RATIO
from skywave_papers.lien2009.measures import from_results
from skywave_papers.lien2009.setting import STREAMS, Conditions, scenario
from validation.testbed.experiment import Experiment, Measure, Measurement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skywave.results import Results
    from skywave.scenario import Scenario
    from skywave_papers.lien2009.setting import Transport

CONTROLS = ("reno", "cubic")
SEGMENT = "1448 B"
"""1500 B on the wire, with the timestamps that the kernel sends."""
PUBLISHED_AS = "SACK"
"""The paper's TCP that is most like the kernel's Reno."""


def experiments(seeds: range) -> Iterator[Experiment]:
    """Yield the experiments."""
    transports: tuple[Transport, ...] = ("dccp", "udp")
    for transport in transports:
        for control in CONTROLS:
            conditions = Conditions("NewReno", transport)
            yield Experiment(
                paper="lien2009",
                section="Tables 3 and 4",
                label=f"a call over {transport.upper()}, beside the kernel's {control}",
                scenarios=[_beside_kernel(conditions, control, seed) for seed in seeds],
                find=partial(_find, conditions=conditions),
                measures=dict(_measures(conditions, control)),
            )


def _beside_kernel(conditions: Conditions, control: str, seed: int) -> Scenario:
    described = scenario(conditions, seed)
    kernel = KernelTcp(control=control, segment=SEGMENT)
    flows = [
        evolve(flow, transport=kernel) if flow.name.startswith("tcp") else flow
        for flow in described.flows
    ]
    return described.replace(name=f"{described.name}-kernel-{control}", flows=flows)


def _measures(conditions: Conditions, control: str) -> Iterator[tuple[str, Measure]]:
    is_papers = (conditions.transport, control) == ("dccp", "reno")
    for flows in (1, STREAMS):
        beside = f"beside {flows} TCP flow{'s' if flows > 1 else ''}"
        ratio = f"{RATIO[PUBLISHED_AS][flows - 1]:g} (SACK)" if is_papers else ""
        delay = f"{DELAY_MS[PUBLISHED_AS][flows]:g} (SACK)" if is_papers else ""
        yield f"received{flows}", Measure(f"packets received, {beside}", "% of those alone", ratio)
        yield f"delay{flows}", Measure(f"delay, {beside}", "ms", delay)


def _find(results: Results, conditions: Conditions) -> Measurement:
    run = from_results(conditions, results)
    values = {}
    for flows in (1, STREAMS):
        values[f"received{flows}"] = float(run.ratio_percent[flows])
        values[f"delay{flows}"] = float(run.delay_ms[flows])
    return Measurement(values=values, series={})
