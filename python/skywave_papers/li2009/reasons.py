"""Reasons for mismatches, with numbers from the runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.reasons import Cause, Reason
from skywave_papers.li2009 import variants
from skywave_papers.li2009.parking import proportional_mbps
from skywave_papers.li2009.rules import APART, alike_from_percent
from skywave_papers.li2009.setting import (
    DEFAULT,
    DPCP,
    DPCP_TCP,
    FLOWS,
    JOINING,
    LINKS_MBPS,
    LOSS_PERCENT,
    LOSS_SEEDS,
    PAPER_NETWORK,
    TPCP,
    VCP,
    VCP_TCP,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skywave_papers.li2009.lossy import TransferTimes
    from skywave_papers.li2009.setting import Carrier, Choices, Network, Reading, Scheme
    from skywave_papers.li2009.variants import Dumbbell, Lot

    Transfers = Mapping[Carrier, Mapping[int, TransferTimes]]
    """Times of each carrier by loss rate in percent."""


def law_percent(reading: Reading, *, joined: bool) -> tuple[float, float]:
    """Return Long's part of the rates of L0 and L2 under proportional fairness of flows."""
    mbps = proportional_mbps(reading.long, reading.local, joined=joined)
    return 100 * mbps / LINKS_MBPS[0], 100 * mbps / LINKS_MBPS[JOINING]


def _law(*, joined: bool) -> str:
    return "{:.0f} % of L0 and {:.0f} % of L2".format(*law_percent(FLOWS, joined=joined))


def share(lots: Sequence[Lot]) -> Reason:
    """Return why Long does not get its share."""
    after = [lot.l0_long_after for lot in variants.find_seeds(lots, DPCP, FLOWS)]
    return Reason(
        Cause.RULES,
        "Each sender adds the same rate per second, whatever its round-trip time, and decreases in "
        "proportion to its rate whenever a link on its path is overloaded. If overloads of links "
        "do not coincide, the result is proportional fairness (see the section on who gets what), "
        f"which gives {_law(joined=False)} before and {_law(joined=True)} after. Chance decides "
        f"when which of 30 senders grows: by seed, Long gets {min(after):.0f} to {max(after):.0f} "
        "% of L0 after.",
    )


def vcp_l2(lots: Sequence[Lot]) -> Reason:
    """Return why Long's share of L2 changes under VCP."""
    found = variants.find_seeds(lots, VCP, FLOWS)
    before, after, used = (
        float(np.mean([getattr(lot, name) for lot in found]))
        for name in ("l2_long_of_link_before", "l2_long_of_link_after", "l2_utilisation_after")
    )
    return Reason(
        Cause.TWO_READINGS,
        f"Of L2's rate, Long's 30 senders have {before:.0f} % before and {after:.0f} % after. With "
        "40 senders L2 becomes overloaded like L0, since each adds up to 10 packets in a "
        f"round-trip time whatever the load: the queue stays full (utilisation {used:.0f} %), and "
        "Long has to yield to a fourth link. With one sender for each aggregate Long's share "
        "stays, as published.",
    )


def _percent(
    dumbbells: Sequence[Dumbbell], scheme: Scheme, network: Network, choices: Choices = DEFAULT
) -> str:
    return f"{variants.find_dumbbell(dumbbells, scheme, network, choices).utilisation:.0f} %"


_NEAR = replace(PAPER_NETWORK, rtt_ms=200)
_FIVE, _TEN = (replace(PAPER_NETWORK, flows=flows) for flows in (5, 10))


def transition(dumbbells: Sequence[Dumbbell]) -> Reason:
    """Return why DPCP's transition takes longer than published."""
    near, ten = (
        variants.find_dumbbell(dumbbells, DPCP, network).transition_s for network in (_NEAR, _TEN)
    )
    return Reason(
        Cause.UNSTATED,
        "DPCP at most doubles its window per round-trip time. From 2 packets to half of the 240 "
        "that 4 Mbps and 500 ms hold, which is about what it uses later, takes six doublings, 3 s. "
        "The handshake and the second over which utilisation is averaged come on top. With 200 ms "
        "the transition takes "
        f"{near:.1f} s, with ten flows {ten:.1f} s (see the dumbbells). The testbed's rate, delay "
        "and number of flows are not published.",
    )


def utilisation(dumbbells: Sequence[Dumbbell]) -> Reason:
    """Return why DPCP uses less of the dumbbell's link than VCP."""

    def percent(scheme: Scheme, network: Network, choices: Choices = DEFAULT) -> str:
        return _percent(dumbbells, scheme, network, choices)

    return Reason(
        Cause.UNSTATED,
        "With a round-trip time of 500 ms, an interval of 200 ms sees either a clump of packets or "
        "a gap. A load just above 105 or 140 % is cut by DPCP to about 60 %, far below the "
        "high-load zone (claim 3.1/descent-lowest), and the sender holds that for a round-trip "
        "time. VCP's cut of 12.5 % costs less. Senders that wait only for t_rho use "
        f"{percent(DPCP, PAPER_NETWORK, variants.AT_ONCE)} under DPCP and "
        f"{percent(VCP, PAPER_NETWORK, variants.AT_ONCE)} under VCP. With 200 ms, DPCP uses "
        f"{percent(DPCP, _NEAR)} and VCP {percent(VCP, _NEAR)}; with a t_rho of 500 ms DPCP uses "
        f"{percent(DPCP, PAPER_NETWORK, variants.SLOW)} and VCP "
        f"{percent(VCP, PAPER_NETWORK, variants.SLOW)} (see the dumbbells). So the sign depends on "
        "settings that are not published.",
    )


def loss(transfers: Transfers) -> Reason:
    """Return why losses lengthen transfers over TCP otherwise than published."""
    alike = alike_from_percent(transfers[DPCP_TCP], transfers[VCP_TCP])
    return Reason(
        Cause.TWO_READINGS,
        "Over DCCP, which retransmits nothing, DPCP gives the published values (section "
        '"Values that can be read in two ways"). At loss rates of 10 % and more TCP depends on its '
        "timeouts, whatever controls the window: if a retransmission is lost too, it waits for a "
        "timer that doubles. MPCP does "
        f"not change that. So the time grows from the lowest loss rate on, {LOSS_PERCENT[1]} %, "
        "with VCP as with DPCP"
        + (
            "."
            if alike is None
            else f"; from {alike} % on {len(LOSS_SEEDS)} seeds do not distinguish the two "
            f"(Welch's t-test, {100 * APART:.0f} %)."
        ),
    )


QUEUE = Reason(
    Cause.UNSTATED,
    "These queues consist of clumps, whose length depends on rate, round-trip time and number of "
    "flows (see the dumbbells); none of these is published.",
)


def smooth(dumbbells: Sequence[Dumbbell]) -> Reason:
    """Return why TPCP's queue is not the smoother one."""

    def deviations(network: Network) -> str:
        tpcp, dpcp = (
            variants.find_dumbbell(dumbbells, scheme, network).queue_deviation
            for scheme in (TPCP, DPCP)
        )
        return f"{tpcp:.1f} packets under TPCP and {dpcp:.1f} under DPCP"

    return Reason(
        Cause.UNSTATED,
        "With one flow the queue is empty most of the time, and its deviation is that of single "
        f"clumps: {deviations(PAPER_NETWORK)}, whose clumps are lower. From sample to sample "
        "TPCP's queue changes less. With five flows it is the smoother one by both measures; the "
        f"deviation is {deviations(_FIVE)} (see the dumbbells).",
    )
