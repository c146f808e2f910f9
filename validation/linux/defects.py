"""The two known defects of the kernel, and how each shows in a capture.

Both cost nothing but time, so they excuse no more than what is missing when the time is up:

- The receiver of its CCID 2 acknowledges when as many data packets have come as the Ack Ratio says,
  and has no timer besides (net/dccp/ccids/ccid2.c, ccid2_hc_rx_packet_recv). A packet that comes
  alone is never acknowledged. The sender waits for its timeout, and twice as long each time.
- Its client sends the Ack that ends the handshake once (net/dccp/input.c,
  dccp_rcv_request_sent_state_process); RFC 4340 section 8.1.5 has it repeated. If that is lost and
  the client has nothing to send, the server waits for ever.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

from validation.linux.cases import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from validation.linux.cases import Case
    from validation.linux.outcome import Evidence

SILENT_S = 0.5
"""A silence that is no round-trip time: the longest of any path is 0.2 s."""

SEQUENCES = 1 << 48

LEAST_SHARE = 0.5
"""How much of its time a connection must have lost to a defect that is to excuse it."""


class Defect(StrEnum):
    """What the kernel does wrong."""

    SINGLE_PACKET = "the kernel's CCID 2 does not acknowledge a single packet"
    HANDSHAKE_ACK = "the kernel's client does not repeat the Ack of a handshake"


def shown(case: Case, evidence: Evidence) -> Defect | None:
    """Return the defect on which a connection lost most of its time, by its capture."""
    lost_s = {
        Defect.SINGLE_PACKET: sum(_silences_s(evidence)) if case.ccid == 2 else 0.0,
        Defect.HANDSHAKE_ACK: _half_open_s(evidence) if case.role is Role.LISTEN else 0.0,
    }
    worst = max(lost_s, key=lambda defect: lost_s[defect])
    took_s = evidence.ended_s - evidence.packets[0].time_s if evidence.packets else 0.0
    return worst if lost_s[worst] > max(SILENT_S, LEAST_SHARE * took_s) else None


def _silences_s(evidence: Evidence) -> Iterator[float]:
    """Yield how long the kernel left datagrams unanswered that have reached it.

    The path may have lost its answers, but the kernel's sequence numbers tell how many. Of as many
    silences the path is to blame, by this account for the shortest.
    """
    kernels = [packet for packet in evidence.packets if not evidence.is_ours(packet)]
    for before, after in pairwise(kernels):
        if before.sequence is None or after.sequence is None:
            continue
        lost = (after.sequence - before.sequence - 1) % SEQUENCES
        times = [
            packet.time_s
            for packet in evidence.packets
            if before.time_s <= packet.time_s <= after.time_s
            and evidence.is_ours(packet)
            and packet.digest in evidence.kernel.received
        ]
        gaps = [end - begin for begin, end in pairwise([*times, after.time_s])]
        yield from sorted(gap for gap in gaps if gap >= SILENT_S)[lost:]


def _half_open_s(evidence: Evidence) -> float:
    """Return how long a client that says that it has connected sent nothing after our Response."""
    if evidence.kernel.ccid is None:
        return 0.0
    answered_s: float | None = None
    for packet in evidence.packets:
        if packet.type == "Response":
            answered_s = packet.time_s
        elif packet.type != "Request" and answered_s is not None and not evidence.is_ours(packet):
            return packet.time_s - answered_s
    return 0.0 if answered_s is None else evidence.ended_s - answered_s
