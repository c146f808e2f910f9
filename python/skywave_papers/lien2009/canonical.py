"""The canonical figure of each TCP: the segments that it sends after one to four losses.

After K. Fall, S. Floyd, "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP", 1996. Path,
losses and TCP's parameters are those of ns-2's traces in ``validation/ns2/canonical``. The
simulator's tests compare every flavour except CUBIC with these traces, segment by segment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from skywave.report.figures import COLOURS, begin
from skywave.scenario import DropTail, Link, PacketLoss, Probes, Scenario, Tcp
from skywave_papers.lien2009.setting import TCPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from skywave.results import Results

LOST = ((14,), (14, 28), (14, 26, 28), (14, 24, 26, 28))
"""The data packets that are lost, counted from 1 in the order of arrival at the bottleneck.
Retransmitted segments count again."""
DURATION_S = 3
SEGMENT_B = 1000
FLOW = "tcp"


def scenario(tcp: str, lost: tuple[int, ...]) -> Scenario:
    """Return the scenario of one run."""
    # The SYN is the first packet.
    loss = PacketLoss(packets=tuple(number + 1 for number in lost))
    queue = DropTail(packets=49)
    description = Scenario(
        name=f"canonical-{tcp.lower()}-{len(lost)}",
        duration=f"{DURATION_S} s",
        nodes=["s1", "r1", "k1"],
        links=[
            Link(from_="s1", to="r1", rate="8 Mbps", delay="0.1 ms"),
            Link(from_="r1", to="k1", rate="0.8 Mbps", delay="100 ms", queue=queue, loss=loss),
        ],
        probes=Probes(packets=True),
    )
    transport = Tcp(
        profile="ns2",
        segment=f"{SEGMENT_B} B",
        receive_window=28,
        initial_ssthresh=28,
        limited_transmit=False,
        **TCPS[tcp],
    )
    description.add_flow(FLOW, "s1", "k1", transport)
    return description


def plan() -> dict[tuple[str, int], Scenario]:
    """Return the scenarios of all runs, by TCP and number of losses."""
    return {(tcp, len(lost)): scenario(tcp, lost) for tcp in TCPS for lost in LOST}


def draw(results: Mapping[tuple[str, int], Results]) -> Figure:
    """Draw segments over time, with the runs of each TCP side by side in one panel.

    New segments are grey, retransmissions coloured, losses crosses.
    """
    figure = begin((6.5, 6.5))
    panels = figure.subplots(len(TCPS) // 2, 2, sharex=True, sharey=True)
    starts_s = range(0, DURATION_S * len(LOST), DURATION_S)
    for axes, tcp in zip(panels.flat, TCPS, strict=True):
        for start_s, lost in zip(starts_s, LOST, strict=True):
            run = results[tcp, len(lost)]
            time_s, number, is_new = sent(run)
            for chosen, colour, size in ((is_new, "0.45", 1.2), (~is_new, COLOURS[1], 4.0)):
                at_s = start_s + time_s[chosen]
                axes.scatter(at_s, number[chosen], s=size, color=colour, linewidths=0, zorder=2)
            at_s, number = start_s + run.drops["time_s"].to_numpy(), dropped(run)
            axes.plot(at_s, number, "x", color="black", markersize=3.5, zorder=3)
        axes.set_title(tcp, loc="left")
        axes.set(xlim=(0, DURATION_S * len(LOST)), ylim=(0, 80))
        axes.set_xticks(starts_s, [f"{len(lost)} lost" for lost in LOST], ha="left")
    for axes in panels[:, 0]:
        axes.set_ylabel("Segment")
    for axes in panels[-1]:
        axes.set_xlabel(f"Time, {DURATION_S} s for each run")
    return figure


def sent(results: Results) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return time and number of each data segment sent, and whether it was new."""
    rows = results.packets.filter(
        (pc.field("event") == "send")
        & (pc.field("place") == f"{FLOW} sender")
        & (pc.field("kind") == "TCP data")
    )
    number = _segments(results, rows["seq"].to_numpy())
    highest = np.maximum.accumulate(np.concatenate(([0], number[:-1])))
    return rows["time_s"].to_numpy(), number, number > highest


def dropped(results: Results) -> NDArray[np.int64]:
    """Return the number of each dropped segment."""
    return _segments(results, results.drops["seq"].to_numpy())


def _segments(results: Results, seqs: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the numbers of the segments at ``seqs``, counted from 1; the SYN is 0."""
    # The very first packet is the SYN.
    syn = results.packets["seq"][0].as_py()
    numbers: NDArray[np.int64] = (seqs.astype(np.int64) - syn - 1) % 2**32 // SEGMENT_B + 1
    return numbers
