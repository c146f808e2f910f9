"""Error messages for unknown names, with suggestions."""

from __future__ import annotations

from collections.abc import Iterable

from skywave import _core


def listed(given: str, known: Iterable[str], none: str = "none") -> str:
    """Return the known names, and which of them may be meant, to end a message with.

    ``none`` stands for them if there are none.
    """
    names = list(known)
    return (", ".join(names) or none) + _core.suggestion(given, names)
