"""Why published values are not met, with the numbers of the runs."""

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
    """By loss rate in percent."""

_HEARS = (
    "Long hears of the busiest of three loaded links (see the section on loads). When it has "
    "decreased by 12.5 to 57 % it adds alpha (R / t_rho)^2, 100 packets, in a round-trip time "
    "whatever the load, but at most doubles: a window of hundreds of packets recovers, one of a "
    "packet or two does not. "
)


def starved(reading: Reading, lots: Sequence[Lot]) -> str:
    """Return why Long does not get its share of L0, by what an aggregate is."""

    def percents(choices: Choices, seed: int = LOT_SEED) -> str:
        lot = variants.find(lots, DPCP, reading, choices, seed)
        return f"{lot.l0_long_before:.1f} and {lot.l0_long_after:.1f} %"

    if reading == AGGREGATES:
        return (
            f"{_HEARS}What its one sender has is that growth: with VCP's limits of it, 10 packets, "
            f"Long has {percents(variants.LIMITS)}. No choice that was tried gives it half before "
            "and a quarter after."
        )
    seeds = ", ".join(percents(DEFAULT, seed) for seed in variants.OTHER_SEEDS)
    return (
        f"{_HEARS}So a few of its 30 senders have most of what it has, and chance says how many: "
        f"with other seeds Long has {seeds} of L0. t_rho, which sets that growth, is not published "
        f"for DPCP: with 500 ms at senders alone Long has {percents(variants.SLOW_SENDERS)}, with "
        f"500 ms throughout {percents(variants.SLOW)}."
    )


LEFTOVER = (
    "What Long may not send over L0, L1 and L3 it cannot send over L2: see the reason for L0."
)
VCP_SPLIT = (
    "The bias is there. Its size depends on how many senders stand for an aggregate: with the 30 "
    "and 10 that the paper counts it is nearer to the published one."
)
VCP_L2 = (
    "With 40 senders L2 is overloaded as L0 is, since each adds up to 10 packets in a round-trip "
    "time whatever the load: its queue fills and packets are lost, those of Long on a fourth link "
    "now. With one sender for each aggregate its share stays, as published."
)
TRANSITION = (
    "From a first window of 2 packets DPCP at most doubles in a round-trip time, and the 240 "
    "packets of 4 Mbps and 500 ms are seven doublings. With 200 ms, and with ten flows, it takes "
    "4 s or less (see the dumbbells); rate, delay and flows of the testbed are not published."
)


def utilisation(dumbbells: Sequence[Dumbbell]) -> str:
    """Return why DPCP uses less of the dumbbell's link than VCP."""

    def percent(scheme: Scheme, network: Network, choices: Choices = DEFAULT) -> str:
        found = variants.find_dumbbell(dumbbells, scheme, network, choices)
        return f"{found.utilisation:.0f} %"

    near = replace(PAPER_NETWORK, rtt_ms=200)
    return (
        "Over 500 ms the load of an interval of 200 ms is that of a clump or of a gap. DPCP "
        "answers the one by decreases of 0.6 and 0.43 and the other by doubling, and swings; VCP, "
        "with 0.875 and 16 %, less. Over 200 ms DPCP uses "
        f"{percent(DPCP, near)} and VCP {percent(VCP, near)}, and with a t_rho of 500 ms DPCP uses "
        f"{percent(DPCP, PAPER_NETWORK, variants.SLOW)} (see the dumbbells)."
    )


def loss(transfers: Transfers, carrier: Carrier) -> str:
    """Return why losses do not make transfers longer as published, by what carries them."""
    times = transfers[carrier]
    if carrier == DPCP_TCP:
        alike = alike_from_percent(times, transfers[VCP_TCP])
        return (
            "TCP at a loss rate of 10 % and more lives from its timeouts, whatever the window "
            "obeys: a segment that is lost again when it is sent again waits for a timer that "
            "doubles. MPCP leaves that as it is. So time grows from the first percent on, in VCP "
            "as in DPCP"
            + (
                "."
                if alike is None
                else f"; from {alike} % on {len(LOSS_SEEDS)} seeds do not tell the two apart "
                f"(Welch's t test, {100 * APART:.0f} %)."
            )
        )
    longer = times[30].mean_s / times[0].mean_s
    return (
        "Over DCCP next to nothing waits for timeouts up to 35 % of loss, and the steep part "
        "begins there as published. But it is not flat before: each round-trip time with a loss "
        f"halves the window, and at 30 % a transfer takes {longer:.1f} times as long as without "
        "loss."
    )


QUEUE = (
    "Queues are those of clumps, which rate, round-trip time and the number of flows make longer "
    "or shorter (see the dumbbells); none of these is published."
)
SMOOTH = (
    "TPCP's queue is longer here, and deviates less only in proportion to its mean. With two flows "
    "it is the smoother one by both measures, with ten the rougher (see the dumbbells)."
)
