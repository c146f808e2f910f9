"""Whether the evidence of a case shows what it should.

Three witnesses are heard: each end about what it sent and received, and the capture about what was
on the wire. No end is trusted alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from validation.linux.capture import TYPES
from validation.linux.cases import Ending, Role
from validation.linux.defects import shown

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from validation.linux.capture import Packet
    from validation.linux.cases import Case
    from validation.linux.ends import Report

# Reset Codes (RFC 4340 section 5.6).
CLOSED = 1
ABORTED = 2
NO_CONNECTION = 3
REFUSED = 7
BAD_SERVICE_CODE = 8

ENDINGS = ("CloseReq", "Close", "Reset")


class Outcome(StrEnum):
    """What became of a case."""

    PASSED = "passed"
    KERNEL = "kernel"
    """Not passed, and the capture shows the defect of the kernel that is to blame."""
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Evidence:
    """What the witnesses say."""

    ours: Report
    kernel: Report
    packets: tuple[Packet, ...]
    our_address: str
    ended_s: float = 0.0
    """When the capture ended, on the clock of its packets."""
    took_s: float = 0.0
    """How long the connection took."""

    def is_ours(self, packet: Packet) -> bool:
        """Return whether we sent a packet."""
        return packet.source == self.our_address

    def datagrams(self, ours: bool) -> list[str]:
        """Return the digests of the datagrams of one end that the capture saw."""
        return [p.digest for p in self.packets if p.digest and self.is_ours(p) == ours]

    def closing(self) -> list[tuple[bool, str]]:
        """Return the packets that ended the connection."""
        return self.seen(ENDINGS)

    def seen(self, types: Container[str] = TYPES) -> list[tuple[bool, str]]:
        """Return the packets of some types, each with whether it is ours.

        A packet sent again stands once.
        """
        seen: list[tuple[bool, str]] = []
        for packet in self.packets:
            if packet.type not in types:
                continue
            code = f" {packet.reset_code}" if packet.type == "Reset" else ""
            entry = (self.is_ours(packet), packet.type + code)
            if entry not in seen:
                seen.append(entry)
        return seen


def outcome(case: Case, evidence: Evidence) -> tuple[Outcome, list[str]]:
    """Return what became of a case, and why, in words.

    A defect of the kernel costs time. It excuses what is missing when the time is up, and the end
    that the connection has then, but nothing that is wrong with what has come.
    """
    missing, ended, wrong = _parts(case, evidence)
    reasons = [*missing, *ended, *wrong]
    defect = shown(case, evidence) if missing and not wrong else None
    if defect is not None:
        return Outcome.KERNEL, [defect, *reasons]
    return Outcome.FAILED if reasons else Outcome.PASSED, reasons


def judge(case: Case, evidence: Evidence) -> list[str]:
    """Return all that is not as it should be, in words, whoever is to blame."""
    return [reason for part in _parts(case, evidence) for reason in part]


def _parts(case: Case, evidence: Evidence) -> tuple[list[str], list[str], list[str]]:
    """Return what has not come in time, how the end is not as it should be, and what is wrong."""
    if case.ending.is_refusal:
        return [], [], [*_refusal(case, evidence), *_capture(evidence)]
    missing = [
        *_failures(evidence),
        *_data_missing(case, evidence, ours=True),
        *_data_missing(case, evidence, ours=False),
    ]
    wrong = [
        *_ccids(case, evidence),
        *_data_wrong(case, evidence, ours=True),
        *_data_wrong(case, evidence, ours=False),
        *_capture(evidence),
    ]
    return missing, [*_ends(case, evidence), *_closing(case, evidence)], wrong


def end_was_lost(case: Case, evidence: Evidence) -> bool:
    """Return whether the path has lost the packet that was to end the connection.

    A Reset is sent once and by itself: its receiver then ends otherwise, by timeout or by a Reset
    "No Connection", and the case shows nothing. The same goes where the kernel has ended and
    forgotten the connection, and all that the capture has of its end is that it knows of none.
    """
    if not case.path.loses:
        return False
    if [kind for by_us, kind in evidence.closing() if not by_us] == [f"Reset {NO_CONNECTION}"]:
        return True
    by_us, reset = closings(case)[0][-1]
    if by_us:
        return case.ending.is_reset and evidence.kernel.end != ("remote", ABORTED)
    return (by_us, reset) not in evidence.closing()


def _failures(evidence: Evidence) -> Iterator[str]:
    for name, report, _ in _reports(evidence):
        if report.error is not None:
            yield f"{name}: {report.error}"


def _ends(case: Case, evidence: Evidence) -> Iterator[str]:
    code = ABORTED if case.ending.is_reset else CLOSED
    for name, report, ours in _reports(evidence):
        origin = "local" if case.ending.ours == ours else "remote"
        if report.error is None and report.end != (origin, code):
            yield f"{name}: ended {report.end}, not {(origin, code)}"


def _ccids(case: Case, evidence: Evidence) -> Iterator[str]:
    for name, report, _ in _reports(evidence):
        if report.error is None and report.ccid != (case.ccid, case.ccid):
            yield f"{name}: CCIDs {report.ccid}"


def _reports(evidence: Evidence) -> tuple[tuple[str, Report, bool], ...]:
    """Return the reports of the ends, each with its name and whether it is ours."""
    return ("we", evidence.ours, True), ("kernel", evidence.kernel, False)


def _data_missing(case: Case, evidence: Evidence, *, ours: bool) -> Iterator[str]:
    way, sent, received = _data(evidence, ours=ours)
    asked = case.sends(ours)
    if len(sent) != asked:
        yield f"{way}: {len(sent)} datagrams sent of {asked}"
    if len(received) < case.least_share * asked:
        yield f"{way}: {len(received)} datagrams arrived of {asked}"


def _data_wrong(case: Case, evidence: Evidence, *, ours: bool) -> Iterator[str]:
    way, sent, received = _data(evidence, ours=ours)
    captured = evidence.datagrams(ours)
    if len(set(sent)) != len(sent):
        yield f"{way}: the sender's datagrams are not distinct, so nothing can be shown"
    for place, arrived in (("received", received), ("captured", captured)):
        yield from _subset(f"{way}, {place}", arrived, sent)
    if set(received) - set(captured):
        yield f"{way}: {len(set(received) - set(captured))} received that the capture has not"
    if case.in_order and received != sent and len(received) == len(sent):
        yield f"{way}: datagrams out of order"


def _data(evidence: Evidence, *, ours: bool) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the name of a direction, what was sent there and what was received."""
    if ours:
        return "to kernel", evidence.ours.sent, evidence.kernel.received
    return "from kernel", evidence.kernel.sent, evidence.ours.received


def _subset(place: str, arrived: Sequence[str], sent: Sequence[str]) -> Iterator[str]:
    invented = set(arrived) - set(sent)
    if invented:
        yield f"{place}: {len(invented)} datagrams that were never sent"
    repeated = [digest for digest, times in Counter(arrived).items() if times > 1]
    if repeated:
        yield f"{place}: {len(repeated)} datagrams twice"


def closings(case: Case) -> list[list[tuple[bool, str]]]:
    """Return the ways in which a case may end, each as packets with whether they are ours.

    RFC 4340 section 8.3: who closes sends Close and gets a Reset "Closed"; a server may send
    CloseReq first, so that the client holds TIMEWAIT. Linux's servers always do.
    """
    closer = case.ending.ours
    if case.ending.is_reset:
        return [[(closer, f"Reset {ABORTED}")]]
    plain = [(closer, "Close"), (not closer, f"Reset {CLOSED}")]
    asked = [(closer, "CloseReq"), (not closer, "Close"), (closer, f"Reset {CLOSED}")]
    if case.role is (Role.CONNECT if closer else Role.LISTEN):
        return [plain]
    return [asked] if case.ending is Ending.KERNEL_CLOSES else [asked, plain]


def _closing(case: Case, evidence: Evidence) -> Iterator[str]:
    seen = evidence.closing()
    if _without_late(seen) not in closings(case):
        expected = " or ".join(show(way) for way in closings(case))
        yield f"ended by {show(seen) or 'nothing'}, not {expected}"


def _refusal(case: Case, evidence: Evidence) -> Iterator[str]:
    """Of a refusal the wire shows a Request and a Reset, and who connects says why.

    RFC 4340 section 8.1.3 has code 7 for a closed port; Linux sends 3.
    """
    we_connect = case.role is Role.CONNECT
    report = evidence.ours if we_connect else evidence.kernel
    if case.ending is Ending.WRONG_SERVICE:
        code = BAD_SERVICE_CODE
        reason = "does not offer this service code" if we_connect else "Invalid request code"
    else:
        code = NO_CONNECTION if we_connect else REFUSED
        reason = "onnection refused"
    expected = [(we_connect, "Request"), (not we_connect, f"Reset {code}")]
    if evidence.seen() != expected:
        yield f"on the wire: {show(evidence.seen()) or 'nothing'}, not {show(expected)}"
    if reason not in (report.error or ""):
        who = "we" if we_connect else "kernel"
        yield f"{who}: {report.error or 'connected'}, not {reason!r}"


def _without_late(closing: list[tuple[bool, str]]) -> list[tuple[bool, str]]:
    """Return the packets without the answers to what came after the end.

    A packet that was under way meets no connection any more, and a Reset that says so (RFC 4340
    section 8.5 step 2).
    """
    kept = list(closing)
    while len(kept) > 1 and kept[-1][1] == f"Reset {NO_CONNECTION}":
        kept.pop()
    return kept


def show(closing: list[tuple[bool, str]]) -> str:
    """Return packets that ended a connection in one line: > is ours, < the kernel's."""
    return " ".join(f"{'>' if ours else '<'}{what}" for ours, what in closing)


def _capture(evidence: Evidence) -> Iterator[str]:
    if not evidence.packets:
        yield "nothing captured"
    for packet in evidence.packets:
        for complaint in packet.complaints:
            who = "our" if evidence.is_ours(packet) else "kernel's"
            yield f"packet {packet.number}, {who} {packet.type}: {complaint}"
