"""How far a run on the real clock can be believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skywave.emulate.report import how_late, too_late
from skywave.machine import Shares

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT_TOLD = Shares()


@dataclass(frozen=True)
class Verdict:
    """How far a run can be believed."""

    report: dict[str, Any]
    """``elapsed_s``; ``lateness`` with ``packets``, ``median_s``, ``p99_s``, ``max_s`` and
    ``beyond_1_ms`` (a share), or None; and counts of packets: ``overflows``, ``undelivered``,
    ``unsent``, ``unknown``, ``malformed``."""
    shares: Shares = NOT_TOLD
    """What others took of the processors meanwhile."""

    @property
    def p99_s(self) -> float:
        """The 99th percentile of how late packets left the network, in seconds."""
        lateness = self.report["lateness"]
        return float(lateness["p99_s"]) if lateness else 0.0

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            **self.report,
            "processors_stolen": self.shares.stolen,
            "processors_others": self.shares.others,
        }

    def lines(self) -> Iterator[str]:
        """Yield how late packets were, and what else the machine did that no network does."""
        yield from how_late(self.report["lateness"], self.shares)
        for doubt in self.doubts():
            yield f"warning: {doubt}"

    def doubts(self) -> Iterator[str]:
        """Yield what the machine did that no network does."""
        for name, what in (
            ("overflows", "were lost because this machine is too slow for the scenario"),
            ("undelivered", "were not taken by the system at their destination"),
            ("unsent", "were not taken by the system at their sender"),
            ("malformed", "were not whole, or wrong"),
        ):
            if self.report[name]:
                yield f"{self.report[name]:,} packets {what}"

    def broken(self, strict_ms: float) -> str | None:
        """Say so if the machine did what no network does, or packets were too late."""
        for doubt in self.doubts():
            return doubt
        return too_late(self.report["lateness"], strict_ms)
