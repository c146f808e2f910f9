"""What all parts of a scenario have in common: their form in the schema."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any, ClassVar

from skywave.control import Control, named


@cache
def _fields(kind: type) -> tuple[tuple[str, str], ...]:
    """Return the fields of a part: what they are called here, and in the schema."""
    names = (item.name for item in dataclasses.fields(kind))
    return tuple((name, name.removesuffix("_")) for name in names)


def plain(value: Any) -> Any:
    """Return the form of a value that the core reads."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mirror):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def with_control(body: dict[str, Any]) -> dict[str, Any]:
    """Put a control in Python into the form that the core reads: a name, and a table under it."""
    control = body.get("control")
    if not isinstance(control, Control):
        return body
    name, parameters = named(control)
    return {**body, "control": name, name: parameters}


class Mirror:
    """A part of a scenario; ``TAG`` names its variant where the schema has several."""

    TAG: ClassVar[str | None] = None

    def to_dict(self) -> dict[str, Any]:
        """Return the form that the core reads, without what has its default."""
        kind: type = type(self)
        body = {
            name: plain(value)
            for attribute, name in _fields(kind)
            if (value := getattr(self, attribute)) is not None
        }
        body = with_control(body)
        return body if self.TAG is None else {self.TAG: body}
