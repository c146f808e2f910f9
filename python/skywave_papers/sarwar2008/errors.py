"""Where the errors at the end of slow start are.

Figure 2 was "patched to include the same number of errors and RTT values on exiting slow start
phase" (section V-C). The paper does not say how many errors there are, or where. Here the first
hits the first packet that arrives at the satellite link once the sender's allowed rate X has
reached the link's rate. Until then no queue forms, so both kinds of feedback leave slow start with
the same errors and the same round-trip time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from skywave.papers.stages import run_each
from skywave.scenario import Probes
from skywave_papers.sarwar2008.setting import (
    LINK_BPS,
    SATELLITE,
    Conditions,
    add_download,
    dccp,
    network,
    scenario,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skywave.results import Results
    from skywave.scenario import Scenario

SEARCHED_S = 40
"""Length of a run without errors, in round-trip times. X reaches the link's rate in it."""


def _without(conditions: Conditions) -> Conditions:
    return replace(conditions, errors=0)


def _probe(conditions: Conditions) -> Scenario:
    duration_s = SEARCHED_S * conditions.rtt_s
    described = network(f"probe-{conditions.name}", duration_s, rtt_s=conditions.rtt_s)
    described.probes = Probes(interval="1 s", rates=True, packets=True)
    return add_download(described, "dccp", dccp(conditions))


def first_error(results: Results) -> int:
    """Return the packet that the first error hits, from a run without errors."""
    rates = results.rates
    fast = rates["allowed_rate_bps"].to_numpy() >= LINK_BPS
    reached_s = float(rates["time_s"].to_numpy()[fast][0])
    packets = results.packets
    at_link = pc.and_(
        pc.equal(packets["event"].cast("string"), "enqueue"),
        pc.equal(packets["place"].cast("string"), SATELLITE),
    )
    arrivals_s = packets.filter(at_link)["time_s"].to_numpy()
    return int(np.searchsorted(arrivals_s, reached_s)) + 1


def scenarios(every: Iterable[Conditions]) -> dict[Conditions, Scenario]:
    """Return the scenarios of runs, after short runs that find where their errors are."""
    wanted = list(every)
    without = {_without(one): _probe(_without(one)) for one in wanted if one.errors}
    found = {key: first_error(results) for key, results in run_each(without).items()}
    return {one: scenario(one, first_error=found.get(_without(one))) for one in wanted}
