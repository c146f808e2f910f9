"""The paper's claims, sentence by sentence: where each is tested, and why others are not.

All were chosen before the runs. A sentence that cannot be tested yet has an answer only; give it
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
    "Arithmetic with Table 1.",
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
)
RESUMES = Sentence(
    "3.4",
    "After several RTTs, DPCP can resume its normal multi packet operation.",
    ("3.4/resumes",),
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
    ("4.3/downgrade-from", "fig4/tcp-steeper", "fig4/dccp-steeper"),
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
    ("1/fairer", "5/fairer"),
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
    BOUNDS,
    FASTER_AND_FAIRER,
    Sentence(
        "1",
        "a simple and low-overhead yet efficient scheme is designed for distributing and "
        "extracting congestion related information",
        TWO_BITS.tests,
        "The paper measures neither time nor memory.",
    ),
    UNO,
    FEWER_BOTTLENECKS,
    Sentence(
        "2.2",
        HOLDING,
        answer="This is a rule, which all runs follow. What other rules come to is in section "
        '"Readings of the paper".',
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
    NINE_LEVELS,
    SAFE_DESCENT,
    Sentence(
        "3.2",
        "there is a slim chance to change the relative ordering of seq and ack as both numbers "
        "grow",
        answer="Not tested on its own. In every run here the numbers start at random.",
    ),
    Sentence(
        "3.2",
        "the mechanism eliminates the need for keeping a mapping between packets and an LF",
        answer="Routers here keep one more state than the flag: a flow's chain keeps the level "
        "with which it began, since an update between its packets would mix two levels.",
    ),
    Sentence(
        "3.3",
        "the router needs to keep track of a flag for each flow. That is the only state that needs "
        "to be kept at the router.",
        answer="See the sentence above on what more a router keeps here: 64 KiB for 4096 flows.",
    ),
    RESPONSE,
    FALLS_BACK,
    RESUMES,
    Sentence(
        "3.4",
        "from the perspective of end nodes, the arrival pattern of packets appears to be according "
        "to an OO transmission pattern when transmission switches paths. Therefore, DPCP will not "
        "be ill-behaved in this case.",
        answer="The paper shows no run with several paths.",
    ),
    Sentence(
        "4.1",
        "both Long and Local Flows are to equally split the bandwidth of a shared link during the "
        "first 1000 seconds",
        ("fig2c-before", "fig2d-before"),
        'Which law gives this split: section "Who gets what".',
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
    ALL_EXPERIMENTS,
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
        ("fig4/tcp-faster", "fig4/dccp-faster"),
    ),
    Sentence(
        "4.3",
        LITTLE_AFFECTED,
        ("fig4/tcp-knee", "fig4/dccp-knee"),
    ),
    DOWNGRADE_SHOWS,
    Sentence(
        "4.3",
        "The performance gap between DPCP and VCP shrinks as packet loss rates grow larger.",
        ("fig4/tcp-gap",),
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
        "a smoother pattern is observed while the queue length is slightly higher than DPCP",
        ("fig5/smoother-deviation", "fig5/smoother-change", "fig5/higher"),
    ),
    FINER,
    COMPARABLE,
    Sentence(
        "5",
        "Considering the performance gains and the overhead associated with the TPCP, we believe "
        "DPCP represents a better alternative of MPCP design and implementation.",
        answer="A judgement: what it rests on is tested above.",
    ),
    Sentence(
        "5",
        "the overhead can be easily alleviated relying on TCP Checksum Offload (TCO) feature",
        answer="Not testable in a simulator: it is about network cards.",
    ),
    Sentence(
        "5",
        "for IPsec an alternative PO scheme could differentiate between MSP and LSP relying on the "
        "LSB bit of the IP ID field of the IP header",
        answer="The paper proposes it and has no run.",
    ),
    Sentence(
        "5",
        "For NAT, IDS, and DPI, MPCP must be aware of their existence and integrate necessary "
        "functionality in its router module.",
        answer="The paper does not describe that functionality. Over DCCP no header is rewritten.",
    ),
    TWO_BITS,
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
