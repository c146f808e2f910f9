"""The send queue of DCCP, fitted to the call's first 10 s, when no TCP flow is there.

The paper does not give it. Its tables give the call's packets in the first period away
(``published``), and say that none is lost. The longest queue that loses none comes nearest to
these counts. No value of a later period is looked at here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc
from attrs import evolve

from skywave import run
from skywave.report.tables import Table
from skywave_papers.lien2009.setting import (
    GAP_S,
    NS2_SEND_QUEUE,
    SEEDS,
    VOICE,
    Conditions,
    scenario,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Start:
    """The call's first 10 s with one send queue, in packets."""

    send_queue: int
    sent: int
    """Some of them after 10 s: those that were in the send queue."""
    received: int
    """Within 10 s."""
    lost: int
    delay_ms: float


QUEUES = (1, *range(10, 80, 10), *range(80, 101), 200, NS2_SEND_QUEUE)


def start(send_queue: int) -> Start:
    """Run the call alone. Nothing of it is random."""
    description = scenario(replace(Conditions("NewReno"), send_queue=send_queue), min(SEEDS))
    description.flows = [evolve(description.flows[0], stop=f"{GAP_S} s")]
    # Frames are judged when they are due, some time after they were made.
    description = description.replace(duration=f"{GAP_S + 2} s")
    results = run(description)
    seconds = results.flows.filter((pc.field("flow") == VOICE) & (pc.field("time_s") <= GAP_S))
    frames = results.voice.filter(pc.field("flow") == VOICE)
    received = seconds["delivered_packets"].to_numpy()
    delays_s = seconds["delay_mean_s"].to_numpy(zero_copy_only=False)
    some = received > 0
    return Start(
        send_queue,
        sent=int(frames["sent"].to_numpy().sum()),
        received=int(received.sum()),
        lost=int(frames["lost"].to_numpy().sum()),
        delay_ms=1e3 * float((delays_s[some] * received[some]).sum() / received.sum()),
    )


TABLE = Table(Path(__file__).parent / "send_queue.csv", Start, QUEUES, start)


def fitted(starts: Iterable[Start]) -> int:
    """Return the longest send queue without a loss."""
    return max(one.send_queue for one in starts if not one.lost)
