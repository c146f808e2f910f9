"""Labels of the dimensions of a sweep and their values, as short as possible."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from skywave.scenario.labels import Parts, without_common

ACRONYMS = {"tcp": "TCP", "udp": "UDP", "dccp": "DCCP", "ccid": "CCID", "ecn": "ECN", "rtt": "RTT"}
COUNTS = ("packets", "bytes")
"""Fields that are named after their unit, and mean nothing without what they are fields of."""
ENTRY = re.compile(r"(?:flows|links)\[(?P<entry>[^\]]+)\]")


def axis_name(dimension: str, path: str) -> str:
    """Return the label of a dimension's axis, by the path of its field.

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

    ``cubic`` and ``CCID 3`` for ``tcp control=cubic`` and ``dccp ccid=3``. A field that not all
    labels have is never left out, so that no name says less than is true. The kind is left out if
    one of the fields is of no other kind. Labels without kind and fields stay as they are.
    """
    differing = without_common(labels)
    parts = {label: Parts.of(label) for label in differing.values()}
    kinds: dict[str, set[str]] = {}
    for found in filter(None, parts.values()):
        for name in found.names:
            kinds.setdefault(name, set()).add(found.kind)
    short = {label: _short(parts[rest], rest, kinds) for label, rest in differing.items()}
    is_clear = len(set(short.values())) == len(short)
    return short if is_clear else {label: label for label in differing}


def _short(parts: Parts | None, label: str, kinds: Mapping[str, Collection[str]]) -> str:
    """Return a label as text; ``kinds`` has those in which there is a field of some name."""
    if parts is None or not parts.fields:
        return ACRONYMS.get(label, label)
    is_needed = all(len(kinds[name]) > 1 for name in parts.names)
    kind = ACRONYMS.get(parts.kind, parts.kind) if is_needed else ""
    return f"{kind} {', '.join(map(_field, parts.fields))}".strip()


def _field(part: str) -> str:
    """Return a field as text: a word speaks for itself, and a number does not.

    Nor does a word that belongs to a part of a part: ``feedback dynamic``.
    """
    path, _, value = part.partition("=")
    *above, name = path.split(".")
    if above or re.match(r"[a-z]", value) is None or value in {"true", "false"}:
        words = [ACRONYMS.get(word, word) for word in name.split("_")]
        return f"{' '.join(words)} {value}".strip()
    return value
