"""The paper's claims, sentence by sentence: where each is tested, and why others are not.

All tests were chosen before the runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave.papers.sentences import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skywave.papers.cells import Cell


VEGAS_YIELDS = Sentence(
    "1",
    "The quicker a TCP responses to network congestion, the smaller the bandwidth it may acquire.",
    ("1/vegas-yields",),
)
NEAR_WINS = Sentence(
    "2.4",
    "Even applications that use the same version of TCP may compete to each other unfairly since "
    "the promptness of congestion control depends on the end-to-end delay time between sender and "
    "receiver too",
    ("2.4/near-and-far",),
)
LATENCY = Sentence(
    "3.1",
    "Simulation results show that varying the latency of bottleneck link doesn't affect the result "
    "significantly.",
    ("3.1/latency",),
    "The latencies are not published; ours are 10 to 200 ms.",
)
UDP_KEEPS = Sentence(
    "3.2",
    "UDP can maintain its throughput under the competition of TCP regardless whichever version.",
    ("3.2/udp-keeps", "3.2/udp-keeps-tcp-first"),
)
EACH_INJECTION = Sentence(
    "3.2",
    "UDP was not affected, while TCP 1 was affected by each new injection.",
    ("3.2/tcp1-beside-udp",),
)
BOTH_AFFECTED = Sentence(
    "3.2",
    "As more and more TCP was injected into the network, both TCP 1 and DCCP UDP were affected.",
    ("3.2/tcp1-beside-dccp", "3.3/higher-loss/newreno"),
)
MUCH_LESS = Sentence(
    "3.2",
    "DCCP acquired much less bandwidth than TCP NewReno did. We can find similar phenomena in SACK "
    "and Tahoe.",
    ("3.2/much-less", "3.2/much-less-tcp-first"),
    'Section "Shares of bandwidth" has all TCPs, in packets too.',
)
ONE_TCP = Sentence(
    "3.2",
    "Even if there was only one TCP stream, the DCCP's throughput was reduced to approximately 30% "
    "of its original value.",
    ("3.2/one-tcp",),
)
COURTESY = Sentence(
    "3.2",
    "Vegas showed much more courtesy in competing network bandwidth if it was injected to the "
    "network after DCCP.",
    ("3.2/vegas-courtesy", "3.2/vegas-first"),
)
TWO_VEGAS = Sentence(
    "3.2",
    "the throughput of DCCP based VoIP stream was not affected severely if the number of Vegas "
    "streams were no more than two.",
    ("3.2/two-vegas", "3.2/three-vegas"),
)
UDP_QUALITY = Sentence(
    "3.3",
    "UDP based VoIP was not affected by TCP streams.",
    ("3.3/udp-delay", "3.3/udp-loss"),
)
LONGER = Sentence(
    "3.3",
    "For each TCP stream injected into the network, delay time became longer and longer and packet "
    "loss rate became higher and higher.",
    ("3.3/longer-delay", "3.3/higher-loss"),
)
SEVENTY = Sentence(
    "3.3",
    "The loss rate could be as high as 70% even there was only one TCP NewReno coexisting",
    ("3.3/one-newreno",),
)
COMPLEMENT = Sentence(
    "3.3",
    "which is not a surprise since the throughput ratio was reduced by 70%.",
    answer="True of any run: both count the packets that arrive.",
)
LITTLE_BETTER = Sentence(
    "3.3",
    "When facing the competition of TCP Vegas, the situation was little better.",
    ("3.3/vegas-sooner",),
)
FRIENDLIER = Sentence(
    "4",
    "They concluded that DCCP is more TCP-friendly as compared with UDP.",
    ("4/friendlier",),
)
BELOW_CRITERIA = Sentence(
    "4",
    "Our study shows that the quality of VoIP that uses DCCP is way below demanded criteria.",
    ("4/loss", "4/delay"),
)
MANY_VEGAS = Sentence(
    "5",
    "a DCCP based VoIP cannot maintain its quality even under the competition of multiple streams "
    "of TCP Vegas.",
    ("5/many-vegas",),
)
RATES = Sentence(
    "Table 1",
    "Link Bandwidth 1.5~10 Mbps",
    ("table1",),
    "The paper shows no results at these rates. The test is whether the call is ruined beside five "
    'flows there too. Sections "Why the bottleneck has 0.25 Mbps" and "Other latencies and rates '
    'of the bottleneck".',
)
ADAPTING = Sentence(
    "5",
    "The cooperation of applications may be essential in adjusting packet size.",
    ("5/adapting",),
    'Section "The fate of the frames": beside most TCPs the share rises by little, since most '
    "frames come late.",
)

SENTENCES = (
    Sentence(
        "Abstract",
        "DCCP has a disadvantage in competing network bandwidth with existing TCPs.",
        MUCH_LESS.tests,
    ),
    Sentence(
        "Abstract",
        "DCCP based VoIP may perform poorly in facing the competition of TCP traffics.",
        BELOW_CRITERIA.tests,
    ),
    VEGAS_YIELDS,
    Sentence(
        "1",
        "it doesn't adjust its data rate to accommodate to changing network conditions",
        answer='True of any source without feedback. Section "Shares of bandwidth" has its share.',
    ),
    Sentence(
        "2.2",
        "It starts with a window of two times the maximum segment size",
        answer="Used as printed.",
    ),
    Sentence(
        "2.2",
        "as long as a regular ACK is received, the congestion window is additively increased by "
        "one MSS",
        answer="A departure: in congestion avoidance ours grows by one MSS per round-trip time, as "
        "in RFC 2001. One MSS for each ACK is what the paper calls slow start.",
    ),
    Sentence(
        "2.2",
        "Tahoe treats triple duplicate ACKs the same as a timeout while Reno will only halve the "
        "congestion window",
        answer='Appendix "The TCPs": shown segment by segment.',
    ),
    Sentence(
        "2.2",
        "In Fast Recovery state, the sender waits for an acknowledgment of the entire transmit "
        "window before returning to Congestion Avoidance.",
        answer="A departure for Reno, which leaves Fast Recovery with the first ACK of new data, "
        "as in RFC 2001 and ns-2. Ours does so too. NewReno waits as the sentence says.",
    ),
    Sentence(
        "2.2",
        "it was not widely deployed due to its disadvantage in competing bandwidth with other TCPs",
        VEGAS_YIELDS.tests,
        "The disadvantage is tested. Who deployed what, and why, is not a result of the network.",
    ),
    Sentence(
        "2.2",
        "The congestion control mechanism built in TCP becomes a trouble maker interfering the "
        "operations of network applications.",
        answer="Not tested: it is about WiFi, and the paper has no experiment with losses other "
        "than by full queues.",
    ),
    Sentence(
        "2.3",
        "if no feedback is received for several round-trip times, the sender halves its sending "
        "rate",
        answer="Used as printed: the nofeedback timer of RFC 3448 section 4.4.",
    ),
    Sentence(
        "2.3",
        "TFRC responses to network condition much slower, which is preferable by VoIP.",
        answer='No measure of the response is named. "Beyond the paper" rates calls over CCID 2, '
        "which has a window, and over CCID 3.",
    ),
    Sentence(
        "2.3",
        "if VoIP module insists to keep a constant inter-packet interval, it must adjust its "
        "packet size",
        ADAPTING.tests,
    ),
    Sentence(
        "2.4",
        "some TCPs acquire bandwidth more aggressively than others creating a severe fairness "
        "problem",
        VEGAS_YIELDS.tests,
    ),
    NEAR_WINS,
    Sentence(
        "2.4",
        "However, killing UDP doesn't solve fairness problem at all.",
        answer='Section "Shares of bandwidth".',
    ),
    Sentence(
        "2.4",
        "real time applications that use DCCP may not perform well under an unfair, if not "
        "hostile, network arena",
        BELOW_CRITERIA.tests,
    ),
    Sentence(
        "2.5",
        "The entire encoding latency is then at least 20 or 30 ms.",
        answer="Not part of our delays, nor of Table 4's: propagation and transmission alone make "
        "its 73 ms.",
    ),
    Sentence(
        "2.5",
        "The mouth-to-ear delay time must be controlled under a limit, usually, between 300 to 400 "
        "ms.",
        answer="A limit that the paper takes as given: only listeners could test it. The rules for "
        "calls use it.",
    ),
    Sentence(
        "2.5",
        "The allowed loss rate is usually lower than 5%.",
        answer="As above.",
    ),
    Sentence(
        "2.5",
        "almost no buffer is allowed in the sender",
        answer="A departure: DCCP's send queue is fitted to the first period, as section "
        '"How long DCCP\'s send queue is" says. Our delays do not count the time in it, because '
        "Table 4's are within what the network's queue allows.",
    ),
    Sentence(
        "2.5",
        "any congestion control that adjust inter-packet interval will not be acceptable by VoIP",
        answer='"Beyond the paper" rates calls over CCIDs 2, 3 and 4, by queue.',
    ),
    LATENCY,
    RATES,
    Sentence(
        "Table 1",
        "VoIP Inter-Packet Interval 30 ms",
        answer="A departure: the digits of Tables 3 and 4 exclude it. Section "
        '"How many packets the call has".',
    ),
    Sentence(
        "Table 2",
        "s Packet Size 1460 Bytes",
        answer="A departure: s is the size of the voice packets. Section "
        '"Why the bottleneck has 0.25 Mbps" says why.',
    ),
    Sentence(
        "Table 2",
        "R Round Trip Time 3 sec",
        answer="Not tested: an initial value, which the first feedback replaces. How the module "
        "got it is not published.",
    ),
    Sentence(
        "Equation 1",
        "throughput equation, which is the formula used by receiver to estimate effective "
        "throughput",
        answer="Not tested: the equation is printed without its square roots, with an undefined "
        "alpha. TFRC's sender, not its receiver, uses it (RFC 3448).",
    ),
    UDP_KEEPS,
    EACH_INJECTION,
    Sentence(
        "3.2",
        "This demonstrates that TCP can adjust its data rate to accommodate to network congestion "
        "and UDP does not.",
        EACH_INJECTION.tests,
        "UDP sends the same number of packets whatever happens to them.",
    ),
    BOTH_AFFECTED,
    Sentence(
        "3.2",
        "This demonstrates that DCCP can adjust its data rate to accommodate to network congestion "
        "too.",
        answer='Section "The fate of the frames": DCCP holds back about three quarters of the '
        "frames, and links lose few of the others.",
    ),
    MUCH_LESS,
    ONE_TCP,
    COURTESY,
    TWO_VEGAS,
    Sentence(
        "3.2",
        "DCCP can live up with Vegas nicely",
        TWO_VEGAS.tests,
        "No measure of its own is named.",
    ),
    Sentence(
        "3.2",
        "In summary, DCCP has disadvantage in facing the competition of TCP NewReno, SACK, and "
        "Tahoe.",
        MUCH_LESS.tests,
    ),
    Sentence(
        "3.2",
        "throughput ratio is the ratio of the throughput at a certain time period to that of the "
        "0-10s when no TCP existed",
        answer="Used as printed, in packets received, which have one size.",
    ),
    Sentence(
        "3.2",
        "The average throughput ratios of DCCP VoIP in the period 10-20s, 21-30s, 31-40s, 40-50s, "
        "and 50-60s are shown in Table 3",
        ("table3",),
        "Published values.",
    ),
    UDP_QUALITY,
    Sentence(
        "3.3",
        "the quality of the DCCP based VoIP stream was damaged every time a new TCP stream was "
        "injected into the network",
        LONGER.tests,
    ),
    Sentence(
        "3.3",
        "Average delay time and loss rate, which includes arrived but overdue packets, are also "
        "shown in Table 4.",
        ("table4",),
        'Published values. Overdue packets: section "Readings".',
    ),
    Sentence(
        "3.3",
        "The delay time and packet loss rate of UDP based VoIP could be kept under 300ms and 20% "
        "respectively even if 5 TCP NewReno coexisted.",
        ("text/udp-delay", "text/udp-loss"),
        "Published values.",
    ),
    Sentence(
        "3.3",
        "On the other hand, DCCP based VoIP performed much worse.",
        answer='Figures 5 and 6 have both. By section "The fate of the frames" most frames are '
        "played over UDP beside every TCP, and hardly any over DCCP.",
    ),
    LONGER,
    SEVENTY,
    COMPLEMENT,
    LITTLE_BETTER,
    Sentence(
        "3.3",
        "DCCP based VoIP could barely maintain its quality when there was only one TCP Vegas "
        "coexisting.",
        ("text/vegas-delay", "text/vegas-loss"),
        "The delay is kept, but both the published loss and ours are above the 5 % that section "
        "2.5 allows.",
    ),
    Sentence(
        "3.3",
        "The delay time could be kept under 200 ms and loss rate could be kept under 27%.",
        ("text/vegas-delay", "text/vegas-loss"),
        "Published values.",
    ),
    FRIENDLIER,
    Sentence(
        "4",
        "they found that CCID-3 performs poorly in competing network bandwidth, which is the same "
        "as what we found in this study",
        MUCH_LESS.tests,
        "The other paper is not tested here.",
    ),
    BELOW_CRITERIA,
    Sentence(
        "5",
        "Our study shows that DCCP has a disadvantage in competing network bandwidth with existing "
        "popular TCPs.",
        MUCH_LESS.tests,
    ),
    MANY_VEGAS,
    Sentence(
        "5",
        "it represents a very typical intercontinental VoIP environment",
        answer="Not tested: the paper has no measurements of such links.",
    ),
    ADAPTING,
    Sentence(
        "5",
        "It must take timing factor into account, in addition to the average throughput.",
        answer='Section "The fate of the frames": over DCCP nearly all frames that arrive are '
        "late.",
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
