"""What figures call the dimensions of a sweep and their values: as short as readers need."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from skywave.scenario.labels import Parts, without_common

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ACRONYMS = {"tcp": "TCP", "udp": "UDP", "dccp": "DCCP", "ccid": "CCID", "ecn": "ECN"}
COUNTS = ("packets", "bytes")
"""Fields that are named after their unit, and mean nothing without what they are fields of."""
ENTRY = re.compile(r"(?:flows|links)\[(?P<entry>[^\]]+)\]")


def axis_name(dimension: str, path: str) -> str:
    """Return what the axis of a dimension is called, by the path of its field.

    ``queue (packets)`` for ``packets``, ``start of voice`` for ``flows[voice].start``.
    """
    *above, last = dimension.split(".")
    entry = ENTRY.fullmatch(above[0]) if above else None
    of = f" of {entry['entry']}" if entry and entry["entry"] != "*" else ""
    if last in COUNTS:
        # The part before it says which discipline, and the one before that what it is one of.
        parts = [re.sub(r"\[.*\]", "", part) for part in path.split(".")]
        owner = above[-1] if above and not entry else parts[max(0, len(parts) - 3)]
        if owner != last:
            return f"{owner.replace('_', ' ')}{of} ({last})"
    if of:
        return f"{last.replace('_', ' ')}{of}"
    return dimension.replace("_", " ")


def short_labels(labels: Iterable[str]) -> dict[str, str]:
    """Return for each label of a dimension as much of it as tells it from the others.

    ``cubic`` and ``CCID 3`` for ``tcp control=cubic`` and ``dccp ccid=3``. Labels without kind and
    fields stay as they are.
    """
    differing = without_common(labels)
    parts = {label: _parts(label) for label in differing.values()}
    short = {label: _shortest(rest, parts) for label, rest in differing.items()}
    is_clear = len(set(short.values())) == len(short)
    return short if is_clear else {label: label for label in differing}


def _parts(label: str) -> list[str]:
    """Return fields and, after them, the kind; a label of another form is a single part."""
    found = Parts.of(label)
    if found is None:
        return [label]
    return [*found.fields, *([found.kind] if found.kind else [])]


def _shortest(label: str, parts: dict[str, list[str]]) -> str:
    own = parts[label]
    found = Parts.of(label)
    if found is None or not found.fields:
        return ACRONYMS.get(label, label)
    others = [set(each) for other, each in parts.items() if other != label]
    for size in range(1, len(own) + 1):
        for chosen in itertools.combinations(own, size):
            if not any(set(chosen) <= other for other in others):
                return _text(chosen)
    return _text(own)


def _text(parts: Sequence[str]) -> str:
    """Return parts as text, the kind first."""
    kinds = [ACRONYMS.get(part, part) for part in parts if "=" not in part]
    return " ".join(
        [*kinds, ", ".join(map(_field, (part for part in parts if "=" in part)))]
    ).strip()


def _field(part: str) -> str:
    """Return a field as text: a word speaks for itself, and a number does not."""
    name, separator, value = part.partition("=")
    if not separator or re.match(r"[a-z]", value) is None or value in {"true", "false"}:
        return f"{ACRONYMS.get(name, name.replace('_', ' '))} {value}".strip()
    return value
