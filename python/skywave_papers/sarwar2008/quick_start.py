"""Quick-Start on the paper's link, with and without, for a sentence of section II.

The paper quotes related work by which Quick-Start and Faster Restart "do not provide a consistent
improvement to poor TFRC performances over a long delay network". Its references 11 and 12 were not
available, so the conditions are ours. They were fixed, and the rule written, before the runs.
Faster Restart is not tested.

"Consistent" is read as: in each condition, the flow delivers at least a tenth more in its first
minute, in which its slow start falls. The link is that of Figure 2, with standard feedback. Both
links may give away nine tenths of their rates, and the flow asks for the rate of the satellite
link, which Quick-Start rounds down to 640 kbit/s (RFC 4782 table 1). The request leaves with the
first data packet, so handshake and request take two round-trip times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from skywave.results.samples import Samples
from skywave_papers.sarwar2008.setting import (
    LINK_BPS,
    SATELLITE,
    STANDARD,
    START_S,
    add_download,
    network,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skywave.results import Results
    from skywave.scenario import Scenario

SHARE = 0.9
"""The share of each link that Quick-Start may give away."""
MEASURED_S = 60.0
"""The time since its start in which a flow's packets are counted."""
QUEUE = 50
"""The queue at the satellite link, in packets, as in the paper's readings."""
FLOW = "dccp"
CASES = ((0, 0), (1, 0), (0, 2))
"""How many flows begin a minute before the flow, and how many at the same time, which ask for the
same rate: an idle link, one that an older flow uses, and three flows that start together."""


def scenario(case: int, *, asks: bool) -> Scenario:
    """Return the scenario of one of ``CASES``, with or without Quick-Start."""
    older, together = CASES[case]
    start_s = START_S + (MEASURED_S if older else 0.0)
    name = f"quick-start-{case}-{'with' if asks else 'without'}"
    described = network(name, start_s + MEASURED_S, queue=QUEUE)
    described.links = [evolve(link, quick_start=SHARE) for link in described.links]
    transport = STANDARD.transport
    asking = evolve(transport, quick_start=f"{LINK_BPS / 1e6:g} Mbps" if asks else None)
    add_download(described, FLOW, asking, start_s)
    for number in range(older):
        add_download(described, f"older-{number}", transport)
    for number in range(together):
        add_download(described, f"other-{number}", asking, start_s)
    return described


def scenarios() -> list[Scenario]:
    """Return the scenarios of all cases, in pairs without and with Quick-Start."""
    return [scenario(case, asks=asks) for case in range(len(CASES)) for asks in (False, True)]


def delivered(results: Results, flow: str = FLOW) -> float:
    """Return the packets of a flow that begins a minute before the end."""
    return float(Samples(results.flows_at(SATELLITE, flow))["delivered"].sum())


def gains_percent(results: Mapping[str, Results]) -> list[float]:
    """Return by how many percent more packets the flow delivers with Quick-Start in each case."""
    packets = [
        [delivered(results[f"quick-start-{case}-{kind}"]) for kind in ("without", "with")]
        for case in range(len(CASES))
    ]
    return [100 * (asking / without - 1) for without, asking in packets]
