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
    "at the moment when the traffic load factor rho reaches 1, the link utilization is just 98%, "
    "which is a little bit lower than 100%.",
    ("2/target",),
    "In the steady state. At one moment, with an empty queue, equation A1 says so itself.",
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
    "Jain's index is judged with the values of section 4, where every cwnd is at its least. Where "
    "cwnd varies it is lower, 0.92 with N = 100. With R_p = 0.24 s the rate matches although the "
    "queue never settles.",
)
FALLS = Sentence(
    "3",
    "if the number of flows and round trip time increase, the steady flow rate decreases.",
    ("3/falls",),
    "With R_p = 0.24 s no steady state is reached: the queue grows for the whole run.",
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
    "RTPD=60 ms as r*=220.8 Kbps.",
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
    'The halving itself is a reading: section "Readings, judged by all values".',
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
    "traffic load factor rho and the short-lived sources.",
    ("4.2/larger-fluctuations", "4.2/web-causes"),
    "Web traffic that uses VCP hardly changes the standard deviation of the queue.",
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
    "From 10 s on for both transports, although Figure 7c falls to 0 at 30 s.",
)
NOT_IN_ONE_QUEUE = Sentence(
    "4.4",
    "VCP controlled traffic and TCP/RED controlled traffic can not share the same queue in the "
    "bottleneck router when both of them co-exist in the same network.",
    ("4.4/one-queue", "4.4/web"),
    "In VCP's queue. In RED's, the published senders would never end their multiplicative "
    "increase. Web traffic uses VCP here; 4.4/web tests what happens if it does not.",
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

OF_READINGS = 'Section "Does any reading of CCID 2 give the published DCCP/RED?":'

SENTENCES = (
    Sentence(
        "Abstract",
        "Another challenge in high bandwidth-delay product networks is to achieve a fair bandwidth "
        "allocation with efficiency, while minimizing packet loss and bottleneck queue. As a "
        "simple and low-complexity protocol, VCP can meet this challenge",
        answer='Section "Beyond the paper" has VCP over TCP on links of up to 5 Gbps, without a '
        "rule.",
    ),
    Sentence(
        "Abstract",
        "VCP controller can provide DCCP flows with a smooth throughput, a small queue size and a "
        "low packet drop rate.",
        ("4.1/smoother/dccp", "4.2/smallest", "4.3/almost-none/dccp"),
    ),
    Sentence(
        "1",
        "it introduces an intolerable arbitrary delay for real-time streaming media [1].",
        answer="Not tested: the paper measures no delays of data.",
    ),
    Sentence(
        "1",
        "this would cause too many packets to be dropped and lost, thus deteriorating the quality "
        "of multimedia traffic.",
        answer="Not tested: of UDP, which the paper does not run.",
    ),
    Sentence(
        "1",
        "the MD (Multiplicative Decrease) scheme adopted from TCP may cause large fluctuations in "
        "DCCP source throughput.",
        ("4.1/smoother/dccp",),
        "Relative to VCP, whose decrease is by an eighth.",
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
        "VCP (Variable-structure congestion Control Protocol) [9] is proposed to achieve a high "
        "link utilization, a low buffer occupancy, and a negligible packet loss rate",
        ("4/full-use/tcp-vcp", "4/full-use/dccp-vcp", "5/queue", "4.3/almost-none"),
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
        answer='A rule, not a result: section "Readings, judged by all values".',
    ),
    Sentence(
        "Figure 2",
        "the sending rate is doubled per received packet",
        answer="Not tested: it would double per round-trip time. With VCP cwnd grows by one for "
        "every received packet here too; behind RED for every acknowledgement: section "
        '"Readings, judged by all values".',
    ),
    Sentence(
        "Figure 2",
        "the cwnd is increased by one when there is no loss in the last cwnd packets",
        answer="A rule. CCID 2 behind RED takes zeta times as many packets here, for it grows "
        "for each acknowledgement. With VCP, equations A3 to A5 replace it.",
    ),
    Sentence(
        "2",
        "Although there is no retransmission of data packet, the cwnd is halved in case of a loss "
        "event.",
        answer='A rule, which section 4.1 has for each lost packet: section "Readings, judged by '
        'all values".',
    ),
    Sentence(
        "2",
        "Flows can exponentially ramp up their bandwidth to improve the network utilization.",
        answer="Not tested: slow start comes first here, and no measure is named.",
    ),
    FAIRNESS,
    Sentence(
        "2",
        "a constraint to prevent the output traffic rate from reaching the link capacity C.",
        ("2/target",),
    ),
    TARGET,
    Sentence(
        "2",
        "It ensures that there is no buffer overflow.",
        ("4.3/almost-none",),
    ),
    Sentence(
        "2",
        "it has to first encode the load factor into the two ECN bits before sending the packet "
        "out of router to the destination.",
        answer="The simulated router does. Skywave has no router on real sockets.",
    ),
    Sentence(
        "3",
        "The cwnd may suddenly decrease a lot when more loss events happen.",
        ("4.1/very-low",),
    ),
    Sentence(
        "3",
        "This results in more fluctuations in throughput and slow convergence under the high "
        "utilization.",
        ("4.1/smoother",),
        "Fluctuations alone: the paper measures no convergence.",
    ),
    Sentence(
        "3",
        "the packets arrive at the destination node per s/C second.",
        answer='An assumption, which holds for one flow: section "The analysis of section 3".',
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
        "During the MI and AI phases, there is almost no packet loss",
        answer="Not tested: drops are not counted by phase. 4.3/almost-none has all phases.",
    ),
    Sentence(
        "3",
        "the ACK ratio of the DCCP-CCID2 decreases to 2 and stays at this value until the first "
        "loss event happens.",
        answer='Not tested: section 4 has "the default value 2" from the start, so nothing '
        "decreases.",
    ),
    Sentence(
        "4",
        "The average queuing delay R_q is estimated to be 20ms approximately.",
        answer="An input of equation 9, which as printed hardly depends on it. The published queue "
        "of 80 packets takes 15 ms.",
    ),
    FULL_USE,
    BY_EQUATION_9,
    Sentence(
        "4.1",
        "The flow throughputs of TCP/RED (Figure 5a) and DCCP/RED (Figure 5b) are fluctuating with "
        "a very large amplitude.",
        ("4.1/smoother",),
        'Relative to VCP: no amplitude is published. Section "Averages" has the variation.',
    ),
    LESS_AMPLITUDE,
    Sentence(
        "4.1",
        "all the sources send packets aggressively in the beginning of simulation, which causes "
        "many packets to be lost in the bottleneck router buffer.",
        ("fig7-peakc", "fig7-peakd"),
        "Published values.",
    ),
    VERY_LOW,
    Sentence(
        "4.1",
        "After a short period when there is no loss event, the VCP controller starts to affect the "
        "cwnd.",
        answer='A rule: section "Readings, judged by all values".',
    ),
    Sentence(
        "4.1",
        "Its MI algorithm increases the cwnd to a relatively high value.",
        answer="Not tested: no measure is named. Figure 5 shows the start.",
    ),
    Sentence(
        "4.1",
        "Then the AI and MD algorithms of the VCP take over and operate alternatively on the "
        "control of the source cwnd.",
        answer="Not tested: no measure is named.",
    ),
    WEB_DISTURBS,
    Sentence(
        "4.1",
        "One can see that DCCP/VCP source with RTPD=60 ms reaches a steady rate at around 220 Kbps "
        "(Figure 5d), which matches well with the theoretical calculation using Equation (9).",
        ("fig5d", "equation9", "4/equation9-units"),
        "Published values, and equation 9 with correct units.",
    ),
    Sentence(
        "4.2",
        "the queue size of RED router with N=200 TCP sources is unstable. The average queue size "
        "is around 180 packets.",
        ("fig6a",),
        "A published value; no measure of instability is named.",
    ),
    LOWER_QUEUE,
    Sentence(
        "4.2",
        "This is due to the pipe limitation of cwnd and the acknowledgement ratio mechanism in "
        "DCCP-CCID2.",
        answer=f"{OF_READINGS} an initial Ack Ratio of 1 instead of 2 changes the queue by less "
        "than 1 %, growth by acknowledgements by less than 4 %.",
    ),
    SHORTER,
    SMALLEST,
    LARGER_FLUCTUATIONS,
    Sentence(
        "4.2",
        "As a whole, VCP controller can maintain a small average queue size.",
        ("5/queue",),
    ),
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
    Sentence(
        "4.3",
        "CCID2's TCP-like congestion control algorithm cooperate with the ACK ratio mechanism to "
        "limit the number of dropped packets.",
        answer=f"{OF_READINGS} with growth by acknowledgements, one for zeta packets, about half "
        "as many packets are dropped, and so it is in the verdicts, although Figure 2 has growth "
        "for every received packet. An initial Ack Ratio of 1 instead of 2 changes drops by less "
        "than 2 %.",
    ),
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
    Sentence(
        "5",
        "We have derived mathematically and verified experimentally the steady flow throughput of "
        "DCCP/VCP.",
        ("3/equation9", "4/equation9-units"),
        "As printed, and with correct units.",
    ),
    SIGNIFICANTLY,
    Sentence(
        "5",
        "These features make VCP a suitable candidate to support a healthy, resilient real-time "
        "DCCP communication over a bottleneck network.",
        answer='Not tested: no application is rated. "Beyond the paper" has other networks.',
    ),
    Sentence(
        "Appendix",
        "In MI, the flow throughput increases very fast to achieve a bottleneck link utilization "
        "at 80%.",
        answer="Not tested: slow start comes first here, and no time is published.",
    ),
    Sentence(
        "Appendix",
        "If the traffic load is over 100%, heavy congestion would set in and cause buffer overflow "
        "and excessive packet loss.",
        answer="Not tested: the load is not recorded with the drops.",
    ),
    Sentence(
        "Appendix",
        "MD forces the window size to rapidly decrease to a relatively low value.",
        answer="Not tested: by equation A5 a decrease leaves seven eighths of cwnd.",
    ),
    Sentence(
        "Appendix",
        "after doing Equation (A5), the cwnd calculation follows AI algorithm for one R.",
        answer='A rule: section "Readings, judged by all values".',
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
