"""Reasons of mismatches: a cause that several values share, and the reason in full."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Cause(Enum):
    """The kind of reason, in words that follow a number of values."""

    UNSTATED = "the paper does not publish settings that decide the value"
    TWO_READINGS = "the paper can be read in two ways, and the other one gives the value"
    CONFLICT = "the paper's values exclude each other: no setting that was tried gives all"
    RULES = "the rules that the paper prescribes lead to another value"
    OURS = "the paper's simulator has a detail that ours lacks"
    SHARED = "not known, but ns-2 with the same settings misses the value too"
    NO_READING = "not known; no reading of the paper that was tried gives the value"
    UNKNOWN = "not known"
    OTHER = "particular to the value: see the full report"


@dataclass(frozen=True)
class Reason:
    """Why a value does not match, and the kind of reason.

    Attributes:
        text: The reason in full, as the report prints it.
        cause: The kind, by which the front page counts.

    """

    text: str
    cause: Cause = Cause.OTHER
