"""A paper's sentences, each with where it is tested, or why it is not; and how to read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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


@dataclass(frozen=True)
class Reading:
    """A choice of what the paper leaves open or says twice.

    Attributes:
        label: A unique name.
        says: What the paper says of it, and what speaks for it or against it.
        changes: How it differs from the reading that the verdicts use, in terms of the paper's
            ``readings.py``.

    """

    label: str
    says: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)
