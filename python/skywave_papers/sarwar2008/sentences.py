"""The paper's claims, sentence by sentence: where each is tested, and why others are not.

All tests were chosen before the runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave.papers.sentences import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave.papers.cells import Cell


FAIR = Sentence(
    "I",
    "is designed to be reasonably fair when competing with TCP flows",
    ("I/fair",),
)
DIFFICULTIES = Sentence(
    "I",
    "it is likely that the DCCP algorithms (which reproduce a congestion control similar as the "
    "one of TCP) should also have performance difficulties over these networks",
    ("I/difficulties",),
)
GOODPUT = Sentence(
    "I",
    "a dynamic evaluation of this frequency can improve the goodput of the DCCP/CCID3 connection",
    ("I/goodput", "table1/rate-order"),
    "The simulation's gain is small and depends on the queue: with 20 packets it is a loss (table "
    '"Other conditions").',
)
LESS_LOSS = Sentence(
    "I",
    "We demonstrate that the modification results in a reduced data loss and higher data rates",
    ("I/less-loss", "table1/loss-order"),
    'Two other readings of the live link have the opposite: section "Readings".',
)
OVERHEAD = Sentence(
    "I",
    "while the overhead introduced remains acceptable",
    ("I/overhead",),
    "The paper names no limit. Ours: no larger a share than that of TCP's acknowledgements.",
)
EQUATION_1 = Sentence(
    "II",
    "TFRC uses equation (1)",
    ("II/equation-1",),
)
NO_CONSISTENT_GAIN = Sentence(
    "II",
    "show that these new mechanisms do not provide a consistent improvement to poor TFRC "
    "performances over a long delay network",
    ("II/quick-start",),
    "Related work that the paper does not measure. Quick-Start (RFC 4782) is run here, under "
    "conditions of ours, because the texts of references 11 and 12 were not available. Nor was "
    "that of Faster Restart, which is not run.",
)
SMOOTHER = Sentence(
    "II",
    "TFRC results in a smoother sending rate and lower data throughput variations compared to TCP",
    ("II/smoother",),
)
SLOWER = Sentence(
    "II",
    "makes TFRC respond slower to changes in available bandwidth compared to TCP in the case of "
    "long delay",
    ("II/slower-than-tcp",),
)
EQUATION_2 = Sentence(
    "III",
    "The optimum N_Fb is calculated as",
    ("III/reports",),
)
RESPONSIVE = Sentence(
    "V",
    "the larger number of (accurate) feedback messages will result in a more responsive control "
    "mechanism",
    ("V/responsive",),
)
RARE = Sentence(
    "V-A",
    "the feedback is provided once every RTT, which is very likely to be less than once per second",
    ("V-A/rare",),
)
EQUATION_3 = Sentence(
    "V-A",
    "the sender will therefore make a rate adjustment based on the receiver feedback approximately "
    "every 2 * RTT",
    ("V-A/equation-3",),
)
EQUATION_4 = Sentence(
    "V-A",
    "the minimum delay with which the sender will receive feedback from the receiver will now be",
    ("V-A/equation-4",),
)
EQUATION_5 = Sentence(
    "V-A",
    "the improvement in a time period t (assuming the starting rate X of one packet per second as "
    "per) can be approximated by",
    ("V-A/equation-5",),
)
EQUATION_6 = Sentence(
    "V-A",
    "with N_Fb feedbacks per RTT",
    ("V-A/equation-6",),
)
P_FALLS = Sentence(
    "V-B",
    "the loss event rate will therefore be reduced more quickly",
    ("V-B/p-falls",),
)
HIGHER_RATE = Sentence(
    "V-B",
    "which will in turn result in a higher value of sender rate",
    ("V-B/higher-rate",),
    "X is higher because p starts lower, not because p falls sooner: see the reason there.",
)
CLOSER_RTT = Sentence(
    "V-B",
    "results in reported RTT values which are closer to the RTT values for individual packets",
    ("V-B/closer-rtt",),
)
RTT_VARIES = Sentence(
    "V-B",
    "as RTT in these periods varies more than p",
    ("V-B/rtt-varies",),
)
SAFEGUARDS = Sentence(
    "V-C",
    "all the TFRC safeguards in regards to maximum rate increase as defined in [3] are still "
    "followed",
    ("V-C/safeguards",),
)
MORE_REPORTS = Sentence(
    "VI-C",
    "a higher increase in the number of feedback messages may further improve the adjustments to "
    "dynamic network conditions and provide highest possible gains",
    ("VI-C/more-reports",),
    'In section "Beyond the paper" this gain is small beside the standard errors.',
)
EQUIVALENT = Sentence(
    "VI-C",
    "adjusts the number of feedback messages to the level of feedback traffic equivalent to what "
    "DCCP/CCID3 would generate on a standard internet link",
    ("VI-C/equivalent",),
)
AVERAGE_RTT = Sentence(
    "IV",
    "show an average RTT of around 1200msec",
    ("IV/average-rtt",),
)

SENTENCES = (
    Sentence(
        "Abstract",
        "the changes results in improved slow start performance and a reduced data loss compared "
        "to standard DCCP, while the introduced overhead remains acceptable",
        ("fig2/exit-order", "fig5/exit-order", *LESS_LOSS.tests, *OVERHEAD.tests),
    ),
    FAIR,
    Sentence(
        "I",
        "TCP over satellite and wireless links has been extensively evaluated",
        answer="Not tested: this refers to other papers and has no values.",
    ),
    DIFFICULTIES,
    Sentence(
        "I",
        "the current feedback messages frequency is suboptimal in the context of long delay "
        "network",
        GOODPUT.tests,
        "See the next sentence.",
    ),
    GOODPUT,
    LESS_LOSS,
    OVERHEAD,
    Sentence(
        "I",
        "to compute efficiently the optimal number of feedback messages",
        answer='Section "Beyond the paper" varies RTT_ref. The paper does not define the optimum.',
    ),
    EQUATION_1,
    SMOOTHER,
    SLOWER,
    NO_CONSISTENT_GAIN,
    Sentence(
        "II",
        "the whole feedback-based algorithm is both slow and late to respond to network changes in "
        "long delay networks",
        SLOWER.tests,
    ),
    Sentence(
        "II",
        "has shown significant improvements on live satellite links",
        answer="Not tested: an earlier paper (reference 8), whose text was not available.",
    ),
    Sentence(
        "III",
        "changes can be applied at any time, rather than needing to follow the logic of a window "
        "based algorithm where the changes are applied once every RTT",
        answer="After the first loss X changes with each report. In slow start it does not: RFC "
        "3448 lets X double once per round-trip time, and section V-C says that this is followed.",
    ),
    Sentence(
        "III",
        "Care needs to be taken to prevent oscillations",
        answer="Not a claim about the proposal, and no measure of its own is named. That of RFC "
        "3448, which the sentence cites, is on in all runs (section 4.5).",
    ),
    Sentence(
        "III",
        "O = RTT/N_Fb with N_Fb being defined as the number of feedback messages per RTT in our "
        "proposal",
        EQUATION_2.tests,
        'X_recv too is measured over O. Section "Readings" has the alternative.',
    ),
    EQUATION_2,
    Sentence(
        "III",
        "as a minimum needs to receive and process one packet in O",
        answer="Equation 2's second term. It is not an integer, and may be below 1. Ours is "
        "rounded down and at least 1.",
    ),
    Sentence(
        "III",
        "This results in a lower bound for the number of feedback messages per RTT in equation (2)",
        answer="Equation 2 takes the minimum, so this term is an upper bound. It is used as "
        "printed.",
    ),
    Sentence(
        "III",
        "all the parameters are already calculated as part of the TFRC congestion control "
        "algorithm",
        answer='Section "Readings": RFC 4342\'s receiver estimates the round-trip time from '
        "window counters, and only the sender measures it.",
    ),
    Sentence(
        "IV",
        "consequently can have both congestion and errors on the link",
        answer='A property of the live link. Section "The emulated live link" models both.',
    ),
    Sentence(
        "IV",
        "The DCCP packet size used in all experiments is 1000 bytes and the reference RTT_ref used "
        "is 100msec",
        answer='Used as printed. Section "Beyond the paper" varies RTT_ref.',
    ),
    AVERAGE_RTT,
    Sentence(
        "IV",
        "a packet error rate (PER) ranging from 0.24% to 0.42%",
        answer="Not tested: an input of the emulation, which has the middle of this range.",
    ),
    Sentence(
        "IV",
        "have a specified BER of lower than 10^-9, resulting in a similar lower bound for PER for "
        "the packet size we have used",
        answer="Not tested, and not similar: independent errors in fewer than one of 10^9 bits hit "
        "fewer than 0.0008 % of packets of 1000 B. That is an upper bound, and 300 times less than "
        "0.24 %.",
    ),
    RESPONSIVE,
    RARE,
    EQUATION_3,
    EQUATION_4,
    EQUATION_5,
    EQUATION_6,
    Sentence(
        "V-B",
        "Once the receiver detects the first loss event of the connection, TFRC mechanism enters "
        "into the congestion avoidance phase",
        EQUATION_1.tests,
    ),
    Sentence(
        "V-B",
        "using a weighted moving average algorithm which includes a history of previous loss "
        "interval durations and the number of packets received in the current error free interval",
        answer="As in RFC 3448 section 5.4, which is used.",
    ),
    Sentence(
        "V-B",
        "The value of RTT is computed at the sender using the receiver feedback on the recorded "
        "one-way packet delay",
        answer="A departure: as in RFC 3448 section 4.3, the sender takes the time from sending a "
        "packet to the report about it, less the time that the receiver held it.",
    ),
    P_FALLS,
    HIGHER_RATE,
    CLOSER_RTT,
    Sentence(
        "V-B",
        "This is particularly important when RTT values increase, which is an arguable indication "
        "of getting closer to congestion",
        ("text/rtt-accuracy",),
        'Section "Where the gain comes from".',
    ),
    Sentence(
        "V-B",
        "The variation of RTT will result in accordingly adjusted values of sender rate",
        ("fig4/rtt",),
    ),
    RTT_VARIES,
    Sentence(
        "V-C",
        "patched to include the same number of errors and RTT values on exiting slow start phase",
        answer='Section "Figure 2". Errors are made; round-trip times are alike without.',
    ),
    Sentence(
        "V-C",
        "there is a 14sec improvement with the dynamic feedback algorithm the standard algorithm "
        "when exiting the slow start",
        ("fig2/exit", "fig2/exit-order"),
        "Published values.",
    ),
    Sentence(
        "V-C",
        "about 20 sec improved loss recovery after the slow start phase",
        ("fig2/recovery", "fig2/recovery-order"),
        "Published values.",
    ),
    SAFEGUARDS,
    Sentence(
        "V-C",
        "the simplistic ns-2 simulation could not demonstrate the dynamic range of the RTT and "
        "error rate changes",
        answer="Not tested: the simulation, its queue and its errors are not published.",
    ),
    Sentence(
        "VI",
        "The experiments were done a number at different times of the day (as the IPSTAR network "
        "peak congestion times coincide with business hours) and with different durations",
        answer="A departure: all our downloads last 200 s, under one model of the load by others.",
    ),
    Sentence(
        "VI",
        "A summary of the results from 50 download experiments are presented in Table I",
        ("table1",),
        "Published values. Ours are 50 with each kind of feedback, with the same errors and load.",
    ),
    Sentence(
        "VI",
        "The loss is the actual packet loss rate for each experiment (not the loss event rate used "
        "in TFRC rate control)",
        answer="So is ours: the share of the packets sent that the link lost.",
    ),
    Sentence(
        "VI",
        "the average download rates are on consistently higher by 33%",
        ("text/gain",),
        "A published value.",
    ),
    Sentence(
        "VI",
        "the majority of the results are consistent, i.e. higher rates are achieved with the "
        "dynamic feedback version",
        ("text/majority",),
        "The limit is half of the downloads.",
    ),
    Sentence(
        "VI-A",
        "the slow start phase is also exited earlier for the dynamic feedback algorithm",
        ("fig5/exit-order",),
    ),
    Sentence(
        "VI-A",
        "This occurs close to 3 seconds earlier for dynamic feedback TFRC.",
        ("fig5/exit", "fig5/exit-order"),
        "Published values.",
    ),
    Sentence(
        "VI-B",
        "shows a marked improvement for the dynamic feedback algorithm",
        ("table1/rate-order", "table1/loss-order"),
    ),
    Sentence(
        "VI-B",
        "The values of p and RTT can be directly correlated with received rates",
        ("fig3/loss-events", "fig4/rtt"),
        "The paper gives no coefficients. Its published value of -1 stands for the sign.",
    ),
    Sentence(
        "VI-B",
        "the error events recorded around 82 and 160sec from Figure 5 correspond to lowered rates",
        answer="Not tested: the errors and the load of the published downloads are not known.",
    ),
    Sentence(
        "VI-B",
        "higher RTT values around 90 sec from Figure 6 result in lower rate values in the same "
        "period in Figure 4, followed by a more noticeable rate drop from error events",
        answer="Not tested, for the same reason.",
    ),
    Sentence(
        "VI-B",
        "the relation of sender rate to p is clearly reactive, i.e. after reported error events",
        ("fig3/loss-events",),
    ),
    Sentence(
        "VI-B",
        "the influence of RTT can be seen as both predictive and reactive",
        ("fig4/rtt", *RTT_VARIES.tests),
    ),
    Sentence(
        "VI-C",
        "We believe the main benefit of the dynamic feedback mechanism in the congestion avoidance "
        "phase to be the increased accuracy of the RTT measurements",
        ("text/rtt-accuracy",),
        'The limit for "main" is half of the gain.',
    ),
    MORE_REPORTS,
    Sentence(
        "VI-C",
        "it is important not to overload the return channel with control messages",
        OVERHEAD.tests,
    ),
    EQUIVALENT,
    Sentence(
        "VII",
        "the proposal does not significantly increase the complexity of the control mechanism",
        answer="Not tested: neither a measure of complexity nor the code is published.",
    ),
    Sentence(
        "VII",
        "consider a TFRC-Vegas-like modification to rate control in order to predict and minimise "
        "error events",
        answer="Future work, which the paper neither describes nor measures.",
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
