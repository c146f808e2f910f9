"""Values of dimensions as text.

A *label* says all of a value: ``red packets=50`` for a part of a scenario, and
``control=reno, recovery=sack`` for a table of fields. A field within a field is named by its path,
``dccp ccid=3, tfrc.feedback=dynamic``. Tables of results have labels, which no two
values of a dimension share. :func:`without_common` leaves out what they all say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from skywave._members import Member
from skywave.scenario.part import plain

Label = str | int | float | bool

FIELD = r"[\w.:-]+=[^=,]*"
TEXT = re.compile(
    rf"(?:(?P<kind>[\w.-]+)(?: (?P<of_kind>{FIELD}(?:, {FIELD})*))?"
    rf"|(?P<fields>{FIELD}(?:, {FIELD})*))"
)


@dataclass(frozen=True)
class Named:
    """A value under a name that the user gives it."""

    name: str
    value: object


def label_of(value: object) -> Label:
    """Return the label of a value: numbers stay numbers."""
    if isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Member):
        given = ", ".join(f"{name}={each!r}" for name, each in value.parameters.items())
        return f"{type(value).__name__}({given})"
    document = plain(value)
    if isinstance(document, dict) and document and _kind(document) is None:
        return _fields(document)
    return _text(document)


def alike(labels: list[Label]) -> list[Label]:
    """Return labels of one type: numbers stay numbers if all are."""
    if all(isinstance(label, bool) for label in labels):
        return labels
    numbers = [label for label in labels if isinstance(label, int | float)]
    if len(numbers) == len(labels) and not any(isinstance(label, bool) for label in labels):
        whole = all(isinstance(label, int) for label in labels)
        return labels if whole else [float(label) for label in numbers]
    return [label if isinstance(label, str) else json.dumps(label) for label in labels]


@dataclass(frozen=True)
class Parts:
    """A label, taken apart."""

    kind: str
    """Such as ``red``, or nothing."""
    fields: tuple[str, ...]
    """Such as ``packets=50``."""

    @classmethod
    def of(cls, label: str) -> Parts | None:
        """Take a label apart; None if it is neither a part of a scenario nor a table of fields."""
        found = TEXT.fullmatch(label)
        if found is None:
            return None
        fields = found["of_kind"] or found["fields"]
        return cls(found["kind"] or "", tuple(fields.split(", ")) if fields else ())

    @property
    def names(self) -> list[str]:
        """The names of the fields."""
        return [field.partition("=")[0] for field in self.fields]

    def __str__(self) -> str:
        """Return the label."""
        return " ".join(each for each in (self.kind, ", ".join(self.fields)) if each)


def without_common(labels: Iterable[str]) -> dict[str, str]:
    """Return labels of a dimension without the fields that all have.

    ``red`` and ``drop-tail`` for ``red packets=50`` and ``drop-tail packets=50``. They stay as they
    are if one has another form, if one would have nothing left, or if two would be the same.
    """
    full = list(dict.fromkeys(labels))
    parts = [Parts.of(label) for label in full]
    known = [each for each in parts if each is not None]
    unchanged = {label: label for label in full}
    if len(full) < 2 or len(known) < len(full):
        return unchanged
    common = set.intersection(*(set(each.fields) for each in known))
    short = [
        str(Parts(each.kind, tuple(field for field in each.fields if field not in common)))
        for each in known
    ]
    if "" in short or len(set(short)) < len(short):
        return unchanged
    return dict(zip(full, short, strict=True))


def _kind(document: object) -> str | None:
    """Return the only key of ``{"red": {"packets": 50}}``; None for another document."""
    if isinstance(document, dict) and len(document) == 1:
        [(kind, fields)] = document.items()
        return str(kind) if isinstance(fields, dict) else None
    return None


def _text(document: object) -> str:
    """Return a part of a scenario as text: ``dccp ccid=3``."""
    kind = _kind(document)
    if kind is not None and isinstance(document, dict):
        return f"{kind} {_fields(document[kind])}".strip()
    try:
        return document if isinstance(document, str) else json.dumps(document)
    except TypeError:
        return str(document)


def _fields(document: dict[str, object]) -> str:
    return ", ".join(
        f"{path}={_value(value)}"
        for name, each in document.items()
        for path, value in _leaves(name, each)
    )


def _leaves(path: str, value: object) -> Iterator[tuple[str, object]]:
    """Return the values inside a field by their paths: ``tfrc.receiver_rtt``, ``option``."""
    if not isinstance(value, dict) or not value:
        yield path, value
    elif list(value.values()) == [{}]:
        # A part without fields is told by its kind.
        [kind] = value
        yield path, kind
    else:
        for name, each in value.items():
            yield from _leaves(f"{path}.{name}", each)


def _value(value: object) -> str:
    # What separates fields is quoted, so that labels differ wherever values do.
    if isinstance(value, str) and re.search("[=,]", value):
        return json.dumps(value)
    return _text(value)
