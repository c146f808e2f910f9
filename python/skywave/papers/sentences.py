"""A paper's sentences, each with its tests or the reason why it has none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper, and where the report answers it.

    ``tests`` are the beginnings of the ids of cells that test it. ``answer`` names a section of the
    report, says what else there is to know, or why the sentence is not tested.
    """

    section: str
    quote: str
    tests: tuple[str, ...] = ()
    answer: str = ""

    def is_tested_by(self, cell: str) -> bool:
        """Return whether the value or claim with this id tests the sentence."""
        return any(f"{cell}/".startswith(f"{begin}/") for begin in self.tests)
