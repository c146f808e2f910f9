"""Compares what Skywave sent with what ns-2 sent."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from validation.ns2.case import SECONDS, TCP, Case, Kind

if TYPE_CHECKING:
    from validation.ns2.runs import Packet, Trace

EQUAL_S = 2e-6
"""The tolerance where all packets are as long as ns-2's."""

LONGER_B = {Kind.SACK1: 40, Kind.CCID2: 60, Kind.TFRC: 100}
"""Types with packets of other lengths than ns-2's: the tolerance is the time that the bottleneck
takes for so many bytes."""

FIRST = {Kind.TFRC: 4}
"""The number of packets to compare, where it is not all. From the fifth packet on, the clock of
ns-2's TFRC, which counts 10 ms, lets packets leave in pairs."""


WORDS = {
    "missing": "a packet missing",
    "extra": "a packet too many",
    "another": "another packet",
    "earlier": "a packet earlier",
    "later": "a packet later",
}
"""How Skywave's first packet that differs may differ from ns-2's."""


@dataclass(frozen=True)
class Class:
    """What distinguishes differences."""

    kind: Kind
    what: str
    """What differs first, one of ``WORDS``."""
    phase: str
    """Where ns-2 was: "before a loss", "in recovery" (a lost segment has not arrived), "after a
    timeout" (cwnd fell to one packet, as also after Tahoe's fast retransmit, and has stayed below
    ssthresh since), or "after a loss"."""

    def __str__(self) -> str:
        return f"{self.kind}: {WORDS[self.what]} {self.phase}"


@dataclass(frozen=True)
class Difference:
    """The first difference between two runs."""

    what: str
    index: int
    """The index of the first packet that differs."""
    ours: Packet | None
    """The packet that Skywave sent, or ``None`` if it sent no more."""
    theirs: Packet | None

    @property
    def time_s(self) -> float:
        """When ns-2 sent the packet, or Skywave if ns-2 sent no more."""
        sent = self.theirs or self.ours
        return sent.time_s if sent else 0.0


def tolerance_s(case: Case) -> float:
    """Return by how much the times of a packet may differ."""
    longer = LONGER_B.get(case.kind, 0)
    return longer * 8 / (1e3 * case.kbps) or EQUAL_S


def difference(case: Case, ours: Trace, theirs: Trace) -> Difference | None:
    """Return the first difference, or ``None`` if the runs are equal within the tolerance.

    A packet that one run sent just before the end, and the other may have sent just after it, is no
    difference.
    """
    tolerance = tolerance_s(case)
    mine, golden = _compared(case, ours), _compared(case, theirs)
    for index, (our, their) in enumerate(zip_longest(mine, golden)):
        if our and their:
            if our.number != their.number:
                return Difference(_other(mine, golden, index), index, our, their)
            if abs(our.time_s - their.time_s) > tolerance:
                what = "earlier" if our.time_s < their.time_s else "later"
                return Difference(what, index, our, their)
            continue
        found = Difference("extra" if our else "missing", index, our, their)
        if found.time_s < SECONDS - tolerance:
            return found
    return None


def classify(case: Case, found: Difference, theirs: Trace) -> Class:
    """Return the class of a difference; ``theirs`` is ns-2's run."""
    return Class(case.kind, found.what, _phase(case, found.time_s, theirs))


def _compared(case: Case, trace: Trace) -> list[Packet]:
    sent = [sent for sent in trace.sent if sent.time_s < SECONDS]
    return sent[: FIRST.get(case.kind)]


def _other(mine: list[Packet], golden: list[Packet], index: int) -> str:
    """Tell which other packet is at ``index``: the next one, one in between, or neither."""
    ours, theirs = ([sent.number for sent in sents[index : index + 2]] for sents in (mine, golden))
    if ours[:1] == theirs[1:]:
        return "missing"
    if ours[1:] == theirs[:1]:
        return "extra"
    return "another"


def _phase(case: Case, time_s: float, theirs: Trace) -> str:
    dropped = [sent for sent in theirs.dropped if sent.time_s < time_s]
    if not dropped:
        return "before a loss"
    if _in_slow_start(dropped[0].time_s, time_s, theirs):
        return "after a timeout"
    arrived = {sent.number: sent.time_s for sent in theirs.arrived if sent.time_s < time_s}
    missing = [drop for drop in dropped if arrived.get(drop.number, 0.0) < drop.time_s]
    return "in recovery" if missing and case.kind in TCP else "after a loss"


def _in_slow_start(loss_s: float, time_s: float, theirs: Trace) -> bool:
    """Tell whether cwnd fell to one packet since a loss, and has not reached ssthresh since."""
    slow, ssthresh = False, 0.0
    changes = [(at, False, value) for at, value in theirs.ssthresh]
    changes += [(at, True, value) for at, value in theirs.cwnd]
    for at, is_cwnd, value in sorted(changes):
        if at >= time_s:
            break
        if not is_cwnd:
            ssthresh = value
        elif value <= 1:
            slow = at > loss_s
        elif value >= ssthresh:
            slow = False
    return slow
