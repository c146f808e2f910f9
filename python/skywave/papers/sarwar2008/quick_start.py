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

from skywave.papers.cells import Cell, Limit
from skywave.papers.sarwar2008.setting import (
    LINK_BPS,
    PACKET_SIZE,
    SATELLITE,
    START_S,
    Conditions,
    dccp,
    network,
)
from skywave.scenario import DropTail, Ftp
from skywave.simulate import run as simulate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skywave.results import Results
    from skywave.scenario import Scenario

QUOTE = (
    "show that these new mechanisms do not provide a consistent improvement to poor TFRC "
    "performances over a long delay network"
)
SHARE = 0.9
"""The share of each link that Quick-Start may give away."""
MEASURED_S = 60.0
"""The time since its start in which a flow's packets are counted."""
REACHED_BPS = 0.8 * LINK_BPS
"""The throughput, over a second, from which on the flow has the link."""
LEAST_GAIN_PERCENT = 10.0
"""A smaller gain in packets counts as no improvement. Ours."""
QUEUE = 50
"""The queue at the satellite link, in packets, as in the paper's readings."""
FLOW = "dccp"


@dataclass(frozen=True)
class Case:
    """A condition: what else is on the link when the flow starts."""

    label: str
    older: int = 0
    """Flows that began a minute earlier."""
    together: int = 0
    """Flows that begin at the same time and ask for the same rate."""

    @property
    def start_s(self) -> float:
        """When the flow starts."""
        return START_S + (MEASURED_S if self.older else 0.0)


CASES = (
    Case("an idle link"),
    Case("a link that an older flow uses", older=1),
    Case("three flows that start together", together=2),
)


@dataclass(frozen=True)
class Outcome:
    """A run: packets delivered in the first minute, and when the flow first had the link.

    ``others`` is what the other flows delivered in that minute. It is not part of the rule.
    """

    packets: int
    others: int
    reached_s: float | None


def scenario(case: Case, *, quick_start: bool) -> Scenario:
    """Return the scenario of a condition, with or without Quick-Start."""
    name = f"quick-start-{CASES.index(case)}-{'with' if quick_start else 'without'}"
    duration_s = case.start_s + MEASURED_S
    described = network(name, duration_s, queue=DropTail(packets=QUEUE - 1))
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


def gain_percent(without: Outcome, with_it: Outcome) -> float:
    """Return by how many percent more packets a flow delivers with Quick-Start."""
    return 100 * (with_it.packets / without.packets - 1)


def run() -> list[tuple[Case, Outcome, Outcome]]:
    """Run all conditions and return the outcomes without and with Quick-Start."""
    return [
        (
            case,
            outcome(simulate(scenario(case, quick_start=False)), case),
            outcome(simulate(scenario(case, quick_start=True)), case),
        )
        for case in CASES
    ]


def claim(outcomes: Iterable[tuple[Case, Outcome, Outcome]]) -> Cell:
    """Judge the sentence: in some condition, the gain is below the least that counts."""
    gains = [gain_percent(without, with_it) for _, without, with_it in outcomes]
    return Cell(
        id="quick-start-not-consistent",
        what="least gain in packets of the first minute by Quick-Start",
        conditions={"conditions": "; ".join(case.label for case in CASES), "share": SHARE},
        unit="%",
        published=LEAST_GAIN_PERCENT,
        ours=min(gains),
        rule=Limit("<"),
        quote=QUOTE,
    )


def table(outcomes: Iterable[tuple[Case, Outcome, Outcome]]) -> str:
    """Return the outcomes as text, a line for each condition."""

    def reached(one: Outcome) -> str:
        return "never" if one.reached_s is None else f"{one.reached_s:.1f} s"

    lines = [
        f"{case.label}: {without.packets} packets without Quick-Start, {with_it.packets} with it "
        f"({gain_percent(without, with_it):+.1f} %); {REACHED_BPS / 1e3:g} kbit/s after "
        f"{reached(without)} and {reached(with_it)}; other flows: {without.others} and "
        f"{with_it.others} packets"
        for case, without, with_it in outcomes
    ]
    return "\n".join(lines)
