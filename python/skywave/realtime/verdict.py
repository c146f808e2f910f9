"""How accurate the timing of a run in real time was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave.realtime import accuracy

if TYPE_CHECKING:
    from collections.abc import Iterator


class Verdict(accuracy.Verdict):
    """How accurate the timing of a run was.

    ``report`` also has ``elapsed_s``, ``whole``, ``interrupted``, and as counts of packets
    ``overflows``, ``undelivered``, ``unsent``, ``unknown`` and ``malformed``.
    """

    def doubts(self) -> Iterator[str]:
        """Yield a warning for each thing that the machine did and no network does."""
        for name, what in (
            ("overflows", "were lost because this machine is too slow for the scenario"),
            ("undelivered", "were not taken by the system at their destination"),
            ("unsent", "were not taken by the system at their sender"),
            ("malformed", "were incomplete or malformed"),
        ):
            if self.report[name]:
                yield f"{self.report[name]:,} packets {what}"
