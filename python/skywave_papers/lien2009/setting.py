"""The experiments of Lien and Ding as scenarios: one parameter set for the whole paper.

Y.-N. Lien, Y.-C. Ding, "Can DCCP Replace UDP in Changing Network Conditions?", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from skywave.scenario import (
    Adapt,
    Dccp,
    DropTail,
    Link,
    Probes,
    Scenario,
    Tcp,
    Tfrc,
    Udp,
    Voice,
)

FLAVOURS: dict[str, dict[str, Any]] = {
    "Tahoe": {"recovery": "tahoe"},
    "Reno": {"recovery": "reno"},
    "NewReno": {"recovery": "newreno"},
    "SACK": {"recovery": "sack"},
    "Vegas": {"control": "vegas"},
}
"""The paper's TCPs, and their parameters in a scenario."""
TCPS = {**FLAVOURS, "CUBIC": {"control": "cubic", "recovery": "sack"}}
"""The paper's TCPs, and CUBIC under ns-2's settings."""
TODAY: dict[str, dict[str, Any]] = {
    "Linux CUBIC": {"control": "cubic"},
    "BBR": {"control": "bbr"},
}
"""Today's TCPs: CUBIC as Linux has it, and BBRv3 with Linux's other mechanisms."""

SEEDS = range(401, 441)
"""Seeds of each setting's runs, and of ns-2's. Earlier seeds had other uses, such as the search for
readings. None is chosen or left out by its outcome. A single run shows one phase of its flows, not
their shares (Floyd and Jacobson 1992), and blocks of ten differ in the number of matching values.
"""
STREAMS = 5
"""Number of TCP flows."""
GAP_S = 10
"""Seconds between the starts of TCP flows in scenario 1, and length of a period."""
DURATION_S = {1: 60, 2: 100, 3: 200}
"""By scenario: the paper's two, and a long call beside one TCP flow to compare with ns-2."""
VOICE_S = {1: (0, 60), 2: (20, 80), 3: (0, 200)}
"""Start and end of the call, by scenario, in seconds."""
SENT = 867
"""The packets that the call sends from 0 to 10 s: the one denominator of Table 4's losses. The
interval of Table 1, 30 ms, would make 333, which the tables' digits exclude (``digits``)."""
INTERVAL_S = round(GAP_S / SENT, 9)
"""Time between packets of the call: 11.5 ms."""
TABLE_1_INTERVAL_S = 0.03
SEND_QUEUE = 87
"""The longest send queue of DCCP, in packets, whose backlog from TFRC's start does not overflow the
bottleneck in the first 10 s, where Table 4 has no loss (``further.STARTS``)."""
NS2_SEND_QUEUE = 1000
"""The default of ns-2's module, in packets."""
DEADLINE_S = 0.3
"""Time within which voice must arrive. The paper has 300 to 400 ms from mouth to ear."""
BOTTLENECK = "r1->r2"
VOICE = "voice"
"""The name of the call's flow."""
PAPER_RATE = "0.25 Mbps"
PAPER_LATENCY = "50 ms"

Transport = Literal["dccp", "udp"]
"""The call's."""
TRANSPORTS: tuple[Transport, ...] = ("dccp", "udp")


@dataclass(frozen=True)
class Conditions:
    """What varies between settings: the paper's variables, and those of our own sections."""

    tcp: str
    transport: Transport = "dccp"
    scenario: int = 1
    rate: str = PAPER_RATE
    latency: str = PAPER_LATENCY
    segment_size: str | None = None
    tells_rtt: bool = False
    jitter: bool = False
    adapt: bool = False
    rules: Literal["ns2", "rfc3448"] = "ns2"
    interval_s: float = INTERVAL_S
    send_queue: int = SEND_QUEUE

    @property
    def name(self) -> str:
        """The name for files, which lists what differs from the paper's scenario 1 with DCCP."""
        different = [
            name if value is True else f"{name}-{value}"
            for name, value in [*vars(self).items()][3:]
            if value != getattr(Conditions, name)
        ]
        scenario = f"scenario{self.scenario}-{self.transport}-{self.tcp.lower()}"
        return "-".join([scenario, *different]).replace(" ", "")


TABLES = tuple(Conditions(tcp) for tcp in FLAVOURS)
"""The conditions of Tables 3 and 4."""
UDP = tuple(Conditions(tcp, "udp") for tcp in FLAVOURS)
JUDGED = (*TABLES, Conditions("NewReno", "udp"))
"""The settings with published values."""
TCP_FIRST = tuple(
    Conditions(tcp, one, scenario=2) for tcp in ("NewReno", "Vegas") for one in TRANSPORTS
)
"""Scenario 2 with the TCPs of Figures 2 to 4."""
LONG_CALL = Conditions("NewReno", scenario=3)
JITTERED = tuple(Conditions(tcp, jitter=True) for tcp in FLAVOURS)
TABLE_1 = tuple(
    Conditions(tcp, jitter=True, interval_s=TABLE_1_INTERVAL_S, send_queue=NS2_SEND_QUEUE)
    for tcp in FLAVOURS
)
"""Table 1's interval, with jitter against the phase effects that rule at this rate."""
IN_NS2 = (*TABLES, *UDP, *TCP_FIRST, LONG_CALL, *JITTERED, *TABLE_1)
"""The settings that ns-2 runs too."""
BESIDE_NEWRENO = {
    "as for the verdicts": Conditions("NewReno"),
    "30 ms (Table 1), ns-2's send queue, jitter": replace(TABLE_1[0], tcp="NewReno"),
    "s = 1460 B (Table 2)": Conditions("NewReno", segment_size="1460 B"),
    "the sender reports the round-trip time (RFC 6323)": Conditions("NewReno", tells_rtt=True),
    "a bottleneck of 1.5 Mbps": Conditions("NewReno", rate="1.5 Mbps"),
    "a bottleneck of 10 Mbps": Conditions("NewReno", rate="10 Mbps"),
    "jitter of TCP senders": Conditions("NewReno", jitter=True),
}
"""The readings that the report shows in one table."""
BESIDE_TODAY = tuple(
    Conditions(tcp, one, scenario=number)
    for number in (1, 2)
    for tcp in TODAY
    for one in TRANSPORTS
)
"""Both scenarios with today's TCPs, whose windows only the path limits."""
RFC_3448 = Conditions("NewReno", rules="rfc3448")
"""TFRC that averages only existing loss intervals, unlike ns-2's (appendix)."""
ADAPTIVE = tuple(Conditions(tcp, adapt=True) for tcp in FLAVOURS)
ALL_CONDITIONS = tuple(
    dict.fromkeys((*IN_NS2, *BESIDE_NEWRENO.values(), RFC_3448, *ADAPTIVE, *BESIDE_TODAY))
)

UDP_FRAME_B = 52
"""With 28 B of IP and UDP this is 80 B on the wire, as in ns-2, whose UDP has no header."""
DCCP_FRAME_B = 80
ADAPTIVE_FRAMES = int(0.18 / INTERVAL_S)
"""Maximum frames per datagram in our own section: 180 ms of speech."""
JITTER = "50 ms"
"""Maximum delay before TCP senders send what their windows allow (ns-2's ``overhead_``). It is
about the transmission time of a segment at the bottleneck (48 ms), which breaks phase effects."""
QUEUE = DropTail(packets=19)
"""ns-2's limit of 20 packets includes the one in transmission."""
ACCESS: dict[str, Any] = {"rate": "10 Mbps", "delay": "10 ms", "queue": QUEUE}
"""The links of the sending and the receiving host, which all flows share. Voice that queues behind
a burst of TCP at the sender meets a fuller queue at the bottleneck."""
ON_WIRE_B: dict[Transport, int] = {"dccp": DCCP_FRAME_B + 32, "udp": UDP_FRAME_B + 28}
"""The sizes of the call's packets, with 20 B of IP and 12 B of DCCP or 8 B of UDP."""
SEGMENT = "1460 B"
SEGMENT_ON_WIRE_B = 1500
TODAY_SEGMENT = "1448 B"
"""Timestamps take the rest of the same size."""


def scenario(conditions: Conditions, seed: int) -> Scenario:
    """Return the scenario of one run, with ns-2's defaults where the paper is silent."""
    begin_s, end_s = VOICE_S[conditions.scenario]
    description = Scenario(
        name=f"lien2009-{conditions.name}-{seed}",
        duration=f"{DURATION_S[conditions.scenario]} s",
        seed=seed,
        nodes=["n0", "r1", "r2", "n3"],
        links=[
            Link(from_="r1", to="r2", rate=conditions.rate, delay=conditions.latency, queue=QUEUE),
            Link(from_="n0", to="r1", **ACCESS),
            Link(from_="r2", to="n3", **ACCESS),
        ],
        probes=Probes(interval="1 s", links=(BOTTLENECK,)),
    )
    is_udp = conditions.transport == "udp"
    frame_b = UDP_FRAME_B if is_udp else DCCP_FRAME_B
    call = voice(frame_b, conditions.interval_s, ADAPTIVE_FRAMES if conditions.adapt else 0)
    description.add_flow(
        VOICE,
        "n0",
        "n3",
        Udp() if is_udp else _dccp(conditions),
        call,
        start=f"{begin_s} s",
        stop=f"{end_s} s",
    )
    for stream in range(1, (1 if conditions.scenario == 3 else STREAMS) + 1):
        start = "0 s" if conditions.scenario == 2 else f"{GAP_S * stream} s"
        description.add_flow(
            f"tcp{stream}", "n0", "n3", _tcp(conditions), start=start, start_jitter="500 ms"
        )
    return description


def voice(frame_b: int, interval_s: float = INTERVAL_S, adaptive_frames: int = 0) -> Voice:
    """Return the source of a call, which adapts if it has ``adaptive_frames``."""
    return Voice(
        frame=f"{frame_b} B",
        interval=f"{round(interval_s * 1e9)} ns",
        header="0 B",
        deadline=f"{DEADLINE_S * 1e3:g} ms",
        adapt=Adapt(frames=adaptive_frames) if adaptive_frames else None,
    )


def _dccp(conditions: Conditions) -> Dccp:
    return Dccp(
        ccid=3,
        profile="ns2",
        # If the source has packets of several sizes, s is their mean.
        tfrc=Tfrc(
            rules=conditions.rules,
            segment_size=conditions.segment_size,
            receiver_rtt="option" if conditions.tells_rtt else "window-counter",
        ),
        send_queue=conditions.send_queue,
        short_seqnos=True,
        ecn=False,
    )


def _tcp(conditions: Conditions) -> Tcp:
    if conditions.tcp in TODAY:
        return Tcp(profile="linux", segment=TODAY_SEGMENT, **TODAY[conditions.tcp])
    return Tcp(
        profile="ns2",
        segment=SEGMENT,
        initial_cwnd=2,
        initial_ssthresh=20,
        receive_window=20,
        tick="10 ms",
        min_rto="200 ms",
        initial_rto="3 s",
        limited_transmit=True,
        send_jitter=JITTER if conditions.jitter else "0 s",
        **TCPS[conditions.tcp],
    )
