"""Placeholders in the texts of a ledger: ``{name}``.

``str.format`` would do more: it reads attributes, takes positions and pads to any width, so a typo
in a text raises one of many errors, or fills the memory.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_BRACES = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}!:.\[\]]+)\}|\{[^{}]*\}|[{}]")


def names(text: str) -> list[str]:
    """Return the names that the placeholders of a text have.

    Raises:
        ValueError: If a brace belongs to none. ``{{`` and ``}}`` stand for single braces.

    """
    return [found["name"] for found in _found(text) if found["name"]]


def fill(text: str, words: Mapping[str, object]) -> str:
    """Return a text with the words that its placeholders stand for.

    Raises:
        ValueError: If a brace belongs to no placeholder.
        KeyError: If there is no word for one.

    """
    parts, end = [], 0
    for found in _found(text):
        filled = str(words[found["name"]]) if found["name"] else found[0][0]
        parts += [text[end : found.start()], filled]
        end = found.end()
    return "".join([*parts, text[end:]])


def _found(text: str) -> list[re.Match[str]]:
    every = list(_BRACES.finditer(text))
    for found in every:
        if not found["name"] and found[0] not in {"{{", "}}"}:
            raise ValueError(
                f"{found[0]!r} is not a placeholder: write it as '{{name}}', or a brace itself as "
                "'{{' or '}}'"
            )
    return every
