"""The further claims of Nor et al.: sentences that can be tested but are in no table or figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from skywave.papers.cells import CLOSE, Cell, Exact, Limit, Within
from skywave.results.fairness import jain
from skywave_papers.nor2011.further import AFTER_TIMEOUT_S, LONG_DELAY_MS, OUTAGE_S, SHORT_DELAY_MS
from skywave_papers.nor2011.measures import ZIGZAG_FROM_S
from skywave_papers.nor2011.setting import (
    DCCP_START_S,
    EXPERIMENT_1,
    PUBLISHED_SSTHRESH,
    WIDE_WINDOW,
    Conditions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from skywave.papers.cells import Rule
    from skywave_papers.nor2011.further import Further
    from skywave_papers.nor2011.measures import Series

    Runs = Mapping[Conditions, Series]

NORMAL, PROPOSED = (Conditions(ssthresh) for ssthresh in (20, 200))
LINK_BPS = 2e6
SETTLED_S = 5.0
"""The length of the period before DCCP's start in which TCP should have settled."""
STRAIGHT = Within(5)
"""The rule for growth that is "linear" or "exponential": R squared of a straight line is 1."""

WINDOW_LIMITED = (
    "TCP's window limits it to a small part of the link, whatever DCCP does, and DCCP takes most "
    "of the rest. The paper's own values of Figure 2 are as unequal."
)
BURSTS = (
    "With a window that does not limit it TCP competes, and has more than DCCP. Its window grows "
    "by a segment of 1040 B per round trip, that of DCCP by a packet of 532 B; and DCCP, which "
    "sends two packets at a time, loses a larger part of them."
)
DRAINS = (
    "The queue of 20 packets is small: 284 packets of DCCP fill the link for a round trip. After "
    "each halving the window is smaller than the pipe, and the link is idle for part of every "
    "round trip until it has grown."
)
HALVED_TWICE = (
    "With a threshold of 200 packets slow start bursts into the bottleneck's queue, and the window "
    "is halved twice. Ten seconds after its start it is smaller than with 50 or 100 packets."
)
NOT_FIRST = (
    f"{HALVED_TWICE} With a short send queue it is halved once, but then 100 packets fill the "
    "link as soon as 200 (see the section on the send queue)."
)
HALVED = (
    "A timeout sets ssthresh to half of the window, and a loss in the slow start that follows "
    "lowers it further. The initial ssthresh applies only until the first loss of a connection."
)
SAMPLED = (
    "Samples of 1 s are not multiples of the round-trip time of 0.6 s: each has the packets of one "
    "or of two round trips, so samples scatter around the line. {}"
)
FEW_SAMPLES = SAMPLED.format("Slow start has only a few of them until its first loss.")
SCATTER = SAMPLED.format("Means over three seconds are on it.")


def further_claims(ours: Runs, ns2: Runs, further: Further) -> list[Cell]:
    """Judge every further claim."""

    def claim(
        name: str,
        quote: str,
        what: str,
        unit: str,
        published: float,
        rule: Rule,
        measured: Callable[[Runs], float | None] | float,
        known_reason: str | None = None,
        **conditions: str | float,
    ) -> Cell:
        """Judge a claim by a measure of both simulators' runs, or by a value of ours only."""
        return Cell(
            id=f"claim/{name}",
            what=what,
            conditions={key.replace("_", " "): value for key, value in conditions.items()},
            unit=unit,
            published=published,
            ours=measured(ours) if callable(measured) else measured,
            ns2=measured(ns2) if callable(measured) else None,
            rule=rule,
            known_reason=known_reason,
            quote=quote,
        )

    fair = "DCCP can share the bandwidth fairly with TCP on a fully utilized link."
    best = (
        "The optimum value of 200 packets for the initial slow-start threshold size has given the "
        "best performance in this research in terms of throughput."
    )
    growth = (
        "the increase of throughput is exponential during slow-start phase [...]. After that, the "
        "congestion avoidance phase will be entered where the throughput is increasing linearly."
    )
    settled = f"{ZIGZAG_FROM_S:g}-1000 s"
    alone, again = further.alone_full_s, further.again_full_s

    def alone_gain_s(delay_ms: int) -> float:
        return alone[20, delay_ms] - alone[200, delay_ms]

    return [
        claim(
            "fair-paper-window",
            fair,
            "Jain's index of DCCP and TCP",
            "",
            1,
            CLOSE,
            lambda runs: _jain(runs[EXPERIMENT_1]),
            WINDOW_LIMITED,
            TCP_window=EXPERIMENT_1.tcp_window,
            period=settled,
        ),
        claim(
            "fair-wide-window",
            fair,
            "Jain's index of DCCP and a TCP that its window does not limit",
            "",
            1,
            CLOSE,
            lambda runs: _jain(runs[WIDE_WINDOW]),
            BURSTS,
            TCP_window=WIDE_WINDOW.tcp_window,
            period=settled,
        ),
        claim(
            "fully-utilized",
            "TCP and DCCP flows are sharing the same fully utilized bottleneck link.",
            "mean throughput of both flows, in percent of the link's rate",
            "%",
            100,
            CLOSE,
            lambda runs: 100 * sum(_means_bps(runs[EXPERIMENT_1])) / LINK_BPS,
            DRAINS,
            period=settled,
        ),
        claim(
            "tcp-limited-by-window",
            "the TCP throughput is limited by buffer size and Round-Trip Time (RTT).",
            "TCP's throughput with a wide window, over that with the paper's",
            "times",
            1,
            Limit(">"),
            lambda runs: _means_bps(runs[WIDE_WINDOW])[1] / _means_bps(runs[EXPERIMENT_1])[1],
            period=settled,
        ),
        claim(
            "still-friendly",
            "It is also shown that the implementation over long delay link still maintain the "
            "friendliness of DCCP TCP-like towards TCP.",
            "TCP's throughput with 200 packets, over that with 20",
            "times",
            1,
            CLOSE,
            lambda runs: _tcp_bps(runs[PROPOSED]) / _tcp_bps(runs[NORMAL]),
            period="10-200 s",
        ),
        claim(
            "four-times",
            "The graph in Figure 3 shows four different times taken to exceed the maximum "
            "throughput with different initial slow-start threshold size, i.e. 20, 50, 100 and "
            "200 packets.",
            "different times, to 1 s, at which the link is first full",
            "times",
            4,
            Exact(0),
            lambda runs: float(len(set(_full_s(runs).values()))),
        ),
        claim(
            "within-200-s",
            "The simulation time for experiment 2 is set to 200 seconds because this period is "
            "long enough to get the whole picture of the performance of TCP-like",
            "thresholds with which the link is full before the end",
            "thresholds",
            4,
            Exact(0),
            lambda runs: float(sum(full is not None for full in _full_s(runs).values())),
        ),
        claim(
            "200-first",
            best,
            "seconds by which the link is full sooner than with 20, 50 and 100 packets",
            "s",
            0,
            Limit(">"),
            _lead_s,
            NOT_FIRST,
        ),
        claim(
            "200-most",
            best,
            "DCCP's throughput above the highest with 20, 50 and 100 packets",
            "Mbps",
            0,
            Limit(">"),
            _lead_mbps,
            HALVED_TWICE,
            period="10-200 s",
        ),
        claim(
            "exponential",
            growth,
            "R squared of a straight line through the logarithm of throughput, from the first "
            "sample to the last before a loss",
            "",
            1,
            STRAIGHT,
            lambda runs: _slow_start_straightness(runs[PROPOSED]),
            FEW_SAMPLES,
            initial_ssthresh=PROPOSED.ssthresh,
        ),
        claim(
            "linear",
            growth,
            "R squared of a straight line through throughput, from 20 s until the link is full",
            "",
            1,
            STRAIGHT,
            lambda runs: straightness(avoidance_bps(runs[NORMAL])),
            SCATTER,
            initial_ssthresh=NORMAL.ssthresh,
        ),
        claim(
            "plr-below-1",
            "Packet Loss Ratio (PLR) is 0.0277% for initial slow-start threshold size of 200 "
            "packets, which is within the specification by ITU-T. ITU-T recommendation G.1010 "
            "(ITU-T, 2003) states that PLR must be less than 1% for video data.",
            "drops per packet that arrives at the bottleneck, whole run: the highest of the three "
            "ways to count",
            "%",
            1,
            Limit("<"),
            lambda runs: runs[PROPOSED].loss_percent(),
            initial_ssthresh=PROPOSED.ssthresh,
        ),
        claim(
            "tcp-settled",
            "We assume that 10 seconds is enough to allow the TCP data flow to utilize the "
            "bandwidth without any contention with another flow",
            "TCP's throughput before DCCP starts, over that of Figure 2",
            "times",
            1,
            CLOSE,
            lambda runs: _settled_ratio(runs[EXPERIMENT_1]),
            period=f"{DCCP_START_S - SETTLED_S:g}-{DCCP_START_S:g} s",
        ),
        claim(
            "udp-takes-all",
            "UDP has been proven that can eat up all the available bandwidth in the Internet "
            "while competing with other transport protocols such as Transmission Control Protocol "
            "(TCP)",
            "UDP's throughput in DCCP's place, in percent of the link's rate",
            "%",
            100,
            CLOSE,
            100 * further.udp_bps / LINK_BPS,
            period=settled,
        ),
        claim(
            "no-monopoly",
            "DCCP ensures that there is no bandwidth monopoly by certain transport protocol like "
            "UDP did for years.",
            "TCP's throughput beside DCCP above that beside UDP",
            "Mbps",
            0,
            Limit(">"),
            (_means_bps(ours[EXPERIMENT_1])[1] - further.tcp_beside_udp_bps) / 1e6,
            period=settled,
        ),
        claim(
            "tfrc-later",
            "it outperforms TFRC in terms of time taken to achieve the maximum throughput",
            "seconds by which the link is full later with TFRC (CCID 3) than with 20 packets; at "
            "least, if it is not full by the end of 1000 s",
            "s",
            0,
            Limit(">"),
            further.tfrc_full_s - ((ours[EXPERIMENT_1].full_s() or 1000) - DCCP_START_S),
        ),
        claim(
            "long-delay-later",
            "As for long delay link network with higher Round-Trip Time (RTT), DCCP suffers from "
            "the bandwidth utilization during the beginning of the connection where longer time is "
            "taken to exceed the maximum bandwidth",
            f"seconds by which a DCCP flow alone fills the link later with {LONG_DELAY_MS} ms than "
            f"with {SHORT_DELAY_MS} ms",
            "s",
            0,
            Limit(">"),
            alone[20, LONG_DELAY_MS] - alone[20, SHORT_DELAY_MS],
            initial_ssthresh=20,
        ),
        claim(
            "long-delay-matters",
            "The scenario is set for long delay link network, where the impact of the modified "
            "slow-start threshold value in TCP-like is significant.",
            "seconds that 200 packets save a DCCP flow alone over 20, with "
            f"{LONG_DELAY_MS} ms above those with {SHORT_DELAY_MS} ms",
            "s",
            0,
            Limit(">"),
            alone_gain_s(LONG_DELAY_MS) - alone_gain_s(SHORT_DELAY_MS),
        ),
        claim(
            "new-connection",
            "The slow-start phase can be in action during the initial connection establishment or "
            "reconnection after idle time.",
            "seconds by which a second connection, after an idle time, fills the link sooner with "
            "200 packets than with 20",
            "s",
            0,
            Limit(">"),
            again[20] - again[200],
        ),
        claim(
            "after-timeout",
            "The implementation can be made during slow-start phase, i.e. whether during the "
            "initial setup connection or during the reconnection after timeout where slow-start "
            "phase will be in action.",
            f"ssthresh at {AFTER_TIMEOUT_S:g} s, after an outage of the bottleneck",
            "packets",
            200,
            CLOSE,
            further.ssthresh_after_timeout,
            HALVED,
            initial_ssthresh=200,
            outage="{:g}-{:g} s".format(*OUTAGE_S),
        ),
    ]


def _means_bps(series: Series) -> tuple[float, float]:
    """Return the mean throughput of DCCP and TCP in the period of Figure 2."""
    dccp, tcp = (series.mean_bps(one, ZIGZAG_FROM_S, 1000) for one in (series.dccp, series.tcp))
    return dccp, tcp


def _jain(series: Series) -> float:
    return jain(_means_bps(series))


def _tcp_bps(series: Series) -> float:
    return series.mean_bps(series.tcp, DCCP_START_S, 200)


def _settled_ratio(series: Series) -> float:
    before = series.mean_bps(series.tcp, DCCP_START_S - SETTLED_S, DCCP_START_S)
    return before / _means_bps(series)[1]


def _full_s(runs: Runs) -> dict[int, float | None]:
    return {ssthresh: runs[Conditions(ssthresh)].full_s() for ssthresh in PUBLISHED_SSTHRESH}


def _lead_s(runs: Runs) -> float | None:
    """Return how much sooner the link is full with 200 packets than with any other, in s."""
    times = _full_s(runs)
    proposed_s = times.pop(PROPOSED.ssthresh)
    others = [full_s for full_s in times.values() if full_s is not None]
    return min(others) - proposed_s if others and proposed_s is not None else None


def _lead_mbps(runs: Runs) -> float:
    """Return how much more DCCP has with 200 packets than with any other threshold, in Mbps."""
    means = {
        ssthresh: (series := runs[Conditions(ssthresh)]).mean_bps(series.dccp, DCCP_START_S, 200)
        for ssthresh in PUBLISHED_SSTHRESH
    }
    proposed = means.pop(PROPOSED.ssthresh)
    return (proposed - max(means.values())) / 1e6


def _slow_start_straightness(series: Series) -> float:
    lossy = np.flatnonzero(series.dccp.drops)
    samples = series.dccp.throughput_bps[: lossy[0] if lossy.size else None]
    return straightness(np.log(samples[samples > 0]))


def avoidance_bps(series: Series) -> NDArray[np.float64]:
    """Return DCCP's throughput in congestion avoidance, before the link is full."""
    full_s = series.full_s() or float(series.time_s[-1])
    ramp = (series.time_s > 2 * DCCP_START_S) & (series.time_s < full_s)
    return series.dccp.throughput_bps[ramp]


def straightness(samples: NDArray[np.float64]) -> float:
    """Return R squared of a straight line through samples at equal distances."""
    return float(np.corrcoef(np.arange(samples.size), samples)[0, 1] ** 2)
