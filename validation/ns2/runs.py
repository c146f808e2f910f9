"""Runs a case in ns-2 and in Skywave, and returns what each sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import skywave
from skywave.papers import ns2
from skywave.scenario import (
    Back,
    Dccp,
    DropTail,
    Flow,
    Ftp,
    Link,
    PacketLoss,
    Probes,
    Scenario,
    Step,
    Tcp,
    Tfrc,
    TraceSteps,
)
from skywave.scenario.quantities import Duration, Rate
from validation.ns2.case import SECONDS, TCP, Case, Kind

if TYPE_CHECKING:
    from skywave.scenario.parts import TcpRecovery

TICK_PHASE = "5.558807 ms"
"""ns-2's ``boot_time_``: the second number that its default generator draws."""

ACCESS_KBPS = 8000
ACCESS_MS = 0.1
NS2_NAMES = {
    Kind.TAHOE: "Tahoe",
    Kind.RENO: "Reno",
    Kind.NEWRENO: "Newreno",
    Kind.SACK1: "Sack1",
    Kind.VEGAS: "Vegas",
    Kind.CCID2: "dccp2",
    Kind.TFRC: "dccp3",
}
RECOVERIES: dict[Kind, TcpRecovery] = {
    Kind.TAHOE: "tahoe",
    Kind.RENO: "reno",
    Kind.NEWRENO: "newreno",
    Kind.SACK1: "sack",
}


@dataclass(frozen=True)
class Packet:
    """A data packet or a SYN: when it was sent, dropped or received."""

    time_s: float
    number: int
    """TCP: the segment, counted from 1 (the SYN is 0). DCCP: the ordinal of the data packet."""


@dataclass(frozen=True)
class Trace:
    """A run, in order of time. Only ``sent`` is known of Skywave's."""

    sent: list[Packet]
    dropped: list[Packet] = field(default_factory=list)
    arrived: list[Packet] = field(default_factory=list)
    cwnd: list[tuple[float, float]] = field(default_factory=list)
    """Time and cwnd in packets at each change."""
    ssthresh: list[tuple[float, float]] = field(default_factory=list)
    """Time and ssthresh in packets at each change."""


def in_ns2(case: Case) -> Trace:
    """Run a case in ns-2.

    Raises:
        Ns2Error: If ns-2 is missing or fails.

    """
    with TemporaryDirectory(prefix="skywave-ns2-") as folder:
        ns2.run(
            ns2.command(
                "canonical.tcl",
                flow=NS2_NAMES[case.kind],
                drops=" ".join(map(str, case.drops)),
                out="trace.csv",
                dur=SECONDS,
                win=case.window,
                iw=case.iw,
                ssth=case.ssthresh,
                qlim=case.queue,
                bw=f"{case.kbps}kb",
                delay=f"{case.ms}ms",
            ),
            folder=Path(folder),
        )
        lines = Path(folder, "trace.csv").read_text().splitlines()[1:]
    trace = Trace([])
    packets = {"S": trace.sent, "D": trace.dropped, "R": trace.arrived}
    changes = {"C": trace.cwnd, "H": trace.ssthresh}
    for line in lines:
        event, time_s, value, *_ = line.split(",")
        if event in packets:
            packets[event].append(Packet(float(time_s), int(value)))
        elif event in changes:
            changes[event].append((float(time_s), float(value)))
    return trace


def in_skywave(case: Case) -> Trace:
    """Run a case in Skywave."""
    packets = skywave.run(scenario(case)).tables["packets"]
    packets = packets.select(["event", "place", "kind", "time_s", "seq"]).to_pydict()
    trace = Trace([])
    first_seq = 0
    for event, place, kind, time_s, seq in zip(*packets.values(), strict=True):
        if event != "send" or place != "flow sender":
            continue
        if kind == "TCP SYN":
            first_seq = seq + 1
            trace.sent.append(Packet(time_s, 0))
        elif kind == "TCP data":
            offset = (seq - first_seq) % 2**32
            trace.sent.append(Packet(time_s, offset // segment_b(case.kind) + 1))
        elif kind in {"DCCP-Data", "DCCP-DataAck"}:
            trace.sent.append(Packet(time_s, len(trace.sent) + 1))
    return trace


def segment_b(kind: Kind) -> int:
    """Return the data bytes of a segment. The packets of ns-2's Vegas have 1000 bytes in all."""
    return 960 if kind is Kind.VEGAS else 1000


def scenario(case: Case) -> Scenario:
    """Return a case as a scenario.

    The SYN of ns-2's Vegas has 1000 bytes, Skywave's 40. The links transmit it at a 25th of their
    rate, so that it takes as long.
    """
    handshake = 1 if case.kind in TCP else 2
    slower = 1
    access_trace = bottleneck_trace = None
    if case.kind is Kind.VEGAS:
        slower = 25
        at_r1_ms = 8 * 1000 / ACCESS_KBPS + ACCESS_MS
        left_r1_ms = at_r1_ms + 8 * 1000 / case.kbps
        access_trace = _from(at_r1_ms, ACCESS_KBPS)
        bottleneck_trace = _from(left_r1_ms + case.ms / 2, case.kbps)
    access = Link(
        from_="s1",
        to="r1",
        rate=_rate(ACCESS_KBPS / slower),
        delay=f"{ACCESS_MS} ms",
        trace=access_trace,
        back=Back(rate=_rate(ACCESS_KBPS)),
    )
    bottleneck = Link(
        from_="r1",
        to="k1",
        rate=_rate(case.kbps / slower),
        delay=f"{case.ms} ms",
        queue=DropTail(packets=case.queue - 1),
        loss=PacketLoss(packets=tuple(number + handshake for number in case.drops)),
        trace=bottleneck_trace,
        back=Back(rate=_rate(case.kbps)),
    )
    return Scenario(
        name="canonical",
        duration=f"{SECONDS} s",
        nodes=["s1", "r1", "k1"],
        links=[access, bottleneck],
        flows=[Flow(name="flow", from_="s1", to="k1", transport=_transport(case), source=Ftp())],
        probes=Probes(packets=True, tables=("packets",)),
    )


def _transport(case: Case) -> Tcp | Dccp:
    if case.kind is Kind.CCID2:
        return Dccp(profile="ns2", initial_ssthresh=case.ssthresh, ecn=False)
    if case.kind is Kind.TFRC:
        return Dccp(ccid=3, profile="ns2", ecn=False, tfrc=Tfrc(rules="ns2"))
    return Tcp(
        profile="ns2",
        control="vegas" if case.kind is Kind.VEGAS else "reno",
        recovery=RECOVERIES.get(case.kind),
        segment=f"{segment_b(case.kind)} B",
        receive_window=case.window,
        initial_cwnd=case.iw,
        initial_ssthresh=case.window,
        limited_transmit=False,
        tick_phase="0 s" if case.kind is Kind.VEGAS else TICK_PHASE,
    )


def _rate(kbps: float) -> Rate:
    return Rate(f"{kbps} kbps")


def _from(ms: float, kbps: float) -> TraceSteps:
    return TraceSteps(steps=(Step(at=Duration(f"{ms:.3f} ms"), rate=_rate(kbps)),))
