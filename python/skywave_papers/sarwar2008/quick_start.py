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

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from skywave.scenario import DropTail, Ftp
from skywave_papers.sarwar2008.setting import (
    LINK_BPS,
    PACKET_SIZE,
    SATELLITE,
    START_S,
    Conditions,
    dccp,
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
REACHED_BPS = 0.8 * LINK_BPS
"""The throughput, over a second, from which on the flow has the link."""
QUEUE = 50
"""The queue at the satellite link, in packets, as in the paper's readings."""
FLOW = "dccp"


@dataclass(frozen=True)
class Case:
    """A condition: what else is on the link when the flow starts."""

    older: int = 0
    """Flows that began a minute earlier."""
    together: int = 0
    """Flows that begin at the same time and ask for the same rate."""

    @property
    def start_s(self) -> float:
        """When the flow starts."""
        return START_S + (MEASURED_S if self.older else 0.0)


CASES = (Case(), Case(older=1), Case(together=2))
"""An idle link, one that an older flow uses, and three flows that start together."""


@dataclass(frozen=True)
class Outcome:
    """A run: packets delivered in the first minute, and when the flow first had the link.

    ``others`` is what the other flows delivered in that minute. It is not part of the rule.
    """

    packets: int
    others: int
    reached_s: float | None


@dataclass(frozen=True)
class QuickStartGain:
    """A condition's runs without and with Quick-Start."""

    case: Case
    without: Outcome
    with_it: Outcome

    @property
    def gain_percent(self) -> float:
        """By how many percent more packets the flow delivers with Quick-Start."""
        return 100 * (self.with_it.packets / self.without.packets - 1)


def scenario(case: Case, *, quick_start: bool) -> Scenario:
    """Return the scenario of a condition, with or without Quick-Start."""
    duration_s = case.start_s + MEASURED_S
    described = network(
        _name(case, quick_start=quick_start), duration_s, queue=DropTail(packets=QUEUE - 1)
    )
    described.links = [evolve(link, quick_start=SHARE) for link in described.links]
    transport = dccp(Conditions("standard", errors=0, queue=QUEUE))
    asking = evolve(transport, quick_start=f"{LINK_BPS / 1e6:g} Mbps" if quick_start else None)
    source = Ftp(datagram=f"{PACKET_SIZE} B")
    start = f"{case.start_s * 1e3:g} ms"
    described.add_flow(FLOW, "s", "d", asking, source, start=start)
    for number in range(case.older):
        older_start = f"{START_S * 1e3:g} ms"
        described.add_flow(f"older-{number}", "s", "d", transport, source, start=older_start)
    for number in range(case.together):
        described.add_flow(f"other-{number}", "s", "d", asking, source, start=start)
    return described


def outcome(results: Results, case: Case) -> Outcome:
    """Return the outcome of a run."""
    there = results.flows_at(SATELLITE)
    time_s = there["time_s"].to_numpy() - case.start_s
    is_ours = there["flow"].to_numpy(zero_copy_only=False) == FLOW
    packets = np.where(time_s > 0, there["delivered"].to_numpy(), 0)
    reached_s = time_s[is_ours & (there["throughput_bps"].to_numpy() >= REACHED_BPS)]
    return Outcome(
        int(packets[is_ours].sum()),
        int(packets[~is_ours].sum()),
        float(reached_s[0]) if reached_s.size else None,
    )


def scenarios() -> dict[str, Scenario]:
    """Return the scenarios of all conditions, by name."""
    return {
        _name(case, quick_start=quick_start): scenario(case, quick_start=quick_start)
        for case in CASES
        for quick_start in (False, True)
    }


def measure(results: Mapping[str, Results]) -> list[QuickStartGain]:
    """Return the outcomes of all conditions."""
    return [
        QuickStartGain(
            case,
            outcome(results[_name(case, quick_start=False)], case),
            outcome(results[_name(case, quick_start=True)], case),
        )
        for case in CASES
    ]


def _name(case: Case, *, quick_start: bool) -> str:
    return f"quick-start-{CASES.index(case)}-{'with' if quick_start else 'without'}"
