"""Reasons for mismatches, with numbers from the runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from skywave.papers.li2009 import variants
from skywave.papers.li2009.rules import APART, alike_from_percent
from skywave.papers.li2009.setting import (
    AGGREGATES,
    DEFAULT,
    DPCP,
    DPCP_TCP,
    LOSS_SEEDS,
    LOT_SEED,
    PAPER_NETWORK,
    VCP,
    VCP_TCP,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave.papers.li2009.lossy import TransferTimes
    from skywave.papers.li2009.setting import Carrier, Choices, Network, Reading, Scheme
    from skywave.papers.li2009.variants import Dumbbell, Lot

    Transfers = Mapping[Carrier, Mapping[int, TransferTimes]]
    """Times of each carrier by loss rate in percent."""

_HEARS = (
    "Long reacts to the busiest of three loaded links (see the section on loads). After a decrease "
    "by 12.5 to 57 % it adds alpha (R / t_rho)^2 = 100 packets in a round-trip time, whatever the "
    "load, but at most doubles: a window of hundreds of packets recovers, one of a packet or two "
    "does not. "
)


def starved(reading: Reading, lots: Sequence[Lot]) -> str:
    """Return why Long does not get its share of L0, for a reading of what an aggregate is."""

    def percents(choices: Choices, seed: int = LOT_SEED) -> str:
        lot = variants.find(lots, DPCP, reading, choices, seed)
        return f"{lot.l0_long_before:.1f} and {lot.l0_long_after:.1f} %"

    if reading == AGGREGATES:
        return (
            f"{_HEARS}The share of its one sender is due to that growth: with VCP's limit, 10 "
            f"packets, Long gets {percents(variants.LIMITS)}. With no choice that was tried does "
            "it get half before and a quarter after."
        )
    seeds = ", ".join(percents(DEFAULT, seed) for seed in variants.OTHER_SEEDS)
    return (
        f"{_HEARS}So a few of its 30 senders get most of its share, and chance decides how many: "
        f"with other seeds Long gets {seeds} of L0. t_rho, which determines that growth, is not "
        f"published for DPCP: with 500 ms at senders only Long gets "
        f"{percents(variants.SLOW_SENDERS)}, with 500 ms throughout {percents(variants.SLOW)}."
    )


LEFTOVER = (
    "Long cannot send over L2 what it may not send over L0, L1 and L3: see the reason for L0."
)
VCP_SPLIT = (
    "The bias is there. Its size depends on the number of senders per aggregate, and with the 30 "
    "and 10 that the paper counts also on the seed: seeds 1 to 8 give 11.1 to 13.8."
)
VCP_L2 = (
    "With 40 senders, L2 becomes overloaded like L0, since each sender adds up to 10 packets in a "
    "round-trip time whatever the load: the queue fills and packets are lost, now on a fourth link "
    "for Long. With one sender for each aggregate Long's share stays, as published."
)
TRANSITION = (
    "From an initial window of 2 packets DPCP at most doubles per round-trip time, and the 240 "
    "packets of 4 Mbps and 500 ms take seven doublings. With 200 ms, and with ten flows, the "
    "transition takes 4 s or less (see the dumbbells). The testbed's rate, delay and number of "
    "flows are not published."
)


def utilisation(dumbbells: Sequence[Dumbbell]) -> str:
    """Return why DPCP uses less of the dumbbell's link than VCP."""

    def percent(scheme: Scheme, network: Network, choices: Choices = DEFAULT) -> str:
        found = variants.find_dumbbell(dumbbells, scheme, network, choices)
        return f"{found.utilisation:.0f} %"

    near = replace(PAPER_NETWORK, rtt_ms=200)
    return (
        "With a round-trip time of 500 ms, an interval of 200 ms sees either a clump of packets or "
        "a gap. DPCP reacts to clumps with decreases by factors of 0.6 and 0.43 and to gaps by "
        "doubling, so it oscillates. VCP, with a factor of 0.875 and growth of 16 %, oscillates "
        f"less. With 200 ms DPCP uses {percent(DPCP, near)} and VCP {percent(VCP, near)}; with a "
        f"t_rho of 500 ms DPCP uses {percent(DPCP, PAPER_NETWORK, variants.SLOW)} (see the "
        "dumbbells)."
    )


def loss(transfers: Transfers, carrier: Carrier) -> str:
    """Return why losses do not lengthen transfers as published, for a carrier."""
    times = transfers[carrier]
    if carrier == DPCP_TCP:
        alike = alike_from_percent(times, transfers[VCP_TCP])
        return (
            "At loss rates of 10 % and more TCP depends on its timeouts, whatever controls the "
            "window: if a retransmission is lost too, it waits for a timer that doubles. MPCP does "
            "not change that. So the time grows from the first percent of loss on, with VCP as "
            "with DPCP"
            + (
                "."
                if alike is None
                else f"; from {alike} % on {len(LOSS_SEEDS)} seeds do not distinguish the two "
                f"(Welch's t-test, {100 * APART:.0f} %)."
            )
        )
    longer = times[30].mean_s / times[0].mean_s
    return (
        "Over DCCP hardly anything waits for timeouts up to 35 % loss, and the steep part begins "
        "there as published. But the part before is not flat: each round-trip time with a loss "
        f"halves the window, and at 30 % a transfer takes {longer:.1f} times as long as without "
        "loss."
    )


QUEUE = (
    "These queues consist of clumps, whose length depends on rate, round-trip time and number of "
    "flows (see the dumbbells); none of these is published."
)
SMOOTH = (
    "TPCP's queue is longer here, and deviates less only relative to its mean. With two flows it "
    "is the smoother one by both measures, with ten the rougher one (see the dumbbells)."
)
