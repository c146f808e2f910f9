"""The paper's claims, sentence by sentence: where each is tested, and why others are not.

All were chosen before the runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave.papers.sentences import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave.papers.cells import Cell


FAIRNESS = Sentence(
    "2",
    "the traffic load factor triggers the sender to perform the AIMD operation in order to provide "
    "the flows with long-term fairness.",
    ("2/fairness",),
    'Among flows with equal round-trip times; section "Fairness" has the others.',
)
TARGET = Sentence(
    "2",
    "at the moment when the traffic load factor reaches 1, the link utilization is just 98%, which "
    "is a little bit lower than 100%.",
    ("2/target",),
)
STABLE = Sentence(
    "3",
    "the delayed differential Equation (6) is globally asymptotically stable and has a unique "
    "steady state equilibrium",
    ("3/stable",),
    "Stability near the equilibrium is tested, for the paper's bound on h.",
)
SAME_RATE = Sentence(
    "3",
    "By symmetry, the steady source sending rate is the same for all flows and is equal to",
    ("3/same-rate", "3/equation9"),
)
FALLS = Sentence(
    "3",
    "if the number of flows and round trip time increase, the steady flow rate decreases.",
    ("3/falls",),
)
GROWS = Sentence(
    "3",
    "If the link capacity, ACK ratio, packet size, or target link utilization increase, the "
    "equilibrium rate increases.",
    ("3/grows",),
)
BY_EQUATION_9 = Sentence(
    "4",
    "Using Equation (9), we can obtain the steady source sending rate of DCCP/VCP source with "
    "RTPD=60 ms as 220.8 Kbps.",
    ("equation9", "4/equation9-units"),
    'A match of arithmetic. Section "The analysis of section 3" shows its slip of units.',
)
FULL_USE = Sentence(
    "4",
    "A typical simulation run takes 120 seconds to achieve the steady state and the full use of "
    "the bottleneck utilization.",
    ("4/full-use",),
)
LESS_AMPLITUDE = Sentence(
    "4.1",
    "The fluctuation amplitude of TCP/VCP (Figure 5c) and DCCP/VCP (Figure 5d) are much less "
    "except at the beginning of the simulation.",
    ("4.1/smoother",),
)
VERY_LOW = Sentence(
    "4.1",
    "In the TCP and DCCP sources, cwnd halves per loss packet so that the throughput decreases "
    "immediately to a very low level.",
    ("4.1/very-low",),
    'The halving itself is a reading: section "Readings".',
)
WEB_DISTURBS = Sentence(
    "4.1",
    "The disturbance from the short-lived sources has resulted in the small fluctuations in Figure "
    "5c and Figure 5d.",
    ("4.1/web-disturbs",),
)
LOWER_QUEUE = Sentence(
    "4.2",
    "the DCCP/RED queue size fluctuates around its average value of 125 packets, which is lower "
    "than that of TCP/RED queue.",
    ("4.2/dccp-red-lower", "fig6b"),
)
SHORTER = Sentence(
    "4.2",
    "The VCP controller gives the 200 TCP flows a shorter buffer queue size",
    ("4.2/vcp-shorter", "fig6c"),
)
SMALLEST = Sentence(
    "4.2",
    "The queue length is oscillating and the average value is the smallest (around 80 packets).",
    ("4.2/smallest", "fig6d"),
)
LARGER_FLUCTUATIONS = Sentence(
    "4.2",
    "The larger fluctuations in Figure 6c and Figure 6d are caused by the interaction of the "
    "traffic load factor and the short-lived sources.",
    ("4.2/larger-fluctuations", "4.2/web-causes"),
)
KEEPS_DROPPING = Sentence(
    "4.3",
    "the RED router with 200 TCP sources keeps dropping packets to maintain the traffic "
    "uncongested.",
    ("4.3/keeps-dropping",),
)
HIGHEST_FIRST = Sentence(
    "4.3",
    "The highest packet drop rate happens at the beginning ( t=0 s)",
    ("4.3/highest-first",),
)
DCCP_DROPS_LESS = Sentence(
    "4.3",
    "The average packet drop rate is around 3% which is a little bit lower than that of TCP/RED.",
    ("4.3/dccp-red-lower", "fig7b"),
)
SIMILAR_PEAK = Sentence(
    "4.3",
    "the packet drop rate of VCP router with 200 TCP or DCCP sources is only at a similarly high "
    "level (around 55%) with that of DCCP/RED in the beginning of simulation.",
    ("4.3/similar-peak", "fig7-peakc", "fig7-peakd"),
)
ALMOST_NONE = Sentence(
    "4.3",
    "under the VCP controller, there is almost no packet dropped by the bottleneck router.",
    ("4.3/almost-none",),
)
NOT_IN_ONE_QUEUE = Sentence(
    "4.4",
    "VCP controlled traffic and TCP/RED controlled traffic can not share the same queue in the "
    "bottleneck router when both of them co-exist in the same network.",
    ("4.4/one-queue", "4.4/web"),
    "In VCP's queue. In RED's, the published senders would never end their multiplicative "
    "increase. In the paper's own network, web traffic over TCP shares VCP's queue.",
)
TWO_SUB_QUEUES = Sentence(
    "4.4",
    "one can set up two sub-queues as proposed in [6, 13]: one for the VCP controlled traffic and "
    "the other for the TCP/RED controlled traffic.",
    ("4.4/two-queues",),
)
SIGNIFICANTLY = Sentence(
    "5",
    "When compared with RED, VCP reduces the average queue size significantly, thus making the "
    "bottleneck router to exhibit almost no packet drop and a high link utilization.",
    ("5/queue", "4/full-use/tcp-vcp", "4/full-use/dccp-vcp", "4.3/almost-none"),
)

SENTENCES = (
    Sentence(
        "Abstract",
        "VCP controller can provide DCCP flows with a smooth throughput, a small queue size and a "
        "low packet drop rate.",
        ("4.1/smoother/dccp", "4.2/smallest", "4.3/almost-none/dccp"),
    ),
    Sentence(
        "1",
        "its early congestion notification relies on the unnecessary loss of packets",
        answer="Not tested: whether a loss is necessary has no measure. RED's upper threshold is "
        "beyond the buffer, so a full queue drops most packets.",
    ),
    Sentence(
        "1",
        "It also wastes network resources, increases timeouts, introduces too much fluctuation on "
        "source sending rate",
        ("4.1/smoother",),
        "Fluctuation alone: the paper has no timeouts, and no measure of waste.",
    ),
    Sentence(
        "1",
        "it can achieve comparable good performance to XCP with simple operation.",
        answer="Not tested: a result of another paper. Skywave has no XCP.",
    ),
    Sentence(
        "2",
        "The acknowledgement ratio ensures that there is no ACK congestion.",
        answer="Not tested: only data crosses the bottleneck, in this network as in the paper's.",
    ),
    Sentence(
        "2",
        "zeta cannot be smaller than 2 and cannot exceed cwnd in our operations",
        answer='A rule, not a result: section "Readings".',
    ),
    Sentence(
        "Figure 2",
        "the sending rate is doubled per received packet",
        answer="Not tested: it would double per round-trip time. cwnd grows by one for every "
        "received packet here too.",
    ),
    FAIRNESS,
    TARGET,
    Sentence(
        "2",
        "The router encodes the load factor into the two ECN bits",
        answer="Simulated. A router that marks packets on real sockets is a later piece of work.",
    ),
    Sentence(
        "3",
        "The cwnd may suddenly decrease a lot when more loss events happen.",
        ("4.1/very-low",),
    ),
    STABLE,
    SAME_RATE,
    Sentence(
        "3",
        "Equation (9) shows that the equilibrium sending rate depends only on the ACK ratio, the "
        "packet size, the link capacity, the target link utilization, round trip time and the "
        "number of DCCP flows.",
        ("3/equation9", "3/falls", "3/grows"),
        "It also depends on alpha and h, which are constants.",
    ),
    FALLS,
    GROWS,
    Sentence(
        "3",
        "the ACK ratio of the DCCP-CCID2 decreases to 2 and stays at this value until the first "
        "loss event happens.",
        answer='Not tested: section 4 has "the default value 2" from the start, so nothing '
        "decreases.",
    ),
    FULL_USE,
    BY_EQUATION_9,
    LESS_AMPLITUDE,
    VERY_LOW,
    Sentence(
        "4.1",
        "Its MI algorithm increases the cwnd to a relatively high value.",
        answer="Not tested: no measure is named. Figure 5 shows the start.",
    ),
    WEB_DISTURBS,
    Sentence(
        "4.1",
        "One can see that DCCP/VCP source with RTPD=60 ms reaches a steady rate at around 220 Kbps",
        ("fig5d",),
        "A published value.",
    ),
    Sentence(
        "4.2",
        "the queue size of RED router with N=200 TCP sources is unstable. The average queue size "
        "is around 180 packets.",
        ("fig6a",),
        "A published value; no measure of instability is named.",
    ),
    LOWER_QUEUE,
    SHORTER,
    SMALLEST,
    LARGER_FLUCTUATIONS,
    KEEPS_DROPPING,
    Sentence(
        "4.3",
        "About 7% of the packets are dropped during the simulated time period.",
        ("fig7a",),
        "A published value.",
    ),
    HIGHEST_FIRST,
    Sentence(
        "4.3",
        "the router has already dropped nearly 70% of the TCP packets that cannot be processed.",
        ("fig7-peaka",),
        "A published value.",
    ),
    Sentence(
        "4.3",
        "the RED router always discards 50% of the DCCP packets sent into the router in the "
        "beginning of simulation.",
        ("fig7-peakb",),
        "A published value.",
    ),
    DCCP_DROPS_LESS,
    SIMILAR_PEAK,
    Sentence(
        "4.3",
        "At the moment of the 30th second (Figure 7c) and 10th second (Figure 7d), the packet drop "
        "rate falls and stays at 0.",
        ("fig7-quietc", "fig7-quietd"),
        "Published values.",
    ),
    ALMOST_NONE,
    Sentence(
        "4.3",
        "the flow throughput under the control strategy of DCCP/VCP is much smoother than that of "
        "RED.",
        ("4.1/smoother/dccp",),
    ),
    Sentence(
        "4.3",
        "The buffer overflow problem in RED is well solved by DCCP/VCP.",
        ("4.3/almost-none/dccp",),
    ),
    NOT_IN_ONE_QUEUE,
    TWO_SUB_QUEUES,
    SIGNIFICANTLY,
    Sentence(
        "5",
        "These features make VCP a suitable candidate to support a healthy, resilient real-time "
        "DCCP communication over a bottleneck network.",
        answer='Not tested: no application is rated. "Beyond the paper" has other networks.',
    ),
)
"""Every testable or debatable sentence, in the order of the paper."""


def held(cells: Sequence[Cell]) -> dict[str, str]:
    """Return by quote how many of a sentence's cells match, of how many, as text.

    The text is empty if no cell tests the sentence.
    """
    counts = {}
    for sentence in SENTENCES:
        tests = [cell for cell in cells if _is_of(sentence, cell)]
        matches = sum(cell.verdict == "match" for cell in tests)
        counts[sentence.quote] = f"{matches} of {len(tests)}" if tests else ""
    return counts


def _is_of(sentence: Sentence, cell: Cell) -> bool:
    return any(cell.id == begin or cell.id.startswith(f"{begin}/") for begin in sentence.tests)
