"""What a paper's judge measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Measure:
    """A measured value, and conditions of the measurement that only the runs can tell.

    ``value`` is None if the quantity did not occur. If it is a mean over runs, ``sd`` may be the
    standard deviation of single runs, for rules that allow for it.
    """

    value: float | None
    conditions: Mapping[str, str | float] = field(default_factory=dict)
    sd: float | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, value: Measure | float | None) -> Measure:
        """Return the value as a measure."""
        return value if isinstance(value, Measure) else cls(value)


@dataclass(frozen=True)
class Measures:
    """The measurements of all tests of a ledger, by their ids.

    Attributes:
        ours: Our values.
        ns2: Those that ns-2 has too.
        words: What the placeholders of reasons, remarks and findings stand for.

    """

    ours: Mapping[str, Measure | float | None]
    ns2: Mapping[str, float | None] = field(default_factory=dict)
    words: Mapping[str, object] = field(default_factory=dict)
