"""Compares what the two ends of each connection have reported.

For each direction of a connection:

- Nothing that the reader took is altered, came twice, was never sent, or is of another connection.
- What the connection reported as delivered is what the application has read, if it read all. So a
  cancelled call has lost nothing.
- What the sender's connection reported as acknowledged has been delivered, or the receiver's
  connection has reported it as dropped (and told the peer, by Data Dropped).

A connection that was closed normally and of which the server has said nothing is a fault too, if
the server reads and something was acknowledged.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from validation.soak.ends import Report

CLOSED = "closed"
"""The name of a normal end."""

MOST_TOLD = 50
"""How many faults are kept in words; all are counted."""


@dataclass
class Account:
    """All connections so far."""

    totals: Counter[str] = field(default_factory=Counter)
    """Sums over both directions of all connections, and the number of ends by how they ended."""
    faults: list[str] = field(default_factory=list)
    """The first ``MOST_TOLD``, in words."""
    waiting: dict[int, Report] = field(default_factory=dict)
    """The ends whose other end has not yet reported."""

    def take(self, report: Report) -> None:
        """Add what one end of a connection has reported."""
        self._count(report)
        for fault in _own_faults(report):
            self.blame(fault, report)
        if report.connection is None:
            return
        other = self.waiting.pop(report.connection, None)
        if other is None:
            self.waiting[report.connection] = report
        elif other.role == report.role:
            self.blame("a number given to two connections", report)
        else:
            self.totals["compared"] += 1
            for sender, receiver in ((report, other), (other, report)):
                for fault in _faults(sender, receiver):
                    self.blame(fault, sender, receiver)

    def settle(self) -> None:
        """Judge the connections of which only one end has reported; none will report any more."""
        for report in self.waiting.values():
            ought_to = report.has_reader and report.ended == CLOSED and report.acknowledged
            if report.role == "client" and ought_to:
                self.blame(f"{report.acknowledged} acknowledged, and the server has none", report)
        self.totals["alone"] += len(self.waiting)
        self.waiting.clear()

    def blame(self, fault: str, *reports: Report) -> None:
        """Note a fault, and the reports that show it."""
        self.totals["faults"] += 1
        if len(self.faults) < MOST_TOLD:
            self.faults.append(": ".join((fault, *map(str, reports))))

    def _count(self, report: Report) -> None:
        self.totals[f"{report.role} {report.ended}"] += 1
        self.totals["ends"] += 1
        for name in ("offered", "delivered", "dropped", "read"):
            self.totals[name] += getattr(report, name)
        self.totals["acknowledged"] += report.acknowledged or 0


def _own_faults(report: Report) -> Iterator[str]:
    """Yield what one end alone shows to be wrong."""
    for name in ("altered", "duplicates", "strange"):
        if count := getattr(report, name):
            yield f"{count} {name}"
    if report.read_all and report.read != report.delivered:
        yield f"{report.read} read of {report.delivered} delivered"


def _faults(sender: Report, receiver: Report) -> Iterator[str]:
    """Yield what is wrong with one direction of a connection."""
    if receiver.latest > sender.offered:
        yield f"index {receiver.latest - 1} read of {sender.offered} sent"
    accounted = receiver.delivered + receiver.dropped
    if receiver.read_all and sender.acknowledged is not None and sender.acknowledged > accounted:
        yield f"{sender.acknowledged} acknowledged, {accounted} delivered or reported as dropped"
