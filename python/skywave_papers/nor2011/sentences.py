"""The paper's claims in its order, and where each is tested."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sentence:
    """A claim of the paper: the values and further claims that test it.

    ``answer`` is why none does, or what else there is to know.
    """

    quote: str
    cells: tuple[str, ...] = ()
    answer: str = ""


SENTENCES = (
    Sentence(
        "we managed to reduce the time required to obtain the maximum throughput",
        ("fig3/200-sooner-than-20",),
    ),
    Sentence(
        "where the impact of the modified slow-start threshold value in TCP-like is significant",
        ("claim/long-delay-matters",),
    ),
    Sentence(
        "UDP has been proven that can eat up all the available bandwidth", ("claim/udp-takes-all",)
    ),
    Sentence("DCCP ensures that there is no bandwidth monopoly", ("claim/no-monopoly",)),
    Sentence(
        "The performance of DCCP is good while working in normal network scenario, i.e. short "
        "delay link network.",
        ("claim/long-delay-later",),
        'Relative to the long delay: no limit is named for "good".',
    ),
    Sentence(
        "As for long delay link network with higher Round-Trip Time (RTT), DCCP suffers",
        ("claim/long-delay-later",),
    ),
    Sentence(
        "too small initial slow-start threshold value for large delay link makes the traffic "
        "throughput sent using DCCP requires longer time to become stable",
        ("fig3/ssthresh=20", "fig3/200-sooner-than-20"),
    ),
    Sentence(
        "the initial slow-start threshold size has a significant effect to the performance of DCCP "
        "carrying multimedia data over large delay link",
        ("fig3/200-sooner-than-20",),
    ),
    Sentence(
        "vital to the stability of the network carrying streaming audio data over DCCP",
        answer="Not testable: the paper does not define stability, and no run sends audio.",
    ),
    Sentence(
        "the extensive use of UDP can endanger and collapse the network because UDP is greedy "
        "protocol",
        ("claim/udp-takes-all",),
        "Greed alone: one flow collapses no network.",
    ),
    Sentence(
        "DCCP can coexist with TCP and sharing the bandwidth fairly, not like UDP which is "
        "unfriendly to TCP",
        ("claim/fair-paper-window", "claim/fair-wide-window", "claim/no-monopoly"),
    ),
    Sentence(
        "In normal case, the initial slow-start threshold size is 20 packets for DCCP.",
        answer="No run can tell: RFC 4341 names no number. Every run states its threshold.",
    ),
    Sentence(
        "it outperforms TFRC in terms of time taken to achieve the maximum throughput",
        ("claim/tfrc-later",),
    ),
    Sentence(
        "resulted in better and smoother throughput",
        answer="Not testable: this is another improvement, in a paper that is cited but whose "
        "method is not described here.",
    ),
    Sentence(
        "a DCCP sender will fully utilize the 2 Mbps bandwidth with the sending rate of 2 Mbps "
        "Constant Bit Rate (CBR) traffic",
        ("claim/fully-utilized",),
        "With its headers the traffic needs 2.13 Mbps, more than the link has.",
    ),
    Sentence("this period is long enough to get the whole picture", ("claim/within-200-s",)),
    Sentence(
        "10 seconds is enough to allow the TCP data flow to utilize the bandwidth",
        ("claim/tcp-settled",),
        "TCP has the rate that its window allows, about a seventh of the link.",
    ),
    Sentence(
        "The measurement of the packet drop percentage are from the simulation time at 20s to 180s",
        answer='No count over that period gives Table 1: section "How Table 1 was read".',
    ),
    Sentence(
        "Other performance metrics such as delay and jitter are not taken into account",
        answer="There is nothing to compare: the paper has no delays and no jitter.",
    ),
    Sentence(
        "The slow-start phase can be in action during the initial connection establishment or "
        "reconnection after idle time.",
        ("claim/new-connection",),
    ),
    Sentence("sharing the same fully utilized bottleneck link", ("claim/fully-utilized",)),
    Sentence(
        "DCCP can share the bandwidth fairly with TCP on a fully utilized link",
        ("claim/fair-paper-window", "claim/fair-wide-window"),
    ),
    Sentence(
        "in the range from about 1 to 1.7 Mbps in zigzag form",
        ("fig2/dccp-low", "fig2/dccp-high"),
    ),
    Sentence(
        "due to the congestion control behavior of TCP-like which is implementing "
        "Additive-Increase Multiplicative-Decrease (AIMD)",
        ("claim/linear",),
        "The increase alone. Figure 2 shows the decreases.",
    ),
    Sentence("fluctuating around 300 kbps", ("fig2/tcp-mean",)),
    Sentence(
        "limited by buffer size and Round-Trip Time (RTT)",
        ("claim/tcp-limited-by-window",),
        "The window is the buffer of the receiver. The round-trip time is not varied.",
    ),
    Sentence("four different times taken to exceed the maximum throughput", ("claim/four-times",)),
    Sentence(
        "it exceed the maximum bandwidth at about the simulation time of 160 ms",
        ("fig3/ssthresh=20",),
    ),
    Sentence("the maximum throughput is gained at time of about 100 ms", ("fig3/ssthresh=200",)),
    Sentence(
        "with the initial slow-start threshold of high value, in this case of 200 packets, the "
        "maximum throughput can be obtained faster",
        ("fig3/200-sooner-than-20", "claim/200-first"),
    ),
    Sentence(
        "the increase of throughput is exponential during slow-start phase", ("claim/exponential",)
    ),
    Sentence(
        "congestion avoidance phase will be entered where the throughput is increasing linearly",
        ("claim/linear",),
    ),
    Sentence(
        "The values of initial slow-start threshold of higher than 200 packets do not give any "
        "better result.",
        ("fig3/400-no-better", "fig3/65535-no-better"),
    ),
    Sentence(
        "The optimum value of 200 packets for the initial slow-start threshold size has given the "
        "best performance",
        ("claim/200-first", "claim/200-most"),
    ),
    Sentence(
        "the percentage of packet loss or Packet Loss Ratio (PLR) is 0.0277%",
        tuple(f"table1/ssthresh={ssthresh}" for ssthresh in (20, 50, 100, 200)),
    ),
    Sentence("PLR must be less than 1% for video data", ("claim/plr-below-1",)),
    Sentence(
        "faster to achieve the maximum stable throughput with acceptable packet loss",
        ("fig3/200-sooner-than-20", "claim/plr-below-1"),
    ),
    Sentence(
        "reconnection after timeout where slow-start phase will be in action",
        ("claim/after-timeout",),
    ),
    Sentence(
        "still maintain the friendliness of DCCP TCP-like towards TCP",
        ("claim/still-friendly",),
        "TCP's window limits it to the same rate with either threshold, so this says little.",
    ),
)
