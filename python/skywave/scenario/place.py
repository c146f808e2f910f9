"""Finds the line of a field in a scenario's text."""

from __future__ import annotations

from skywave import _core


def field_of(message: str) -> str:
    """Return the field that the message of a ``ScenarioError`` names, or an empty text."""
    field, colon, _ = message.partition(": ")
    return field if colon and " " not in field else ""


def line_and_column(text: str, field: str) -> tuple[int, int] | None:
    """Return where a text in TOML has a field, or lacks it; both count from 1."""
    place = _core.place_of_field(text, field) if field else None
    if place is None:
        return None
    key, value, _, is_exact = place
    # The header of a table is where something is missing; a value is what is wrong.
    at = value if is_exact else key
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
