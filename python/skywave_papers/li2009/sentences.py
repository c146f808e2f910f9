"""The paper's claims, sentence by sentence: where each is tested, and why others are not.

Rules were written before the runs. A sentence that cannot be tested yet has an answer only; give it
tests here once the simulator can run it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave.papers.sentences import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave.papers.cells import Cell


HOLDING = (
    "After holding a decreased value of cwnd for a Round Trip Time (RTT), VCP applies the AI policy"
)
LITTLE_AFFECTED = (
    "the performance of DPCP is not significantly affected for packet loss rates less than 30%"
)

THIRTY_FLOWS = "represents the combined traffic of 30 FTP flows"
COMPLETION_TIME = "average FTP completion time as a function of packet loss rate"

QUANTIZATION = Sentence(
    "abstract",
    "allowing for a 2n-bit quantization of congestion measures with each packet carrying two of "
    "2n bits in its ECN bits",
    ("abstract/levels",),
)
BOUNDS = Sentence(
    "1",
    "VCP has to control the growth of transmission rates by setting artificial bounds to prevent "
    "potential bursts yielding slow convergence speed and high transition times.",
    ("1/bounds",),
    "Tested on DPCP, which can have VCP's bounds or none.",
)
FASTER_AND_FAIRER = Sentence(
    "1",
    "Compared to VCP, MPCP can converge faster and exhibit a significantly better fairness "
    "characteristic in high BDP networks.",
    ("1/faster", "1/fairer"),
)
UNO = Sentence(
    "1",
    "UNO senders need to collect at least 8 specific packets translating to an average of 8 ln 8 = "
    "24 consecutively transmitted packets in order to derive the maximum congestion level",
    ("1/uno",),
    "Arithmetic: UNO itself is not run.",
)
FEWER_BOTTLENECKS = Sentence(
    "2.2",
    "VCP tends to allocate more bandwidth to flows that traverse fewer bottleneck links",
    ("2.2/fewer-bottlenecks", "fig2a"),
)
INSUFFICIENT = Sentence(
    "2.2",
    "such a decrease is insufficient when the real value of the LF exceeds 115%",
    ("2.2/115-percent",),
    "Arithmetic.",
)
STAYS_OVERLOADED = Sentence(
    "2.2",
    "After that, the LF remains in the over-load region and a subsequent AI makes the network even "
    "more congested.",
    ("2.2/stays-overloaded",),
)
LARGE_DELAYS = Sentence(
    "2.2",
    "VCP exhibits a fairness bias in multi-bottleneck environments, especially in networks with "
    "large delays typical of wireless and satellite networks.",
    ("2.2/large-delays", "fig2a"),
)
NINE_LEVELS = Sentence(
    "3.1",
    "we exclude the combinations containing 00 in both MSP and LSP. Thus, DPCP is left with 9 "
    "combinations that can be used for encoding LF.",
    ("3.1/levels",),
)
SAFE_DESCENT = Sentence(
    "3.1",
    "In overload zone, DPCP cuts the cwnd with three factors to guarantee a safe descent to the "
    "high-load zone.",
    ("3.1/descent-highest", "3.1/descent-lowest"),
    "Arithmetic with Table 1, which ends at a load of 200 %. Here its last level covers greater "
    "loads too.",
)
RESPONSE = Sentence(
    "3.3",
    "Upon the arrival of the first ACK packet, the sender immediately starts regulating cwnd "
    "without waiting for the LSP. This will cut the response time from two RTTs to one RTT.",
    ("3.3/one-round-trip", "3.3/two-round-trips"),
)
FALLS_BACK = Sentence(
    "3.4",
    "after receiving three consecutive MSPs/LSPs, DPCP downgrades to the original VCP",
    ("3.4/chains-without-loss", "3.4/falls-back"),
    "Only in part the original: a sender that has fallen back still leaves cwnd alone on a loss, "
    "where VCP here halves it.",
)
RESUMES = Sentence(
    "3.4",
    "After several RTTs, DPCP can resume its normal multi packet operation.",
    ("3.4/resumes",),
)
SWITCHES_PATHS = Sentence(
    "3.4",
    "from the perspective of end nodes, the arrival pattern of packets appears to be according "
    "to an OO transmission pattern when transmission switches paths. Therefore, DPCP will not "
    "be ill-behaved in this case.",
    ("3.4/paths-delivered", "3.4/paths-chains"),
    "The paper shows no run with several paths. Ours switches between two every 10 s.",
)
ALL_EXPERIMENTS = Sentence(
    "4.1",
    "we also evaluate the performance of DPCP in various scenarios similar to those presented in "
    "[18]. In all experiments, DPCP achieves slightly better bandwidth utilizations in steady "
    "status and significant better convergence speeds than VCP.",
    ("4.1/utilisation", "4.1/convergence"),
    'The scenarios are not published. Section "Other networks" has ours.',
)
DEGRADES = Sentence(
    "4.3",
    "the performance of both protocols degrades as the number of PLR increases",
    ("4.3/degrades",),
)
DOWNGRADE_SHOWS = Sentence(
    "4.3",
    "Since DPCP will downgrade to VCP when the link is identified as a lossy link, DPCP shows a "
    "significant performance degradation when packet loss rates exceed 35%.",
    ("4.3/downgrade-from", "fig4/steeper"),
)
LONGEST_AND_LOWEST = Sentence(
    "5",
    "While VCP yields the longest transition time due to conservatively growing the transmitting "
    "rate, VCP achieves the lowest persistent bottleneck queue length.",
    ("5/longest-transition", "5/lowest-queue"),
)
BOTH_FAIRER = Sentence(
    "5",
    "both DPCP and MPCP converge faster and achieve a better fairness than VCP",
    ("1/faster", "1/fairer", "5/longest-transition", "5/fairer"),
    '"MPCP" is TPCP here.',
)
THREE_TIMES_THE_FEEDBACK = Sentence(
    "5",
    "the amount of feedback to sender has been increased nearly by a factor of three",
    ("5/feedback",),
)
FINER = Sentence(
    "5", "the sender can obtain an even finer-grained feedback", ("5/finer", "fig5/higher")
)
COMPARABLE = Sentence(
    "5",
    "DPCP and TPCP achieve comparable bandwidth utilization and convergence speed in all our "
    "experiments",
    ("5/comparable-utilisation", "5/comparable-convergence"),
)
TWO_BITS = Sentence(
    "6",
    "without demanding the use of more than two ECN bits in the header of individual packets",
    ("6/no-larger",),
)

SENTENCES = (
    QUANTIZATION,
    Sentence(
        "1",
        "can achieve high utilization, low persistent queue length, insignificant packet loss "
        "rate, and sound fairness depending on the heterogeneity characteristics of a network",
        answer='This is about XCP, which is not run, and VCP. Section "Other networks" has VCP\'s '
        "utilisation, queue and losses: many senders on a slow link fill its queue and lose "
        "packets.",
    ),
    BOUNDS,
    Sentence(
        "1",
        "VCP can only use fixed parameters for fairness control producing poor fairness "
        "characteristics in high delay networks",
        ("2.2/large-delays", "fig2a"),
        "The bias is tested, not that fixed parameters are its cause.",
    ),
    FASTER_AND_FAIRER,
    Sentence(
        "1",
        "UNO will not work in certain encrypted networks where only 6 ToS and 2 ECN packet header "
        "bits can pass through encryption boundaries. In contrast, MPCP only requires the use of "
        "two ECN bits in each packet.",
        answer="UNO is not run. Routers of MPCP also have to read the sequence and acknowledgement "
        "numbers of each packet (section 3.2), which encryption hides; section 5 names IPsec. "
        "Over DCCP they have to read sequence numbers.",
    ),
    UNO,
    Sentence(
        "1",
        "MPCP senders perform regulations on a per-ACK basis",
        answer="A rule, which all runs follow for increases. On overload there is at most one "
        "decrease in two round-trip times.",
    ),
    Sentence(
        "1",
        "consecutive loss of packets associated with the maximum load factor could yield an "
        "oscillatory behavior in the case of UNO",
        answer="UNO is not run.",
    ),
    Sentence(
        "1",
        "a simple and low-overhead yet efficient scheme is designed for distributing and "
        "extracting congestion related information",
        TWO_BITS.tests,
        "The paper measures neither time nor memory.",
    ),
    Sentence(
        "2.1",
        "When a data packet arrives, each router examines the congestion level of its upstream "
        "link carried in the ECN bits of a packet and updates ECN bits only if its downstream link "
        "is more congested.",
        answer="Here a router does so when the packet leaves its queue, as VCP's code for ns-2 "
        "does.",
    ),
    Sentence(
        "2.1",
        "The MI operation is utilized to achieve a better efficiency than that of TCP tied to slow "
        "start phenomenon",
        answer="No run of plain TCP is measured. In slow start a window doubles in a round-trip "
        "time; VCP's multiplicative increase of 1/16 in t_rho takes 2.3 s or more.",
    ),
    Sentence(
        "2.2",
        "As the result of implementing MIAIMD through the use of a quantized representation of LF "
        "instead of its exact value",
        answer="The number of levels is not the only cause of the bias. DPCP has more of them, and "
        "is biased too if its increases have VCP's limits: section "
        '"What is not published".',
    ),
    FEWER_BOTTLENECKS,
    Sentence(
        "2.2",
        HOLDING,
        answer="A rule, which all runs of the verdicts follow. What other rules come to is in "
        'section "Readings of the paper".',
    ),
    INSUFFICIENT,
    STAYS_OVERLOADED,
    LARGE_DELAYS,
    Sentence(
        "2.2",
        "VCP's bandwidth consumption speed can be very low in moderate bandwidth high delay "
        "networks.",
        ("fig3/vcp-transition",),
    ),
    Sentence(
        "2.2",
        "it has been shown that increasing the number of bits used for encoding LF can improve "
        "fairness and convergence speed of VCP in such environments",
        ("1/faster", "1/fairer", "5/longest-transition", "5/fairer"),
        "DPCP and TPCP encode four and six bits.",
    ),
    NINE_LEVELS,
    Sentence(
        "3.1",
        "The boundaries for MIAIMD operations remain the same as those in VCP.",
        answer="A rule, which all runs follow: 80 and 100 %.",
    ),
    Sentence(
        "3.1",
        "in low-load and high-load zones, DPCP grows the cwnd using both multiplicative and "
        "additive factors as the original MIAIMD model of [2] does",
        answer="A rule, which all runs follow. The factors are not published: ours are among the "
        "parameters. So is that a window at most doubles in a round-trip time, a limit that is "
        "not in the paper.",
    ),
    Sentence(
        "3.1",
        "when growing cwnd, DPCP conservatively computes increments using the upper bound of an LF",
        answer="A rule, which all runs follow.",
    ),
    SAFE_DESCENT,
    Sentence(
        "3.2",
        "there is a slim chance to change the relative ordering of seq and ack as both numbers "
        "grow",
        answer="Not slim for long flows. If both numbers start at random, as in every run here, "
        "the sequence number of a flow of 1 GB has a chance of about 40 % to pass the other one or "
        "wrap. That does no harm here: routers see numbers after they were put in order, and an "
        "end knows one of the two.",
    ),
    Sentence(
        "3.2",
        "There is a binary flag MSP maintained at end nodes which flips over upon the receipt of "
        "each packet.",
        answer="In the text at hand Algorithm 1 sets the flag to itself; here it is negated. A "
        "sender flips its flag with each packet that it sends. A receiver keeps none: its "
        "acknowledgement has the place of the packet that it is for.",
    ),
    Sentence(
        "3.2",
        "DPCP is able to distribute the LF between two packets without needing to buffer those "
        "packets",
        answer="True here: routers keep levels, not packets.",
    ),
    Sentence(
        "3.2",
        "a router simply compares the seq and ack, and directly encodes the MSP/LSP of the current "
        "LF into the ECN bits",
        answer="Here an LSP has a digit of the level with which its chain began, not of the "
        "current one. See the next sentence.",
    ),
    Sentence(
        "3.2",
        "the mechanism eliminates the need for keeping a mapping between packets and an LF",
        answer="Routers here keep one more state than the flag: a flow's chain keeps the level "
        "with which it began, since an update between its packets would mix two levels.",
    ),
    Sentence(
        "3.2",
        "facing a tie situation is extremely unlikely and that the processing only happens at end "
        "nodes",
        answer="Ties are encoded and resolved as the paper says. How often they occur and what "
        "they cost is not measured.",
    ),
    Sentence(
        "3.3",
        "the router needs to keep track of a flag for each flow. That is the only state that needs "
        "to be kept at the router.",
        answer="See the sentence above on what more a router keeps here: 64 KiB for 4096 flows.",
    ),
    Sentence(
        "3.3",
        "else if flag = MSP_EQ then",
        answer="In the text at hand no line of Algorithm 2 sets MSP_EQ: equal MSPs set MSP_HIGH. "
        "So LSPs are never compared, and the larger one may be lost. Here equal MSPs set MSP_EQ.",
    ),
    RESPONSE,
    Sentence(
        "3.3",
        "Once the sender gets a complete LF, DPCP does a finer adjustment based on the new value.",
        answer="The paper does not say how. Here a sender that hears of overload from an MSP "
        "multiplies cwnd by 0.43 at once. If the LSP then shows less overload, it restores cwnd to "
        "what the factor of the complete level leaves.",
    ),
    Sentence(
        "3.3",
        "the sender starts adjusting cwnd conservatively under the assumption that the LF is the "
        "highest one in the congestion zone defined by the MSP",
        answer="A rule, which all runs follow but those that wait for whole chains: section "
        '"What is not published".',
    ),
    Sentence(
        "3.4",
        "DPCP uses the higher value in MSPs to construct the LF if receiving consecutive MSPs. "
        "Otherwise, it ignores arriving LSPs, and uses a pairing of saved MSP and 11 to construct "
        "the LF.",
        answer="A rule, which all runs over TCP follow.",
    ),
    Sentence(
        "3.4",
        "receiving consecutive MSPs/LSPs is an indication of congestion",
        answer="Not only of that: in the runs of Figure 4, losses at random lead to it.",
    ),
    FALLS_BACK,
    Sentence(
        "3.4",
        "no change to the PO is made and then all nodes treat packets as MSP",
        answer="Routers go by the order of the two numbers. So here the sender goes on to swap "
        "them where needed, and marks all its packets as MSPs.",
    ),
    RESUMES,
    Sentence(
        "3.4",
        "only the sender is involved with the switching of operation between DPCP and the original "
        "VCP, while routers and the receiving end are not even aware of it",
        answer="True here.",
    ),
    Sentence(
        "3.4",
        "If OO transmission continues happening, it implies a lossy link. Then, DPCP will not try "
        "to switch back to its multi packet operation mode from the VCP operation mode.",
        answer="The paper does not say how long it has to continue. Here a sender that falls back "
        "again within four round-trip times of its return does so for good.",
    ),
    Sentence(
        "3.4",
        "a more complicated scheme can be implemented by keeping track of received seq numbers",
        answer="The paper omits it. Over DCCP a sequence number is the place in a chain, and "
        "nothing falls back.",
    ),
    SWITCHES_PATHS,
    Sentence(
        "4.1",
        "both Long and Local Flows are to equally split the bandwidth of a shared link during the "
        "first 1000 seconds",
        ("fig2c-before",),
        'Which law gives this split: section "Who gets what".',
    ),
    Sentence(
        "4.1",
        "the utilization of Long Flows at L_0 is expected to decrease to 25% while the utilization "
        "of Local Flows is expected to increase to 75%",
        ("fig2c-after",),
        "With one sender for each aggregate the value would be met, but it hardly differs from "
        "that before.",
    ),
    Sentence(
        "4.1",
        "VCP exhibits a biased fairness characteristic splitting the bandwidth of L_0 with a ratio "
        "of 15 to 1",
        ("fig2a",),
        'The ratio is of the whole run. Section "Who gets what" has it before and after.',
    ),
    Sentence(
        "4.1",
        "DPCP demonstrates a significantly better fairness characteristic as shown in Fig 2(c)",
        ("1/fairer",),
    ),
    Sentence(
        "4.1",
        "nearly 100% bandwidth utilization of L_2 for Long Flows during the first 1000 seconds and "
        "a split of 50% in the last 2000 seconds",
        ("fig2d-before", "fig2d-after"),
    ),
    Sentence(
        "4.1",
        "DPCP shows good fairness and responsiveness",
        ("fig2c-after", "fig2d-after"),
        "Shares are means over half an hour. How long Long takes to yield is in Figure 2 (d).",
    ),
    Sentence(
        "4.1",
        "for VCP, the bandwidth split ratio does not change even when Local Flows are turned on",
        ("fig2b",),
    ),
    Sentence(
        "4.1",
        "VCP fails to achieve fairness in high BDP multiple bottleneck topologies serving flows "
        "with heterogeneous RTTs",
        ("2.2/fewer-bottlenecks",),
    ),
    ALL_EXPERIMENTS,
    Sentence(
        "4.2",
        "we present our experimental study conducted over a wireless emulation Linux testbed",
        answer="Not repeated: all values of Figures 3 to 5 are simulated here.",
    ),
    Sentence(
        "4.2",
        "DPCP converges rapidly and introduces a transition time of less than 4s compared to 20s "
        "observed in the case of VCP. In addition, DPCP achieves a higher bandwidth utilization "
        "compared to VCP.",
        ("fig3",),
    ),
    Sentence(
        "4.2",
        "the performance of DPCP in multi-bottleneck scenarios follows the same patterns as those "
        "shown in our simulation studies",
        answer="This is about the testbed; the simulated parking lot is Figure 2.",
    ),
    Sentence(
        "4.3",
        "our proposed PO scheme can well handle OO delivery",
        answer="The paper measures losses only, since a loss changes the order too.",
    ),
    DEGRADES,
    Sentence(
        "4.3",
        "DPCP consistently outperforms VCP since it achieves faster convergence and higher "
        "bandwidth utilization than VCP",
        ("fig4/faster",),
    ),
    Sentence(
        "4.3",
        LITTLE_AFFECTED,
        ("fig4/knee",),
    ),
    DOWNGRADE_SHOWS,
    Sentence(
        "4.3",
        "The performance gap between DPCP and VCP shrinks as packet loss rates grow larger.",
        ("fig4/gap",),
    ),
    Sentence(
        "5",
        "MPCP is able to retrieve the ordering number from the difference between the calculated "
        "TCP checksum and the one in the packet",
        answer="TPCP does so here. A receiver that accepts two more checksums takes 2 in 65,536 "
        "corrupted segments for whole ones.",
    ),
    Sentence(
        "5",
        "This approach allows for using an arbitrary number of packets to encapsulate congestion "
        "information.",
        answer="Chains of up to 8 packets can be set. Figure 5 has results for three.",
    ),
    LONGEST_AND_LOWEST,
    Sentence(
        "5",
        "both DPCP and TPCP consume three times as much buffer space of the bottleneck link as VCP "
        "does",
        ("fig5/dpcp-queue", "fig5/tpcp-queue"),
    ),
    BOTH_FAIRER,
    THREE_TIMES_THE_FEEDBACK,
    Sentence(
        "5",
        "the reaction to congestion remains at a relatively coarse level",
        answer='A single flow of DPCP oscillates here too: section "Figures 3 and 5".',
    ),
    Sentence(
        "5",
        "a smoother pattern is observed while the queue length is slightly higher than DPCP",
        ("fig5/smoother-deviation", "fig5/smoother-change", "fig5/higher"),
    ),
    FINER,
    COMPARABLE,
    Sentence(
        "5 (footnote)",
        "the overhead can be easily alleviated relying on TCP Checksum Offload (TCO) feature",
        answer="Not testable in a simulator: it is about network cards.",
    ),
    Sentence(
        "5",
        "Considering the performance gains and the overhead associated with the TPCP, we believe "
        "DPCP represents a better alternative of MPCP design and implementation.",
        answer="A judgement: what it rests on is tested above.",
    ),
    Sentence(
        "5",
        "for IPsec an alternative PO scheme could differentiate between MSP and LSP relying on the "
        "LSB bit of the IP ID field of the IP header",
        answer="The paper has no run of it. Here a flow may have that order. A run with it equals "
        "one with the order of the two numbers, packet for packet.",
    ),
    Sentence(
        "5",
        "For NAT, IDS, and DPI, MPCP must be aware of their existence and integrate necessary "
        "functionality in its router module.",
        answer="The paper does not describe it. Here a link may have a NAT. One that tracks "
        "connections discards every segment whose numbers are swapped, so a transfer stops; one "
        "that computes checksums anew hides the places of TPCP. Order by identification passes "
        "both. Over DCCP no header is rewritten.",
    ),
    TWO_BITS,
    Sentence(
        "6",
        "achieving a significant fairness and efficiency improvements, specially in high BDP "
        "networks",
        ("1/fairer", "5/fairer", "fig3", "4.1/utilisation", "4.1/convergence"),
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
